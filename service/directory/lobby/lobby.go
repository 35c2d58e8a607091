package lobby

import (
	"net/netip"
	"slices"
	"time"
)

// Grace is after how long without a word somebody is gone.
const Grace = 30 * time.Second

// Options are what a lobby is made from. Random has no default.
type Options struct {
	// Random draws codes and numbers.
	Random func() uint64
	// Rule is the rule of a game's queue, or nil if it has none. Default: what Use was given.
	Rule func(game string) Matcher
	// Regions are those in which there are servers of a game. It may be nil.
	Regions func(game, version string) []string
	// MostRooms and MostPeople bound all of the lobby. Defaults: 10,000 and 100,000.
	MostRooms, MostPeople int
	// MostFrom bounds who is here from one address, but not from this machine. Default: 64.
	MostFrom int
}

// A Lobby holds all rooms and queues. Its methods are not for several goroutines at once.
type Lobby struct {
	opt     Options
	rooms   map[string]*room
	people  map[uint64]*person
	from    map[netip.Addr]int
	queues  map[queueKey]*queue
	orders  map[uint64]*order
	given   []Order // that nobody has taken yet
	changes []Change
	ticked  time.Duration
	counts  Counts
}

// Counts are how often things happened.
type Counts struct {
	Made, Joined, Kicked, Silent, Queued, Matched, Started, Failed uint64
	// BadGroups are groups of an author's rule that could not be, and its panics.
	BadGroups uint64
}

// Who is somebody who asks, as accounts know them.
type Who struct {
	Client    uint64
	From      netip.Addr // the address, or the network of IPv6
	Anonymous bool
}

// A Profile is what players say of themselves.
type Profile struct {
	Name string `json:"name"`
	// Trips are round trips to regions in milliseconds.
	Trips map[string]int `json:"trips,omitempty"`
	Skill int            `json:"skill,omitempty"`
	// Data is for the game's own rule.
	Data string `json:"data,omitempty"`
	// Page says that they play in a browser, so that the match has to be at a server with a page.
	Page bool `json:"page,omitempty"`
}

// A Player is somebody with what they said of themselves.
type Player struct {
	Client uint64 `json:"client,string"`
	Profile
	From netip.Addr `json:"-"`
}

// A person is somebody who is here. They are in a room, wait, both (with their room), or neither.
type person struct {
	Player
	anonymous bool
	room      *room
	unit      *unit
	heard     time.Duration
	streams   int
	start     *Start
	until     time.Duration // of start
	chat      bucket
}

// A Change is something that people are told. Data is one of Room, Line, Queued, Start and Out.
type Change struct {
	To   []uint64
	Data any
}

// Out is told to somebody who is not in a room any more.
type Out struct {
	Room string `json:"room"`
	Why  string `json:"why"` // kicked, left or silent
}

// New makes a lobby.
func New(o Options) *Lobby {
	if o.Rule == nil {
		o.Rule = RuleOf
	}
	if o.Regions == nil {
		o.Regions = func(string, string) []string { return nil }
	}
	for _, x := range []struct {
		is *int
		by int
	}{{&o.MostRooms, 10_000}, {&o.MostPeople, 100_000}, {&o.MostFrom, 64}} {
		if *x.is == 0 {
			*x.is = x.by
		}
	}
	return &Lobby{opt: o, rooms: map[string]*room{}, people: map[uint64]*person{},
		from: map[netip.Addr]int{}, queues: map[queueKey]*queue{}, orders: map[uint64]*order{}}
}

// Changes hands out what is to be told since it was called last, in order.
func (l *Lobby) Changes() []Change {
	out := l.changes
	l.changes = nil
	return out
}

// tell notes a change.
func (l *Lobby) tell(to []uint64, data any) {
	if len(to) > 0 {
		l.changes = append(l.changes, Change{to, data})
	}
}

// Counts are the numbers so far.
func (l *Lobby) Counts() Counts { return l.counts }

// Size is how many rooms there are, how many people, and how many of these wait.
func (l *Lobby) Size() (rooms, people, waiting int) {
	for _, q := range l.queues {
		for _, u := range q.units {
			waiting += len(u.people)
		}
	}
	return len(l.rooms), len(l.people), waiting
}

// enter finds somebody, or has them be here.
func (l *Lobby) enter(now time.Duration, w Who) (*person, error) {
	if p := l.people[w.Client]; p != nil {
		l.move(p, w.From)
		p.heard, p.anonymous = now, w.Anonymous
		return p, nil
	}
	if len(l.people) >= l.opt.MostPeople {
		return nil, errFull
	}
	if !w.From.IsLoopback() && l.from[w.From] >= l.opt.MostFrom {
		return nil, errMany
	}
	p := &person{Player: Player{Client: w.Client, From: w.From}, heard: now,
		anonymous: w.Anonymous}
	l.people[w.Client] = p
	l.from[w.From]++
	return p, nil
}

// move has somebody be at another address.
func (l *Lobby) move(p *person, to netip.Addr) {
	if p.From == to {
		return
	}
	l.unfrom(p.From)
	l.from[to]++
	p.From = to
}

func (l *Lobby) unfrom(a netip.Addr) {
	if l.from[a]--; l.from[a] <= 0 {
		delete(l.from, a)
	}
}

// Listen notes that somebody holds a stream of what they are told, or lets go of one. While they
// hold one they are not silent.
func (l *Lobby) Listen(now time.Duration, w Who, on bool) error {
	if !on {
		if p := l.people[w.Client]; p != nil && p.streams > 0 {
			p.streams--
			p.heard = now
		}
		return nil
	}
	p, err := l.enter(now, w)
	if err != nil {
		return err
	}
	if p.streams >= mostStreams {
		return errStreams
	}
	p.streams++
	return nil
}

// mostStreams is how many streams one person may hold.
const mostStreams = 4

// Mine is where somebody is.
type Mine struct {
	Client uint64  `json:"client,string"`
	Room   *Room   `json:"room,omitempty"`
	Queue  *Queued `json:"queue,omitempty"`
	// Start is where the match is that was found last, while one can still go there.
	Start *Start `json:"start,omitempty"`
}

// Ping says that somebody is there, and gives where they are. It does not bring in anybody new.
func (l *Lobby) Ping(now time.Duration, w Who) Mine {
	p := l.people[w.Client]
	if p == nil {
		return Mine{Client: w.Client}
	}
	l.move(p, w.From)
	p.heard = now
	m := Mine{Client: w.Client}
	if p.room != nil {
		m.Room = p.room.view(true)
	}
	if p.unit != nil {
		m.Queue = p.unit.view(now)
	}
	if p.start != nil && now < p.until {
		m.Start = p.start
	}
	return m
}

// held is how long nobody may have looked before what was not heard meanwhile is nobody's fault:
// the machine slept.
const held = 5 * time.Second

// Tick takes out those who are silent, and has the rules group those who wait. It is called about
// once a second.
func (l *Lobby) Tick(now time.Duration) {
	if gap := now - l.ticked; gap > held && l.ticked != 0 {
		for _, p := range l.people {
			p.heard += gap
		}
	}
	l.ticked = now
	var silent []uint64
	for n, p := range l.people {
		if p.streams == 0 && now-p.heard >= Grace {
			silent = append(silent, n)
		}
		if p.start != nil && now >= p.until {
			p.start = nil
		}
	}
	slices.Sort(silent)
	for _, n := range silent {
		l.counts.Silent++
		p := l.people[n]
		if p.room != nil {
			l.leave(now, p, "silent")
		}
		l.unqueue(now, p)
		l.unfrom(p.From)
		delete(l.people, n)
	}
	l.match(now)
	l.late(now)
}

// An Error is why something was not done. The codes are for programs and stay.
type Error struct{ Code, Text string }

func (e *Error) Error() string { return e.Text }

func refuse(code, text string) *Error { return &Error{code, text} }

var (
	errFull = refuse("full", "the lobby has as many people and rooms as it may: try again later")
	errMany = refuse("too_many", "too many are in the lobby from this address: let some leave")
	// ErrCode is that there is no room of a code.
	ErrCode = refuse("unknown_room", "there is no room with this code: check the letters, or ask "+
		"whoever invited you for a new one; a room ends when the last one leaves")
	errStreams = refuse("too_many", "this account listens at too many places: close one")
	errNotIn   = refuse("not_member", "you are not in this room: join it first")
	errNotHost = refuse("not_host", "only the host of the room can do that")
	errInRoom  = refuse("in_room", "you are in another room: leave that first")
	errInQueue = refuse("in_queue", "you wait in a queue: leave that first")
	errBusy    = refuse("starting", "the match is being started: wait a moment")
	errClosed  = refuse("room_full", "the room is full: ask its host to make it larger")
	errKicked  = refuse("kicked", "the host has removed you from this room: join another")
	errFast    = refuse("too_fast", "you say too much at once: wait a few seconds")
	errLeaves  = refuse("unknown_member", "there is nobody with this number in the room")
)
