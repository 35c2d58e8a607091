//go:build !js

package codec

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/lab/codeclab"
)

const inspectLong = `Say what a tables file holds and whether it is sound.

Tables know the schema that they were made for only by its hash. Those of the
bundled workloads are recognised; for others name the schema file.`

func inspectCommand() *cobra.Command {
	var schema string
	asJSON := false
	cmd := &cobra.Command{
		Use:   "inspect FILE.tables",
		Short: "Say what a tables file holds",
		Long:  inspectLong,
		Example: "  {program} codec inspect lab/workloads/arena.tables\n  {program} codec " +
			"inspect --schema game.json game.tables --json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := describeTables(args[0], schema)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(d)
			}
			return d.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&schema, "schema", "", "schema `FILE` that the tables were made for")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// tablesInfo is what there is to say about a tables file. The JSON names are for scripts and stay.
type tablesInfo struct {
	File    string      `json:"file"`
	Bytes   int         `json:"bytes"`
	Hash    string      `json:"hash"`
	Schema  string      `json:"schema"`
	Belongs string      `json:"schema_hash"`
	Classes []classInfo `json:"classes"`
}

type classInfo struct {
	Name   string `json:"name"`
	Fields int    `json:"fields"`
	Bits   int    `json:"bits"` // of an image, packed
}

func describeTables(name, schemaName string) (*tablesInfo, error) {
	data, err := codeclab.ReadTables(name)
	if err != nil {
		return nil, err
	}
	var schema *codec.Schema
	if schemaName != "" {
		layout, err := codeclab.OpenSchema(schemaName)
		if err != nil {
			return nil, err
		}
		schema = layout.Schema
	} else if schema, err = recognise(name, data); err != nil {
		return nil, err
	}
	model, err := codec.LoadTables(schema, data)
	if err != nil {
		return nil, fmt.Errorf("tables %s: %w", name, err)
	}
	hash, belongs := model.Hash(), schema.Hash()
	d := &tablesInfo{
		File:    name,
		Bytes:   len(data),
		Hash:    hex.EncodeToString(hash[:]),
		Schema:  schema.Name,
		Belongs: hex.EncodeToString(belongs[:]),
	}
	for _, c := range schema.Classes {
		info := classInfo{Name: c.Name, Fields: len(c.Fields)}
		for _, f := range c.Fields {
			info.Bits += bits.Len64(uint64(int64(f.Max) - int64(f.Min)))
		}
		d.Classes = append(d.Classes, info)
	}
	return d, nil
}

// recognise finds the bundled schema that tables belong to.
func recognise(name string, data []byte) (*codec.Schema, error) {
	schemas, err := codeclab.BundledSchemas()
	if err != nil {
		return nil, err
	}
	for _, s := range schemas {
		if codec.TablesFit(s, data) {
			return s, nil
		}
	}
	if bytes.HasPrefix(data, []byte("coeval tables ")) {
		return nil, fmt.Errorf(
			"tables %s: they are for none of the bundled schemas; name theirs with --schema "+
				"FILE.json", name)
	}
	_, err = codec.LoadTables(schemas[0], data) // says what is wrong with it
	return nil, fmt.Errorf("tables %s: %w", name, err)
}

func (d *tablesInfo) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "tables\t%s, %d bytes, sound\n", d.File, d.Bytes)
	fmt.Fprintf(w, "hash\t%s\n", d.Hash)
	fmt.Fprintf(w, "schema\t%s\n", d.Schema)
	fmt.Fprintf(w, "schema hash\t%s\n", d.Belongs)
	for _, c := range d.Classes {
		fmt.Fprintf(w, "class\t%s, %d fields, %d bits packed\n", c.Name, c.Fields, c.Bits)
	}
	return w.Flush()
}
