package timeline_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/world"
)

// A court is some mirrors with Ruled and a network between them that loses commands, and delays,
// doubles and reorders whatever it carries.
type court struct {
	rand    det.Rand
	now     time.Duration
	seats   []*seat // nil where a mirror is dead
	flying  []packet
	order   int
	options ruled.Options
	loss    float64
	path    time.Duration
	jitter  time.Duration
	changes []world.Tick // after which ticks the judge changed
	hashes  map[world.Tick]uint64
	void    int // rulings that came after their judge was none any more
	err     error
}

// A packet is on its way to one mirror.
type packet struct {
	at    time.Duration
	order int
	to    int
	what  func(*seat) error
}

// A seat is one of the mirrors.
type seat struct {
	id      int
	line    *ruled.Timeline
	seq     uint32
	stamped world.Tick
	heard   int // of the court's changes
	open    map[world.Emitted]bool
	strict  int
}

func newCourt(t testing.TB, seed uint64, mirrors int, o ruled.Options) *court {
	c := &court{rand: det.At(seed, 1, 2), options: o, hashes: map[world.Tick]uint64{}}
	for i := range mirrors {
		o.Judge = i == 0
		s, err := c.seat(i, begin(t), o)
		if err != nil {
			t.Fatal(err)
		}
		c.seats = append(c.seats, s)
	}
	return c
}

func (c *court) seat(id int, start *world.World, o ruled.Options) (*seat, error) {
	s := &seat{id: id, open: map[world.Emitted]bool{}, heard: len(c.changes), stamped: start.Tick()}
	next := start.Tick() + 1
	o.Margins, o.HashEvery = margins, 8
	o.Settled = func(w *world.World, _ *world.Inputs) {
		if w.Tick() != next {
			c.fail(fmt.Errorf("mirror %d settled tick %d after %d", id, w.Tick(), next-1))
		}
		next++
		if h, known := c.hashes[w.Tick()]; known && h != w.Hash() {
			c.fail(fmt.Errorf("mirror %d settled another tick %d", id, w.Tick()))
		}
		c.hashes[w.Tick()] = w.Hash()
	}
	var err error
	s.line, err = ruled.New(start, o)
	return s, err
}

func (c *court) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *court) way() time.Duration {
	return c.path + time.Duration(c.rand.Range(0, float64(c.jitter)))
}

// send lets something go to one mirror. What is reliable comes, though it may take a few attempts.
func (c *court) send(to int, reliable bool, what func(*seat) error) {
	way := c.way()
	for c.rand.Float64() < c.loss {
		if !reliable {
			return
		}
		way += c.way() + c.path
	}
	copies := 1 + c.rand.IntN(8)/7
	for range copies {
		c.order++
		c.flying = append(c.flying, packet{c.now + way, c.order, to, what})
		way += c.way()
	}
}

func (c *court) others(s *seat, reliable bool, what func(*seat) error) {
	for i, o := range c.seats {
		if o != nil && o != s {
			c.send(i, reliable, what)
		}
	}
}

// submit gives a command to its own mirror and sends it to the others.
func (c *court) submit(s *seat, cmd timeline.Command) {
	s.seq++
	cmd.Origin, cmd.Seq = member.ID(s.id), s.seq
	take := func(s *seat) error {
		_, err := s.line.Submit(c.now, cmd)
		return err
	}
	if err := take(s); err != nil {
		c.fail(err)
	}
	c.others(s, cmd.Kind != timeline.Give, take)
}

// step lets a millisecond pass.
func (c *court) step(do func(p world.Player, n world.Tick) (act, bool)) {
	c.now += time.Millisecond
	slices.SortFunc(c.flying,
		func(a, b packet) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
		})
	for len(c.flying) > 0 && c.flying[0].at <= c.now {
		p := c.flying[0]
		c.flying = c.flying[1:]
		if s := c.seats[p.to]; s != nil {
			if err := p.what(s); err != nil {
				c.fail(fmt.Errorf("at %v mirror %d: %w", c.now, s.id, err))
			}
		}
	}
	for _, s := range c.seats {
		if s == nil {
			continue
		}
		s.line.Hold(c.held(s))
		if err := s.line.Advance(c.now); err != nil {
			c.fail(fmt.Errorf("at %v mirror %d: %w", c.now, s.id, err))
			return
		}
		c.listen(s)
		for r := range s.line.Rulings {
			if !s.line.Judge() {
				c.fail(fmt.Errorf("mirror %d is not the judge and rules", s.id))
			}
			c.publish(s, r.Append(nil))
		}
		n := s.line.Stamp(c.now)
		if n <= s.stamped {
			continue
		}
		s.stamped = n
		for i := range 2 {
			p := world.Player(2*s.id + i + 1)
			if s.seq < 2 {
				c.submit(s, timeline.Command{Kind: timeline.Join, Tick: n, Player: p})
			} else if a, ok := do(p, n); ok {
				c.submit(s, timeline.Command{Tick: n, Player: p, Image: image(a)})
			}
		}
	}
}

// held is the tick up to which all have all rulings, as far as a mirror can tell: what one has that
// is in another term is the same only up to where the terms part.
func (c *court) held(s *seat) world.Tick {
	held := s.line.Have()
	for _, o := range c.seats {
		if o == nil {
			continue
		}
		held = min(held, o.line.Have())
		if a, b := o.line.Term(), s.line.Term(); a != b {
			held = min(held, c.changes[min(a, b)])
		}
	}
	return held
}

// publish sends a ruling to all others, as bytes.
func (c *court) publish(s *seat, b []byte) {
	c.others(s, true, func(s *seat) error { return c.rule(s, b) })
}

// rule takes a ruling in, or puts it off: from when it was decided until after which tick a judge
// counts, nobody who does not know it yet listens to what that one says for later ticks.
func (c *court) rule(s *seat, b []byte) error {
	r, err := ruled.ParseRuling(game, b)
	if err != nil {
		return err
	}
	if int(r.Term) < len(c.changes) && r.Tick > c.changes[r.Term] && s.heard <= int(r.Term) {
		c.order++
		c.flying = append(c.flying,
			packet{c.now + 5*time.Millisecond, c.order, s.id,
				func(s *seat) error { return c.rule(s, b) }})
		return nil
	}
	if r.Term < s.line.Term() && r.Tick > c.changes[r.Term] {
		c.void++
	}
	if again := r.Append(nil); !slices.Equal(again, b) {
		return fmt.Errorf("ruling %x became %x", b, again)
	}
	_, err = s.line.Rule(c.now, r)
	return err
}

// listen checks the contract of notices.
func (c *court) listen(s *seat) {
	for _, n := range s.line.Notices() {
		switch {
		case n.What == timeline.Provisional && s.open[n.Event]:
			c.fail(fmt.Errorf("mirror %d: %v was announced twice", s.id, n))
		case n.What == timeline.Provisional:
			s.open[n.Event] = true
		case !s.open[n.Event]:
			c.fail(fmt.Errorf("mirror %d: %v was never announced", s.id, n))
		default:
			delete(s.open, n.Event)
			if n.What == timeline.Confirmed && n.Event.Kind < 3 {
				s.strict++
			}
		}
	}
	for e := range s.open {
		if e.Tick <= s.line.Settled().Tick() {
			c.fail(fmt.Errorf("mirror %d: tick %d is settled, and of %v nothing was heard", s.id,
				s.line.Settled().Tick(), e))
		}
	}
}

// depose makes another mirror the judge; with kill, the old one is dead. What anyone who stays has
// of its rulings, all get, and they learn of the change when they do.
func (c *court) depose(to int, kill bool) {
	for i, s := range c.seats {
		if s != nil && s.line.Judge() && kill && i != to {
			c.seats[i] = nil
		}
	}
	from := world.Tick(0)
	known := map[world.Tick][]byte{}
	for _, s := range c.seats {
		if s == nil {
			continue
		}
		from = max(from, s.line.Have())
		for r := range s.line.PendingRulings {
			known[r.Tick] = r.Append(nil)
		}
	}
	for known[from+1] != nil { // between them they have more than any of them without a gap
		from++
	}
	for n := range c.hashes {
		if n > from { // only the dead have seen it
			if !kill || c.options.Held {
				c.fail(fmt.Errorf("tick %d is settled, and the judge changes after tick %d", n,
					from))
			}
			delete(c.hashes, n)
		}
	}
	c.changes = append(c.changes, from)
	change := len(c.changes)
	for i := range c.seats {
		if c.seats[i] == nil {
			continue
		}
		for n, b := range known {
			if n <= from {
				c.send(i, true, func(s *seat) error { return c.rule(s, b) })
			}
		}
		c.send(i, true, func(s *seat) error {
			if s.heard >= change {
				return nil
			}
			if s.heard != change-1 {
				return fmt.Errorf("the changes came in disorder")
			}
			s.heard = change
			return s.line.SetJudge(c.now, s.id == to, from)
		})
	}
}

// join puts a new mirror in, with what another one knows.
func (c *court) join(from int) error {
	old := c.seats[from]
	w, err := game.Load(old.line.Settled().Host().Save(nil))
	if err != nil {
		return err
	}
	o := c.options
	o.Judge = false
	for p := range old.line.Pending {
		p.Image = slices.Clone(p.Image)
		o.Pending = append(o.Pending, p)
	}
	term, changes := old.line.Terms()
	o.Term = term
	s, err := c.seat(len(c.seats), w, o)
	if err != nil {
		return err
	}
	for _, from := range changes {
		if err := s.line.SetJudge(c.now, false, from); err != nil {
			return err
		}
	}
	if s.line.Term() != old.line.Term() {
		return fmt.Errorf("the new one is in term %d, and the old one in %d", s.line.Term(),
			old.line.Term())
	}
	for r := range old.line.PendingRulings {
		if _, err := s.line.Rule(c.now, r); err != nil {
			return err
		}
	}
	s.heard = old.heard
	// What is on its way to the old one has to come to the new one as well.
	for _, p := range slices.Clone(c.flying) {
		if p.to == from {
			c.order++
			c.flying = append(c.flying, packet{p.at, c.order, s.id, p.what})
		}
	}
	c.seats = append(c.seats, s)
	return nil
}

// seeds are those that COEVAL_SEEDS asks for, or a few.
func seeds(t *testing.T, few int) int {
	n, err := strconv.Atoi(os.Getenv("COEVAL_SEEDS"))
	if err != nil {
		n = few
	}
	if testing.Short() {
		n = min(n, few/6)
	}
	return max(n, 1)
}

// Whatever the network does to commands, all mirrors settle the same worlds, and each of them says
// of everything that it announced what became of it; also if the judge changes now and then, dies,
// and mirrors join.
func TestCourt(t *testing.T) {
	var total timeline.Stats
	strict, retired, void := 0, 0, 0
	for seed := range seeds(t, 24) {
		r := det.At(uint64(seed), 77, 0)
		o := ruled.Options{
			Delay: time.Duration(r.IntN(60)) * time.Millisecond,
			Wait:  time.Duration(r.IntN(100)-10) * time.Millisecond}
		o.Held = seed%2 == 0
		c := newCourt(t, uint64(seed), 3, o)
		c.loss, c.path, c.jitter = r.Range(0, 0.3), time.Duration(r.IntN(60))*time.Millisecond,
			time.Duration(1+r.IntN(40))*time.Millisecond
		for ms := 0; ms < 6000 && c.err == nil; ms++ {
			c.step(busy)
			// one change after the other, since their order is not for the network to decide
			switch {
			case ms%2000 == 1200:
				to := r.IntN(len(c.seats))
				if c.seats[to] != nil {
					// Where nothing is held, the judge has settled what nobody else has seen; so it
					// has to die.
					kill := !o.Held || r.IntN(3) == 0
					if alive(c.seats) > 2 || !kill {
						if kill && c.seats[to].line.Judge() {
							continue
						}
						c.depose(to, kill)
						retired++
					}
				}
			case ms%2000 == 1900:
				if from := r.IntN(len(c.seats)); c.seats[from] != nil && alive(c.seats) < 4 {
					if err := c.join(from); err != nil {
						c.fail(err)
					}
				}
			}
		}
		for _, s := range c.seats {
			if s == nil {
				continue
			}
			st := s.line.Stats()
			total.Rollbacks += st.Rollbacks
			total.Late += st.Late
			total.Steps += st.Steps
			strict += s.strict
			if n := s.line.Settled().Tick(); n < 280 {
				c.fail(fmt.Errorf(
					"mirror %d has settled only tick %d, and leads with %d in term %d", s.id, n,
					s.line.Leading().Tick(), s.line.Term()))
			}
		}
		void += c.void
		if c.err != nil {
			t.Fatalf("seed %d, %+v: %v", seed, o, c.err)
		}
	}
	t.Logf("%d changes of judge, %d void rulings, %d rollbacks, %d late commands, %d strict "+
		"events confirmed", retired, void, total.Rollbacks, total.Late, strict)
	if total.Rollbacks == 0 || total.Late == 0 || strict == 0 || retired == 0 || void == 0 {
		t.Error("too little happened")
	}
}

func alive(seats []*seat) (n int) {
	for _, s := range seats {
		if s != nil {
			n++
		}
	}
	return n
}
