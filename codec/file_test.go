package codec

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// reseal gives data, taken for a tables file, the head and the checksum that it should have.
func reseal(s *Schema, data []byte) []byte {
	head := len(tablesMagic) + 32
	if len(data) < head+8 {
		return data
	}
	body := data[head : len(data)-8]
	if size, k := binary.Uvarint(body); k > 0 {
		body = body[k:]
		body = body[:min(size, uint64(len(body)))]
	}
	h := s.Hash()
	magic := tablesMagic
	if string(data[:len(compactMagic)]) == compactMagic {
		magic = compactMagic
	}
	out := append([]byte(magic), h[:]...)
	out = binary.AppendUvarint(out, uint64(len(body)))
	out = append(out, body...)
	sum := sha256.Sum256(out)
	return append(out, sum[:8]...)
}

func TestLoadTablesSaysWhatIsWrong(t *testing.T) {
	r := synthetic(1, 60)
	data := untrained(t, r.Schema).AppendTables(nil)
	other := *r.Schema
	other.Classes = other.Classes[:1]
	flip := func(at int) []byte {
		d := append([]byte(nil), data...)
		d[at] ^= 4
		return d
	}
	for _, test := range []struct {
		name   string
		schema *Schema
		data   []byte
		want   string
	}{
		{"empty", r.Schema, nil, "not a tables file"},
		{"another kind of file", r.Schema, []byte(strings.Repeat("PK", 100)), "not a tables file"},
		{"another game", &other, data, "made for another game"},
		{"cut short", r.Schema, data[:len(data)/2], "truncated"},
		{"too long", r.Schema, append(append([]byte(nil), data...), 0), "follow the end"},
		{"a flipped bit", r.Schema, flip(len(data) / 2), "checksum"},
		{"a body that ends early", r.Schema, reseal(r.Schema, data[:len(data)/2]), "truncated"},
	} {
		_, err := LoadTables(test.schema, test.data)
		if !errors.Is(err, ErrTables) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error about %q", test.name, err, test.want)
		}
	}
	if _, err := LoadTables(r.Schema, data); err != nil {
		t.Errorf("the tables themselves: %v", err)
	}
}

func TestSchemaValidate(t *testing.T) {
	for _, test := range []struct {
		name   string
		fields []Field
		want   string
	}{
		{"no fields", nil, "has 0 fields"},
		{"a range upside down", []Field{{Name: "a", Min: 1}}, "field a: min is greater"},
		{"a rate that is not there", []Field{{Name: "a", Rate: 3}}, "field a: its rate"},
		{"half a quaternion", []Field{{Name: "q", Max: 3, Kind: Quaternion}},
			"field q: a quaternion needs three parts"},
		{"a part alone", []Field{{Name: "p", Max: 9, Kind: QuaternionPart}},
			"field p: stands without"},
		{"no such kind", []Field{{Name: "a", Kind: 99}}, "field a: unknown kind"},
	} {
		s := &Schema{Name: "s", Classes: []Class{{Name: "c", Fields: test.fields}}}
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error about %q", test.name, err, test.want)
		}
		if _, err := Default(s); err == nil {
			t.Errorf("%s: Default takes it", test.name)
		}
	}
}
