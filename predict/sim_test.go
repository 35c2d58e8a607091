package predict

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// A site is a server with its clients, over simulated paths, in steps of a millisecond.
type site struct {
	t      testing.TB
	game   *world.Game
	w      *world.World
	in     *world.Inputs
	proto  *replica.Protocol
	pub    *replica.Publisher
	index  *interest.Index
	follow *interest.Follower
	rules  *interest.Rules
	finder *interest.Finder
	worker *replica.Worker
	guests []*guest
	now    time.Duration
	due    float64 // the next tick, in ms
	hiccup bool
	reach  float64
	budget int

	images map[world.Tick]map[world.ID][]int32 // what was true
}

type guest struct {
	site     *site
	me       world.Player
	c        *Client
	r        *replica.Receiver
	s        *replica.Sender
	view     interest.View
	up, down *netsim.Path
	fast     float64
	shift    time.Duration
	frozen   bool
	think    func(g *guest, w *world.World) drive
	rng      det.Rand
	redund   Redundancy
	writer   *replica.CommandWriter
	reader   *replica.CommandReader
	message  []byte

	queue    map[world.Tick][]int32
	early    int
	heard    bool // ever
	fresh    bool // since the last snapshot
	repeated int
	carrier  uint64
	acks     []uint64
	parcels  []posted
	inOrder  [2]time.Duration
	waiting  [2][]func()

	shown   *world.World
	notices map[world.Emitted]*fate
	frames  int
	check   func(g *guest, s *replica.Snapshot)
}

// fate is what became of a foreseen event.
type fate struct {
	shown, decided int
	tick           world.Tick
	what           []What
}

type posted struct {
	at time.Duration
	do func()
}

func newSite(t testing.TB, g *world.Game, seed uint64) *site {
	t.Helper()
	s := &site{t: t, game: g, in: g.NewInputs(), reach: 1000, budget: 4000,
		images: map[world.Tick]map[world.ID][]int32{}}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	s.w, err = g.New(world.Settings{Seed: seed})
	must(err)
	s.proto, err = replica.NewProtocol(g, replica.Options{})
	must(err)
	s.pub, err = replica.NewPublisher(s.proto, s.w)
	must(err)
	s.worker, s.finder = replica.NewWorker(s.proto), interest.NewFinder()
	s.index = interest.NewIndex(interest.Options{})
	at := func(p det.Vec2) interest.Traits { return interest.Traits{Pos: det.Vec3{X: p.X, Y: p.Y}} }
	s.follow = interest.NewFollower(s.index,
		interest.Describe(func(_ *world.World, _ world.ID, e *walker) interest.Traits {
			return at(e.Pos)
		}),
		interest.Describe(func(_ *world.World, _ world.ID, e *shell) interest.Traits {
			return at(e.Pos)
		}),
		interest.Describe(func(_ *world.World, _ world.ID, e *bird) interest.Traits {
			return at(e.Pos)
		}))
	return s
}

func (s *site) join(c netsim.Conditions, seed uint64, o Options,
	think func(*guest, *world.World) drive) *guest {
	p := world.Player(len(s.guests) + 1)
	o.Player, o.Settings = p, world.Settings{Seed: s.w.Host().Settings().Seed}
	client, err := New(s.game, o)
	if err != nil {
		s.t.Fatal(err)
	}
	g := &guest{
		site: s, me: p, c: client, think: think, up: netsim.NewPath(c.Up, seed),
		down: netsim.NewPath(c.Down, seed+1000), rng: det.At(seed, uint64(p), 3),
		queue: map[world.Tick][]int32{}, notices: map[world.Emitted]*fate{}}
	client.SetQuality(c.Up.Latency+c.Down.Latency+10*time.Millisecond, c.Up.MeanLoss())
	g.r = replica.NewReceiver(s.proto, replica.ReceiverOptions{Tick: s.w.Tick()})
	g.s = replica.NewSender(s.pub, replica.SenderOptions{Player: p})
	g.writer, g.reader = replica.NewCommandWriter(s.proto), replica.NewCommandReader(s.proto)
	s.guests = append(s.guests, g)
	s.in.Join(p)
	return g
}

// run lets time pass.
func (s *site) run(d time.Duration) {
	for end := s.now + d; s.now < end; s.now += time.Millisecond {
		for _, g := range s.guests {
			g.arrive()
		}
		if float64(s.now.Milliseconds()) >= s.due {
			s.due += 1000.0 / 60
			if !s.hiccup {
				s.tick()
			}
		}
		for _, g := range s.guests {
			g.frame()
		}
	}
}

func (s *site) tick() {
	t := s.w.Tick() + 1
	for _, g := range s.guests {
		if image, ok := g.queue[t]; ok {
			if err := s.in.GiveImage(g.me, image); err != nil {
				s.t.Fatal(err)
			}
			delete(g.queue, t)
		} else if g.heard {
			g.repeated++
		}
	}
	if err := s.w.Host().Step(s.in); err != nil {
		s.t.Fatal(err)
	}
	s.in.Reset()
	if err := s.pub.Publish(s.w); err != nil {
		s.t.Fatal(err)
	}
	all := map[world.ID][]int32{}
	for i := range s.game.Classes() {
		for id := range s.w.Host().Of(i) {
			all[id] = slices.Clone(s.w.Host().Image(id))
		}
	}
	s.images[t] = all
	delete(s.images, t-300)
	s.follow.Follow(s.w)
	for i, g := range s.guests {
		if (int(t)+i)%3 == 0 {
			g.snapshot()
		}
	}
}

func (g *guest) snapshot() {
	s := g.site
	o := interest.Observer{Player: g.me}
	for id, f := range world.All[walker](s.w) {
		if s.w.Owner(id) == g.me {
			o.Pos = det.Vec3{X: f.Pos.X, Y: f.Pos.Y}
		}
	}
	if s.rules == nil {
		s.rules = &interest.Rules{
			Sources: []interest.Source{
				&interest.Owned{}, &interest.Always{}, &interest.Radius{Enter: s.reach}}}
	}
	if s.finder.Update(&g.view, s.index, s.rules, o) {
		g.s.Look(&g.view)
	}
	g.s.Encode(s.worker,
		replica.Room{
			Packet: 1150, Budget: s.budget, Early: max(-128, min(127, g.early)),
			Repeated: min(g.repeated, 15)})
	g.fresh, g.repeated = false, 0
	for _, m := range g.s.Messages() {
		m := slices.Clone(m)
		g.reliable(0, func() {
			if err := g.r.Message(m); err != nil {
				s.t.Fatal(err)
			}
		})
	}
	for i := range g.s.Staged() {
		data := slices.Clone(g.s.Packet(i))
		g.carrier++
		n := g.carrier
		g.s.Sent(i, n)
		f := g.down.Pass(s.now, len(data)+25)
		if f.Copies == 0 {
			g.post(s.now+400*time.Millisecond, func() { g.s.Lost(n) })
			continue
		}
		for i, at := range f.At[:f.Copies] {
			g.post(at, func() {
				_ = g.r.Packet(data)
				if i == 0 {
					g.acks = append(g.acks, n)
				}
			})
		}
	}
}

func (g *guest) post(at time.Duration, do func()) {
	g.parcels = append(g.parcels, posted{at: at, do: do})
}

// reliable delivers in order, at the cost of time for each loss.
func (g *guest) reliable(way int, do func()) {
	g.waiting[way] = append(g.waiting[way], do)
}

// pump tries to send what waits.
func (g *guest) pump() {
	for way, path := range []*netsim.Path{g.down, g.up} {
		for len(g.waiting[way]) > 0 {
			f := path.Pass(g.site.now, 60)
			if f.Copies == 0 {
				break
			}
			g.inOrder[way] = max(g.inOrder[way], f.At[0])
			g.post(g.inOrder[way], g.waiting[way][0])
			g.waiting[way] = g.waiting[way][1:]
		}
	}
}

func (g *guest) local() time.Duration {
	return time.Duration(float64(g.site.now)*(1+g.fast)) + g.shift
}

func (g *guest) arrive() {
	if g.site.now%(25*time.Millisecond) == 0 {
		g.pump()
	}
	for i := 0; i < len(g.parcels); i++ {
		if p := g.parcels[i]; p.at <= g.site.now {
			g.parcels = slices.Delete(g.parcels, i, i+1)
			i--
			p.do()
		}
	}
}

// frame is what a player's program does sixty times a second.
func (g *guest) frame() {
	s := g.site
	ms := s.now.Milliseconds() + 7*int64(g.me)
	if g.frozen || ms%17 != 0 && ms%17 != 9 { // not in step with the server
		return
	}
	g.answer()
	list := g.r.Events()
	for i := range list {
		g.c.Event(&list[i])
	}
	for x := g.r.Next(); x != nil; x = g.r.Next() {
		g.c.Snapshot(g.local(), x)
		if g.check != nil {
			g.check(g, x)
		}
	}
	for range g.c.Due(g.local()) {
		in := g.c.Next()
		if err := world.Give(in, g.me, g.think(g, g.shown)); err != nil {
			s.t.Fatal(err)
		}
		g.c.Step()
		g.send()
	}
	if !g.c.Started() {
		return
	}
	g.shown = g.c.Show(g.local())
	g.frames++
	for i := range g.c.Notices() {
		g.notice(&g.c.Notices()[i])
	}
	if err := g.c.Err(); err != nil {
		s.t.Fatalf("tick %d, player %d: %v", g.c.Tick(), g.me, err)
	}
}

// answer acknowledges what came, and says what the receiver has to say, in one.
func (g *guest) answer() {
	if len(g.acks) == 0 {
		return
	}
	var messages [][]byte
	for _, m := range g.r.Outgoing() {
		messages = append(messages, slices.Clone(m))
	}
	acks := slices.Clone(g.acks)
	g.acks = g.acks[:0]
	g.reliable(1, func() {
		for _, n := range acks {
			g.s.Arrived(n)
		}
		for _, m := range messages {
			if err := g.s.Message(m); err != nil {
				g.site.t.Fatal(err)
			}
		}
	})
}

func (g *guest) send() {
	s := g.site
	tick, images := g.c.Commands(g.redund.Commands())
	var err error
	if g.message,
		err = g.writer.Append(g.message[:0], tick, images, nil, 1000); err != nil {
		s.t.Fatal(err)
	}
	data := slices.Clone(g.message)
	f := g.up.Pass(s.now, len(data)+25)
	g.redund.Observe(f.Copies == 0)
	for _, at := range f.At[:f.Copies] {
		g.post(at, func() { g.commands(data) })
	}
}

// commands is what the server does with a message.
func (g *guest) commands(data []byte) {
	s := g.site
	newest, err := g.reader.Read(data, s.w.Tick(), func(t world.Tick, image []int32,
		_ *world.Sight) {
		if _, dup := g.queue[t]; t > s.w.Tick() && t < s.w.Tick()+200 && !dup {
			g.queue[t] = slices.Clone(image)
		}
	})
	if err != nil {
		s.t.Fatal(err)
	}
	rest := (s.due - float64(s.now.Milliseconds())) / (1000.0 / 60)
	early := int(math.Floor(4 * (float64(newest) - float64(s.w.Tick()) - 1 + rest)))
	if !g.fresh || early < g.early {
		g.early = early
	}
	g.fresh, g.heard = true, true
}

func (g *guest) notice(n *Notice) {
	k := n.Emitted
	k.About = 0
	f := g.notices[k]
	if f == nil {
		f = &fate{tick: n.Tick}
		g.notices[k] = f
	}
	f.what = append(f.what, n.What)
	if n.Shows() {
		f.shown++
	}
	if n.What != Foreseen {
		f.decided++
	}
}

// own is the entity of a player.
func own(w *world.World, p world.Player) (world.ID, *walker) {
	for id, f := range world.All[walker](w) {
		if w.Owner(id) == p {
			return id, f
		}
	}
	return world.None, nil
}

// stand does nothing; roam walks about, turning now and then; fight fires as well.
func stand(*guest, *world.World) drive { return drive{} }

func roam(g *guest, w *world.World) drive {
	return wander(g, 40, false)
}

func fight(g *guest, w *world.World) drive {
	return wander(g, 25, true)
}

func wander(g *guest, hold int, fire bool) drive {
	t := g.c.Tick() + 1
	r := det.At(uint64(g.me), uint64(t)/uint64(hold), 9)
	d := drive{X: int8(r.IntN(3) - 1), Y: int8(r.IntN(3) - 1), Aim: r.Angle()}
	d.Fire = fire && t%20 == world.Tick(g.me)%20
	return d
}
