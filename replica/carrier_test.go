package replica

import (
	"fmt"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// guest is a client and the way to it: packets may be lost, late or out of
// order, verdicts may be wrong about packets that arrive late, messages arrive in order.
type guest struct {
	t    testing.TB
	site *site
	s    *Sender
	r    *Receiver
	w    *world.World // what the client shows
	view interest.View
	rng  det.Rand
	me   world.Player

	loss, ackLoss float64
	twice         float64 // packets that come twice
	delay, jitter int     // ticks
	room          Room
	every         int // ticks from snapshot to snapshot

	now      int
	carrier  uint64
	down     []parcel // packets to the client
	verdicts []ruling
	inorder  []parcel // messages to the client
	up       []parcel // messages to the server
	saved    []int    // ticks of saved events that were heard
	looks    []world.Tick
	shown    map[world.ID][]int // in which looks an entity was in view
	sparks   int
	check    func(*Snapshot)
	hear     func(*Event)
	bytes    int
	packets  int
	taken    int // packets that the receiver took, at once or to read them later
	fails    map[string]int
}

type parcel struct {
	at   int
	data []byte
}

type ruling struct {
	at      int
	carrier uint64
	ok      bool
}

func newGuest(s *site, p world.Player, seed uint64) *guest {
	start, err := testGame.New(world.Settings{Seed: s.w.Host().Settings().Seed})
	if err != nil {
		s.t.Fatal(err)
	}
	g := &guest{
		t: s.t, site: s, me: p, rng: det.At(seed, uint64(p), 7), room: Room{
			Packet: 1150, Budget: 1150}, every: 3, delay: 3, fails: map[string]int{}}
	g.r = NewReceiver(s.p, ReceiverOptions{Start: start, Tick: s.w.Tick()})
	if g.r.Start() != s.pub.Start() {
		s.t.Fatal("client and server do not start from the same world")
	}
	g.s = NewSender(s.pub, SenderOptions{Player: p, Start: true})
	if g.w, err = testGame.New(world.Settings{Seed: s.w.Host().Settings().Seed,
		Partial: true}); err != nil {
		s.t.Fatal(err)
	}
	return g
}

// kept is the images that a client of Coeval keeps, by handle.
func (g *guest) kept() [][]keptImage { return g.r.bases.(*kept).list }

// look updates the view of the guest's player.
func (g *guest) look() {
	o := interest.Observer{Player: g.me}
	for id := range g.site.w.Entities() {
		if g.site.w.Owner(id) == g.me && id.Class() == 1 {
			pos := world.Get[walker](g.site.w, id).Pos
			o.Pos = det.Vec3{X: pos.X, Y: pos.Y}
		}
	}
	if g.site.find.Update(&g.view, g.site.ix, g.site.rules, o) {
		g.s.Look(&g.view)
	}
	if g.shown != nil {
		for _, e := range g.view.Entries() {
			g.shown[e.ID] = append(g.shown[e.ID], len(g.looks))
		}
		g.looks = append(g.looks, g.site.w.Tick())
	}
}

// concerned says whether the guest has to hear of an event about something that stays, by
// definition: it was in view when the guest next looked, or of what is saved, later.
func (g *guest) concerned(e world.Emitted) bool {
	next, _ := slices.BinarySearch(g.looks, e.Tick)
	saved := testGame.Events()[e.Kind].Delivery() == world.Saved
	return slices.ContainsFunc(g.shown[e.About], func(look int) bool {
		return look == next || saved && look > next
	})
}

// tick lets one tick pass for the guest, after the site's step.
func (g *guest) tick() {
	g.now++
	g.deliver()
	if g.now%g.every == 0 {
		g.look()
		g.s.Encode(g.site.worker, g.room)
		for _, m := range g.s.Messages() {
			g.bytes += len(m)
			g.inorder = append(g.inorder, parcel{g.now + g.delay, slices.Clone(m)})
		}
		for i := range g.s.Staged() {
			g.send(i)
		}
	}
}

func (g *guest) send(i int) {
	data := slices.Clone(g.s.Packet(i))
	if len(data) > g.room.Packet {
		g.t.Fatalf("a packet of %d bytes", len(data))
	}
	g.bytes += len(data)
	g.packets++
	g.carrier++
	g.s.Sent(i, g.carrier)
	way := g.delay
	if g.jitter > 0 {
		way += g.rng.IntN(g.jitter)
	}
	if g.rng.Float64() < g.loss {
		g.verdicts = append(g.verdicts, ruling{g.now + 3*g.delay + 2, g.carrier, false})
		return
	}
	g.down = append(g.down, parcel{g.now + way, data})
	if g.twice > 0 && g.rng.Float64() < g.twice {
		g.down = append(g.down, parcel{g.now + way + g.rng.IntN(4), data})
	}
	// The acknowledgement may be lost, and then the packet is taken for lost though it came.
	g.verdicts = append(g.verdicts,
		ruling{g.now + way + g.delay, g.carrier, g.rng.Float64() >= g.ackLoss})
}

// deliver hands over whatever arrives now.
func (g *guest) deliver() {
	due := func(list *[]parcel, f func([]byte)) {
		rest := (*list)[:0:0]
		for _, p := range *list {
			if p.at <= g.now {
				f(p.data)
			} else {
				rest = append(rest, p)
			}
		}
		*list = rest
	}
	due(&g.inorder, func(m []byte) {
		if err := g.r.Message(m); err != nil {
			g.t.Fatalf("message %x: %v", m, err)
		}
	})
	due(&g.down, func(m []byte) {
		if err := g.r.Packet(m); err != nil {
			g.fails[err.Error()]++
		} else {
			g.taken++
		}
	})
	due(&g.up, func(m []byte) {
		if err := g.s.Message(m); err != nil {
			g.t.Fatalf("client's message %x: %v", m, err)
		}
	})
	for _, m := range g.r.Outgoing() {
		g.up = append(g.up, parcel{g.now + g.delay, slices.Clone(m)})
	}
	rest := g.verdicts[:0:0]
	for _, v := range g.verdicts {
		switch {
		case v.at > g.now:
			rest = append(rest, v)
		case v.ok:
			g.s.Arrived(v.carrier)
		default:
			g.s.Lost(v.carrier)
		}
	}
	g.verdicts = rest
	g.show()
}

// show brings the guest's world up to date, and looks at all that comes.
func (g *guest) show() {
	for _, e := range g.r.Events() {
		if e.Delivery == world.Saved {
			g.saved = append(g.saved, int(e.Tick))
		}
		if g.hear != nil {
			g.hear(&e)
		}
		if err := e.Deliver(g.w); err != nil {
			g.t.Fatal(err)
		}
	}
	for s := g.r.Next(); s != nil; s = g.r.Next() {
		if g.check != nil {
			g.check(s)
		}
		g.sparks += len(s.Events)
		g.w.Host().SetTick(g.r.Tick())
		for _, u := range s.Updates {
			if u.What != Held {
				g.w.Host().Drop(u.ID)
				continue
			}
			if h := g.site.hist; h != nil && !slices.Equal(h[u.ID][uint32(s.Tick)], u.Image) {
				g.t.Fatalf("tick %d: %v is %v, and was %v", s.Tick, u.ID, u.Image,
					h[u.ID][uint32(s.Tick)])
			}
			if err := g.w.Host().Put(u.ID, u.Entry, u.Image); err != nil {
				g.t.Fatal(err)
			}
		}
	}
}

// exact says whether the guest shows exactly what it should see.
func (g *guest) exact() bool { return g.wrong() == "" }

// wrong says what the guest shows that it should not, or the other way round.
func (g *guest) wrong() string {
	for id := range g.w.Entities() {
		switch {
		case !g.view.Has(id):
			return fmt.Sprintf("%v is shown and not in view", id)
		case !slices.Equal(g.w.Host().Image(id), g.site.w.Host().Image(id)):
			return fmt.Sprintf("%v is shown as %v and is %v", id, g.w.Host().Image(id),
				g.site.w.Host().Image(id))
		case g.w.Owner(id) != g.site.w.Owner(id):
			return fmt.Sprintf("%v is shown as of player %d and is of %d", id, g.w.Owner(id),
				g.site.w.Owner(id))
		}
	}
	for _, e := range g.view.Entries() {
		if !g.w.Has(e.ID) {
			return fmt.Sprintf("%v is in view and not shown", e.ID)
		}
	}
	return ""
}
