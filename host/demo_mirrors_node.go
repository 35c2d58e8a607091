//go:build !js

package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/world"
)

// A demoMirror is one of the machines of a demo with mirrors. The mirror on it may die and be started again; the machine stays where it is.
type demoMirror struct {
	fleet *demoMirrors
	index int

	mu   sync.Mutex
	life *mirrorLife // nil while it is dead
}

// A mirrorLife is a mirror from its start to its end.
type mirrorLife struct {
	of     *demoMirror
	mirror *mirror.Mirror
	doors  []*websocket.Server // for browsers, by the shore that they are on
	shapes []*shaped           // before doors for those from other shores; nil for its own
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

// mirrorAddress is where other mirrors reach a machine, and mirrorPublic where players do. Both are addresses on the sea only.
func mirrorAddress(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 4100)
}

func mirrorPublic(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 4000)
}

// alive is the present life, or nil.
func (n *demoMirror) alive() *mirrorLife {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life
}

// start begins a life, of one that founds the game or joins the others.
func (n *demoMirror) start(found bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life != nil {
		return fmt.Errorf("mirror %d is alive", n.index+1)
	}
	f := n.fleet
	l := &mirrorLife{of: n, done: make(chan struct{})}
	hull, dock := f.sea.open(mirrorAddress(n.index), n.index), f.sea.open(mirrorPublic(n.index), n.index)
	links := []link.Link{dock}
	for shore := range f.nodes {
		door := websocket.NewServer(websocket.Options{AnyOrigin: true, Sessions: 64})
		c, cut := f.sea.way(shore, n.index)
		var s *shaped
		if shore == n.index {
			links = append(links, door)
		} else {
			s = newShaped(door, c, f.seed+uint64(n.index*16+shore))
			s.setCut(cut)
			links = append(links, s)
		}
		l.doors, l.shapes = append(l.doors, door), append(l.shapes, s)
	}
	o := mirror.Options{
		Server: serverOptions(f.title, f.level, replica.Coeval),
		Link:   hull, Address: mirrorAddress(n.index), Public: mirrorPublic(n.index), Name: fmt.Sprintf("mirror %d", n.index+1),
		Keys: []token.Key{f.key}, Found: found, Timeline: f.timeline, Delays: f.delays,
		News: func(x mirror.News) { f.told(l, x) },
	}
	o.Server.Links, o.Server.Players, o.Server.KeepSeat, o.Server.Workers = links, 64, demoKeep, 1
	for i := range f.nodes {
		if i != n.index {
			o.Ask = append(o.Ask, mirrorAddress(i))
		}
	}
	l.born = time.Now()
	l.until = l.born
	o.Measure = func() time.Duration { return time.Since(l.born) }
	var err error
	if l.mirror, err = mirror.New(o); err != nil {
		for _, x := range append(links, hull) {
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
func (n *demoMirror) stop() error {
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
func (l *mirrorLife) do(ctx context.Context, f func(m *mirror.Mirror)) error {
	return l.calls.Do(ctx, func() { f(l.mirror) })
}

// run drives the mirror until it is killed, ends by itself, or the demo does.
func (l *mirrorLife) run() {
	n := l.of
	defer close(l.done)
	defer func() {
		_ = l.mirror.Close() // nothing more is expected of it
		n.mu.Lock()
		n.life = nil
		n.mu.Unlock()
	}()
	_ = drive.Loop{ // why a mirror ended has been told as news
		Due: l.mirror.Deadline, Tick: l.poll, Poll: l.poll, Calls: &l.calls, Clock: drive.Since(l.born),
		Stop: l.farewell, Grace: time.Second,
		Done: func() bool { return l.mirror.Server() == nil || l.mirror.Server().Done() },
	}.Run(n.fleet.ending)
	if l.killed.Load() {
		n.fleet.say(n.index, "killed")
	}
}

// errKilled ends a mirror without a word.
var errKilled = errors.New("killed")

func (l *mirrorLife) poll(now time.Duration) error {
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
func (l *mirrorLife) farewell(error) {
	if s := l.mirror.Server(); s != nil {
		s.Shutdown("the demo has ended")
	}
}

// look notes what has happened since the last time.
func (l *mirrorLife) look() {
	st := l.mirror.TimelineStats()
	if st.Rollbacks < l.line.Rollbacks { // it joined anew
		l.line = timeline.Stats{}
	}
	if n := st.Seen - l.line.Seen; n > 0 {
		l.rewound = ticksMS(st.Depth-l.line.Depth) / float64(st.Rollbacks-l.line.Rollbacks)
		l.of.fleet.rollbacks[l.of.index].Add(uint64(n))
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
		l.shepherd(now)
	}
	if now.Sub(l.told) >= 100*time.Millisecond {
		l.told = now
		l.tell()
	}
}

// settledIn is how long a mirror must have served before its players come back to it, or not have served before they are sent on, and homeAgain how long they are given to
// go.
const (
	settledIn = 2 * time.Second
	homeAgain = 5 * time.Second
)

// shepherd asks players to go where they are served best: to the mirror on their own shore, or to any that serves if this one does not.
func (l *mirrorLife) shepherd(now time.Time) {
	s, f := l.mirror.Server(), l.of.fleet
	if s == nil {
		return
	}
	idle := l.mirror.Phase() != mirror.Serving && now.Sub(l.until) > settledIn
	for seat := range s.Seats {
		if home := homeOf(seat.Client); home >= 0 && home < len(f.nodes) && !seat.Away() {
			if to, ok := f.better(home, l.of.index, idle, now); ok && f.mayMove(seat.Client, now) {
				s.Move(seat, mirrorPublic(to))
			}
		}
	}
}

// better is a mirror at which someone who lives on a shore is served better than where they are.
func (f *demoMirrors) better(home, here int, idle bool, now time.Time) (to int, ok bool) {
	good := func(i int) bool {
		_, cut := f.sea.way(home, i)
		return i != here && !cut && f.nodes[i].settled(now)
	}
	if good(home) {
		return home, true
	}
	for k := 1; k < len(f.nodes) && idle; k++ {
		if i := (home + k) % len(f.nodes); good(i) {
			return i, true
		}
	}
	return 0, false
}

// settled says whether a mirror has served for a while.
func (n *demoMirror) settled(now time.Time) bool {
	l := n.alive()
	if l == nil {
		return false
	}
	st := l.state.Load()
	return st.Phase == mirror.Serving.String() && now.Sub(st.since) > settledIn
}

// ticksMS is how long ticks take, in milliseconds.
func ticksMS(n int) float64 { return float64(n) * 1000 / 60 }

// door is where browsers of a shore come in, or nil.
func (n *demoMirror) door(shore int) http.Handler {
	l := n.alive()
	if l == nil || shore < 0 || shore >= len(l.doors) {
		return nil
	}
	return l.doors[shore]
}

// reshape has the doors for other shores treat traffic as the sea does.
func (l *mirrorLife) reshape(f *demoMirrors) {
	for shore, s := range l.shapes {
		if s != nil {
			c, cut := f.sea.way(shore, l.of.index)
			s.setConditions(c)
			s.setCut(cut)
		}
	}
}

// mirrorState is what the page is told of one mirror. Times are in milliseconds.
type mirrorState struct {
	Number  int    `json:"number"`
	Place   string `json:"place"` // where players find it
	Phase   string `json:"phase"`
	Uber    bool   `json:"uber"`
	ID      int    `json:"id"`
	Members int    `json:"members"`
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
func (l *mirrorLife) tell() {
	m, n := l.mirror, l.of
	st, line, clock, sent := m.Stats(), m.TimelineStats(), m.Clock(), m.Traffic()
	s := &mirrorState{
		Number: n.index + 1, Place: mirrorPublic(n.index).String(), Phase: m.Phase().String(), ID: int(m.ID()), Uber: m.ID() != 0 && m.ID() == m.Uber(), Members: len(m.Members()),
		Offset: ms(clock.Offset), Bound: ms(clock.Bound), Unsure: clock.Unsure, Behind: ms(m.SettledDelay()), Rewound: l.rewound,
		Commands: line.Commands, Rollbacks: n.fleet.rollbacks[n.index].Load(), Shown: st.Provisional, Retracted: st.Retracted, Rejoins: st.Rejoins,
		Sent: mirrorTraffic(&sent), since: l.since,
	}
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
