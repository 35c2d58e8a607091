//go:build !js

// Package demo shows a game in a browser, over a network that can be made worse: on one server, on
// several mirrors side by side, or between peers.
package demo

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/join"
	"github.com/coeval-dev/coeval/host/internal/page"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/architecture"
	"github.com/coeval-dev/coeval/topology/server"
)

const long = `Play a game in a browser, over a network that you can make worse.

One process: a server, bots, a simulated network between the browser and the server,
and a page on this machine. Open the address that it prints. The page is there at
once; the first time the game is then compiled for the browser, which takes a while, and
from then on it is kept.

Beside the game is a panel: presets and sliders for the network, plots of the round
trip, of bytes and of how wrong predictions were, and where each of the server's
bytes goes. N shows a net graph, O outlines where the server last said things were, P
changes how the game is predicted, and H lists the other keys.

A friend or a phone on the same network comes in with --listen all: the demo prints a
link for them, and a code to hold a phone's camera at. Guests play; the panel is
yours. With --tls-self-signed the page is encrypted, and browsers warn of a
certificate that they do not know.

Two windows see each other. So do programs without a browser, on the same server:

  {program} join 127.0.0.1:8080
  {program} bots --server 127.0.0.1:8080 --count 20

With --watch the sources of your game are watched. What you change is compiled and in the
page a few seconds after you save it: players keep their seats, and the world goes on as
long as its classes and fields are the same. What does not compile is said in the page.

With --mirrors there are several servers that stay one game, with the network
between them, and a player on each, side by side: kill one, cut the ways between
them, and see how the game goes on.

With --peers there is no server: each player's machine holds the whole game, and they
play with each other over the network. One page shows them side by side. Switch between lock
step and rollback, cut one off, let one crash and come back, have another join or watch.
With --relay as well they play through a relay in the middle, which gathers the commands
of each tick; the network is the way to it.

With --blind you find out what you can tell apart, and what you prefer: the game is played
on two sides, in short intervals, and nothing says on which one. You answer a question
after each trial; at the end you are told what your answers show, and what chance would
have given. --blind quake3,coeval compares two architectures, any of those of
{program} lab run; --blind rollback=0,4 no rollbacks with four a second, of 100 ms each;
4@50ms are of 50 ms. --blind alone compares styles of prediction, for as long as you like.

Networks: %s`

const example = `  {program} demo
  {program} demo --preset lte --bots 20
  {program} demo --port 0 --style quake3 --no-open
  {program} demo --watch
  {program} demo --map mine.txt
  {program} demo --listen all
  {program} demo --settings settings.json
  {program} demo --peers 4 --preset transatlantic
  {program} demo --peers 4 --relay --preset wifi
  {program} demo --mirrors 3 --preset transatlantic
  {program} demo --mirrors 3 --preset transatlantic --timeline trailing --delays 0,100ms,1s
  {program} demo --blind quake3,coeval --preset lte
  {program} demo --blind rollback=0,4 --answers ann.json`

// usualBots stands for as many bots as suit the game.
const usualBots = math.MinInt32

// flags are what the command line says.
type flags struct {
	title  *game.Title
	port   int
	listen string
	reach  reach
	level  string
	bots   int
	preset string
	style  string
	// the architecture's name, and what that is
	architecture string
	kind         architecture.Kind
	seed         uint64
	noOpen       bool
	directory    string // whose servers the page lists, or nothing
	build        string
	web          serve.WebOptions
	watches      bool
	fixed        bool          // the port was asked for, and no other will do
	resume       *server.Saved // where the game goes on, or nil
	mirrors      *mirrorFlags  // nil for one server
	peers        *peerFlags    // the same
	blind        *blindFlags   // nil for no test
	client       *page.Client  // nil for one of its own
	knobs        cli.KnobFlags
	values       knob.Values // of knobs
}

// Command is the command demo.
func Command(p *cli.Program) *cobra.Command {
	var d flags
	var m mirrorFlags
	var e peerFlags
	var b blindFlags
	cmd := &cobra.Command{
		Use:     "demo",
		Short:   "Play a game in the browser, on a bad network, with the wires showing",
		Long:    fmt.Sprintf(long, strings.Join(cli.Presets(), ", ")),
		Example: example,
	}
	p.AnyGame(cmd, func(cmd *cobra.Command, t *game.Title) error {
		d.title = t
		return d.start(cmd, &m, &e, &b)
	})
	pairs(cmd, &b)
	f := cmd.Flags()
	f.IntVarP(&d.port, "port", "p", 8080,
		"port of the page, and over UDP of the game; 0 for any that is free")
	f.StringVar(&d.listen, "listen", "",
		"let friends and phones in: an address of this machine, or all "+
			"(default: this machine alone)")
	f.StringVarP(&d.level, "map", "m", "",
		"where to play: a level's name, or a file with one (default: the game's own)")
	f.IntVarP(&d.bots, "bots", "n", usualBots, "how many bots play along (default 12; for a game "+
		"whose title has no Bot, as many as its Players leaves)")
	f.Lookup("bots").DefValue = "0" // the words say more
	f.StringVar(&d.preset, "preset", "cable",
		"the network to begin with: "+strings.Join(cli.Presets(), ", "))
	f.StringVar(&d.style, "style", "doom3", "prediction to begin with: "+join.StyleNames+
		"; with --peers, lockstep or rollback (its default)")
	f.StringVar(&d.architecture, "architecture", "coeval",
		"how the server and its players do it, as a game did: "+architecture.Names())
	f.Uint64Var(&d.seed, "seed", 0, "random seed (default: drawn)")
	d.web.Flags(f)
	d.knobs.Flags(cmd)
	f.BoolVar(&d.watches, "watch", false,
		"compile and show what you change in the sources; players and the world stay")
	f.StringVar(&d.directory, "directory", "",
		"URL of a directory: the page then also lists the servers of the game that it has")
	f.BoolVar(&d.noOpen, "no-open", false, "print the address, and open no browser")
	f.IntVar(&m.count, "mirrors", 0,
		"as many servers that mirror one game, from 2 to 5, with the network between them")
	f.StringVar(&m.timeline, "timeline", "auto",
		"with --mirrors, how they are kept consistent: "+strings.Join(kinds.Names(), ", "))
	f.StringSliceVar(&m.texts, "delays", nil,
		"with --mirrors, delays of the copies of the world, such as 0,100ms,1s")
	f.IntVar(&e.count, "peers", 0,
		"as many players' machines without a server, from 2 to 8, with the network between them")
	f.BoolVar(&e.relay, "relay", false,
		"with --peers, play through a relay that gathers commands, with the network to it")
	cmd.MarkFlagsMutuallyExclusive("peers", "mirrors")
	b.flags(f)
	f.StringVar(&d.build, "build-client", "",
		"compile the game for the browser into this folder, and do nothing else")
	return cmd
}

// start checks the flags against each other, and runs the demo.
func (d *flags) start(cmd *cobra.Command, m *mirrorFlags, e *peerFlags, b *blindFlags) error {
	given := cmd.Flags().Changed
	for _, name := range []string{"timeline", "delays"} {
		if given(name) && !given("mirrors") {
			return cli.Usagef("--%s goes with --mirrors, such as --mirrors 3", name)
		}
	}
	if e.relay && !given("peers") {
		return cli.Usagef("--relay goes with --peers, such as --peers 4")
	}
	if given("mirrors") {
		d.mirrors = m
	}
	if given("peers") {
		if err := d.chooseWay(cmd, e.relay); err != nil {
			return err
		}
		var err error
		e.way = d.style
		if e.style, err = peerStyle(d.style, given("style") || d.knobs.Given()); err != nil {
			return err
		}
		d.peers, d.style = e, "doom3"
	}
	if err := b.check(d, given); err != nil {
		return err
	}
	if err := d.tune(cmd); err != nil {
		return err
	}
	d.fixed = given("port")
	return d.run(cmd)
}

// check looks at the command line before anything is opened.
func (d *flags) check() (game.Level, error) {
	var l game.Level
	if d.title.Client == "" && !d.title.Screen.Drawn() {
		return l, cli.Usagef(
			"%s cannot be shown in a browser: its title has neither a Screen to draw with nor a "+
				"Client", d.title.Name())
	}
	if d.port < 0 || d.port > 65535 {
		return l, cli.Usagef("--port is %d: it must be from 0 to 65535", d.port)
	}
	if err := d.web.Check(); err != nil {
		return l, err
	}
	if d.directory != "" {
		if _, err := directory.Base(d.directory); err != nil {
			return l, cli.Usagef("--directory: %w", err)
		}
	}
	if err := d.findReach(); err != nil {
		return l, err
	}
	if d.peers != nil {
		if err := d.peers.check(d); err != nil {
			return l, err
		}
		d.bots = d.peers.count - 1 // they play the others
	}
	if d.bots == usualBots {
		d.bots = 12
		if d.title.Bot == nil { // one that presses keys at random is not much of a company
			d.bots = max(d.title.Players, 1) - 1
		}
	}
	if d.bots < 0 || d.bots > 200 {
		return l, cli.Usagef("--bots is %d: it must be from 0 to 200", d.bots)
	}
	if _, err := cli.Conditions(d.preset, nil, ""); err != nil && !d.trials() {
		return l, err // the wind tunnel has other networks, too
	}
	if _, err := predict.ParseStyle(d.style); err != nil {
		return l, cli.Usagef("--style: %w", err)
	}
	k, err := architecture.Parse(cmp.Or(d.architecture, "coeval"))
	if err != nil {
		return l, cli.Usagef("--architecture: %w", err)
	}
	if k.Name != "coeval" && (d.mirrors != nil || d.peers != nil) {
		return l, cli.Usagef("--architecture is for one server, without --mirrors and --peers")
	}
	if d.kind = k; d.style == "doom3" && d.peers == nil {
		d.style = k.Style.String()
	}
	if d.mirrors != nil {
		if err := d.mirrors.check(d.title); err != nil {
			return l, err
		}
	}
	if d.seed == 0 {
		d.seed = cli.Draw()
	}
	l, err = d.findLevel()
	if err != nil {
		return l, err
	}
	l.Seed, l.Secret = d.seed, cli.Draw()
	return l, nil
}

// findLevel finds the level that --map names: one of the title's, or a file.
func (d *flags) findLevel() (game.Level, error) {
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
			return l, cli.Usagef("--map is %q, and %s has no levels: leave it out", d.level,
				t.Name())
		}
		_, err := t.Settings(l)
		return l, err
	}
	text, err := cli.ReadFile(d.level, t.Levels.Limit())
	if err != nil {
		return game.Level{},
			cli.Usagef("--map %s is neither a map of the game (%s) nor a file that can be read: %w",
				d.level, strings.Join(t.Levels.Names, ", "), err)
	}
	l, err := t.Bring(text)
	if err != nil {
		return l, fmt.Errorf("the map %s has mistakes:\n%w", d.level, err)
	}
	return l, nil
}

func (d *flags) run(cmd *cobra.Command) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	if d.build != "" {
		return page.Build(ctx, d.title, d.build, out)
	}
	if told, ok := os.LookupEnv(watchedBy); ok {
		return d.serveWatched(ctx, told, os.Stdin, out)
	}
	if d.watches {
		return d.watch(ctx, out)
	}
	level, err := d.check()
	if err != nil {
		return err
	}
	if d.trials() {
		if d.blind.test, err = NewTest(ctx, d.blind.wish(d), out); err != nil {
			return err
		}
	}
	s, err := d.open(level)
	if err != nil {
		return err
	}
	defer s.close()
	if d.port != 0 && s.port() != d.port {
		fmt.Fprintf(out, "port %d is taken, perhaps by another demo, so this one has port %d\n",
			d.port, s.port())
	}
	fmt.Fprintf(out, "the game is at %s   (Ctrl-C ends it)\n", s.url())
	if s.print != "" {
		fmt.Fprintf(out, "its certificate is %s\n", s.print)
	}
	page.Invite(out, invites, s.links())
	bar := cli.NewProgress(out)
	s.client.Watch = func(b page.Progress) {
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
	if !d.noOpen {
		cli.OpenBrowser(ctx, out, s.url())
	}
	err = s.run(ctx)
	if b, ok := s.shown.(*blindPage); ok {
		b.summary(out)
	}
	return err
}

// invites is what stands before the links for guests.
const invites = "friends and phones on your network come in by"
