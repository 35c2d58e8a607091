package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/knob/settings"
)

// KnobFlags are the flags by which knobs are set: from a file of lab tune, and one by one.
type KnobFlags struct {
	file string
	list []string
	read *settings.File
}

// Flags adds the flags.
func (k *KnobFlags) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&k.file, "settings", "",
		"settings that {program} lab tune has written; flags go before them")
	f.StringArrayVar(&k.list, "knob", nil,
		"set one knob, as `NAME=VALUE`; {program} lab tune --list says which there are")
}

// Given says whether any was set.
func (k *KnobFlags) Given() bool { return k.file != "" || len(k.list) > 0 }

// Architecture is that of the file, or nothing without a file.
func (k *KnobFlags) Architecture() (string, error) {
	if k.file == "" {
		return "", nil
	}
	b, err := ReadFile(k.file, 1<<20)
	if err != nil {
		return "", Usagef("--settings: %w", err)
	}
	if k.read, err = settings.Parse(k.file, b); err != nil {
		return "", Usagef("--settings: %w", err)
	}
	return k.read.Architecture, nil
}

// Choose has an architecture be the file's, if there is a file and the flag was not given. Others
// than those of the command, of which it is said how they are told, are an error.
func (k *KnobFlags) Choose(cmd *cobra.Command, flag string, name *string,
	of func(architecture string) (string, bool)) error {
	a, err := k.Architecture()
	if err != nil || a == "" {
		return err
	}
	mine, ok := of(a)
	switch {
	case !ok:
		return Usagef("--settings: %s is of the architecture %s, which this command does not play; "+
			"{program} serve, mirror, peer and demo play one each", k.file, a)
	case !cmd.Flags().Changed(flag):
		*name = mine
	case *name != mine:
		return Usagef("--settings: %s is of the architecture %s, and --%s is %s: leave one of "+
			"them out", k.file, a, flag, *name)
	}
	return nil
}

// Values are what knobs are set to, of those that there are. What a flag of the command says is not
// said again.
func (k *KnobFlags) Values(cmd *cobra.Command, t *game.Title, architecture string,
	list []knob.Knob) (knob.Values, error) {
	out := knob.Values{}
	if k.read != nil {
		values, err := k.read.For(t.Name(), architecture, list)
		if err != nil {
			return nil, Usagef("--settings: %s: %w", k.file, err)
		}
		out = values
	}
	for name := range out {
		if knob, _ := knob.Find(list, name); knob.Flag != "" && cmd.Flags().Changed(knob.Flag) {
			delete(out, name)
		}
	}
	single := knob.Values{}
	for _, text := range k.list {
		name, value, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok {
			return nil, Usagef("--knob %q: write a name and a value, such as snapshots=30", text)
		}
		if _, twice := single[name]; twice {
			return nil, Usagef("--knob %s is there twice", name)
		}
		single[name] = value
	}
	values, err := knob.Read(architecture, list, single)
	if err != nil {
		return nil, Usagef("--knob: %w", err)
	}
	for name, v := range values {
		if knob, _ := knob.Find(list, name); knob.Flag != "" && cmd.Flags().Changed(knob.Flag) {
			return nil, Usagef("--knob %s and --%s say the same: leave one of them out", name,
				knob.Flag)
		}
		out[name] = v
	}
	return out, nil
}
