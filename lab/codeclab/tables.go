package codeclab

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/lab/workloads"
)

// Tables are what the codec knows of a game beforehand.
type Tables struct {
	Name string // where they come from, for people
	Data []byte // nil for the defaults that suit any game
}

// BundledTables finds the tables for a schema among those that come with the program, or gives the
// defaults.
func BundledTables(s *codec.Schema) Tables {
	for _, name := range workloads.Names() {
		data, err := workloads.Files.ReadFile(name + ".tables")
		if err == nil && codec.TablesFit(s, data) {
			return Tables{fmt.Sprintf("bundled, trained on %s_train", name), data}
		}
	}
	return Tables{Name: "defaults, untrained"}
}

// OpenTables reads a tables file and checks that it is for the schema.
func OpenTables(name string, s *codec.Schema) (Tables, error) {
	data, err := ReadTables(name)
	if err != nil {
		return Tables{}, err
	}
	m, err := codec.LoadTables(s, data)
	if err != nil {
		return Tables{}, fmt.Errorf("tables %s: %w", name, err)
	}
	hash := m.Hash()
	return Tables{fmt.Sprintf("%s (%s)", name, hex.EncodeToString(hash[:4])), data}, nil
}

func (t Tables) strategy(s *codec.Schema) (codec.Strategy, error) {
	var m *codec.Model
	var err error
	if t.Data == nil {
		m, err = codec.Default(s)
	} else {
		m, err = codec.LoadTables(s, slices.Clone(t.Data))
	}
	if err != nil {
		return nil, err
	}
	return m.Strategy(), nil
}

// ReadTables reads a tables file without looking inside, for codec.LoadTables.
func ReadTables(name string) ([]byte, error) { return readFile(name, maxTablesFile) }

// BundledSchemas gives the schemas of the bundled workloads, to recognise tables by.
func BundledSchemas() ([]*codec.Schema, error) {
	var all []*codec.Schema
	for _, name := range workloads.Names() {
		l, err := bundledLayout(name)
		if err != nil {
			return nil, err
		}
		all = append(all, l.Schema)
	}
	return all, nil
}
