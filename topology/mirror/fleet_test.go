package mirror

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

var netsimNowhere, netsimNowhere2 = netip.MustParseAddrPort("10.9.9.9:9"), netip.AddrPort{}

// wall is the Unix time at which simulated networks begin.
const wall = 1_800_000_000

// A fleet is several mirrors with clients, on a simulated network, under the eyes of a judge who
// sees all of them at once.
type fleet struct {
	net      *netsim.Net
	key      token.Key
	o        Options
	machines []*machine
	bots     []*bot
	err      error

	// For how long one may settle other worlds than the others do: not at all, but where one lies.
	quarrel time.Duration
	hashes  map[world.Tick]uint64 // of settled worlds, whoever settled them first
	by      map[world.Tick]string
	bodies  map[uint64]world.Player // of clients
}

// A machine runs a mirror, which may be started again after it died.
type machine struct {
	*fleet
	name    string
	between *netsim.Endpoint // between mirrors
	public  *netsim.Endpoint // for clients
	mirror  *Mirror
	lives   int
	dead    bool
	skew    time.Duration // of the machine's clock
	ahead   time.Duration // by how much its mirror insists on another time than the others'
	change  func(o *Options)
	stalled time.Duration // until when the machine stands still
	news    []News
	settled world.Tick
	differs time.Duration // since when it settles other worlds than the others, or 0
	ended   error
	serving time.Duration // since when
	rogue   bool          // what it says is not its own, and nothing is expected of it
}

func newFleet(n *netsim.Net, o Options) *fleet {
	f := &fleet{
		net: n, o: o, hashes: map[world.Tick]uint64{}, by: map[world.Tick]string{},
		bodies: map[uint64]world.Player{}}
	for i := range f.key {
		f.key[i] = byte(n.Seed()>>(8*(i%8))) + byte(i)
	}
	if f.o.Server.Title == nil {
		f.o.Server.Title = arenaTitle
		f.o.Server.Level = server.Level{Name: "duel", Seed: n.Seed()}
	}
	return f
}

func (f *fleet) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("seed %d, at %v: %s", f.net.Seed(), f.net.Now(),
			fmt.Sprintf(format, args...))
	}
}

func (f *fleet) seed(parts ...int) (s [32]byte) {
	binary.BigEndian.PutUint64(s[:], f.net.Seed()+1)
	for i, p := range parts {
		binary.BigEndian.PutUint32(s[8+4*i:], uint32(p)+1)
	}
	return s
}

// launch makes a machine, and its mirror. The first founds the game.
func (f *fleet) launch(name string, c netsim.Conditions) *machine {
	return f.launchMachine(&machine{fleet: f, name: name}, c)
}

// launchMachine does the same for a machine with options of its own.
func (f *fleet) launchMachine(s *machine, c netsim.Conditions) *machine {
	s.between, s.public = f.net.Endpoint("m"+s.name), f.net.Endpoint("s"+s.name)
	s.between.SetInbox(1 << 16)
	s.public.SetInbox(1 << 16)
	for _, other := range f.machines {
		f.net.Connect(s.between, other.between, c)
	}
	f.machines = append(f.machines, s)
	s.start()
	return s
}

// start begins a life of the machine's mirror.
func (s *machine) start() {
	index := 0
	for i, other := range s.machines {
		if other == s {
			index = i
		}
	}
	o := s.o
	o.Link, o.Address, o.Public, o.Name = s.between, s.between.PublicAddr(), s.public.PublicAddr(),
		s.name
	o.Server.Links = []link.Link{s.public}
	o.Server.Workers = 1
	o.Server.Conn.Seed = s.seed(1, index, s.lives)
	o.Keys, o.Wall = []token.Key{s.key}, wall
	o.Step, o.Copy = 50*time.Microsecond, 5*time.Microsecond // so that it repeats
	o.Seed = s.seed(2, index, s.lives)
	o.Found = index == 0 && s.lives == 0
	for _, other := range s.machines {
		if other != s {
			o.Ask = append(o.Ask, other.between.PublicAddr())
		}
	}
	o.Settled = s.judge
	o.News = func(n News) {
		s.news = append(s.news, n)
		if (n.Kind == Disputed || n.Kind == Equivocated) && !slices.ContainsFunc(s.machines,
			func(o *machine) bool { return o.rogue }) {
			s.fail("%s: %v %d %s, and all are honest", s.name, n.Kind, n.Mirror, n.Text)
		}
		if n.Kind == Rejoining {
			s.takesAnother()
		}
	}
	if s.change != nil {
		s.change(&o)
	}
	s.lives++
	s.settled = 0
	var err error
	if s.mirror, err = New(o); err != nil {
		s.fail("%s: %v", s.name, err)
		return
	}
	s.dead, s.ended = false, nil
	life := s.lives
	s.net.After(0, func() { s.drive(life) })
}

// drive polls a mirror as often as it asks for.
func (s *machine) drive(life int) {
	if s.dead || s.lives != life || s.ended != nil {
		return
	}
	if s.net.Now() < s.stalled {
		s.net.After(s.stalled-s.net.Now(), func() { s.drive(life) })
		return
	}
	if s.ahead != 0 {
		other := s.machines[0]
		if other == s {
			other = s.machines[1]
		}
		s.mirror.clock.offset = other.mirror.Now() + s.ahead - s.mirror.clock.local
	}
	now := s.net.Now() + s.skew
	if err := s.mirror.Poll(now); err != nil {
		s.ended = err
		return
	}
	if s.mirror.Phase() == Serving && s.serving == 0 {
		s.serving = s.net.Now()
	}
	s.oneUber()
	wait := max(s.mirror.Deadline()-now, 200*time.Microsecond)
	s.net.After(wait, func() { s.drive(life) })
}

// kill ends the machine without a word.
func (s *machine) kill() {
	s.dead = true
	s.serving = 0
	s.between.Restart(time.Millisecond)
	s.public.Restart(time.Millisecond)
}

// judge compares every settled world with those of the others.
func (s *machine) judge(w *world.World, _ *world.Inputs) {
	t := w.Tick()
	if s.mirror != nil {
		t = s.mirror.at(w)
	}
	if s.settled != 0 && t != s.settled+1 {
		s.fail("%s settles tick %d after %d", s.name, t, s.settled)
	}
	s.settled = t
	if s.rogue {
		return
	}
	h := w.Hash()
	if other, ok := s.hashes[t]; !ok {
		s.hashes[t], s.by[t] = h, s.name
	} else if other == h || s.o.Timeline == "bucket" { // which promises nothing
		s.differs = 0
	} else if s.differs = cmp.Or(s.differs, s.net.Now()); s.net.Now()-s.differs >= s.quarrel {
		s.fail("%s settles tick %d otherwise than %s, since %v", s.name, t, s.by[t], s.differs)
	}
	if s.o.Server.Title != arenaTitle {
		return
	}
	seen := map[world.Player]bool{}
	for id := range world.All[arena.Fighter](w) {
		p := w.Owner(id)
		if seen[p] {
			s.fail("player %d has two bodies at tick %d", p, w.Tick())
		}
		seen[p] = true
	}
}

// takesAnother is for a mirror that gives up its world. What it alone has settled, where one lies,
// is not what the others are measured by.
func (s *machine) takesAnother() {
	if s.settled = 0; s.differs != 0 || s.quarrel > 0 {
		s.differs = 0
		maps.DeleteFunc(s.hashes, func(t world.Tick, _ uint64) bool { return s.by[t] == s.name })
	}
}

// oneUber sees that no two mirrors act as überserver.
func (s *machine) oneUber() {
	if !s.mirror.leads() || s.rogue {
		return
	}
	for _, other := range s.machines {
		if other != s && !other.dead && !other.rogue && other.ended == nil &&
			s.net.Now() >= other.stalled && other.mirror.leads() {
			s.fail("%s and %s both act as überserver", s.name, other.name)
		}
	}
}

// alive lists the machines that run.
func (f *fleet) alive() (list []*machine) {
	for _, s := range f.machines {
		if !s.dead && s.ended == nil {
			list = append(list, s)
		}
	}
	return list
}

// whole says whether all machines that run serve, in one group, with the same überserver.
func (f *fleet) whole() bool {
	list := f.alive()
	for _, s := range list {
		if s.mirror.Phase() != Serving || len(s.mirror.Members()) != len(list) ||
			s.mirror.Uber() != list[0].mirror.Uber() {
			return false
		}
	}
	return true
}

// until lets time pass until something is so.
func (f *fleet) until(d time.Duration, what string, done func() bool) {
	if f.err == nil && !f.net.RunUntil(d, func() bool { return f.err != nil || done() }) {
		text := ""
		for _, s := range f.machines {
			text += fmt.Sprintf("\n%s: %v, dead %v, ended %v", s.name, s.mirror.Phase(), s.dead,
				s.ended)
			if s.mirror.line != nil {
				text += fmt.Sprintf(
					", members %v, über %d, leading %d, settled %d, held %d, stamp %d, have %d, "+
						"unsure %v, now %v", s.mirror.Members(), s.mirror.Uber(),
					s.mirror.line.Leading().Tick(), s.mirror.line.Settled().Tick(),
					s.mirror.settle.held, s.mirror.in.stamp, s.mirror.holds(),
					s.mirror.clock.unsure, s.mirror.clock.now())
				if s.mirror.line.Waits() {
					text += fmt.Sprintf("\n   waits for %+v", s.mirror.line.Members())
				}
				for _, st := range s.mirror.peers {
					text += fmt.Sprintf(
						"\n   stream %d: started %v from %d waiting %v next %d promise %d have "+
							"%d beyond %d", st.id, st.started, st.from, st.waiting, st.next,
						st.promise, st.have, len(st.beyond))
				}
			}
			for _, n := range s.news[max(0, len(s.news)-8):] {
				text += fmt.Sprintf("\n   %v %d %s %v", n.Kind, n.Mirror, n.Text, n.Err)
			}
		}
		for _, b := range f.bots {
			if !b.plays() {
				text += fmt.Sprintf("\nclient %d: player %d, %v, seen %v ago, ended %v", b.id,
					b.Player(), b.Phase(), f.net.Now()-b.played, b.ended)
			}
		}
		f.fail("not within %v: %s%s", d, what, text)
	}
}

// settles waits until all have settled a tick that is at least so far in the future as the present
// is from now.
func (f *fleet) settles(d time.Duration) {
	if f.err != nil {
		return
	}
	goal := world.Tick(0)
	for _, s := range f.alive() {
		goal = max(goal, s.mirror.in.stamp)
	}
	f.until(d, fmt.Sprintf("all settle tick %d", goal), func() bool {
		for _, s := range f.alive() {
			if s.settled < goal {
				return false
			}
		}
		return true
	})
}

func (f *fleet) close() {
	for _, s := range f.machines {
		if s.mirror != nil {
			_ = s.mirror.Close()
		}
	}
}

// A bot is a client that plays.
type bot struct {
	*client.Client
	f      *fleet
	end    *netsim.Endpoint
	id     uint64
	brain  *arena.Bot
	ended  error
	news   bool          // something came in this frame
	played time.Duration // when it last saw its own body in a new state
	gap    time.Duration // the longest between two of those
	player world.Player
	heard  []client.Word
}

// play makes a client of a machine.
func (f *fleet) play(id uint64, at *machine, c netsim.Conditions) *bot {
	b := &bot{f: f, id: id, end: f.net.Endpoint(fmt.Sprintf("c%d", id)), brain: arena.NewBot(id)}
	for _, s := range f.machines {
		f.net.Connect(b.end, s.public, c)
	}
	t, err := token.Issue(f.key,
		token.Grant{
			Protocol: token.ProtocolID(f.o.Server.Title.Game.Name()), Client: id, Expires: wall +
				3600, Servers: []netip.AddrPort{at.public.PublicAddr()}}, &countingBytes{
			s: f.seed(3, int(id))})
	if err != nil {
		f.fail("%v", err)
		return b
	}
	o := client.Options{
		Title: f.o.Server.Title, Style: predict.None, Link: b.end, Token: t,
		Name: fmt.Sprintf("bot %d", id), Tap: b}
	o.Conn.Seed, o.Conn.Wall = f.seed(4, int(id)), wall
	if b.Client, err = client.New(o); err != nil {
		f.fail("%v", err)
		return b
	}
	b.end.Every(f.o.Server.Title.Game.TickLength(), func() {
		if b.ended == nil {
			b.ended = b.turn()
		}
		if p := b.Player(); p != world.Nobody {
			if b.player != world.Nobody && p != b.player {
				f.fail("client %d was player %d and is player %d", b.id, b.player, p)
			}
			b.player = p
		}
	})
	f.bots = append(f.bots, b)
	return b
}

// turn lets the client have its turn, and looks at what it shows.
func (b *bot) turn() error {
	b.news = false
	v := b.Frame(b.f.net.Now(), b.think)
	for _, w := range v.Words {
		if w.Kind == client.Chat {
			b.heard = append(b.heard, w)
		}
	}
	if b.news && v.World != nil {
		for id := range world.All[arena.Fighter](v.World) {
			if v.World.Owner(id) == b.Player() {
				if b.played > 0 {
					b.gap = max(b.gap, b.f.net.Now()-b.played)
				}
				b.played = b.f.net.Now()
			}
		}
	}
	return v.Err
}

func (b *bot) think(_ world.Tick, p world.Player, shown *world.World, in *world.Inputs) {
	if err := world.Give(in, p, b.brain.Think(shown, p)); err != nil {
		b.f.fail("%v", err)
	}
}

// Snapshot and Command are for the client to call.
func (b *bot) Snapshot(*replica.Snapshot) { b.news = true }

func (b *bot) Command(world.Tick, []int32) {}

// plays says whether a client sees its own body in news of the last quarter of a second.
func (b *bot) plays() bool {
	return b.Phase() == client.Playing && b.played > 0 &&
		b.f.net.Now()-b.played < 250*time.Millisecond
}

// countingBytes is a source of bytes for tokens.
type countingBytes struct {
	s [32]byte
	n byte
}

func (c *countingBytes) Read(b []byte) (int, error) {
	for i := range b {
		c.n++
		b[i] = c.s[int(c.n)%32] + c.n*31
	}
	return len(b), nil
}
