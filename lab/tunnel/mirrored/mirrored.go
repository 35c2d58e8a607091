// Package mirrored has titles played by clients of mirrors, for the wind tunnel: servers that each
// hold the whole world, near their players, kept consistent by a timeline.
//
//	lab/tunnel              what is measured
//	lab/tunnel/mirrored     clients of mirrors      <- here
//	lab/tunnel/served       the clients
//	topology/mirror
package mirrored

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/lab/tunnel/served"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/architecture"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

const here = "github.com/coeval-dev/coeval/lab/tunnel/mirrored"

func init() {
	about := map[string]string{
		"auto":         "trailing state synchronization that chooses its delays by what it measures",
		"trailing":     "trailing state synchronization: one trail at 100 ms, a window of 1 s",
		"timewarp":     "what is late is executed at its own tick at once, by computing again",
		"rollback":     "like timewarp, with a window that fits the network",
		"lockstep":     "a tick is executed when all mirrors' commands for it are there",
		"conservative": "commands wait for as long as nearly all take, and what is later is lost",
		"bucket":       "commands wait for the bucket of their tick, and what is later is taken next",
		"ruled":        "event-based: one mirror rules on what happened, the others follow",
	}
	for _, kind := range kinds.Names() {
		a := Architecture("mirrors-"+kind, "three servers near their players; "+about[kind],
			Form{Kind: kind})
		a.Command = "mirror --uber --key mirrors.key --address ADDRESS {--game} --timeline " +
			kind
		tunnel.Register(a)
	}
	tunnel.Register(Architecture("mirrors-events-exact", "three servers near their players; "+
		"event-based with the channels of the paper: moves reliably to the überserver alone, "+
		"strict events from it, for study", Form{Kind: "ruled", Exact: true}))
}

const (
	// mirrors is how many there are.
	mirrors = 3
	// What computing a tick and copying a world is taken to be, so that a run repeats on any
	// machine.
	stepTime = 200 * time.Microsecond
	copyTime = 20 * time.Microsecond
	// timerLate is by how much a machine's timers are late, as they always are a little.
	timerLate = 60 * time.Microsecond
	leastPoll = 200 * time.Microsecond
)

// A match is some mirrors and their clients.
type match struct {
	*tunnel.Trial
	form     Form
	key      token.Key
	machines []*machine
	guests   []*served.Guest
	homes    []int // of players, which machine
	seated   bool
	spots    []tunnel.Spot
	client   client.Options
}

// A machine has one of the mirrors.
type machine struct {
	match        *match
	mirror       *mirror.Mirror
	inner, outer *netsim.Endpoint
	offset       time.Duration // when its clock began
	kind         string
	before       timeline.Stats
	log          execution
	led          world.Tick // that the leading world had got to
}

func start(t *tunnel.Trial, form Form) (tunnel.Match, error) {
	m := &match{Trial: t, form: form, spots: t.Field.Servers(form.Mirrors, t.Players)}
	_, _ = t.Random.Read(m.key[:])
	delays, err := kinds.DelaysOf(form.Kind, form.delays(t.Field, t.Players))
	if err != nil {
		return nil, err
	}
	if err := knob.Apply(&m.client, client.Knobs(), t.Values); err != nil {
		return nil, err
	}
	for range m.spots {
		if err := m.open(delays); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// knobs are those of the mirrors and of their clients. Where delays are fitted to the network,
// those for the longest ways of the course are the default.
func knobs(form *Form, c tunnel.Course) []knob.Knob {
	list := knob.List(mirror.Knobs(form.Kind))
	for _, f := range c.Fields {
		if form.Delays != nil {
			break // they are chosen
		}
		for i, d := range form.delays(f, c.Players) {
			k, ok := knob.Find(list, []string{"lead", "most"}[i])
			if !ok {
				continue
			}
			if v, err := k.Parse(k.Default); err != nil || f == c.Fields[0] || v.Duration() < d {
				k.Default = d.String()
			}
		}
	}
	return append(list, architecture.OfMirrors()...)
}

// open starts a mirror. The first founds the game.
func (m *match) open(delays kinds.Delays) error {
	i, t := len(m.machines), m.Trial
	name := string(rune('a' + i))
	s := &machine{match: m, kind: m.form.Kind, inner: t.Endpoint("m"+name, tunnel.OfGroup),
		outer:  t.Endpoint("s"+name, tunnel.OfServer),
		offset: time.Duration(t.Random.Float64() * float64(10*time.Second))}
	so := server.Options{Title: t.Subject.Title, Level: t.Subject.On(t.Seed), Players: t.Players,
		Workers: 1, Spectators: -1, Flight: -1, Links: []link.Link{s.outer}}
	so.Conn.Seed, so.Conn.Wall = t.Seed32(), session.Wall
	so.Rules.Command = served.Arrivals(t)
	o := mirror.Options{
		Server: so, Link: s.inner, Address: s.inner.PublicAddr(), Public: s.outer.PublicAddr(),
		Name: name, Found: i == 0, Keys: []token.Key{m.key}, Seed: t.Seed32(), Wall: session.Wall,
		Timeline: s.kind, Delays: delays, Margins: t.Subject.Margins(), Step: stepTime,
		Copy: copyTime, Repair: m.form.Repair, Exact: m.form.Exact,
	}
	if i == 0 {
		o.Settled = func(w *world.World, in *world.Inputs) { t.Truth(w, in) }
	}
	for k, other := range m.machines {
		t.Net.Connect(s.inner, other.inner, m.form.path(t.Field, m.spots[i], m.spots[k]))
		o.Ask = append(o.Ask, other.inner.PublicAddr())
	}
	if err := mirror.Tune(&o, t.Values); err != nil {
		return err
	}
	var err error
	if s.mirror, err = mirror.New(o); err != nil {
		return err
	}
	m.machines = append(m.machines, s)
	t.Net.After(time.Duration(i)*300*time.Millisecond, s.drive)
	return nil
}

// drive polls the mirror as often as it asks for.
func (s *machine) drive() {
	t := s.match.Trial
	now := s.offset + t.Net.Now()
	var err error
	t.Spend(tunnel.OfServer, func() { err = s.mirror.Poll(now) })
	if err != nil {
		t.Fail(fmt.Errorf("mirror %s: %w", s.inner.Name(), err))
		return
	}
	if s.mirror.Timeline() != nil {
		st := s.mirror.TimelineStats()
		n := int(st.Returns-s.before.Returns) + int(st.Rollbacks-s.before.Rollbacks)
		for range n {
			depth := int(st.Returned-s.before.Returned) + int(st.Depth-s.before.Depth)
			s.match.rolled(s, depth/n)
		}
		s.watch(st)
		if w := s.mirror.Timeline().Leading(); w.Tick() != s.led || n > 0 {
			s.led = w.Tick()
			s.match.held(s, w)
		}
		s.before = st
	}
	s.match.seat()
	t.Net.After(max(s.mirror.Deadline()-now, leastPoll)+timerLate, s.drive)
}

// rolled books a rollback of a mirror for its players.
func (m *match) rolled(s *machine, depth int) {
	for i, u := range m.guests {
		if m.machines[m.homes[i]] == s {
			u.Rolled(depth)
		}
	}
}

// held says what a mirror holds, for its players.
func (m *match) held(s *machine, w *world.World) {
	for i, u := range m.guests {
		if m.machines[m.homes[i]] == s {
			u.Held(w)
		}
	}
}

// seat lets the players in when all mirrors serve.
func (m *match) seat() {
	if m.seated || !m.whole() {
		return
	}
	m.seated = true
	for i, s := range m.Seats {
		near := m.Field.Nearest(s.Spot, m.spots)
		if m.Field.City(s.Spot) == "" {
			near = i % len(m.machines) // all are as near
		}
		m.homes = append(m.homes, near)
		m.guests = append(m.guests, served.Join(m.Trial, s, served.Door{
			Key: m.key, Server: m.machines[near].outer, Spot: m.spots[near],
			Connect: func(end *netsim.Endpoint) {
				for k, other := range m.machines {
					if k != near {
						m.Net.Connect(end, other.outer, m.Field.Path(s.Spot, m.spots[k]))
					}
				}
			},
			Has:    m.machines[near].has,
			Client: m.client,
		}))
	}
}

// whole says whether all mirrors serve, in one group.
func (m *match) whole() bool {
	for _, s := range m.machines {
		if s.mirror.Phase() != mirror.Serving || len(s.mirror.Members()) != len(m.machines) {
			return false
		}
	}
	return true
}

// Playing says whether all are in the game.
func (m *match) Playing() bool { return m.seated && served.AllPlay(m.guests) }

// Close ends the match. Clients first, whose endpoints are their own.
func (m *match) Close() {
	for _, u := range m.guests {
		u.Close()
	}
	if m.form.Watch != nil && m.Playing() {
		for i, s := range m.machines {
			m.form.Watch(m.Seed, i, s.mirror)
		}
	}
	for _, s := range m.machines {
		_ = s.mirror.Close()
	}
}
