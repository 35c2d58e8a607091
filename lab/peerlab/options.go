package peerlab

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/peers"
)

// Options say what Run measures. Title has no default; the rest has.
type Options struct {
	// Title is what is played, on Level. Default: the level that the title has for so many players.
	Title *game.Title
	Level string
	// Players is how many play.
	Players int
	// Relay has the match go through a relay, which gathers commands into rows, instead of from
	// each to each.
	Relay bool
	// Wait is how long beyond its time a row waits at the relay for somebody's command. Default:
	// 100 ms; below zero not at all.
	Wait time.Duration
	// Conditions are the path from each to each other, or to the relay. Default: 80 ms from a
	// player to another and back, with some jitter and half a percent of loss; half of the way to a
	// relay.
	Conditions netsim.Conditions
	// Styles are those of Styles that are played, one after the other. Default: all; through a
	// relay rollback and lock step, which are all that there are.
	Styles []string
	// Delay is after how many ticks own commands count: a number, or "auto". Default: two ticks for
	// rollback, and auto for the others.
	Delay string
	// Depth is how many ticks rollback shows that are guessed.
	Depth int
	// Packets is how many packets a second go to each of the others.
	Packets int
	// Time is how long is measured, after Warm.
	Time, Warm time.Duration
	// Clock, if set, is the processor time of the thread; then not all figures repeat.
	Clock func() time.Duration
	// Join measures instead how somebody joins a match of so many Players late, whose world takes
	// so many Bytes.
	Join     bool
	Bytes    int
	Seed     uint64
	Progress lab.Progress

	subject *lab.Subject // what Title and Level come to
	delay   int          // what Delay comes to, where it is a number
}

// Names of styles.
const (
	Rollback = "rollback"
	Lockstep = "lockstep"
	Commit   = "commit"
	Doom     = "doom"
)

// Styles lists those that there are.
func Styles() []string { return []string{Rollback, Lockstep, Commit, Doom} }

// List describes the options.
func (o *Options) List() []*lab.Option {
	return []*lab.Option{
		lab.Number(&o.Players, "players", 2, 2, 8, "how many play"),
		lab.Words(&o.Styles, "style", Styles(), Styles(),
			"how they deal with commands that are not there yet: "+
				strings.Join(Styles(), ", ")),
		lab.Text(&o.Delay, "delay", "",
			"ticks until own commands count, or auto (default: 2 with rollback, auto without)"),
		lab.Number(&o.Depth, "depth", 8, 1, peers.MaxDepth,
			"how many ticks rollback shows that are guessed"),
		lab.Number(&o.Packets, "packets", 60, 1, 240, "packets a second to each of the others"),
		lab.Number(&o.Time, "time", 30*time.Second, time.Second, time.Hour,
			"how long is measured, in the game's time"),
		lab.Number(&o.Warm, "warm", 5*time.Second, 0, time.Hour, "and how long before that"),
		lab.Switch(&o.Relay, "relay", "play through a relay that gathers commands, by its rows"),
		lab.Switch(&o.Join, "join", "have somebody join late instead, with a large world"),
		lab.Number(&o.Bytes, "bytes", 1<<20, 1<<10, 16<<20, "how large that world is"),
		lab.Level(&o.Level),
		lab.Seed(&o.Seed, "the game and the network"),
	}
}

// Check replaces zeros by defaults, and says what is wrong with the rest.
func (o *Options) Check() (err error) {
	if err := lab.Fill(o.List()); err != nil {
		return err
	}
	if o.Delay != "" && o.Delay != "auto" {
		n, err := strconv.Atoi(o.Delay)
		if err != nil || n < 0 || n > peers.MaxDelay {
			return fmt.Errorf("delay is %q: choose 0 to %d ticks, or auto", o.Delay,
				peers.MaxDelay)
		}
		o.delay = n
	}
	if o.Relay {
		if slices.Equal(o.Styles, Styles()) {
			o.Styles = []string{Rollback, Lockstep}
		}
		for _, name := range o.Styles {
			if name != Rollback && name != Lockstep {
				return fmt.Errorf("style %q is of a mesh: through a relay there are %s and %s",
					name, Rollback, Lockstep)
			}
		}
	}
	if c := &o.Conditions; c.Name == "" && c.Up.String() == "perfect" &&
		c.Down.String() == "perfect" {
		*c = o.path()
	}
	if o.Join {
		return nil
	}
	if o.subject, err = lab.NewSubject(o.Title, o.Level, o.Players); err != nil {
		return err
	}
	return o.subject.Commanded("there is nothing for peers to tell each other")
}

// path is the one that is usual.
func (o *Options) path() netsim.Conditions {
	p := netsim.Profile{Latency: 40 * time.Millisecond,
		Jitter: netsim.Jitter{Amount: 3 * time.Millisecond}, Loss: 0.005}
	if o.Join {
		p = netsim.Profile{Latency: 50 * time.Millisecond}
	}
	if o.Relay && !o.Join { // of two such
		p.Latency /= 2
	}
	return netsim.Both(p)
}

// style is what a name comes to.
func (o *Options) style(name string) peers.Style {
	s := peers.Style{Delay: -1}
	if name == Rollback {
		s = peers.Style{Depth: o.Depth, Delay: 2}
	}
	switch o.Delay {
	case "":
	case "auto":
		s.Delay = -1
	default:
		s.Delay = o.delay
	}
	return s
}

// pathText says what a path is like.
func pathText(c netsim.Conditions) string {
	text := c.Up.String()
	if down := c.Down.String(); down != text {
		text += ", back " + down
	}
	return cmp.Or(text, c.Name)
}
