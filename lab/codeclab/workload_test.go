package codeclab_test

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/lab/codeclab"
	"github.com/coeval-dev/coeval/lab/workloads"
)

func TestSchemaIsUnderstood(t *testing.T) {
	l, err := codeclab.ParseSchema([]byte(tanksSchema))
	if err != nil {
		t.Fatal(err)
	}
	fields := []codec.Field{
		{Name: "x", Max: 65535, Kind: codec.Position, Rate: 2},
		{Name: "y", Max: 65535, Kind: codec.Position, Rate: 3},
		{Name: "vx", Min: -512, Max: 511, Kind: codec.Velocity, Rate: -1},
		{Name: "vy", Min: -512, Max: 511, Kind: codec.Velocity, Rate: -1},
		{Name: "turret", Max: 1023, Kind: codec.Angle, Rate: -1},
		{Name: "health", Max: 100, Rate: -1},
	}
	want := &codeclab.Layout{
		Schema: &codec.Schema{Name: "tanks", Classes: []codec.Class{
			{Name: "crate", Fields: fields, Reference: true},
			{Name: "carrier", Fields: fields},
			{Name: "tank", Fields: fields, Reference: true},
			{Name: "scout", Fields: fields, Reference: true},
		}},
		Classes: slices.Concat(slices.Repeat([]int{3}, 7), []int{1}, slices.Repeat([]int{2}, 12),
			slices.Repeat([]int{0}, 20)),
		Rate: 20, BaseAge: 3, Skip: 5, Refer: 7,
	}
	if diff := cmp.Diff(want, l); diff != "" {
		t.Error(diff)
	}
}

func TestBadSchemas(t *testing.T) {
	for _, x := range []struct{ old, new, want string }{
		{"", "", ""},
		{tanksSchema, "", "not a JSON file"},
		{tanksSchema, "\x28\xb5\x2f\xfd", "not a JSON file"},
		{`"rate_hz"`, `rate_hz`, "line 2: not a JSON file"},
		{`"min": 0, "max": 100 `, `"min": 0, "max": "100" `,
			"line 9: fields.max cannot be a string"},
		{`"max": 100 `, `"max": 10000000000 `, "fields.max cannot be a number 10000000000"},
		{`"name": "tanks", `, ``, "name is missing"},
		{`"entities": 40, `, ``, "entities is missing"},
		{`"rate_hz": 20, `, ``, "rate_hz is missing"},
		{`"base_age": 3, `, ``, "base_age is missing"},
		{`"skip": 5`, `"skop": 5`, "skip is missing"},
		{`"fields"`, `"field"`, "fields is missing"},
		{`"classes"`, `"class"`, "classes is missing"},
		{`{ "name": "vx", "min": -512,`, `{ "name": "vx",`,
			"fields[2].min (of field vx) is missing"},
		{`{ "name": "vx", `, `{ `, "fields[2].name is missing"},
		{`"name": "tank", "first": 8,`, `"name": "tank",`,
			"classes[2].first (of class tank) is missing"},
		{`"first": 8, "count": 12`, `"first": 8`, "classes[2].count (of class tank) is missing"},
		{`"entities": 40`, `"entities": 41`, "entity 40 is in none of the classes"},
		{`"entities": 40`, `"entities": 39`,
			"class crate has 20 entities from number 20; entities are numbered 0 to 38"},
		{`"entities": 40`, `"entities": 1000000000`, "entities is 1000000000; it must be 1 to"},
		{`"first": 8, "count": 12`, `"first": 8, "count": 13`,
			"classes crate and tank overlap: entity 20 is in both"},
		{`"first": 8, "count": 12`, `"first": 9, "count": 11`,
			"entity 8 is in none of the classes"},
		{`"first": 8, "count": 12`, `"first": 8, "count": 9223372036854775807`,
			"class tank has 9223372036854775807 entities"},
		{`"first": 8, "count": 12`, `"first": -8, "count": 12`,
			"class tank has 12 entities from number -8"},
		{`"rate_hz": 20`, `"rate_hz": 0`, "rate_hz is 0"},
		{`"base_age": 3`, `"base_age": 0`, "base_age is 0"},
		{`"skip": 5`, `"skip": -5`, "skip is -5"},
		{`"name": "vy"`, `"name": "vx"`, "two fields of the name vx"},
		{`"position": ["x", "y"]`, `"position": ["x", "z"]`,
			`hints.position names "z", which is none of the fields`},
		{`"angles": ["turret"]`, `"angles": ["x"]`, "hints.position and hints.angles both name x"},
		{`"position": ["x", "y"]`, `"position": ["x"]`, "they are paired by place"},
		{`"angles": ["turret"]`, `"quaternion": ["turret"]`, "hints.quaternion has 1 fields"},
		{`"angles": ["turret"]`, `"quaternion": ["health", "turret", "x", "y"]`, "both name x"},
		{`"reference_entity": 7`, `"reference_entity": 40`,
			"hints.reference_entity is 40; entities are numbered 0 to 39"},
		{`"min": 0, "max": 100 `, `"min": 200, "max": 100 `,
			"field health: min is greater than max"},
	} {
		_, err := codeclab.ParseSchema([]byte(strings.Replace(tanksSchema, x.old, x.new, 1)))
		switch {
		case x.want == "" && err != nil:
			t.Errorf("the schema that others are made from: %v", err)
		case x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)):
			t.Errorf("%s for %s: %v, want %q", x.new, x.old, err, x.want)
		}
	}
}

func TestFramesPlainAndCompressed(t *testing.T) {
	l, err := codeclab.ParseSchema([]byte(tanksSchema))
	if err != nil {
		t.Fatal(err)
	}
	data := tanksFrames(20)
	for name, file := range map[string][]byte{"plain": data, "zstd": compressed(t, data)} {
		r, err := l.ReadFrames(bytes.NewReader(file))
		if err != nil {
			t.Fatal(name, err)
		}
		var back []byte
		for f := range r.Frames {
			for e := range r.Classes {
				for _, v := range r.Image(f, e) {
					back = binary.LittleEndian.AppendUint32(back, uint32(v))
				}
			}
		}
		if !bytes.Equal(back, data) {
			t.Errorf("%s: came back differently", name)
		}
		if r.Rate != 20 || r.BaseAge != 3 || r.Skip != 5 || r.Refer != 7 {
			t.Errorf("%s: %d %d %d %d", name, r.Rate, r.BaseAge, r.Skip, r.Refer)
		}
	}
}

func TestBadFrames(t *testing.T) {
	l, err := codeclab.ParseSchema([]byte(tanksSchema))
	if err != nil {
		t.Fatal(err)
	}
	good := tanksFrames(20)
	packed := compressed(t, good)
	set := func(frame, entity, field int, v int32) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint32(b[((frame*40+entity)*6+field)*4:], uint32(v))
		return b
	}
	flipped := bytes.Clone(packed)
	flipped[len(flipped)/2] ^= 0x10
	for name, x := range map[string]struct {
		data []byte
		want string
	}{
		"cut": {
			good[:len(good)-7],
			"it ends 953 bytes into frame 19; 40 entities make frames of 960 bytes"},
		"a byte too long": {append(bytes.Clone(good), 0), "it ends 1 bytes into frame 20"},
		"empty":           {nil, "it has 0 frames"},
		"too short":       {good[:960*5], "it has 5 frames; with skip 5 it needs at least 6"},
		"above": {
			set(11, 8, 5, 101),
			"frame 11, entity 8 (tank), field health: 101 is not between 0 and 100"},
		"below": {
			set(3, 39, 2, -513),
			"frame 3, entity 39 (crate), field vx: -513 is not between -512 and 511"},
		"zstd cut":        {packed[:len(packed)-30], "the zstd stream is cut off"},
		"zstd cut early":  {packed[:9], "the zstd stream is cut off"},
		"zstd only magic": {packed[:4], "the zstd stream is"},
		"zstd flipped":    {flipped, "the zstd stream is damaged"},
		"zstd of cut":     {compressed(t, good[:len(good)-7]), "it ends 953 bytes into frame 19"},
		"zstd and trailing": {
			append(bytes.Clone(packed), "rubbish"...), "the zstd stream is damaged"},
	} {
		if _, err := l.ReadFrames(bytes.NewReader(x.data)); err == nil ||
			!strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	schema, frames := write("game.json", []byte(tanksSchema)),
		write("match.zst", compressed(t, tanksFrames(20)))
	if w, err := codeclab.Open(schema, frames); err != nil || w.Name != "tanks" ||
		len(w.Recording.Frames) != 20 {
		t.Errorf("%+v, %v", w, err)
	}
	missing := filepath.Join(dir, "nothing")
	for _, x := range []struct{ schema, frames, want string }{
		{missing, frames, missing + ": there is no such file"},
		{schema, missing, missing + ": there is no such file"},
		{dir, frames, dir + ": "},
		{schema, dir, dir + ": "},
		{frames, frames, "schema " + frames + ": "},
		{schema, schema, "frames " + schema + ": "},
		{write("large.json", make([]byte, 2<<20)), frames, "is larger than"},
	} {
		if _, err := codeclab.Open(x.schema, x.frames); err == nil ||
			!strings.Contains(err.Error(), x.want) {
			t.Errorf("%s and %s: %v, want %q", x.schema, x.frames, err, x.want)
		}
	}
}

// The bundled files are what the documents say they are.
func TestBundled(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs in one goroutine")
	}
	sizes := map[string][2]int{"cubes": {2837, 901}, "arena": {2000, 264}}
	for _, name := range workloads.Names() {
		w, err := codeclab.Bundled(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{len(w.Recording.Frames), len(w.Recording.Classes)}; got != sizes[name] ||
			w.Name != name {
			t.Errorf("%s has %d frames and entities, not %d", name, got, sizes[name])
		}
	}
	if _, err := codeclab.Bundled("chess"); err == nil ||
		!strings.Contains(err.Error(), `there is no workload "chess"`) {
		t.Error(err)
	}
	if names, err := fs.Glob(workloads.Files, "*_train*"); err != nil || len(names) > 0 {
		t.Errorf("%q would be part of every program", names)
	}
}
