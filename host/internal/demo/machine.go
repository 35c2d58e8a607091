//go:build !js

package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/world"
)

// A machine is one of the machines of a demo with mirrors. The mirror on it may die and be started
// again; the machine stays where it is.
type machine struct {
	fleet *fleet
	index int

	rollbacks atomic.Uint64 // over all its lives

	mu   sync.Mutex
	life *life // nil while it is dead
}

// A life is a mirror from its start to its end.
type life struct {
	of     *machine
	mirror *mirror.Mirror
	doors  []*websocket.Server // for browsers, by the region that they are on
	shapes []*stream           // before doors for those from other regions; nil for its own
	born   time.Time
	calls  drive.Calls
	killed atomic.Bool // it ends without a word
	done   chan struct{}
	state  atomic.Pointer[mirrorState]

	since   time.Time // it serves
	until   time.Time // it served last
	home    time.Time // when players were last asked to go elsewhere
	told    time.Time // when state was last told
	line    timeline.Stats
	rewound float64 // milliseconds of the last
}

// mirrorAddress is where other mirrors reach a machine, and mirrorPublic where players do. Both are
// addresses on the mesh only.
func mirrorAddress(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 4100)
}

func mirrorPublic(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 4000)
}

// alive is the present life, or nil.
func (n *machine) alive() *life {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life
}

// start begins a life, of one that founds the game or joins the others.
func (n *machine) start(found bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life != nil {
		return fmt.Errorf("mirror %d is alive", n.index+1)
	}
	f := n.fleet
	l := &life{of: n, done: make(chan struct{})}
	mirrors, players := f.mesh.open(mirrorAddress(n.index), n.index),
		f.mesh.open(mirrorPublic(n.index), n.index)
	links := []link.Link{players}
	for region := range f.machines {
		door := websocket.NewServer(websocket.Options{Sessions: 64})
		c, cut := f.mesh.way(region, n.index)
		var s *stream
		if region == n.index {
			links = append(links, door)
		} else {
			s = newStream(door, c, f.seed+uint64(n.index*16+region))
			s.setCut(cut)
			links = append(links, s)
		}
		l.doors, l.shapes = append(l.doors, door), append(l.shapes, s)
	}
	o := f.opt
	o.Link, o.Address, o.Public = mirrors, mirrorAddress(n.index), mirrorPublic(n.index)
	o.Name, o.Found, o.Server.Links = fmt.Sprintf("mirror %d", n.index+1), found, links
	o.News = func(x mirror.News) { f.told(l, x) }
	for i := range f.machines {
		if i != n.index {
			o.Ask = append(o.Ask, mirrorAddress(i))
		}
	}
	l.born = time.Now()
	l.until = l.born
	var err error
	if l.mirror, err = mirror.New(o); err != nil {
		for _, x := range append(links, mirrors) {
			_ = x.Close()
		}
		return err
	}
	l.tell()
	n.life = l
	f.work.Go(l.run)
	return nil
}

// stop ends the present life without a word to anyone, as if the power had failed.
func (n *machine) stop() error {
	l := n.alive()
	if l == nil {
		return fmt.Errorf("mirror %d is dead already", n.index+1)
	}
	l.killed.Store(true)
	l.calls.Wake()
	<-l.done
	return nil
}

// do has f called by the goroutine that drives the mirror, if it lives.
func (l *life) do(ctx context.Context, f func(m *mirror.Mirror)) error {
	return l.calls.Do(ctx, func() { f(l.mirror) })
}

// run drives the mirror until it is killed, ends by itself, or the demo does.
func (l *life) run() {
	n := l.of
	defer close(l.done)
	defer func() {
		_ = l.mirror.Close() // nothing more is expected of it
		n.mu.Lock()
		n.life = nil
		n.mu.Unlock()
	}()
	_ = drive.Loop{ // why a mirror ended has been told as news
		Due: l.mirror.Deadline, Tick: l.poll, Poll: l.poll, Calls: &l.calls,
		Clock: drive.Since(l.born),
		Stop:  l.farewell, Grace: time.Second,
		Done: func() bool { return l.mirror.Server() == nil || l.mirror.Server().Done() },
	}.Run(n.fleet.ending)
	if l.killed.Load() {
		n.fleet.say(n.index, "killed")
	}
}

// errKilled ends a mirror without a word.
var errKilled = errors.New("killed")

func (l *life) poll(now time.Duration) error {
	if l.killed.Load() {
		return errKilled
	}
	if err := l.mirror.Poll(now); err != nil {
		return err
	}
	l.look()
	return nil
}

// farewell tells players that this is the end. Other mirrors hear the same from the demo.
func (l *life) farewell(error) {
	if s := l.mirror.Server(); s != nil {
		s.Shutdown("the demo has ended")
	}
}

// look notes what has happened since the last time.
func (l *life) look() {
	st := l.mirror.TimelineStats()
	if st.Commands < l.line.Commands { // it joined anew
		l.line = timeline.Stats{}
	}
	// The leading world goes back for late commands at nearly every tick; that counts where
	// somebody was moved by it.
	n, times := st.Seen-l.line.Seen, st.Rollbacks-l.line.Rollbacks+st.Returns-l.line.Returns
	if n == 0 && st.Returns > l.line.Returns && st.Jumps > l.line.Jumps {
		n = 1
	}
	if n > 0 {
		ticks := st.Depth - l.line.Depth + st.Returned - l.line.Returned
		l.rewound = ticksMS(ticks) / float64(max(times, 1))
		l.of.rollbacks.Add(uint64(n))
	}
	l.line = st
	now := time.Now()
	if l.mirror.Phase() != mirror.Serving {
		l.since = time.Time{}
	} else if l.until = now; l.since.IsZero() {
		l.since = now
	}
	if now.Sub(l.home) > time.Second {
		l.home = now
		l.guide(now)
	}
	if now.Sub(l.told) >= 100*time.Millisecond {
		l.told = now
		l.tell()
	}
}

// served is how long a mirror must have served before its players come back to it, or not have
// served before they are sent on, and homeAgain how long they are given to go.
const (
	served    = 2 * time.Second
	homeAgain = 5 * time.Second
)

// guide asks players to go where they are served best: to the mirror on their own region, or to any
// that serves if this one does not.
func (l *life) guide(now time.Time) {
	s, f := l.mirror.Server(), l.of.fleet
	if s == nil {
		return
	}
	idle := l.mirror.Phase() != mirror.Serving && now.Sub(l.until) > served
	for seat := range s.Seats {
		if home := homeOf(seat.Client); home >= 0 && home < len(f.machines) && !seat.Away() {
			if to, ok := f.better(home, l.of.index, idle, now); ok && f.mayMove(seat.Client, now) {
				s.Move(seat, mirrorPublic(to))
			}
		}
	}
}

// better is a mirror at which someone who lives on a region is served better than where they are.
func (f *fleet) better(home, here int, idle bool, now time.Time) (to int, ok bool) {
	good := func(i int) bool {
		_, cut := f.mesh.way(home, i)
		return i != here && !cut && f.machines[i].steady(now)
	}
	if good(home) {
		return home, true
	}
	for k := 1; k < len(f.machines) && idle; k++ {
		if i := (home + k) % len(f.machines); good(i) {
			return i, true
		}
	}
	return 0, false
}

// steady says whether a mirror has served for a while.
func (n *machine) steady(now time.Time) bool {
	l := n.alive()
	if l == nil {
		return false
	}
	st := l.state.Load()
	return st.Phase == mirror.Serving.String() && now.Sub(st.since) > served
}

// ticksMS is how long ticks take, in milliseconds.
func ticksMS(n int) float64 { return float64(n) * 1000 / 60 }

// door is where browsers of a region come in, or nil.
func (n *machine) door(region int) http.Handler {
	l := n.alive()
	if l == nil || region < 0 || region >= len(l.doors) {
		return nil
	}
	return l.doors[region]
}

// reshape has the doors for other regions treat traffic as the mesh does.
func (l *life) reshape(f *fleet) {
	for region, s := range l.shapes {
		if s != nil {
			c, cut := f.mesh.way(region, l.of.index)
			s.setConditions(c)
			s.setCut(cut)
		}
	}
}

// mirrorState is what the page is told of one mirror. Times are in milliseconds.
type mirrorState struct {
	Number  int    `json:"number"`
	Public  string `json:"place"` // where players find it
	Phase   string `json:"phase"`
	Uber    bool   `json:"uber"`
	ID      int    `json:"id"`
	Members int    `json:"members"`
	Absent  []int  `json:"absent"`  // those it is not in touch with, by number; 0 is the witness
	Players int    `json:"players"` // here
	Bots    int    `json:"bots"`    // of those

	Offset float64 `json:"offset"` // of the others' clocks
	Bound  float64 `json:"bound"`
	Unsure bool    `json:"unsure"`

	Tick    uint64  `json:"tick"`
	Behind  float64 `json:"behind"` // the settled world
	Delay   float64 `json:"delay"`  // for which the leading world waits
	Rewound float64 `json:"rewound"`

	Commands  int               `json:"commands"`
	Rollbacks uint64            `json:"rollbacks"` // over all lives
	Shown     uint64            `json:"shown"`     // events before they were settled
	Retracted uint64            `json:"retracted"`
	Rejoins   uint64            `json:"rejoins"`
	Sent      map[string]uint64 `json:"sent"` // bytes to other mirrors, by purpose

	since time.Time
}

// tell publishes the state.
func (l *life) tell() {
	m, n := l.mirror, l.of
	st, line, clock, sent := m.Stats(), m.TimelineStats(), m.Clock(), m.Traffic()
	s := &mirrorState{
		Number: n.index + 1, Public: mirrorPublic(n.index).String(), Phase: m.Phase().String(),
		ID: int(m.ID()), Uber: m.ID() != 0 && m.ID() == m.Uber(), Members: len(m.Members()),
		Offset: ms(clock.Offset), Bound: ms(clock.Bound), Unsure: clock.Unsure,
		Behind: ms(m.SettledDelay()), Rewound: l.rewound,
		Commands: line.Commands, Rollbacks: n.rollbacks.Load(), Shown: st.Provisional,
		Retracted: st.Retracted, Rejoins: st.Rejoins,
		Sent: mirrorTraffic(&sent), since: l.since,
	}
	n.fleet.knows(m.ID(), n.index+1)
	s.Absent = n.fleet.who(m.Absent()...)
	if t := m.Timeline(); t != nil {
		s.Delay = ms(t.Delays().Lead)
	}
	if srv := m.Server(); srv != nil {
		s.Tick = uint64(srv.World().Tick())
		for seat := range srv.Seats {
			if seat.Away() || seat.Player == world.Nobody {
				continue
			}
			s.Players++
			if isBot(seat.Client) {
				s.Bots++
			}
		}
	}
	l.state.Store(s)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
