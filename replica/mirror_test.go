package replica

import (
	"fmt"
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// A mirror is a site whose world is taken back at random and computed again with something that
// came late, as a timeline does. It knows what is true in the end.
type mirror struct {
	*site
	window    world.Tick
	past      []*world.World  // by tick
	given     []*world.Inputs // by tick
	announced [][]fact        // by tick
	settled   world.Tick
	again     bool
	notices   []Happening
	truth     []fact // events that are settled
	published map[world.ID]map[uint32][][]int32
	rollbacks int
	retracted int
	reborn    int // times that an identifier came to name another entity
	returned  int // times that one came again that was gone
	gone      map[world.ID]bool
	origins   map[world.ID]world.Name
}

// A fact is an event and its fields.
type fact struct {
	world.Emitted
	image []int32
}

func (f *fact) same(o *fact) bool {
	return f.Emitted == o.Emitted && slices.Equal(f.image, o.image)
}

func newMirror(t testing.TB, o Options, seed uint64, players int) *mirror {
	m := &mirror{
		site: newSite(t, o, seed, players), window: 40,
		published: map[world.ID]map[uint32][][]int32{}, gone: map[world.ID]bool{},
		origins: map[world.ID]world.Name{},
	}
	for range m.w.Tick() + 1 {
		m.past, m.given, m.announced = append(m.past, m.w.Host().Clone()), append(m.given, nil),
			append(m.announced, nil)
	}
	m.settled, m.again = m.w.Tick(), true
	m.publish(m.settled)
	return m
}

// invent makes up what players command at a tick.
func (m *mirror) invent(in *world.Inputs, often int) {
	for p := range m.w.Players {
		if m.rng.IntN(often) == 0 {
			world.Give(in, p, walk{
				Move: det.Vec2{
					X: float64(m.rng.IntN(65)-32) / 32, Y: float64(m.rng.IntN(65)-32) / 32},
				Aim:  det.Angle(m.rng.Uint64()),
				Fire: m.rng.IntN(2) == 0,
			})
		}
	}
}

// step computes the next tick of the leading world. One that was computed before has the same
// inputs as then.
func (m *mirror) step() {
	n := m.w.Tick() + 1
	if int(n) == len(m.past) {
		in := testGame.NewInputs()
		m.invent(in, 12)
		m.past, m.given, m.announced = append(m.past, m.w.Host().Clone()), append(m.given, in),
			append(m.announced, nil)
	}
	if err := m.w.Host().Step(m.given[n]); err != nil {
		m.t.Fatal(err)
	}
	m.past[n].Host().CopyFrom(m.w)
	var now []fact
	for e, v := range m.w.Host().Happened {
		l := testGame.Events()[e.Kind].Layout()
		f := fact{e, make([]int32, l.Len())}
		if err := l.Pack(&m.pub.events.sync, v, f.image); err != nil {
			m.t.Fatal(err)
		}
		now = append(now, f)
	}
	for i := range m.announced[n] {
		if f := &m.announced[n][i]; !slices.ContainsFunc(now,
			func(o fact) bool { return o.same(f) }) {
			m.notices = append(m.notices, Happening{Retracted, f.Emitted, f.image})
			m.retracted++
		}
	}
	for i := range now {
		if f := &now[i]; !slices.ContainsFunc(m.announced[n],
			func(o fact) bool { return o.same(f) }) {
			m.notices = append(m.notices, Happening{Provisional, f.Emitted, f.image})
		}
	}
	m.announced[n] = now
}

// takeBack goes back some ticks, where something came late, and to about the present again.
func (m *mirror) takeBack(depth, missing world.Tick) {
	now := m.w.Tick()
	from := now - min(depth, now-m.settled)
	if from == now {
		return
	}
	m.rollbacks++
	m.again = true
	m.w.Host().CopyFrom(m.past[from])
	in := m.given[from+1]
	m.invent(in, 2)
	if late := world.Player(20 + m.rng.IntN(3)); m.rng.IntN(4) == 0 &&
		!slices.Contains(slices.Collect(m.w.Players), late) {
		in.Join(late)
	} else if m.rng.IntN(6) == 0 && len(in.Joins()) > 0 {
		m.given[from+1] = testGame.NewInputs() // whoever was there never was
	}
	for m.w.Tick() < now-min(missing, now-from-1) {
		m.step()
	}
}

// publish tells what became of it.
func (m *mirror) publish(settled world.Tick) {
	for m.settled < settled {
		m.settled++
		for i := range m.announced[m.settled] {
			f := &m.announced[m.settled][i]
			m.notices = append(m.notices, Happening{Confirmed, f.Emitted, f.image})
			m.truth = append(m.truth, *f)
		}
	}
	if err := m.pub.PublishLeading(m.w,
		Leading{Again: m.again, Settled: m.settled, Events: m.notices}); err != nil {
		m.t.Fatal(err)
	}
	m.again, m.notices = false, m.notices[:0]
	m.follow.Follow(m.w)
	for id := range m.origins {
		m.gone[id] = m.gone[id] || !m.w.Has(id)
	}
	for class := range testGame.Classes() {
		for id := range m.w.Host().Of(class) {
			if m.published[id] == nil {
				m.published[id] = map[uint32][][]int32{}
			}
			at := uint32(m.w.Tick())
			m.published[id][at] = append(m.published[id][at], slices.Clone(m.w.Host().Image(id)))
			if before, ok := m.origins[id]; ok && before != m.w.Origin(id) {
				m.reborn++
			}
			if m.gone[id] {
				m.returned++
			}
			m.gone[id], m.origins[id] = false, m.w.Origin(id)
		}
	}
}

// advance is one tick of a mirror, with whatever goes wrong.
func (m *mirror) advance(rollback, skip float64) {
	m.step()
	if m.rng.Float64() < rollback {
		missing := world.Tick(0)
		if m.rng.IntN(4) == 0 {
			missing = world.Tick(m.rng.IntN(12))
		}
		m.takeBack(1+world.Tick(m.rng.IntN(int(m.window))), missing)
	}
	if m.rng.Float64() < skip {
		m.again = true
		return
	}
	now := m.w.Tick()
	m.publish(now - min(now, m.window))
}

// A witness follows what one guest is told of events.
type witness struct {
	g        *guest
	m        *mirror
	from     world.Tick // events from here on concern it
	believed []heard
	happened []heard
	undone   int
}

type heard struct {
	world.Emitted
	data string
}

func newWitness(m *mirror, g *guest) *witness {
	w := &witness{g: g, m: m, from: m.w.Tick()}
	g.hear = func(e *Event) {
		h := heard{e.Emitted, string(e.data)}
		at := slices.IndexFunc(w.believed, func(b heard) bool { return b.Emitted == e.Emitted })
		switch {
		case e.Retracted:
			if at < 0 || w.believed[at] != h {
				m.t.Fatalf("retracted, and was not believed: %+v", e)
			}
			w.believed = slices.Delete(w.believed, at, at+1)
			w.undone++
		case at >= 0:
			m.t.Fatalf("told twice: %+v", e)
		case e.Provisional:
			w.believed = append(w.believed, h)
		default:
			w.happened = append(w.happened, h)
		}
	}
	return w
}

// look sees what has become certain.
func (w *witness) look() {
	rest := w.believed[:0]
	for _, h := range w.believed {
		if h.Tick <= w.g.r.Settled() {
			w.happened = append(w.happened, h)
		} else {
			rest = append(rest, h)
		}
	}
	w.believed = rest
}

// judge compares what it takes for true with what is.
func (w *witness) judge() error {
	var want []heard
	log := &w.m.pub.events
	for i := range w.m.truth {
		f := &w.m.truth[i]
		delivery := testGame.Events()[f.Kind].Delivery()
		if delivery == world.Unreliable || delivery == world.Reliable && f.Tick <= w.from+
			w.m.window {
			continue // of those that are not saved, it depends on when it was announced
		}
		log.read(&Happening{Confirmed, f.Emitted, f.image})
		data, _, _ := log.write(nil, log.kinds[f.Kind].blank)
		want = append(want, heard{f.Emitted, string(data)})
	}
	got := slices.Clone(w.happened)
	for _, x := range want {
		i := slices.Index(got, x)
		switch {
		case i >= 0:
			got = slices.Delete(got, i, i+1)
		case w.m.w.Owner(x.About) == w.g.me: // which is always in view; of others it depends
			return fmt.Errorf("it was not told of %+v", x.Emitted)
		}
	}
	for _, x := range got {
		if x.Tick > w.from+w.m.window || testGame.Events()[x.Kind].Delivery() == world.Saved {
			return fmt.Errorf("it takes for true, or was told twice, %+v", x.Emitted)
		}
	}
	if len(w.believed) > 0 {
		return fmt.Errorf("it waits to hear of %+v", w.believed)
	}
	return nil
}
