package architecture_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/architecture"
	_ "github.com/coeval-dev/coeval/topology/architecture/all"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// The track is a game for tests: a runner who does what is commanded and counts it, and a rule that
// goes by the number of the tick.

type runner struct {
	Pos   det.Vec2
	Vel   det.Vec2
	Steps int // commands that moved it
	Shots int
	Ready int // the tick from which on it may shoot
}

func (x *runner) Sync(s *bits.Sync) {
	s.Vec2(&x.Pos, -2000, 2000, 1.0/64)
	s.Vec2(&x.Vel, -8, 8, 1.0/256)
	s.Int(&x.Steps, 0, 1<<20)
	s.Int(&x.Shots, 0, 1<<20)
	s.Int(&x.Ready, 0, 1<<20)
}

func (*runner) Hints(h *game.Hints) { h.Body(1) }

func (x *runner) Step(w *world.World, me world.ID) {
	c := world.Command[run](w, me)
	if c.X != 0 {
		x.Steps++
	}
	x.Vel = x.Vel.MulAdd(det.Vec2{X: float64(c.X), Y: 0.25}, 0.1).ClampLen(4)
	if c == (run{}) {
		x.Vel = det.Vec2{}
	}
	x.Pos = x.Pos.MulAdd(x.Vel, w.Seconds())
	if c.Fire && int(w.Tick()) >= x.Ready {
		x.Shots++
		x.Ready = int(w.Tick()) + 5
	}
}

// pole stands beside the track and turns.
type pole struct{ Turned int }

func (x *pole) Sync(s *bits.Sync)           { s.Int(&x.Turned, 0, 1<<20) }
func (x *pole) Step(*world.World, world.ID) { x.Turned++ }

type run struct {
	X    int8
	Fire bool `world:"edge"`
}

func (c *run) Sync(s *bits.Sync) {
	s.Int8(&c.X, -1, 1)
	s.Bool(&c.Fire)
}

var track = world.Define("track",
	world.Class[runner](), world.Class[pole](), world.Commands[run](),
	world.OnStart(func(w *world.World) { world.Spawn(w, pole{}) }),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w, runner{}), p)
	}))

// A match is a server and one player on a simulated network.
type match struct {
	t      *testing.T
	net    *netsim.Net
	server *server.Server
	client *client.Client
	end    *netsim.Endpoint
	solo   *world.World           // as the server's world began
	joined world.Tick             // when the player did
	inputs []*world.Inputs        // of each tick
	bodies map[world.Tick][]int32 // the player's body on the server
	made   map[world.Tick][]int32 // the player's commands
	shown  map[world.Tick][]int32 // and the body as it was shown first
	input  func(t world.Tick) run
}

type counter struct{ r *netsim.Rand }

func (c counter) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(c.r.Uint64())
	}
	return len(b), nil
}

const wall = 1_700_000_000

// Snapshot and Command make a match the tap of its client.
func (m *match) Snapshot(*replica.Snapshot) {}

func (m *match) Command(t world.Tick, image []int32) { m.made[t] = slices.Clone(image) }

// play begins a match. Lose, if set, says which of the client's datagrams are lost.
func play(t *testing.T, a architecture.Kind, seed uint64, c netsim.Conditions,
	lose func(n int) bool) *match {
	t.Helper()
	n := netsim.New(netsim.Options{Seed: seed})
	m := &match{t: t, net: n, end: n.Endpoint("server"), bodies: map[world.Tick][]int32{},
		made: map[world.Tick][]int32{}, shown: map[world.Tick][]int32{}}
	random := counter{n.Rand()}
	var key token.Key
	_, _ = random.Read(key[:])
	title := &game.Title{Game: track, Players: 2}
	so := server.Options{Title: title, Links: []link.Link{m.end}, Keys: []token.Key{key},
		Workers: 1, Begun: m.begun, After: m.after}
	so.Conn.Wall = wall
	_, _ = random.Read(so.Conn.Seed[:])
	a.Server(&so)
	var err error
	if m.server, err = server.New(so); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.server.Close() })
	m.end.Every(track.TickLength(), func() {
		if err := m.server.Tick(n.Now()); err != nil {
			t.Fatal(err)
		}
	})
	tok, err := token.Issue(key, token.Grant{Protocol: token.ProtocolID("track"), Client: 1,
		Expires: wall + 3600, Servers: []netip.AddrPort{m.end.PublicAddr()}}, random)
	if err != nil {
		t.Fatal(err)
	}
	e := n.Endpoint("client")
	n.Connect(e, m.end, c)
	co := client.Options{Title: title, Link: &leaky{Link: e, lose: lose}, Token: tok, Tap: m}
	co.Conn.Wall = wall
	_, _ = random.Read(co.Conn.Seed[:])
	a.Client(&co)
	if m.client, err = client.New(co); err != nil {
		t.Fatal(err)
	}
	e.After(track.TickLength()/3, func() { e.Every(track.TickLength(), m.frame) })
	return m
}

// leaky is a link that loses what it is told to lose.
type leaky struct {
	link.Link
	lose func(n int) bool
	n    int
}

func (l *leaky) Send(list []link.Datagram) (int, error) {
	for i := range list {
		l.n++
		if l.lose != nil && l.lose(l.n) {
			continue
		}
		if _, err := l.Link.Send(list[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(list), nil
}

func (m *match) begun(w *world.World, _ server.Level) { m.solo = w.Host().Clone() }

func (m *match) after(w *world.World, in *world.Inputs) {
	kept := track.NewInputs()
	_ = kept.CopyFrom(in)
	m.inputs = append(m.inputs, kept)
	if len(in.Joins()) > 0 {
		m.joined = w.Tick()
	}
	if b := body(w); b != nil {
		m.bodies[w.Tick()] = b
	}
}

// body is the image of the player's, or nil.
func body(w *world.World) []int32 {
	for id := range w.Host().Of(0) {
		return slices.Clone(w.Host().Image(id))
	}
	return nil
}

func (m *match) frame() {
	v := m.client.Frame(m.net.Now(),
		func(t world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
			var c run
			if m.input != nil {
				c = m.input(t)
			}
			if err := world.Give(in, me, c); err != nil {
				m.t.Fatal(err)
			}
		})
	if v.Err != nil {
		m.t.Fatal(v.Err)
	}
	if v.World == nil || !v.Fresh {
		return
	}
	if b := body(v.World); b != nil && m.shown[v.World.Tick()] == nil {
		m.shown[v.World.Tick()] = b
	}
}

// alone computes what one who plays alone would see of the same commands, by tick.
func (m *match) alone() map[world.Tick][]int32 {
	w, in := m.solo.Host().Clone(), track.NewInputs()
	of := map[world.Tick][]int32{}
	for range m.inputs {
		in.Reset()
		t := w.Tick() + 1
		if t == m.joined {
			in.Join(1)
		}
		if c := m.made[t]; c != nil && t >= m.joined {
			if err := in.GiveImage(1, c); err != nil {
				m.t.Fatal(err)
			}
		}
		if err := w.Host().Step(in); err != nil {
			m.t.Fatal(err)
		}
		of[t] = body(w)
	}
	return of
}

// repeats has what went into the world make the same world again.
func (m *match) repeats() {
	w := m.solo.Host().Clone()
	for _, in := range m.inputs {
		if err := w.Host().Step(in); err != nil {
			m.t.Fatal(err)
		}
	}
	if w.Hash() != m.server.World().Hash() {
		m.t.Error("the inputs of the server do not make its world again")
	}
}

func conditions(t *testing.T, text string) netsim.Conditions {
	c, err := netsim.ParseConditions(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wander walks to and fro, and shoots now and then, from a tick on.
func wander(from world.Tick) func(t world.Tick) run {
	return func(t world.Tick) run {
		if t < from {
			return run{}
		}
		return run{X: int8(t/40%2)*2 - 1, Fire: t%11 == 0}
	}
}

// On a network that loses nothing and delays all alike, all but Quake agree with what one who plays
// alone sees: the server's world, and the player's own body as it is shown.
func TestPerfectNetwork(t *testing.T) {
	for _, a := range architecture.All() {
		for _, network := range []string{"perfect", "latency=40ms"} {
			t.Run(fmt.Sprintf("%s/%s", a.Name, network), func(t *testing.T) {
				m := play(t, a, 5, conditions(t, network), nil)
				m.net.Run(3 * time.Second) // the clock is set
				m.input = wander(m.server.World().Tick() + 60)
				m.net.Run(4 * time.Second)
				want := m.alone()
				last := m.server.World().Tick()
				wrong, shown, off := 0, 0, 0
				for tick := last - 150; tick <= last; tick++ {
					if !slices.Equal(m.bodies[tick], want[tick]) {
						wrong++
					}
					if b := m.shown[tick]; b != nil {
						if shown++; !slices.Equal(b, want[tick]) {
							off++
						}
					}
				}
				moved := !slices.Equal(m.bodies[last], m.bodies[last-150])
				if !moved || shown < 100 {
					t.Fatalf("moved %v, shown %d: nothing was tried", moved, shown)
				}
				if a.Name == "quake" {
					if off == 0 {
						t.Error("it shows what is not known yet, and predicts nothing")
					}
				} else if wrong > 0 || off > 0 {
					t.Errorf("of 151 ticks the server has %d otherwise, and of %d shown %d are",
						wrong, shown, off)
				}
				m.repeats()
			})
		}
	}
}
