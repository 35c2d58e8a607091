package peers

import (
	"math"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

// mine is what this peer commands: a stream of items, one for each tick that it plays. Which rows
// take them is the relay's to say. Those that come too late are taken together with the next, so
// none is lost.
type mine struct {
	player world.Player
	last   []int32 // the last command
	images [mineKept][]int32
	next   uint32 // the number of the next item
	in     *world.Inputs
	image  []int32
	merged []int32
	item   []byte
}

const mineKept = 2 * relay.MaxAhead

func (m *mine) begin(c *turns.Coder, g *world.Game) {
	n := c.Len()
	m.last, m.image, m.merged = make([]int32, n), make([]int32, n), make([]int32, n)
	for i := range m.images {
		m.images[i] = make([]int32, n)
	}
	m.in = g.NewInputs()
	m.restart(c)
}

// restart begins a new stream.
func (m *mine) restart(c *turns.Coder) {
	m.next = 0
	c.Start(m.last)
}

// submit adds a command to the stream.
func (p *Relayed) submit(image []int32) error {
	m := &p.mine
	item, err := p.rolls.coder.Append(m.item[:0], m.last, image)
	if err != nil {
		return err
	}
	m.item = item
	if _, err := p.line.client.Submit(item); err != nil {
		return err
	}
	copy(m.last, image)
	copy(m.images[m.next%mineKept], image)
	m.next++
	return nil
}

// nextOwn is the tick for which the next item is.
func (p *Relayed) nextOwn() int64 {
	c := p.line.client
	return int64(p.rolls.newest) + 1 + int64(c.Ahead()) - int64(c.Owed())
}

// expect is what this peer's own command will be in a tick whose row has not come, if the relay
// takes what was sent.
func (p *Relayed) expect(t world.Tick, guess []int32) []int32 {
	m, c := &p.mine, p.line.client
	taken, owed := m.next-uint32(c.Ahead()), uint32(c.Owed())
	n := taken + owed + uint32(t-p.rolls.newest-1)
	switch {
	case m.next == taken:
		return guess
	case int32(n-m.next) >= 0:
		copy(m.merged, m.last)
		p.rolls.coder.Repeat(m.merged)
		return m.merged
	}
	copy(m.merged, m.images[n%mineKept])
	if t == p.rolls.newest+1 && owed > 0 { // late ones are taken together
		copy(m.merged, m.images[taken%mineKept])
		for i := taken + 1; i != n+1; i++ {
			copy(m.image, m.images[i%mineKept])
			p.rolls.coder.Merge(m.merged, m.image)
			copy(m.merged, m.image)
		}
	}
	return m.merged
}

// rowClock is when this peer computes ticks and when it sends commands. Rows are due by the relay's
// clock: it finds out when they come here, and how long before that its own commands must be sent
// to be at the relay in time. What is shown follows at a pace that hardly varies.
type rowClock struct {
	length   float64 // of a tick
	style    Style
	patience time.Duration // of the relay

	heard bool
	phase float64 // row t is expected here at phase + t*length
	far   int     // rows that came at quite another time

	need  float64 // ticks by which commands are sent before their rows are expected
	leads []time.Duration
	from  time.Duration // leads count from here
	until time.Duration // and are looked at here

	begun   bool
	due     time.Duration // when the next tick is shown
	late    bool          // it is late, because something is missing
	since   time.Duration
	cushion float64 // ticks by which what is shown is behind the rows, so that it seldom waits
}

const (
	leastCushion = 0.5
	mostCushion  = 8
	mostNeed     = 40
	// margin is how many ticks before they are due commands should be at the relay.
	margin = 0.6
	// hurryAt is how many ticks behind is so far that a peer that plays computes as fast as it can,
	// and guestAt the same for one that does not play yet.
	hurryAt = 12
	guestAt = 2
)

func (c *rowClock) begin(length time.Duration, s Style) {
	c.length, c.style, c.cushion = float64(length), s, leastCushion
	c.leads = make([]time.Duration, 0, 64)
}

// came notes that rows up to a tick have come. Most rows that are not on time are late: so an early
// one says more.
func (c *rowClock) came(now time.Duration, t world.Tick) {
	s := float64(now) - float64(t)*c.length
	d := s - c.phase
	switch {
	case !c.heard || d < -hurryAt*c.length:
		c.heard, c.phase, c.far = true, s, 0
	case d > hurryAt*c.length:
		if c.far++; c.far > 16 { // the relay's clock has stood still
			c.phase, c.far = s, 0
		}
	case d < 0:
		c.phase, c.far = c.phase+d/4, 0
	default:
		c.phase, c.far = c.phase+min(d, 3*c.length)/64, 0
	}
}

// position is the tick whose row is expected now.
func (c *rowClock) position(now time.Duration) float64 {
	return (float64(now) - c.phase) / c.length
}

// lead takes in how early this peer's commands came to the relay, and changes by how much they are
// sent ahead: so that nine of ten are there in time.
func (p *Relayed) lead() {
	c := &p.clock
	d, ok := p.line.client.Lead()
	if !ok || p.phase != Playing || p.now < c.from {
		return
	}
	if c.until == 0 {
		c.until = p.now + second/2
	}
	at, _ := slices.BinarySearch(c.leads, d)
	if len(c.leads) < cap(c.leads) {
		c.leads = slices.Insert(c.leads, at, d)
	}
	if p.now < c.until || len(c.leads) < 8 {
		return
	}
	low := float64(c.leads[len(c.leads)/10])/c.length - margin
	c.leads, c.until, c.from = c.leads[:0], p.now+second/2, p.now
	change := 0.0
	if low < 0 {
		change = min(-low, 4)
	} else if low > 1 {
		change = -min((low-0.5)/2, 0.5)
	}
	if change == 0 {
		return
	}
	c.need = min(max(c.need+change, 0), mostNeed)
	c.from = p.now + p.roundTrip() + second/10 // what is under way does not know of it
	c.until = c.from + second/4
}

func (p *Relayed) roundTrip() time.Duration {
	if c := p.line.client.Conn(); c != nil {
		return c.Quality().RoundTrip
	}
	return 0
}

// goal is by how many ticks what is shown should be ahead of the rows: with rollback as far as lets
// this player's commands count after as many ticks as they should, otherwise not at all.
func (c *rowClock) goal(depth int) float64 {
	ahead := -c.cushion
	if depth > 0 {
		ahead = max(ahead, min(c.need-float64(max(c.style.Delay, 0)), float64(depth)-1))
	}
	return ahead
}

// play computes the ticks that are due.
func (p *Relayed) play() error {
	if p.copy == nil || !p.rolls.valid {
		return nil
	}
	if err := p.mend(); err != nil {
		return err
	}
	if err := p.volunteer(); err != nil {
		return err
	}
	if !p.clock.heard {
		return nil
	}
	if err := p.stamp(); err != nil {
		return err
	}
	return p.show()
}

// show shows ticks at an even pace.
func (p *Relayed) show() error {
	c := &p.clock
	if !c.begun {
		c.begun, c.due = true, p.now
	}
	far := -hurryAt
	if p.phase == Guest && !p.opt.Watch {
		far = -guestAt
	}
	for range catchUp {
		off := float64(p.copy.Shown()) - c.position(p.now) - c.goal(p.copy.Depth())
		hurry := off < float64(far) && p.copy.Shown() < p.rolls.newest
		if !hurry && p.now < c.due {
			return nil
		}
		went, err := p.copy.Advance()
		if err != nil {
			return err
		}
		p.copy.Settle(p.copy.Known())
		if !went {
			if !c.late {
				c.late, c.since = true, p.now
				if p.stats.Waits++; p.copy.Depth() == 0 {
					c.cushion = min(c.cushion+0.25, mostCushion)
				}
			}
			return nil
		}
		c.cushion = max(c.cushion-0.002, leastCushion)
		if c.late {
			p.stats.Waited += p.now - c.since
			c.late, c.due = false, p.now
		}
		if hurry {
			c.due = p.now
			continue
		}
		c.due += time.Duration(c.length * slack(off))
		if float64(p.now-c.due) > 4*c.length {
			c.due = p.now // time that is lost is given up
		}
	}
	return nil
}

// slack is how long a tick lasts, as a share of its length, for one who is off by some ticks.
func slack(off float64) float64 {
	most := 0.04
	if math.Abs(off) > 3 {
		most = 0.15
	}
	return 1 + min(max(off*0.02, -most), most)
}

// mend computes again what was guessed wrong. If that is not possible, the world is asked for.
func (p *Relayed) mend() error {
	if err := p.copy.Repair(); err != nil {
		p.tell(News{Kind: Differs, Err: err})
		p.says.wrong = true
		p.fetch.from, p.fetch.want, p.fetch.only = p.rolls.recent(), open, nil
	}
	p.copy.Settle(p.copy.Known())
	return nil
}

// volunteer says that this peer can play, once it has caught up. The relay lets it in with the
// first row for which a command is there; so that those after it have theirs too, as many are sent
// at once as rows go by until the next can arrive.
func (p *Relayed) volunteer() error {
	in := p.line.in
	if p.phase != Guest || in == nil || in.Player == 0 || p.rolls.newest < world.Tick(in.Next) ||
		p.copy.Known()+4 < p.rolls.newest || p.says.wrong {
		return nil
	}
	p.phase = Entering
	c := &p.clock
	c.need = min(math.Ceil(float64(p.roundTrip())/c.length)+2, mostNeed)
	c.leads, c.until, c.from = c.leads[:0], 0, 0
	for range int(c.need) {
		copy(p.mine.image, p.mine.last)
		p.rolls.coder.Repeat(p.mine.image)
		if err := p.submit(p.mine.image); err != nil {
			return err
		}
	}
	return p.line.client.Ready()
}

// stamp sends the commands that are due: for the tick whose row is expected as many ticks from now
// as commands need to be there in time, and at least for the one after as many as are asked for.
func (p *Relayed) stamp() error {
	if p.phase != Playing || p.line.in == nil {
		return nil
	}
	c, m := &p.clock, &p.mine
	target := int64(math.Floor(c.position(p.now) + c.need))
	target = max(target, int64(p.copy.Shown())+int64(max(c.style.Delay, 0)))
	// rows that are missing for longer than the relay waits are not on their way
	most := int64(p.rolls.newest) + int64(c.need+float64(c.patience)/c.length) + 8
	for first := true; p.nextOwn() <= min(target, most); first = false {
		if p.line.client.Ahead() >= relay.MaxAhead-1 {
			return nil
		}
		t := p.nextOwn()
		in := m.in
		in.Reset()
		if first && p.opt.Input != nil {
			p.opt.Input(p.copy.World(), m.player, world.Tick(max(t, 0)), in)
		}
		if !first || !in.Image(m.player, m.image) {
			copy(m.image, m.last)
			p.rolls.coder.Repeat(m.image)
		}
		if err := p.submit(m.image); err != nil {
			return err
		}
		if t > 0 && world.Tick(t) <= p.copy.Shown() {
			p.copy.Learn(world.Tick(t))
		}
	}
	return nil
}

// SetStyle changes how this peer deals with commands that are not there yet, from now on.
func (p *Relayed) SetStyle(s Style) error {
	if err := s.check(); err != nil {
		return err
	}
	p.clock.style = s
	if p.copy == nil {
		return nil
	}
	if p.copy.SetDepth(s.Depth); p.opt.Watch {
		p.copy.SetDepth(0)
	}
	return nil
}
