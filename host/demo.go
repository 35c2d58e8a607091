//go:build !js

package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/web"
)

const demoLong = `Play a game in a browser, over a network that you can make worse.

One process: a server, bots, a simulated network between the browser and the server,
and a page on this machine. Open the address that it prints. The page is there at
once; the first time the game is then compiled for the browser, which takes a while, and
from then on it is kept.

Beside the game is a panel: presets and sliders for the network, plots of the round
trip, of bytes and of how wrong predictions were, and where each of the server's
bytes goes. In the arena, N shows a net graph, O outlines where the server last said
things were, P changes how the game is predicted, and H lists the other keys. A game
without a client of its own is drawn with characters; arrows or w, a, s, d and the
space bar play.

Two windows see each other. So do programs without a browser, on the same server:

  {program} join 127.0.0.1:8080
  {program} bots --server 127.0.0.1:8080 --count 20

With --mirrors there are several servers that stay one game, with the network
between them, and a player on each, side by side: kill one, cut the ways between
them, and see how the game goes on.

Networks: %s`

const demoExample = `  {program} demo
  {program} demo --preset lte --bots 20
  {program} demo --port 0 --style quake3 --no-open
  {program} demo --map mine.txt
  {program} demo --mirrors 3 --preset transatlantic
  {program} demo --mirrors 3 --preset transatlantic --timeline trailing --delays 0,100ms,1s`

// demo is what the command line says.
type demo struct {
	port   int
	level  string
	bots   int
	preset string
	style  string
	seed   uint64
	noOpen bool
	build  string

	title *game.Title

	mirrored bool
	mirrors  int
	timeline string
	delays   []string
	parsed   kinds.Delays // the same
}

func (p *Program) demoCommand() *cobra.Command {
	var d demo
	cmd := &cobra.Command{
		Use:       p.optional("demo"),
		Short:     "Play a game in the browser, on a bad network, with the wires showing",
		Long:      fmt.Sprintf(demoLong, strings.Join(cli.Presets(), ", ")),
		Example:   demoExample,
		ValidArgs: p.names(),
		Args:      p.optionalGame,
		RunE: func(cmd *cobra.Command, args []string) error {
			d.title = p.Titles[0]
			if len(args) > 0 {
				var err error
				if d.title, err = p.gameOf(args); err != nil {
					return err
				}
			}
			for _, name := range []string{"timeline", "delays"} {
				if cmd.Flags().Changed(name) && !cmd.Flags().Changed("mirrors") {
					return cli.Usagef("--%s goes with --mirrors, such as --mirrors 3", name)
				}
			}
			d.mirrored = cmd.Flags().Changed("mirrors")
			return d.run(cmd)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&d.port, "port", "p", 8080, "port of the page, and over UDP of the game; 0 for any that is free")
	f.StringVarP(&d.level, "map", "m", "", "where to play: a level's name, or a file with one (default: the game's own)")
	f.IntVarP(&d.bots, "bots", "n", 12, "how many bots play along")
	f.StringVar(&d.preset, "preset", "cable", "the network to begin with: "+strings.Join(cli.Presets(), ", "))
	f.StringVar(&d.style, "style", "doom3", "prediction to begin with: "+styleNames)
	f.Uint64Var(&d.seed, "seed", 0, "random seed (default: drawn)")
	f.BoolVar(&d.noOpen, "no-open", false, "print the address, and open no browser")
	f.IntVar(&d.mirrors, "mirrors", 0, "as many servers that mirror one game, from 2 to 5, with the network between them")
	f.StringVar(&d.timeline, "timeline", "auto", "with --mirrors, how they are kept consistent: "+strings.Join(kinds.Names(), ", "))
	f.StringSliceVar(&d.delays, "delays", nil, "with --mirrors, delays of the copies of the world, such as 0,100ms,1s")
	f.StringVar(&d.build, "build-client", "", "compile the game for the browser into this folder, and do nothing else")
	return cmd
}

// check looks at the command line before anything is opened.
func (d *demo) check() (game.Level, error) {
	var l game.Level
	if d.title.Client == "" && !d.title.Screen.Drawn() {
		return l, cli.Usagef("%s cannot be shown in a browser: its title has neither a Screen to draw with nor a Client", d.title.Name())
	}
	if d.port < 0 || d.port > 65535 {
		return l, cli.Usagef("--port is %d: it must be from 0 to 65535", d.port)
	}
	if d.bots < 0 || d.bots > 200 {
		return l, cli.Usagef("--bots is %d: it must be from 0 to 200", d.bots)
	}
	if _, err := cli.Conditions(d.preset, nil, ""); err != nil {
		return l, err
	}
	if _, err := predict.ParseStyle(d.style); err != nil {
		return l, cli.Usagef("--style: %w", err)
	}
	if d.mirrored {
		if err := d.checkMirrors(); err != nil {
			return l, err
		}
	}
	if d.seed == 0 {
		d.seed = draw()
	}
	l, err := d.findLevel()
	if err != nil {
		return l, err
	}
	l.Seed, l.Secret = d.seed, draw()
	return l, nil
}

// findLevel finds the level that --map names: one of the title's, or a file.
func (d *demo) findLevel() (game.Level, error) {
	t := d.title
	if d.level == "" {
		return game.Level{Name: t.Levels.Sized(d.bots + 1)}, nil
	}
	if slices.Contains(t.Levels.Names, d.level) {
		return game.Level{Name: d.level}, nil
	}
	if t.Levels.Read == nil {
		l := game.Level{Name: d.level}
		if t.Levels.Settings == nil {
			return l, cli.Usagef("--map is %q, and %s has no levels: leave it out", d.level, t.Name())
		}
		_, err := t.Settings(l)
		return l, err
	}
	text, err := os.ReadFile(d.level)
	if err != nil {
		return game.Level{}, cli.Usagef("--map %s is neither a map of the game (%s) nor a file that can be read: %w", d.level, strings.Join(t.Levels.Names, ", "), err)
	}
	l, err := t.Bring(text)
	if err != nil {
		return l, fmt.Errorf("the map %s has mistakes:\n%w", d.level, err)
	}
	return l, nil
}

func (d *demo) run(cmd *cobra.Command) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	if d.build != "" {
		return d.buildOnly(ctx, out)
	}
	level, err := d.check()
	if err != nil {
		return err
	}
	s, err := d.open(level)
	if err != nil {
		return err
	}
	defer s.close()
	fmt.Fprintf(out, "the game is at %s   (Ctrl-C ends it)\n", s.url())
	bar := cli.NewProgress(out)
	s.client.watch = func(b buildState) {
		switch {
		case b.Error != "":
			bar.Clear()
			fmt.Fprintf(out, "the game could not be compiled for the browser:\n%s\n", b.Error)
		case b.Done:
			bar.Clear()
			fmt.Fprintf(out, "ready after %.1f s: %s\n", b.Seconds, b.Step)
		default:
			bar.Show(b.Part, b.Step)
		}
	}
	if !d.noOpen && !openBrowser(ctx, out, s.url()) {
		fmt.Fprintf(out, "open that address in a browser\n")
	}
	return s.run(ctx)
}

// openBrowser shows a page to whoever sits in front of this machine, and says whether there is someone.
func openBrowser(ctx context.Context, out io.Writer, url string) bool {
	if f, ok := out.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return false
	}
	var c *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		c = exec.CommandContext(ctx, "open", url)
	case "windows":
		c = exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", url)
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return false
		}
		c = exec.CommandContext(ctx, "xdg-open", url)
	}
	if c.Start() != nil {
		return false
	}
	go func() { _ = c.Wait() }() // whether it worked is seen on the screen
	return true
}

// A demoSite is a demo that is open: page, server, network and bots.
type demoSite struct {
	demo     *demo
	listener net.Listener
	web      *http.Server
	client   *clientBuild
	host     *demoHost
	mirrors  *demoMirrors // in place of a host
	stop     context.CancelFunc
	ending   context.Context
}

// open opens everything. On an error nothing is left open.
func (d *demo) open(level game.Level) (*demoSite, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", d.port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d is taken, perhaps by another demo: end that, or choose another by --port (0 for any)", d.port)
	}
	if err != nil {
		return nil, err
	}
	s := &demoSite{demo: d, listener: l, client: newClientBuild(d.title)}
	if d.mirrored {
		s.mirrors, err = d.openMirrors(level)
	} else {
		s.host, err = d.openHost(level, l.Addr().(*net.TCPAddr).Port)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	s.ending, s.stop = context.WithCancel(context.Background())
	s.web = &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return s.ending }}
	return s, nil
}

// keys is what the page says of how to play: a title with a client of its own has keys of its own.
func (d *demo) keys() string {
	if d.title.Client != "" {
		return ""
	}
	return "Arrows or WASD, and the space bar."
}

func (s *demoSite) url() string {
	u := fmt.Sprintf("http://127.0.0.1:%d/", s.listener.Addr().(*net.TCPAddr).Port)
	if s.demo.style != "doom3" {
		u += "?style=" + s.demo.style
	}
	return u
}

// run serves until the context ends, or something that the demo cannot do without does.
func (s *demoSite) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var work sync.WaitGroup
	failed := func(err error) {
		if err != nil && !errors.Is(err, context.Canceled) {
			cancel(err)
		}
	}
	work.Go(func() {
		if err := s.web.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	})
	if s.mirrors != nil {
		work.Go(func() { failed(s.mirrors.run(ctx)) })
	} else {
		work.Go(func() { failed(s.host.run(ctx)) })
	}
	work.Go(func() { s.client.run(ctx) })
	<-ctx.Done()
	s.stop() // ends the streams of events
	late, done := context.WithTimeout(context.Background(), 2*time.Second)
	defer done()
	if s.web.Shutdown(late) != nil {
		_ = s.web.Close()
	}
	work.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func (s *demoSite) close() {
	s.stop()
	_ = s.web.Close()
	_ = s.listener.Close()
	if s.host != nil {
		s.host.close()
	}
}

// handler is all that the site answers.
func (s *demoSite) handler() http.Handler {
	mux := http.NewServeMux()
	port := s.listener.Addr().(*net.TCPAddr).Port
	mux.HandleFunc("GET /api/events", s.events)
	if s.mirrors != nil {
		mux.Handle("/", web.Page(web.Options{Client: s.client.bundle, Game: s.demo.title.Name(), Keys: s.demo.keys(), Index: "mirrors.html", Connect: []string{fmt.Sprintf("ws://127.0.0.1:%d", port), fmt.Sprintf("ws://localhost:%d", port)}}))
		s.mirrors.mount(mux)
		return web.Guard(mux)
	}
	mux.Handle("/", web.Page(web.Options{Client: s.client.bundle, Game: s.demo.title.Name(), Keys: s.demo.keys(), Connect: []string{
		fmt.Sprintf("https://127.0.0.1:%d", s.host.bulletin.webtransport), fmt.Sprintf("https://localhost:%d", s.host.bulletin.webtransport),
		fmt.Sprintf("ws://127.0.0.1:%d", port), fmt.Sprintf("ws://localhost:%d", port),
	}}))
	mux.Handle("/coeval", s.host.socket)
	mux.HandleFunc("/token", s.host.bulletin.token)
	mux.HandleFunc("GET /status", s.host.bulletin.status)
	mux.HandleFunc("POST /api/network", s.network)
	return web.Guard(mux)
}
