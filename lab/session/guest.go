package session

import (
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// A Guest is a player's machine: a client, and a bot that acts on what the client shows it.
type Guest struct {
	*Session
	Index  int
	End    *netsim.Endpoint
	Client *client.Client
	Bot    game.Bot
	Me     world.Player

	Shown  Ring[[]Pose] // what the client showed for a tick
	struck world.Tick   // when it was last hit, or died, or came back
	feared world.Tick   // when it was last shown a hit on itself, whether or not it happened
	life   int
	alive  bool
}

// Remember is for how many ticks it is remembered what was commanded and shown: longer than any
// client is ahead.
const Remember = 512

// A Ring remembers something of each of the last ticks.
type Ring[T any] struct {
	ticks [Remember]world.Tick
	of    [Remember]T
}

// At is what there is of a tick, or nil.
func (r *Ring[T]) At(t world.Tick) *T {
	if r.ticks[t%Remember] != t {
		return nil
	}
	return &r.of[t%Remember]
}

// Put makes room for a tick. It has what an older one left there.
func (r *Ring[T]) Put(t world.Tick) *T {
	r.ticks[t%Remember] = t
	return &r.of[t%Remember]
}

// Rings are those of players.
type Rings[T any] map[world.Player]*Ring[T]

// Of is the ring of a player.
func (r Rings[T]) Of(p world.Player) *Ring[T] {
	if r[p] == nil {
		r[p] = new(Ring[T])
	}
	return r[p]
}

// A Pose is where a body is.
type Pose struct {
	ID    world.ID
	Owner world.Player
	At    det.Vec3
	Life  int
}

// A Seat is how a guest comes to a server.
type Seat struct {
	Name    string // of the guest's machine
	To      netip.AddrPort
	Connect func(end *netsim.Endpoint) // lays its way to servers
	Seed    func() [32]byte            // of its connection
	Offset  time.Duration              // when in a tick its frames begin
	Frame   func()                     // what its program does at each tick of its own
	Client  client.Options             // but for what follows from all this
}

// Join makes a client of a server.
func (s *Session) Join(u *Guest, at Seat) {
	i := len(s.Guests)
	*u = Guest{Session: s, Index: i}
	s.Guests = append(s.Guests, u)
	t, err := s.Token(uint64(i+1), at.To)
	s.Fail(err)
	u.End, u.Bot = s.Net.Endpoint(at.Name), s.Title.NewBot(s.Net.Seed()*1000+uint64(i))
	at.Connect(u.End)
	o := at.Client
	o.Title, o.Link, o.Token, o.Name = s.Title.Title, u.End, t, u.End.Name()
	o.Conn.Seed, o.Conn.Wall = at.Seed(), Wall
	u.Client, err = client.New(o)
	s.Fail(err)
	u.End.After(at.Offset, func() { u.End.Every(s.Title.Game.TickLength(), at.Frame) })
}

// Offset is when in a tick the frames of the ith of n players begin: all over it, so that no one is
// in step with a server or with others.
func Offset(tick time.Duration, i, n int) time.Duration {
	return tick * time.Duration(2*i+1) / time.Duration(2*n)
}

// Begun is to be called when a world begins. The server shows nothing of it before it has heard
// that the client is ready, so no command comes before this.
func (u *Guest) Begun(me world.Player) {
	u.Me = me
	u.Of[me] = u
}

// Command asks the bot, which is shown what the client shows.
func (u *Guest) Command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	u.Fail(u.Bot(shown, me, t, in))
}

// Look remembers what was shown in a frame, and counts the corrections of the player's own body by
// more than a distance. Those may be of what the server took back.
func (u *Guest) Look(w *world.World, least float64, takenBack func() bool) {
	poses := u.Shown.Put(w.Tick())
	*poses = (*poses)[:0]
	for id := range w.Host().Of(u.Body) {
		if p, alive := u.Pose(w, id); alive {
			*poses = append(*poses, p)
		}
	}
	u.Title.Hits(w, func(h game.Hit) bool {
		if h.Victim == u.Me {
			u.feared = w.Tick()
		}
		return true
	})
	corrections := u.Client.Predict().Corrections() // since the last frame
	if !u.On {
		return
	}
	for _, x := range corrections {
		if w.Owner(x.Entity) == u.Me && x.Entity.Class() == u.Body && x.Distance > least {
			u.Causes.book(u, w, takenBack())
		}
	}
	u.Looks++
	u.Ahead += u.Client.Predict().Clock().Ahead()
}

// Pose is where a body is, if it is in play.
func (s *Session) Pose(w *world.World, id world.ID) (Pose, bool) {
	life, alive := game.Lives(w, id)
	p := Pose{ID: id, Owner: w.Owner(id), Life: life}
	p.At, _ = s.Title.At(w, id)
	return p, alive
}

// Causes count corrections, each for the first cause that applies.
type Causes struct{ All, TakenBack, Struck, Contact int }

// Rest are those that none of the causes applies to.
func (c *Causes) Rest() int { return c.All - c.TakenBack - c.Struck - c.Contact }

// book counts a correction of the player's own body by its cause, as docs/prediction.md explains
// them; before those, what the server took back.
func (c *Causes) book(u *Guest, w *world.World, takenBack bool) {
	c.All++
	known := u.Client.Predict().Known()
	switch {
	case takenBack:
		c.TakenBack++
	// The news of a hit come with one of the next snapshots; one that was foreseen, and did not
	// happen, is taken back as late as that.
	case u.struck+12 >= known || u.feared >= known:
		c.Struck++
	// What was predicted since the snapshot is what turned out to be wrong.
	case u.touched(known, w.Tick()):
		c.Contact++
	}
}

// touched says whether another body was next to the player's own, as it was shown between two
// ticks.
func (u *Guest) touched(from, to world.Tick) bool {
	for t := from; t <= to; t++ {
		poses := u.Shown.At(t)
		if poses == nil {
			continue
		}
		for _, own := range *poses {
			if own.Owner != u.Me {
				continue
			}
			for _, p := range *poses {
				if p.Owner != u.Me && p.At.Sub(own.At).Len() < 2*u.Title.Width() {
					return true
				}
			}
		}
	}
	return false
}
