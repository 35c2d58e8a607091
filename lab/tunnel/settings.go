package tunnel

import (
	"fmt"
	"os"
	"slices"

	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/knob/settings"
)

// readSettings reads the files of settings, and has their architectures played.
func (o *Options) readSettings() (map[string]*settings.File, error) {
	files := map[string]*settings.File{}
	for _, name := range o.Settings {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
		f, err := settings.Parse(name, b)
		if err != nil {
			return nil, err
		}
		if files[f.Architecture] != nil {
			return nil, fmt.Errorf("%s: two files are settings of %s", name, f.Architecture)
		}
		files[f.Architecture] = f
		if !slices.Contains(o.Architectures, f.Architecture) {
			o.Architectures = append(o.Architectures, f.Architecture)
		}
	}
	return files, nil
}

// setKnobs takes values from files of settings.
func (o *Options) setKnobs(files map[string]*settings.File) error {
	o.values = map[string]knob.Values{}
	course := Course{o.subject, o.fields, o.Players}
	for _, a := range o.archs {
		if f := files[a.Name]; f != nil {
			v, err := f.For(o.subject.Name(), a.Name, a.KnobsOn(course))
			if err != nil {
				return fmt.Errorf("settings of %s: %w", a.Name, err)
			}
			o.values[a.Name] = v
		}
	}
	return nil
}
