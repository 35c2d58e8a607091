// Package between has titles played between players' own machines, for the wind tunnel: in lock
// step and with rollback.
//
//	lab/tunnel              what is measured
//	lab/tunnel/between      players' machines      <- here
//	topology/peers
package between

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

const here = "github.com/coeval-dev/coeval/lab/tunnel/between"

func init() {
	tunnel.Register(
		architecture("lockstep",
			"a tick is shown when the commands of all are there; the delay of "+
				"one's own fits the slowest path", peers.Lockstep(), peers.Match{}),
		architecture("rollback", "what others do is guessed, and computed again when it comes; "+
			"own commands count after two ticks", peers.Rollback(), peers.Match{}),
		architecture("doom", "lock step as DOOM had it: what is lost is sent again when somebody "+
			"asks", peers.Lockstep(), peers.Match{Doom: true}),
		relayed("packetserver", "lock step through a relay, which waits for nobody: who is late "+
			"repeats the last command", peers.Lockstep()),
		relayed("packetserver-rollback", "the same relay, with what others do guessed until its "+
			"rows come", peers.Rollback()))
}

func architecture(name, about string, style peers.Style, how peers.Match) tunnel.Architecture {
	return tunnel.Architecture{
		Name: name, About: about, Family: tunnel.BetweenPeers, Packages: []string{here},
		MostPlayers: peers.MaxSeats,
		Fits: func(s *lab.Subject) error {
			return s.Commanded("there is nothing for peers to tell each other")
		},
		Start:   func(t *tunnel.Trial) (tunnel.Match, error) { return start(t, style, how) },
		Knobs:   func(tunnel.Course) []knob.Knob { return knob.List(peers.Knobs(style, false)) },
		Command: "peer host {game} --style " + name,
	}
}

// tuned is what can be set of a peer, as it is set in a trial.
func tuned(t *tunnel.Trial, style peers.Style, relayed bool) (peers.Tuning, error) {
	o := peers.Tuning{Style: style}
	err := knob.Apply(&o, peers.Knobs(style, relayed), t.Values)
	return o, err
}

// A match is a machine for each player.
type match struct {
	*tunnel.Trial
	seats []*seat
	relay *hub // or nil
	// What is settled is computed once more, from the first tick on, by what one of the machines
	// knows of it.
	truth *world.World
	in    *world.Inputs
}

type seat struct {
	*tunnel.Seat
	peer   machine
	match  *match
	before turns.Stats
	viewer turns.Viewer // of a person's screen
	hold   *hold        // or nil
}

// A machine is a peer, or one that plays through a relay.
type machine interface {
	Poll(now time.Duration) error
	Deadline() time.Duration
	Phase() peers.Phase
	Player() world.Player
	World() *world.World
	Past() time.Duration
	Copy() *turns.Copy
	Turn(t world.Tick, in *world.Inputs) (known bool)
	Close() error
}

func start(t *tunnel.Trial, style peers.Style, how peers.Match) (tunnel.Match, error) {
	return startHeld(t, style, how, nil)
}

// startHeld is start with what the first player's machine hears held back now and then, if held is
// set.
func startHeld(t *tunnel.Trial, style peers.Style, how peers.Match, held *hold) (tunnel.Match,
	error) {
	m := &match{Trial: t, in: t.Subject.Game.NewInputs()}
	var err error
	if m.truth, err = t.World(); err != nil {
		return nil, err
	}
	how.Level, how.Seed, how.Seats, how.Start = t.Subject.Level, t.Seed, t.Players, t.Players
	set, err := tuned(t, style, false)
	if err != nil {
		return nil, err
	}
	secret := t.Seed32()
	for _, s := range t.Seats {
		p := &seat{Seat: s, match: m}
		s.Screen = p.screen
		name := fmt.Sprint("player ", s.Index+1)
		s.End = t.Endpoint(name, tunnel.OfPlayer)
		s.End.SetInbox(1 << 12)
		o := peers.Options{
			Game: t.Subject.Game, Link: s.End, Seed: t.Seed32(), Secret: secret, Name: name,
			Wall: session.Wall, Address: s.End.PublicAddr(), Style: set.Style,
			Packets: set.Packets,
			Input:   p.input, After: p.computed,
		}
		if s.Index == 0 {
			if p.hold = held; held != nil {
				held.Link = s.End
				o.Link = held
			}
			o.Match = &how
			o.World = func(*peers.Match) (*world.World, error) { return t.World() }
		}
		for _, other := range m.seats {
			t.Net.Connect(s.End, other.End, t.Field.Path(s.Spot, other.Spot))
			o.Ask = append(o.Ask, other.End.PublicAddr())
		}
		if p.peer, err = peers.New(o); err != nil {
			return nil, err
		}
		m.seats = append(m.seats, p)
		s.End.After(session.Offset(t.Subject.Game.TickLength(), s.Index, t.Players), p.poll)
	}
	return m, nil
}

func (p *seat) input(w *world.World, me world.Player, t world.Tick, in *world.Inputs) {
	p.Command(t, me, w, in)
}

func (p *seat) computed(w *world.World, in *world.Inputs, again bool) {
	p.Computed(w, in, again)
	if p.Live() {
		p.viewer.After(w)
	}
}

// screen is what a person is shown.
func (p *seat) screen(f *game.Frame) {
	p.drive()
	f.World = nil
	if w := p.peer.World(); w != nil {
		f.World, f.Me, f.Fresh = p.viewer.Look(w), p.Me, true
		f.Lead = p.peer.Past().Seconds()
		f.Others = f.Lead
	}
}

// poll drives the machine as its Run does.
func (p *seat) poll() {
	if !p.drive() {
		return
	}
	const least = 100 * time.Microsecond
	p.End.After(max(p.peer.Deadline()-p.match.Net.Now(), least), p.poll)
}

// drive has the machine do what is due.
func (p *seat) drive() bool {
	m := p.match
	var err error
	m.Spend(tunnel.OfPlayer, func() { err = p.peer.Poll(m.Net.Now()) })
	if err != nil {
		m.Fail(fmt.Errorf("%s: %w", p.End.Name(), err))
		return false
	}
	if me := p.peer.Player(); me != p.Me && me != world.Nobody {
		p.Enter(me)
	}
	c := p.peer.Copy()
	if c == nil {
		return true
	}
	st := c.Stats()
	if n := int(st.Returns - p.before.Returns); n > 0 && st.Again >= p.before.Again {
		for range n {
			p.Rolled(int(st.Again-p.before.Again) / n)
		}
	}
	p.before = st
	if p == m.seats[len(m.seats)-1] {
		m.settle(p.peer)
	}
	if p.hold != nil {
		p.hold.watch(c, m.Net.Now())
	}
	return true
}

// settle computes what nothing can change any more.
func (m *match) settle(p machine) {
	for m.truth.Tick() < p.Copy().Settled() {
		m.in.Reset()
		if !p.Turn(m.truth.Tick()+1, m.in) {
			m.Fail(fmt.Errorf("tick %d is settled and not known", m.truth.Tick()+1))
			return
		}
		if err := m.truth.Host().Step(m.in); err != nil {
			m.Fail(err)
			return
		}
		m.Truth(m.truth, m.in)
	}
}

// Playing says whether all are in the game.
func (m *match) Playing() bool {
	for _, p := range m.seats {
		if p.peer == nil || p.peer.Phase() != peers.Playing || p.Me == world.Nobody ||
			p.peer.World() == nil ||
			p.peer.World().Tick() == 0 {
			return false
		}
	}
	return true
}

// Close ends the match.
func (m *match) Close() {
	for _, p := range m.seats {
		if p.peer != nil {
			_ = p.peer.Close()
		}
	}
	if m.relay != nil {
		_ = m.relay.server.Close()
	}
}
