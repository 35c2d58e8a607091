package tunnel

import (
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

// A Seat is a player: where its machine is, what it commands, and what it is shown.
type Seat struct {
	Index int
	Spot  Spot
	// End is the player's machine.
	End *netsim.Endpoint
	// Me is set by Enter.
	Me world.Player
	// Screen is set by the architecture: it fills in what somebody in the seat is shown at this
	// moment. World stays nil as long as there is nothing.
	Screen func(f *game.Frame)

	trial *Trial
	bot   game.Bot
	live  game.Bot // a person, or nil
	coder *turns.Coder
	image []int32 // scratch
	last  []int32 // the last command
	given session.Ring[given]
	first world.Tick // for which a command was given
	gave  world.Tick // the newest for which one was

	shown   session.Ring[frame]
	newest  world.Tick // that was shown
	felt    world.Tick // the newest of its own commands whose effect was shown
	changed time.Duration
	known   map[*Seat]world.Tick            // of others, up to where what they did was shown
	right   map[world.Player]*ring[sighted] // of copies: what was shown of others' commands
	counts
	own    []float32 // milliseconds, each
	others []float32
	server []float32
	offOwn []float32 // distances
	off    []float32
	bins   []bin // what was met step by step

	received uint64  // bytes, when the last step was over
	events   []claim // that were shown, until it is known whether they are true
	hits     []claim
}

// given is a command that was given for a tick.
type given struct {
	at    time.Duration
	image []int32
	fresh bool // nobody could have guessed it
	came  bool // to whom decides
}

// A frame is what was shown for a tick.
type frame struct {
	at    time.Duration
	poses []session.Pose
	off   []float32 // how far each of them is from the truth, when that is known
}

// ring is session.Ring, which is large.
type ring[T any] = session.Ring[T]

// sighted is what was shown of another's command.
type sighted struct{ right bool }

// counts are of what is measured.
type counts struct {
	Shown, Stills  int
	Still, Longest time.Duration
	Corrections    int
	Rollbacks      int
	Again, Deepest int // ticks
	Events, Taken  int // that were shown, and taken back
	// Hits that the player saw itself make, those of them that were none, and those that it made
	// and did not see.
	Seen, Denied, Unseen int
	Kills, Deaths        int
	Covered              int // deaths while behind cover
	Commands, Late       int // that the truth has, and has not as given
	Ghosts               int // bodies shown that are not there
	Due, Absent          int // bodies that should be shown, and that are not
	Turned               turning
}

// A gap is how far what was shown was from the truth at a moment.
type gap struct {
	at  time.Duration
	off float32
}

func newSeat(t *Trial, i int) *Seat {
	s := &Seat{Index: i, Spot: t.Field.Player(i), trial: t, coder: turns.NewCoder(t.Subject.Game),
		known: map[*Seat]world.Tick{}, right: map[world.Player]*ring[sighted]{},
		bot: t.Subject.NewBot(t.Seed*1000 + uint64(i))}
	s.image, s.last = make([]int32, s.coder.Len()), make([]int32, s.coder.Len())
	s.coder.Start(s.last)
	return s
}

// Enter says which player of the world the seat is.
func (s *Seat) Enter(me world.Player) {
	s.Me = me
	s.trial.players[me] = s
}

// Command gives the player's command for a tick, by what the machine shows. It is the command of
// topology/client and the input of topology/peers.
func (s *Seat) Command(t world.Tick, me world.Player, shown *world.World, in *world.Inputs) {
	s.trial.think(func() {
		switch tape := s.trial.Tape; {
		case s.live != nil:
			s.trial.Fail(s.live(shown, me, t, in))
		case tape != nil:
			s.trial.Fail(tape.play(s.Index, t, me, in))
		default:
			s.trial.Fail(s.bot(shown, me, t, in))
		}
		s.note(t, me, in)
	})
}

// note remembers a command. Those between the last and this one were repeated.
func (s *Seat) note(t world.Tick, me world.Player, in *world.Inputs) {
	if s.first == 0 || t <= s.gave || t > s.gave+session.Remember/4 {
		s.first, s.gave = t, t-1
	}
	for s.gave+1 < t {
		s.gave++
		s.coder.Repeat(s.last)
		s.put(s.gave, false)
	}
	s.gave = t
	s.coder.Repeat(s.last)
	if !in.Image(me, s.image) {
		copy(s.image, s.last)
	}
	fresh := !equal(s.image, s.last)
	copy(s.last, s.image)
	s.put(t, fresh)
}

func (s *Seat) put(t world.Tick, fresh bool) {
	g := s.given.Put(t)
	g.at, g.fresh, g.came = s.trial.Net.Now(), fresh, false
	g.image = append(g.image[:0], s.last...)
}

func equal(a, b []int32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// Came says that a command has come to who decides: a server.
func (s *Seat) Came(t world.Tick) {
	g := s.given.At(t)
	if g == nil || g.came {
		return
	}
	g.came = true
	if now := s.trial.Net.Now(); s.trial.measured(g.at) {
		s.server = append(s.server, millis(now-g.at))
	}
}

// A Picture is what a player is shown.
type Picture struct {
	World *world.World
	// Own is the player's newest command whose effect is in it: that of the world's tick, where it
	// is predicted.
	Own world.Tick
	// Known is the newest tick of which what others did is in it: that of the snapshot which it
	// rests on, or what it is interpolated from. Has, if it is set, says which of their commands up
	// to there really are.
	Known world.Tick
	Has   func(o *Seat, t world.Tick) bool
}

// Show says what the player is shown from now on.
func (s *Seat) Show(p Picture) {
	if !s.display(p.World, p.Own) {
		return
	}
	known, has := p.Known, p.Has
	now := s.trial.Net.Now()
	frame := s.shown.At(p.World.Tick())
	for _, o := range s.trial.Seats {
		if o == s || o.first == 0 {
			continue
		}
		from := max(s.known[o], o.first-1, known-min(known, session.Remember/2))
		if known <= from {
			continue
		}
		inView := s.trial.body < 0 || frame.has(o.Me)
		for t := from + 1; t <= known && (has == nil || has(o, t)); t++ {
			s.known[o] = t
			g := o.given.At(t)
			if inView && g != nil && g.fresh && s.trial.measured(g.at) {
				s.others = append(s.others, millis(now-g.at))
			}
		}
	}
}

// Given is the command that the player gave for a tick, or nil. It must not be changed.
func (s *Seat) Given(t world.Tick) []int32 {
	if g := s.given.At(t); g != nil {
		return g.image
	}
	return nil
}

// HasCome says whether the command for a tick has come to a server.
func (s *Seat) HasCome(t world.Tick) bool {
	g := s.given.At(t)
	return g != nil && g.came
}

func (f *frame) has(p world.Player) bool {
	for i := range f.poses {
		if f.poses[i].Owner == p {
			return true
		}
	}
	return false
}

// display notes what is shown for a tick, if that is a new one, and up to which of the player's own
// commands.
func (s *Seat) display(w *world.World, own world.Tick) bool {
	t, tick, now := s.trial, w.Tick(), s.trial.Net.Now()
	if tick <= s.newest && s.newest-tick < session.Remember/2 {
		return false
	}
	for k := max(s.felt+1, s.first, own-min(own, session.Remember/2)); k <= own; k++ {
		if g := s.given.At(k); g != nil && t.measured(g.at) {
			s.own = append(s.own, millis(now-g.at))
		}
	}
	s.newest, s.felt = tick, max(s.felt, own)
	f := s.shown.Put(tick)
	f.at, f.poses, f.off = now, t.poses(f.poses[:0], w), f.off[:0]
	if t.on {
		s.wait(now)
		s.Shown++
		if b, a := s.shown.At(tick-1), s.shown.At(tick-2); a != nil && b != nil {
			s.Turned.add(a.poses, b.poses, f.poses, s.Me)
		}
	}
	t.fault.shows(s, now)
	s.changed = now
	if t.filming {
		t.Film.Shown(s, now-t.zero, w)
	}
	return true
}

// stillness is by how much a new picture may be late without being missed: machines that are ahead
// of others take a little longer for a tick.
const stillness = 2 * time.Millisecond

// wait counts the time since the last new picture, if it was longer than it should be.
func (s *Seat) wait(now time.Duration) {
	if s.changed == 0 {
		return
	}
	length := s.trial.Subject.Game.TickLength()
	late := now - s.changed - length
	if late <= stillness {
		return
	}
	s.Stills++
	s.Still += late
	s.Longest = max(s.Longest, late)
	s.bin(now).still += late
	if late >= leastStill*length {
		s.wrong(StoodStill, world.Nobody, min(now, s.trial.until-1), s.newest, lab.Millis(late), "")
	}
}

// Computed is told of each tick that a copy of the whole world computes, for the first time or
// again: the After of topology/peers.
func (s *Seat) Computed(w *world.World, in *world.Inputs, again bool) {
	s.trial.think(func() { s.computed(w, in, again) })
}

func (s *Seat) computed(w *world.World, in *world.Inputs, again bool) {
	t, now := s.trial, s.trial.Net.Now()
	for _, p := range in.Players() {
		if o := t.players[p]; o != nil && o != s && in.Image(p, s.image) {
			s.watch(o, w.Tick(), now)
		}
	}
	if again {
		if t.on {
			s.Again++
		}
		if w.Tick() == s.newest {
			s.corrected(w)
		}
		return
	}
	if !s.display(w, w.Tick()) {
		return
	}
	t.strict(w, func(e world.Emitted) { s.Foresee(e, w.Tick()) })
	t.Subject.Hits(w, func(h game.Hit) bool {
		s.Hit(h, w.Tick())
		return true
	})
}

// watch notes when another's command, whose image is in s.image, is first shown as it was given.
func (s *Seat) watch(o *Seat, tick world.Tick, now time.Duration) {
	r := s.right[o.Me]
	if r == nil {
		r = new(ring[sighted])
		s.right[o.Me] = r
	}
	seen := r.At(tick)
	if seen == nil {
		seen = r.Put(tick)
		seen.right = false
	}
	g := o.given.At(tick)
	if seen.right || g == nil || !equal(g.image, s.image) {
		return
	}
	seen.right = true
	if g.fresh && s.trial.measured(g.at) {
		s.others = append(s.others, millis(now-g.at))
	}
}

// corrected compares where the player's own body was shown with where it is shown now.
func (s *Seat) corrected(w *world.World) {
	f := s.shown.At(w.Tick())
	if f == nil || s.trial.body < 0 {
		return
	}
	for i := range f.poses {
		p := &f.poses[i]
		if p.Owner != s.Me {
			continue
		}
		if w.Has(p.ID) {
			s.Correct(w, p.ID, s.trial.moved(w, p))
		}
	}
}

// moved is how far a body is from where it was.
func (t *Trial) moved(w *world.World, from *session.Pose) float64 {
	is, _ := t.pose(w, from.ID)
	return is.At.Sub(from.At).Len()
}

// Correct says that the player's own body was moved on the screen, by what was learned. A body that
// has come back to life elsewhere was not.
func (s *Seat) Correct(w *world.World, id world.ID, distance float64) {
	t := s.trial
	life, alive := game.Lives(w, id)
	if before := s.lastPose(id); !alive || before == nil || before.Life != life {
		return
	}
	if t.on && distance > t.Subject.Width()/20 {
		s.Corrections++
		s.bin(t.Net.Now()).corrections++
		s.wrong(Corrected, world.Nobody, t.Net.Now(), s.newest, distance/t.width(), "")
	}
}

// lastPose is where a body was shown last, or nil.
func (s *Seat) lastPose(id world.ID) *session.Pose {
	if f := s.shown.At(s.newest); f != nil {
		return find(f.poses, id)
	}
	return nil
}

// Rolled says that the machine has gone back by so many ticks to compute them again.
func (s *Seat) Rolled(ticks int) {
	if s.trial.on {
		s.Rollbacks++
		s.bin(s.trial.Net.Now()).rollbacks++
		s.Deepest = max(s.Deepest, ticks)
	}
}

func millis(d time.Duration) float32 { return float32(d) / float32(time.Millisecond) }
