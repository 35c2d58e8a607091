package cli

import (
	"fmt"
	"strings"

	"github.com/coeval-dev/coeval/netsim"
)

// Conditions puts together a preset and what changes it.
func Conditions(preset string, settings []string, jitterFile string) (netsim.Conditions, error) {
	if _, err := netsim.Lookup(preset); err != nil {
		return netsim.Conditions{}, Usagef("--preset: %w", err)
	}
	c, err := netsim.ParseConditions(preset + " " + strings.Join(settings, " "))
	if err != nil {
		return c, Usagef("--set: %w", err)
	}
	if jitterFile != "" {
		text, err := ReadFile(jitterFile, 16<<20)
		if err != nil {
			return c, fmt.Errorf("--jitter-file: %w", err)
		}
		if err := c.Set("jitter",
			"recorded:"+strings.Join(strings.Fields(string(text)), ",")); err != nil {
			return c, fmt.Errorf("--jitter-file %s: %w", jitterFile, err)
		}
	}
	return c, nil
}

// Presets are the names of the networks that come with the program.
func Presets() (names []string) {
	for _, c := range netsim.Presets() {
		names = append(names, c.Name)
	}
	return names
}
