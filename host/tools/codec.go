//go:build !js

package tools

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
)

func codecCommand(p *host.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "codec",
		Short: "Make and look at the tables that keep snapshots small",
		Long: `Make and look at the tables that keep snapshots small.

The codec works for any game as it is. Tables tell it beforehand how the things
in your game tend to move and change; they are made once from recordings and
shipped with the game, the same to server and clients.`,
		Example: `  {program} codec train --schema game.json --out game.tables monday.zst tuesday.zst
  {program} codec inspect --schema game.json game.tables`,
	}
	cmd.AddCommand(codecTrainCommand(), codecPlayCommand(p), codecInspectCommand())
	return cmd
}

const codecTrainLong = `Make tables from recordings of your game.

The schema names entities, fields and classes as lab/workloads/arena.json does.
Recordings hold 32-bit little-endian integers by frame, entity and field, plain
or compressed by zstd. A few minutes of play with everything in it that the game
has are enough; measure on a recording that you did not train on, by
{program} bench codec --schema --frames --tables.

The file appears only when it is complete; one of the same name stays as it is
until then.`

func codecTrainCommand() *cobra.Command {
	var schema, out string
	cmd := &cobra.Command{
		Use:     "train --schema FILE.json --out FILE.tables RECORDING...",
		Short:   "Make tables from recordings",
		Long:    codecTrainLong,
		Example: "  {program} codec train --schema game.json --out game.tables monday.zst tuesday.zst",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return trainTables(cmd, schema, out, args)
		},
	}
	cmd.Flags().StringVar(&schema, "schema", "", "schema `FILE` of the recordings")
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write the tables to")
	for _, name := range []string{"schema", "out"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // only if the flag did not exist
		}
	}
	return cmd
}

func trainTables(cmd *cobra.Command, schema, out string, names []string) error {
	bar := cli.NewProgress(cmd.ErrOrStderr())
	defer bar.Clear()
	layout, err := lab.OpenSchema(schema)
	if err != nil {
		return err
	}
	file, err := cli.CreateWhole(out) // before the long work, in case it cannot be written
	if err != nil {
		return err
	}
	defer file.Abandon()
	var recordings []*codec.Recording
	frames := 0
	for i, name := range names {
		bar.Show(0, fmt.Sprintf("reading %s", name))
		r, err := layout.OpenFrames(name)
		if err != nil {
			return fmt.Errorf("%w (recording %d of %d)", err, i+1, len(names))
		}
		recordings = append(recordings, r)
		frames += len(r.Frames)
	}
	model, err := train(cmd.Context(), layout.Schema, recordings, func(done float64) { bar.Show(done, "training") })
	if err != nil {
		return err
	}
	tables := model.AppendTables(nil)
	if err := file.Commit(tables); err != nil {
		return err
	}
	bar.Clear()
	hash := model.Hash()
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes from %d frames, hash %s\n", out, len(tables), frames, hex.EncodeToString(hash[:8]))
	return err
}

// train lets Ctrl-C end work that knows nothing of it.
func train(ctx context.Context, s *codec.Schema, recordings []*codec.Recording, progress func(float64)) (*codec.Model, error) {
	type result struct {
		model *codec.Model
		err   error
	}
	// The bar is drawn here, so that nothing is printed once this has returned.
	share := make(chan float64)
	finished := make(chan result, 1)
	go func() {
		m, err := codec.Train(s, recordings, codec.TrainOptions{Progress: func(done float64) {
			select {
			case share <- done:
			case <-ctx.Done():
			}
		}})
		finished <- result{m, err}
	}()
	for {
		select {
		case done := <-share:
			progress(done)
		case r := <-finished:
			return r.model, r.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

const codecInspectLong = `Say what a tables file holds and whether it is sound.

Tables know the schema that they were made for only by its hash. Those of the
bundled workloads are recognised; for others name the schema file.`

func codecInspectCommand() *cobra.Command {
	var schema string
	asJSON := false
	cmd := &cobra.Command{
		Use:     "inspect FILE.tables",
		Short:   "Say what a tables file holds",
		Long:    codecInspectLong,
		Example: "  {program} codec inspect lab/workloads/arena.tables\n  {program} codec inspect --schema game.json game.tables --json",
		Args:    cobra.ExactArgs(1),
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
	data, err := lab.ReadTables(name)
	if err != nil {
		return nil, err
	}
	var schema *codec.Schema
	if schemaName != "" {
		layout, err := lab.OpenSchema(schemaName)
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
			for span := int64(f.Max) - int64(f.Min); span > 0; span >>= 1 {
				info.Bits++
			}
		}
		d.Classes = append(d.Classes, info)
	}
	return d, nil
}

// recognise finds the bundled schema that tables belong to.
func recognise(name string, data []byte) (*codec.Schema, error) {
	schemas, err := lab.BundledSchemas()
	if err != nil {
		return nil, err
	}
	for _, s := range schemas {
		if codec.TablesFit(s, data) {
			return s, nil
		}
	}
	if bytes.HasPrefix(data, []byte("coeval tables ")) {
		return nil, fmt.Errorf("tables %s: they are for none of the bundled schemas; name theirs with --schema FILE.json", name)
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
