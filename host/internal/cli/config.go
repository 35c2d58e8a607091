package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// Configure fills in the flags that the command line does not give: from the environment, COEVAL_
// and the flag's name, or else from a file of lines "name = value". Where a flag may be given
// several times, so may a line, and the environment separates by commas.
func Configure(flags *pflag.FlagSet, file string, env func(string) (string, bool)) error {
	if v, ok := env("COEVAL_CONFIG"); ok && !flags.Changed("config") {
		file = v
	}
	lines, err := readConfig(file)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if f := flags.Lookup(l.name); f == nil || l.name == "config" || l.name == "help" {
			return Usagef("%s:%d: there is no setting %q; settings are named like flags", file,
				l.number, l.name)
		}
	}
	var wrong error
	given := map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) { given[f.Name] = f.Changed })
	set := func(name, value, where string) {
		if err := flags.Set(name, value); err != nil && wrong == nil {
			wrong = Usagef("%s: %w", where, err)
		}
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if given[f.Name] || f.Name == "config" || f.Name == "help" {
			return
		}
		key := "COEVAL_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if v, ok := env(key); ok {
			set(f.Name, v, key)
			return
		}
		for _, l := range lines {
			if l.name == f.Name {
				set(l.name, l.value, fmt.Sprintf("%s:%d", file, l.number))
			}
		}
	})
	return wrong
}

// A configLine is one setting of a file.
type configLine struct {
	number      int
	name, value string
}

// readConfig reads a file of settings. No name is no file.
func readConfig(name string) ([]configLine, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Usagef("there is no config file %s", name)
	}
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	defer f.Close()
	return parseConfig(name, f)
}

// Bounds of a file of settings: those of a line are bufio's.
const mostLines = 10_000

// parseConfig reads the lines of a file of settings.
func parseConfig(name string, f io.Reader) (lines []configLine, err error) {
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		text := strings.TrimSpace(s.Text())
		if n > mostLines {
			return nil, Usagef("%s has more than %d lines", name, mostLines)
		}
		if text == "" || text[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, Usagef("%s:%d: want a line like players = 16", name, n)
		}
		lines = append(lines, configLine{n, strings.TrimSpace(key), strings.TrimSpace(value)})
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return lines, nil
}
