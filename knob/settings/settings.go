// Package settings keeps what knobs are set to in a file, for the programs of a game: lab tune
// writes it, and serve, mirror, peer, demo and lab run read it.
//
//	{
//		"version": 1,
//		"game": "arena",
//		"architecture": "quake3",
//		"knobs": {"snapshots": 30, "interpolate": "60ms", "game.reach": 18},
//		"about": "..."
//	}
//
// Knobs whose names begin with "game." are the title's own.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/coeval-dev/coeval/knob"
)

// Version is that of files.
const Version = 1

// A File is what a file of settings says.
type File struct {
	Version int `json:"version"`
	// Game is the title's name, and Architecture how it is played, as lab run names it.
	Game         string `json:"game"`
	Architecture string `json:"architecture"`
	// Knobs are what is chosen. A knob that is not there has its default.
	Knobs Knobs `json:"knobs"`
	// About is for people: what the choice rests on.
	About string `json:"about,omitempty"`
}

// Bounds of a file.
const (
	maxSize  = 64 << 10
	maxKnobs = 256
)

// Knobs are values as JSON has them: numbers, and texts for all else.
type Knobs knob.Values

// MarshalJSON writes them in the order of their names.
func (k Knobs) MarshalJSON() ([]byte, error) {
	out := map[string]any{}
	for name, text := range k {
		if _, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) {
			out[name] = json.Number(text)
		} else {
			out[name] = text
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads them. A knob that is there twice is an error.
func (k *Knobs) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("knobs must be an object with a value for each name")
	}
	*k = Knobs{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if _, twice := (*k)[name]; twice {
			return fmt.Errorf("knob %q is there twice", name)
		}
		if t, err = d.Token(); err != nil {
			return err
		}
		switch v := t.(type) {
		case string:
			(*k)[name] = v
		case json.Number:
			(*k)[name] = v.String()
		default:
			return fmt.Errorf("knob %q: give a number or a text", name)
		}
		if len(*k) > maxKnobs {
			return fmt.Errorf("more than %d knobs", maxKnobs)
		}
	}
	return nil
}

// Parse reads a file; the name is for errors. Whether the knobs are there and may be so, For says.
func Parse(name string, b []byte) (*File, error) {
	if len(b) > maxSize {
		return nil, fmt.Errorf("%s: %d bytes; settings have at most %d", name, len(b), maxSize)
	}
	var v struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("%s: this is no file of settings, which lab tune writes: %w", name,
			err)
	}
	if v.Version != Version {
		return nil, fmt.Errorf("%s: settings of version %d, and this program reads version %d: "+
			"find them anew with lab tune", name, v.Version, Version)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var f File
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: something follows after the settings", name)
	}
	if f.Game == "" || f.Architecture == "" {
		return nil, fmt.Errorf("%s: it does not say of which game and architecture it is", name)
	}
	return &f, nil
}

// For gives the values for the knobs that there are, each in its one form. Settings of another game
// or architecture, unknown knobs and bad values are errors.
func (f *File) For(game, architecture string, list []knob.Knob) (knob.Values, error) {
	switch {
	case f.Game != game:
		return nil, fmt.Errorf("these are settings of the game %s, and this is %s", f.Game, game)
	case f.Architecture != architecture:
		return nil, fmt.Errorf("these are settings of the architecture %s, and this is %s",
			f.Architecture, architecture)
	}
	return knob.Read(architecture, list, knob.Values(f.Knobs))
}

// Encode is the file as it is written.
func (f *File) Encode() ([]byte, error) {
	out := *f
	out.Version = Version
	b, err := json.MarshalIndent(out, "", "\t")
	return append(b, '\n'), err
}

// Names are those of the knobs that are set, in order.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.Knobs)) }
