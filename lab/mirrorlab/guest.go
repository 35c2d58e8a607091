package mirrorlab

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// A guest is a player's machine: a client that predicts, and a bot that acts on what the client shows it.
type guest struct {
	*stage
	id     uint64
	home   int // which of the servers it came to
	end    *netsim.Endpoint
	client *client.Client
	bot    game.Bot
	me     world.Player
	gone   bool // its client has ended

	shown  [rememberTicks]shownTick
	struck world.Tick // when it was last hit, or died, or came back
	feared world.Tick // when it was last shown a hit on itself, whether or not it happened
	life   int
	alive  bool
	known  world.Tick // the newest snapshot before this frame's

	came time.Duration // when it came into the game
	last time.Duration // when there were news of the own body
	tick world.Tick    // and of which tick

	// Hooks, each of which may be missing: commands that it gives, packets of news, news with the own body in them, and whether the server took back something about
	// this player between two snapshots.
	gave  func(u *guest, t world.Tick, image []int32)
	told  func(u *guest, s *replica.Snapshot)
	news  func(u *guest, w *world.World)
	back  func(u *guest, from, to world.Tick) bool
	seen  map[world.Player]world.Tick // the newest command of others that was shown
	pulse pulse
	from  guestMark
}

// A guestMark is what a client's counters were when measuring began.
type guestMark struct {
	snapshots, repeated, commands, down, up uint64
}

// rememberTicks is for how many ticks it is remembered what was commanded and shown: longer than any client is ahead.
const rememberTicks = 512

type shownTick struct {
	tick  world.Tick
	poses []pose
}

type pose struct {
	owner world.Player
	at    det.Vec3
}

// invite makes a client of a server. Its frames are in step with no one else's.
func (s *stage) invite(home int, to netip.AddrPort, connect func(end *netsim.Endpoint)) (*guest, error) {
	i := len(s.guests)
	u := &guest{stage: s, id: uint64(i + 1), home: home, end: s.net.Endpoint(fmt.Sprint("player", i+1)), bot: s.g.NewBot(s.net.Seed()*1000 + uint64(i)), seen: map[world.Player]world.Tick{}}
	s.guests = append(s.guests, u)
	connect(u.end)
	t, err := s.token(u.id, to)
	if err != nil {
		return nil, err
	}
	o := client.Options{Title: s.g.Title, Link: u.end, Token: t, Name: u.end.Name(), Tap: tap{u}}
	o.Conn.Seed, o.Conn.Wall = s.seed(3, i), wall
	if u.client, err = client.New(o); err != nil {
		return nil, err
	}
	tick := s.g.Game.TickLength()
	u.end.After(tick*time.Duration(2*i+1)/time.Duration(2*s.o.Mirrors*s.o.Players), func() { u.end.Every(tick, u.frame) })
	return u, nil
}

// begun is called when a world begins. The server shows nothing of it before it has heard that the
// client is ready, so no command comes before this.
func (u *guest) begun(me world.Player) {
	u.me = me
	u.of[u.me] = u
	u.came = u.net.Now()
}

// command asks the bot, which is shown what the client shows.
func (u *guest) command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	u.fail(u.bot(shown, me, t, in))
}

// A tap watches what comes to a guest's client, and what it makes.
type tap struct{ u *guest }

func (t tap) Snapshot(s *replica.Snapshot) {
	if t.u.told != nil {
		t.u.told(t.u, s)
	}
}

func (t tap) Command(tick world.Tick, image []int32) {
	if t.u.gave != nil {
		t.u.gave(t.u, tick, image)
	}
}

// look is called with the newest state after each frame.
func (u *guest) look(w *world.World) {
	if w.Tick() <= u.tick {
		return
	}
	for id := range w.Host().Of(u.body) {
		if w.Owner(id) == u.client.Player() {
			u.last, u.tick = u.net.Now(), w.Tick()
			if u.news != nil {
				u.news(u, w)
			}
			return
		}
	}
}

// plays says whether there were news of the own body lately.
func (u *guest) plays() bool {
	return u.client.Phase() == client.Playing && u.last > 0 && u.net.Now()-u.last < 250*time.Millisecond
}

// watches says whether it has been in the game for long and has no body: a title may have fewer bodies
// than players, as pong has two paddles.
func (u *guest) watches() bool {
	return u.client.Phase() == client.Playing && u.last == 0 && u.net.Now()-u.came > 2*time.Second
}

// frame is what a player's program does at each tick of its own.
func (u *guest) frame() {
	if u.gone {
		return
	}
	v := u.client.Frame(u.net.Now(), u.command)
	if v.Ended {
		u.gone = true
		if u.o.Fault == NoFault {
			u.fail(fmt.Errorf("%s: %w", u.end.Name(), v.Err))
		}
		return
	}
	if v.Began {
		u.begun(v.Me)
	}
	if v.Truth != nil {
		u.look(v.Truth)
	}
	if !v.Fresh {
		return
	}
	w, c := v.World, u.client.Predict()
	u.note(w)
	own := c.Corrections()
	if u.on {
		for _, x := range own {
			if w.Owner(x.Entity) == u.me && x.Entity.Class() == u.body && x.Distance > correctionFrom {
				u.corrected(w)
			}
		}
		u.stage.looks++
		u.stage.ahead += c.Clock().Ahead()
	}
	u.known = c.Known()
}

// note remembers what was shown.
func (u *guest) note(w *world.World) {
	s := &u.shown[w.Tick()%rememberTicks]
	s.tick, s.poses = w.Tick(), s.poses[:0]
	for id := range w.Host().Of(u.body) {
		if _, alive := game.Lives(w, id); alive {
			at, _ := u.g.At(w, id)
			s.poses = append(s.poses, pose{w.Owner(id), at})
		}
	}
	u.g.Hits(w, func(h game.Hit) bool {
		if h.Victim == u.me {
			u.feared = w.Tick()
		}
		return true
	})
}

// corrected books a correction of the player's own body by its cause, as docs/prediction.md explains them; before those, what the server took back.
func (u *guest) corrected(w *world.World) {
	k := &u.stage.kept
	k.all++
	known := u.client.Predict().Known()
	switch {
	case u.back != nil && u.back(u, u.known, known):
		k.takenBack++
	case u.struck+12 >= known || u.feared >= known:
		k.struck++
	case u.touched(known, w.Tick()):
		k.contact++
	}
}

// touched says whether another body was next to the player's own, as it was shown between two ticks.
func (u *guest) touched(from, to world.Tick) bool {
	for t := from; t <= to; t++ {
		s := &u.shown[t%rememberTicks]
		if s.tick != t {
			continue
		}
		for _, own := range s.poses {
			if own.owner != u.me {
				continue
			}
			for _, p := range s.poses {
				if p.owner != u.me && p.at.Sub(own.at).Len() < 2*u.g.Width() {
					return true
				}
			}
		}
	}
	return false
}

// mark begins to count.
func (u *guest) mark() {
	u.from = u.marked()
}

func (u *guest) marked() guestMark {
	st, n := u.client.Stats(), u.end.Counters()
	return guestMark{st.Snapshots, st.Repeated, st.Commands, n.ReceivedBytes, n.SentBytes}
}

// sum is what the clients met since begin.
func (s *stage) sum() Kept {
	minutes := (s.net.Now() - s.since).Minutes() * float64(len(s.guests))
	each := func(n int) float64 { return float64(n) / minutes }
	k := Kept{
		All: each(s.kept.all), TakenBack: each(s.kept.takenBack), Struck: each(s.kept.struck), Contact: each(s.kept.contact),
		Rest:  each(s.kept.all - s.kept.takenBack - s.kept.struck - s.kept.contact),
		Ahead: s.ahead / float64(max(s.looks, 1)), Minutes: minutes,
	}
	var sum guestMark
	for _, u := range s.guests {
		now := u.marked()
		sum.snapshots += now.snapshots - u.from.snapshots
		sum.repeated += now.repeated - u.from.repeated
		sum.commands += now.commands - u.from.commands
		sum.down += now.down - u.from.down
		sum.up += now.up - u.from.up
	}
	seconds := 60 * minutes
	k.Snapshots = float64(sum.snapshots) / seconds
	k.Late = float64(sum.repeated) / float64(max(sum.commands, 1))
	k.Down, k.Up = float64(sum.down)*8/1000/seconds, float64(sum.up)*8/1000/seconds
	return k
}

// leave closes all clients: the network is no more.
func (s *stage) leave() {
	for _, u := range s.guests {
		if u.client != nil {
			_ = u.client.Close()
		}
	}
}
