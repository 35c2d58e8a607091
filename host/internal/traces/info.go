package traces

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

const traceLong = `Look into recordings of runs, repeat and compare them.

A trace holds the world a run began with and everything that came in afterwards,
so that the run can be repeated, to the same hashes on every machine. A file that
was cut or damaged can be used up to there, and each command says where that is.
A folder in which a game is kept (--keep) stands for its newest chapter.`

// Command is the command trace.
func Command(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Look into recordings of runs, repeat and compare them",
		Long:  traceLong,
		Example: `  {program} trace info match.trace
  {program} trace replay match.trace
  {program} trace diff server.trace client.trace`,
	}
	cmd.AddCommand(infoCommand(p), replayCommand(p), diffCommand(), joinCommand())
	return cmd
}

// openTrace opens a file as a trace. Whoever calls it closes the file.
func openTrace(name string, t trust) (*os.File, *trace.Reader, error) {
	f, err := openRecording(name)
	if err != nil {
		return nil, nil, err
	}
	r, err := trace.OpenWithin(f, t.limits())
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, r, nil
}

// openRecording opens a recording. A folder of --keep is its newest chapter.
func openRecording(name string) (*os.File, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file", name)
	}
	if err != nil {
		return nil, err
	}
	list, notFolder := f.ReadDir(-1)
	if notFolder != nil {
		return f, nil
	}
	_ = f.Close() // it was only read
	newest := ""
	for _, e := range list {
		if keep.Named(e.Name()) && strings.HasSuffix(e.Name(), ".trace") {
			newest = max(newest, e.Name())
		}
	}
	if newest == "" {
		return nil, fmt.Errorf("%s: it is a folder, and not one in which a game was kept", name)
	}
	return os.Open(filepath.Join(name, newest))
}

// unended says what is to be known of a chapter of --keep that has no end, or nothing if what is
// wrong is something else: its program runs, or went without a word, and what is there is whole.
func unended(f *os.File, wrong error) string {
	if !errors.Is(wrong, trace.ErrCut) || !keep.Named(filepath.Base(f.Name())) {
		return ""
	}
	return "it is a chapter of a game that is being kept, and has no end: it is still being written, " +
		"or its program was stopped"
}

// recorded finds the game of a trace among those that this program has.
func recorded(p *cli.Program, h *trace.Header) (*world.Game, error) {
	if t, err := p.Title(h.Game); err == nil {
		return t.Game, h.Fits(t.Game)
	}
	return nil, fmt.Errorf(
		"it is of game %q, and this program has only %s; repeat it with a program that has the "+
			"game, such as the one that recorded it: %s",
		h.Game, p.Names(), h.Build)
}

// Find opens a recording, or the newest chapter of a folder of --keep, and finds its title in the
// program. A remark is what one should know of it. Whoever calls it closes the file.
func Find(p *cli.Program, name string, l trace.Limits) (f *os.File, t *game.Title, remark string,
	err error) {
	if f, err = openRecording(name); err != nil {
		return nil, nil, "", err
	}
	r, err := trace.OpenWithin(f, l)
	if err == nil {
		_, err = recorded(p, r.Header())
	}
	if err == nil {
		t, err = p.Title(r.Header().Game)
	}
	if err != nil {
		_ = f.Close() // it was only read
		return nil, nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return f, t, buildNote(r.Header()), nil
}

// buildNote says that another program recorded, where that is known.
func buildNote(h *trace.Header) string {
	here := recording.Build()
	known := func(b trace.Build) bool {
		return b.Revision != "" || b.Version != "" && b.Version != "(devel)"
	}
	if !known(h.Build) || !known(here) || h.Build.SameSource(here) {
		return ""
	}
	return fmt.Sprintf(
		"it was recorded by another build, %s, and this is %s; if the hashes differ, the rules "+
			"may have changed in between", h.Build, here)
}

// info is what trace info prints as JSON. The names are for scripts and stay.
type info struct {
	File         string      `json:"file"`
	Game         string      `json:"game"`
	Declarations string      `json:"declarations"`
	Build        trace.Build `json:"build"`
	Note         string      `json:"note,omitempty"`
	Rate         int         `json:"rate"`
	Seed         uint64      `json:"seed"`
	First        world.Tick  `json:"first_tick"`
	Last         world.Tick  `json:"last_tick"`
	Seconds      float64     `json:"seconds"`
	Players      int         `json:"players"` // the most at once
	Joins        int         `json:"joins"`
	Leaves       int         `json:"leaves"`
	Commands     int         `json:"commands"`
	Told         int         `json:"told"` // of knobs, content, answers and messages
	Hashes       int         `json:"hashes"`
	States       int         `json:"states"`
	Bytes        int64       `json:"bytes"` // that can be used
	FileBytes    int64       `json:"file_bytes"`
	PerSecond    float64     `json:"bytes_per_second"`
	StateBytes   int64       `json:"state_bytes"`
	Damage       string      `json:"damage,omitempty"`
	Unended      string      `json:"unended,omitempty"`
	Replayable   bool        `json:"replayable"` // by this program
	Needed       string      `json:"needed,omitempty"`
}

func infoCommand(p *cli.Program) *cobra.Command {
	var asJSON bool
	var trusted trust
	cmd := &cobra.Command{
		Use:   "info FILE",
		Short: "Say what a trace is a recording of",
		Long: `Say what a trace is a recording of: game, build, seed, ticks, players and size,
whether it is whole, and whether this program can repeat it.

It works for traces of any game. The exit code is 1 if the file is damaged or cut; a
chapter of --keep that is still being written is neither.`,
		Example: "  {program} trace info match.trace\n  {program} trace info --json match.trace",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			i, err := inspect(p, args[0], trusted)
			if err != nil {
				return trusted.explain(err)
			}
			err = cli.Print(cmd.OutOrStdout(), i, asJSON)
			if err == nil && i.Damage != "" {
				err = fmt.Errorf("%s: %s", i.File, i.Damage)
			}
			return err
		},
	}
	cli.JSONFlag(cmd, &asJSON)
	trusted.flag(cmd)
	return cmd
}

func inspect(p *cli.Program, name string, t trust) (*info, error) {
	f, r, err := openTrace(name, t)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Stat()
	if err != nil {
		return nil, err
	}
	for err == nil {
		_, err = r.Next()
	}
	h, c := r.Header(), r.Counts()
	i := &info{File: name, Game: h.Game, Declarations: fmt.Sprintf("%016x", h.Declarations),
		Build: h.Build, Note: h.Note, Rate: h.Rate, Seed: h.Seed,
		First: h.First, Last: r.Tick(), Seconds: float64(c.Ticks) / float64(h.Rate),
		Players: c.MostPlayers, Joins: c.Joins, Leaves: c.Leaves, Commands: c.Commands,
		Told:   c.Told,
		Hashes: c.Hashes, States: c.States, Bytes: c.Bytes, FileBytes: size.Size(),
		StateBytes: c.StateBytes}
	if i.Seconds > 0 {
		i.PerSecond = float64(c.Bytes) / i.Seconds
	}
	switch {
	case err == io.EOF:
	case unended(f, err) != "":
		i.Unended = unended(f, err)
	case errors.Is(err, trace.ErrDamaged) || errors.Is(err, trace.ErrCut):
		i.Damage = err.Error()
	default:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := recorded(p, h); err != nil {
		i.Needed = err.Error()
	} else {
		i.Replayable, i.Needed = true, buildNote(h)
	}
	return i, nil
}

// String is what people are told.
func (i *info) String() string {
	var rows cli.Rows
	row := rows.Add
	row("game", "%s, declarations %s", i.Game, i.Declarations)
	row("build", "%s", i.Build)
	if i.Note != "" {
		row("note", "%s", i.Note)
	}
	row("seed", "%d", i.Seed)
	row("ticks", "%d to %d, %d a second: %v", i.First, i.Last, i.Rate,
		time.Duration(i.Seconds*float64(time.Second)).Round(10*time.Millisecond))
	row("players", "%d at most; %d joins, %d leaves", i.Players, i.Joins, i.Leaves)
	row("holds", "%d commands, %d hashes, %d states", i.Commands, i.Hashes, i.States)
	if i.Told > 0 {
		row("told", "%d changes of knobs and content, answers and messages", i.Told)
	}
	row("size", "%d bytes, %.0f a second; %d of them in states", i.Bytes, i.PerSecond, i.StateBytes)
	if i.Damage != "" {
		row("damage", "%s", i.Damage)
	} else {
		row("damage", "none")
	}
	if i.Unended != "" {
		row("remark", "%s", i.Unended)
	}
	switch {
	case !i.Replayable:
		row("replay", "not by this program: %s", i.Needed)
	case i.Needed != "":
		row("replay", "by this program; but %s", i.Needed)
	default:
		row("replay", "by this program")
	}
	return rows.String()
}
