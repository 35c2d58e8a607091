//go:build !js

package demo

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/peer"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// A seat is one of the machines of a demo with peers. The peer on it may crash and be started
// again; the machine stays where it is, and knows who it is.
type seat struct {
	party    *party
	index    int
	name     string
	watch    bool
	identity [32]byte
	back     [relay.SecretSize]byte // by which it returns to the same body, at a relay

	bot     game.Bot
	control game.Control
	auto    atomic.Bool   // a bot plays
	off     atomic.Bool   // it is cut off from all others
	member  atomic.Uint32 // its number in the match

	mu      sync.Mutex
	style   peers.Style
	peer    peer.Match // nil while it is not running
	stopped context.CancelFunc
	done    chan struct{}
	hands   entry.Hands
	viewers map[*viewer]bool
}

// A viewer is what one page shows of a seat.
type viewer struct{ turns.Viewer }

// running is the peer, or nil.
func (s *seat) running() peer.Match {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peer
}

// start starts the peer: one that founds a match, or one that joins that of the others.
func (s *seat) start(founds bool) error {
	if s.party.hub != nil && !founds {
		if err := s.party.awaitCode(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peer != nil {
		return fmt.Errorf("%s is running", s.name)
	}
	p := s.party
	o := peers.Options{
		Game: p.title.Game, Identity: s.identity, Secret: p.secret, Name: s.name,
		Wall: time.Now().Unix(), Address: seatAddress(s.index), Style: s.style, Watch: s.watch,
		Input: s.input, After: s.after, News: func(n peers.News) { p.told(s, n) },
		Packets: p.set.Packets,
	}
	_, _ = rand.Read(o.Seed[:]) // it never fails
	if founds {
		o.World = p.world
		o.Match = &peers.Match{Level: p.level.Name, Data: p.level.Data, Seed: p.level.Seed,
			Seats: mostSeats, Patience: time.Second}
	}
	for _, other := range p.all() {
		if other != s {
			o.Ask = append(o.Ask, seatAddress(other.index))
		}
	}
	o.Link = p.mesh.open(seatAddress(s.index), s.index)
	made, err := s.make(&o)
	if err != nil {
		_ = o.Link.Close()
		return err
	}
	for v := range s.viewers {
		v.Viewer = turns.Viewer{}
	}
	ctx, stop := context.WithCancel(p.ending)
	s.peer, s.stopped, s.done = made, stop, make(chan struct{})
	done := s.done
	p.work.Go(func() {
		defer close(done)
		_ = made.Run(ctx) // what went wrong is in the news
		_ = made.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.peer == made {
			s.peer = nil
		}
	})
	return nil
}

// make makes the peer: one of a mesh, or one that plays by a relay's rows. The lock is held.
func (s *seat) make(o *peers.Options) (peer.Match, error) {
	p := s.party
	if p.hub == nil {
		return peers.New(*o)
	}
	var made *peers.Relayed
	o.News = func(n peers.News) {
		if n.Kind == peers.Met {
			s.welcomed(made)
		}
		p.told(s, n)
	}
	var err error
	made, err = s.relayed(o)
	return made, err
}

// stop ends the peer without a word to anyone.
func (s *seat) stop() error {
	s.mu.Lock()
	made, done := s.peer, s.done
	s.peer = nil
	s.mu.Unlock()
	if made == nil {
		return fmt.Errorf("%s is not running", s.name)
	}
	_ = made.Close() // without its link it ends at once
	<-done
	return nil
}

// input is the command of the player, or of the bot.
func (s *seat) input(w *world.World, me world.Player, t world.Tick, in *world.Inputs) {
	if s.auto.Load() || s.control == nil {
		_ = s.bot(w, me, t, in) // its commands are of the game's type
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.control(s.hands.Input(), me, in) // the same
	s.hands.Given()
}

// after has viewers take the events of a tick.
func (s *seat) after(w *world.World, _ *world.Inputs, _ bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.viewers {
		v.After(w)
	}
}

// look gives what a page shows of the seat now: a world that is the viewer's own, or nil.
func (s *seat) look(ctx context.Context, v *viewer) (w *world.World, me world.Player) {
	made := s.running()
	if made == nil {
		return nil, world.Nobody
	}
	_ = made.Do(ctx, func() {
		if now := made.World(); now != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.viewers[v] = true
			w, me = v.Look(now), made.Player()
		}
	})
	return w, me
}

// leave has a viewer look no more.
func (s *seat) leave(v *viewer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.viewers, v)
}

// setStyle changes how the peer plays, now and when it is started again.
func (s *seat) setStyle(style peers.Style) {
	s.mu.Lock()
	s.style = style
	made := s.peer
	s.mu.Unlock()
	if made != nil {
		_ = made.Do(s.party.ending, func() { _ = made.SetStyle(style) }) // it is within the bounds
	}
}

// A seatState is what the page is told of a peer several times a second. The JSON names are the
// page's.
type seatState struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
	Watch  bool   `json:"watch"`
	Auto   bool   `json:"auto"` // a bot plays
	Cut    bool   `json:"cut"`
	Runs   bool   `json:"runs"`
	peer.Standing
}

func (s *seat) state(ctx context.Context) seatState {
	x := seatState{Number: s.index + 1, Name: s.name, Watch: s.watch, Auto: s.auto.Load(),
		Cut: s.off.Load()}
	made := s.running()
	if made == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		x.Style = peer.StyleName(s.style)
		return x
	}
	if made.Do(ctx, func() {
		x.Standing = peer.Stand(made)
		if id := made.ID(); id != 0 {
			s.member.Store(uint32(id))
		}
	}) == nil {
		x.Runs = true
		s.party.called(x.Members)
	}
	return x
}
