//go:build !js

package replays

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/traces"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

const long = `Open a recording in the browser: play, pause, step, and go to any tick.

FILE is what --record wrote, of serve, mirror or play, or a folder in which a game is
kept (--keep). The page shows the match as the title draws it, every entity with its
fields, what happened in each tick, and a time line with what one may want to jump to.

With recordings of several machines of one match the page shows the same instant of
each side by side, and every field in which they differ. In "what if" a player does
something else from a tick on, and the match runs on from there.

A part can be saved as a GIF, and as a small trace with the line of Go for a test
that asserts it.

The page answers on this machine only. A file that is damaged or cut off is shown up
to there, and says so; one of another game, or of rules that were declared otherwise,
is refused.`

// flags are what the command line says.
type flags struct {
	port   int
	noOpen bool
	trust  bool
	json   bool
}

// Command is the command replay.
func Command(p *cli.Program) *cobra.Command {
	var o flags
	cmd := &cobra.Command{
		Use:   "replay FILE...",
		Short: "Open a recording in the browser: any tick, side by side, what if",
		Long:  long,
		Example: `  {program} replay match.trace
  {program} replay server.trace mirror.trace
  {program} replay --no-open --json match.trace`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which recording? Give the file that --record wrote")
			}
			if len(args) > mostFiles {
				return fmt.Errorf("%d recordings are too many; at most %d are shown side by side",
					len(args), mostFiles)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(p, cmd, args) },
	}
	f := cmd.Flags()
	f.IntVar(&o.port, "port", 0, "of the page; 0 for any that is free")
	f.BoolVar(&o.noOpen, "no-open", false, "print the address and open no browser")
	f.BoolVar(&o.trust, "trust", false,
		"let the files take more memory than their size accounts for: they come from someone you "+
			"know")
	cli.JSONFlag(cmd, &o.json)
	return cmd
}

// mostFiles is how many recordings are shown side by side.
const mostFiles = 8

// opened is what replay prints as JSON, when the page is there. The names are for scripts and stay.
type opened struct {
	URL     string       `json:"url"`
	Game    string       `json:"game"`
	Files   []openedFile `json:"files"`
	Remarks []string     `json:"remarks,omitempty"`
}

type openedFile struct {
	Name   string     `json:"name"`
	First  world.Tick `json:"first_tick"`
	Last   world.Tick `json:"last_tick"`
	Damage string     `json:"damage,omitempty"`
}

// String is what people are told.
func (o *opened) String() (text string) {
	for _, f := range o.Files {
		text += fmt.Sprintf("%s: %s, ticks %d to %d\n", f.Name, o.Game, f.First, f.Last)
		if f.Damage != "" {
			text += "  " + f.Damage + "; it is shown up to there\n"
		}
	}
	for _, r := range o.Remarks {
		text += "note: " + r + "\n"
	}
	return text + fmt.Sprintf("the recording is at %s   (Ctrl-C ends it)\n", o.URL)
}

func (o *flags) run(p *cli.Program, cmd *cobra.Command, names []string) (err error) {
	s, close, err := o.open(p, names)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, close()) }()
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", o.port))
	if err != nil {
		return fmt.Errorf("the page cannot have port %d: %w; choose another by --port", o.port, err)
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	said := s.serve(ctx, l)
	defer func() {
		cancel()
		<-said
	}()
	what := opened{URL: "http://" + l.Addr().String() + "/", Game: s.title.Name(), Remarks: s.marks}
	for i, f := range s.films {
		one := openedFile{Name: names[i], First: f.seeker.First(), Last: f.seeker.Last()}
		if d := f.seeker.Damage(); d != nil {
			one.Damage = d.Error()
		}
		what.Files = append(what.Files, one)
	}
	if err := cli.Print(cmd.OutOrStdout(), &what, o.json); err != nil {
		return err
	}
	if !o.noOpen && !o.json {
		cli.OpenBrowser(ctx, cmd.OutOrStdout(), what.URL)
	}
	<-ctx.Done()
	return nil
}

// open opens all recordings, which are of one match of a title of this program.
func (o *flags) open(p *cli.Program, names []string) (s *site, close func() error, err error) {
	s = &site{}
	var files []io.Closer
	closeAll := func() (err error) {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	var limits trace.Limits
	if o.trust {
		limits.States, limits.World.Memory = math.MaxInt64, math.MaxInt64
	}
	for _, name := range names {
		file, t, remark, err := traces.Find(p, name, limits)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, file)
		if s.title == nil {
			s.title = t
		}
		if t != s.title {
			return nil, nil, fmt.Errorf("%s is a recording of %s and %s one of %s: give "+
				"recordings of one match", names[0], s.title.Name(), name, t.Name())
		}
		f, err := newFilm(t, file, limits)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(s.films) > 0 {
			if err := apart(s.films[0], f); err != nil {
				return nil, nil, err
			}
		}
		f.hashed = true // what would have been is compared with it
		if remark != "" {
			s.marks = append(s.marks, f.name+": "+remark)
		}
		s.films = append(s.films, f)
	}
	return s, closeAll, nil
}

// serve answers until the context ends, and says when it has.
func (s *site) serve(ctx context.Context, l net.Listener) (ended <-chan struct{}) {
	s.ctx = ctx
	films := s.films
	s.films = nil
	for _, f := range films {
		s.show(f)
	}
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 15,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan struct{})
	s.work.Go(func() { _ = web.Serve(l) }) // it ends when it is closed
	go func() {
		<-ctx.Done()
		_ = web.Close()
		s.work.Wait()
		close(done)
	}()
	return done
}
