package traces

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

const desyncLong = `Find out where and why two runs that should be the same are not.

A and B are two traces of one match, recorded on two machines, or two worlds that
were saved. From traces both runs are computed again side by side: the first tick
that differs is named, the first entity and field, both values, the commands
around it, and whether different things came in or the same was computed
differently, and by whom.

All that is needed to see it again goes into a folder, or into one file if the
name ends in .zip: both traces cut to the ticks around it, the world before, the
report, and a text that says what to do. Without --out it is desync-GAME-TICK in
the current folder; --out none writes nothing. Only you can read it: the world's
secret is in it.

The exit code is 0 if nothing differs, and 1 if something does.`

// DesyncCommand is the command desync.
func DesyncCommand(p *cli.Program) *cobra.Command {
	var out string
	asJSON, trusted := false, trust(false)
	cmd := &cobra.Command{
		Use:   "desync A B",
		Short: "Find the first tick, entity and field at which two runs differ",
		Long:  desyncLong,
		Example: `  {program} desync server.trace client.trace
  {program} desync server.trace client.trace --out report.zip --json
  {program} desync a.state b.state --out none`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return trusted.explain(
				desync(p, cmd.OutOrStdout(), args[0], args[1], out, asJSON, trusted))
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "",
		"folder or .zip `FILE` for what is needed to see it again; none for nothing")
	cli.JSONFlag(cmd, &asJSON)
	trusted.flag(cmd)
	return cmd
}

func desync(p *cli.Program, out io.Writer, a, b, bundle string, asJSON bool,
	trusted trust) error {
	if bundle != "" && bundle != "none" {
		if _, err := os.Lstat(bundle); err == nil {
			return fmt.Errorf("%s exists; choose another name for --out, or remove it first",
				bundle)
		}
	}
	f, err := openRecording(a)
	if err != nil {
		return err
	}
	defer f.Close()
	g, err := openRecording(b)
	if err != nil {
		return err
	}
	defer g.Close()
	rep, err := findDesync(p, f, g, a, b, trusted)
	if err != nil {
		return err
	}
	written := ""
	if rep.Cause != trace.CauseNone && bundle != "none" {
		if written, err = writeBundle(rep, bundle); err != nil {
			return err
		}
	}
	if err := printDesync(out, rep, written, asJSON); err != nil {
		return err
	}
	if rep.Cause != trace.CauseNone {
		return errors.New("the two differ")
	}
	return nil
}

// findDesync compares two files, which the report goes on reading from.
func findDesync(p *cli.Program, f, g *os.File, a, b string, t trust) (*trace.Report, error) {
	r, errA := trace.Open(f)
	_, errB := trace.Open(g)
	noA, noB := errors.Is(errA, trace.ErrNotTrace), errors.Is(errB, trace.ErrNotTrace)
	switch {
	case noA && noB:
		return desyncStates(p, f, g, a, b, t)
	case noA:
		return nil, fmt.Errorf("%s is a trace and %s is not; give two of a kind", b, a)
	case noB:
		return nil, fmt.Errorf("%s is a trace and %s is not; give two of a kind", a, b)
	case errA != nil:
		return nil, fmt.Errorf("%s: %w", a, errA)
	case errB != nil:
		return nil, fmt.Errorf("%s: %w", b, errB)
	}
	game, err := recorded(p, r.Header())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	for _, file := range []*os.File{f, g} {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return trace.DesyncWithin(game, f, g, t.limits())
}

// maxSaved is the largest saved world that is read.
const maxSaved = 256 << 20

// desyncStates compares saved worlds of whichever game they are of.
func desyncStates(p *cli.Program, f, g *os.File, a, b string, trusted trust) (*trace.Report,
	error) {
	var saved [2][]byte
	for i, file := range []*os.File{f, g} {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		var err error
		if saved[i], err = cli.ReadUpTo(file, file.Name(), maxSaved); err != nil {
			return nil, err
		}
	}
	for _, t := range p.List {
		rep, err := trace.DesyncStatesWithin(t.Game, saved[0], saved[1],
			trusted.limits().World)
		if !errors.Is(err, world.ErrGame) {
			return rep, err
		}
	}
	return nil, fmt.Errorf(
		"%s and %s are neither traces nor saved worlds of a game that this program has (%s), in "+
			"this version of it", a, b, p.Names())
}

func printDesync(out io.Writer, rep *trace.Report, bundle string, asJSON bool) error {
	if asJSON {
		data, err := json.Marshal(rep)
		if err != nil {
			return err
		}
		if bundle != "" {
			name, err := json.Marshal(bundle)
			if err != nil {
				return err
			}
			data = append(bytes.TrimSuffix(data, []byte("}")), `,"bundle":`+string(name)+"}"...)
		}
		_, err = fmt.Fprintf(out, "%s\n", data)
		return err
	}
	if _, err := io.WriteString(out, rep.String()); err != nil || bundle == "" {
		return err
	}
	_, err := fmt.Fprintf(out, "\nwhat is needed to see it again is in %s\n", bundle)
	return err
}

// writeBundle puts the files of a bundle where they were wanted, and says where.
func writeBundle(rep *trace.Report, name string) (string, error) {
	files, err := rep.Bundle()
	if err != nil {
		return "", err
	}
	if name == "" {
		base := fmt.Sprintf("desync-%s-%d", rep.Game, rep.Tick)
		name = base
		for n := 2; exists(name); n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
	}
	if strings.EqualFold(filepath.Ext(name), ".zip") {
		return name, writeZip(files, name)
	}
	if err := os.Mkdir(name, 0o700); err != nil {
		return "", fmt.Errorf("%s cannot be made: %w", name, errors.Unwrap(err))
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(name, f.Name), f.Data, 0o600); err != nil {
			return "", err
		}
	}
	return name, nil
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

func writeZip(files []trace.File, name string) error {
	out, err := cli.CreatePrivate(name)
	if err != nil {
		return err
	}
	defer out.Abandon()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, f := range files {
		w, err := z.Create(f.Name)
		if err == nil {
			_, err = w.Write(f.Data)
		}
		if err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return out.Commit(buf.Bytes())
}
