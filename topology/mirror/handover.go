package mirror

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// A handover is what a newcomer is sent: the level, the settled world, what is in the books for the
// ticks after it, and how far each mirror was heard. What comes after that, the newcomer hears
// itself.
type handover struct {
	version uint8
	level   server.Level
	roll    roll
	pause   pause
	levels  levels
	mirrors []*peer // the one that sends it first
	world   []byte  // the settled one, saved

	pending   []timeline.Command    // in the timeline's book
	undecided []timeline.Command    // of which it is not known whether they count
	members   []timeline.Membership // of timelines that wait
	// of the one that is ruled, and after which ticks later terms begin
	term    uint32
	changes []world.Tick
	rulings [][]byte
}

const handoverVersion = 4

// fields reads or writes the handover.
func (h *handover) fields(c *bits.Cursor, k *codec) {
	c.U8(&h.version)
	if h.version != handoverVersion {
		return // see takeOver
	}
	levelFields(c, &h.level)
	h.roll.fields(c)
	h.pause.fields(c)
	h.levels.fields(c)
	list(c, &h.mirrors, func(p **peer) {
		if c.Reading() {
			*p = newPeer(0)
		}
		(*p).fields(c, k)
	})
	blob(c, &h.world, 1<<30)
	pending := uint32(len(h.pending))
	c.U32(&pending)
	command := func(cmd *timeline.Command) { k.stamped(c, cmd) }
	items(c, &h.pending, uint64(pending), command)
	list(c, &h.undecided, command)
	list(c, &h.members, func(x *timeline.Membership) {
		c.U16((*uint16)(&x.Mirror))
		tick(c, &x.From)
		bits.Number(c, &x.Seq, math.MaxUint32)
		list(c, &x.Also, func(seq *uint32) { bits.Number(c, seq, math.MaxUint32) })
		c.Bool(&x.Left)
		tick(c, &x.Until)
	})
	c.U32(&h.term)
	list(c, &h.changes, func(t *world.Tick) { tick(c, t) })
	list(c, &h.rulings, func(b *[]byte) { blob(c, b, 1<<20) })
}

// stamped reads or writes a stamped command.
func (k *codec) stamped(c *bits.Cursor, cmd *timeline.Command) {
	c.U8((*uint8)(&cmd.Kind))
	tick(c, &cmd.Tick)
	c.U16((*uint16)(&cmd.Origin))
	c.U32(&cmd.Seq)
	atMost(c, &cmd.Player, math.MaxUint16)
	if cmd.Kind == timeline.Tell {
		told(c, &cmd.Told)
		if blob(c, &cmd.Data, maxTold); c.Reading() {
			cmd.Data = slices.Clone(cmd.Data)
		}
	}
	if cmd.Kind != timeline.Give || !c.OK() {
		return
	}
	if k.rewinds {
		if c.Bool(&cmd.Shown); cmd.Shown {
			sight(c, &cmd.Sight)
		}
	}
	var image []byte
	if !c.Reading() {
		w := bits.CursorTo(nil)
		k.command(&w, &cmd.Image)
		image = w.Data()
	}
	n := uint16(len(image))
	if c.U16(&n); c.OK() {
		c.Bytes(&image, int(n))
	}
	if c.Reading() {
		r := bits.CursorOver(image)
		k.command(&r, &cmd.Image)
		c.Check(r.OK())
		cmd.Image = slices.Clone(cmd.Image)
	}
}

// handOver writes what a newcomer needs to know.
func (m *Mirror) handOver(to member.ID) []byte {
	h := &handover{version: handoverVersion, level: m.show.level, roll: m.roll,
		pause: m.pause, levels: m.levels}
	own := &peer{standing: m.in.standing, id: m.roll.self, have: m.holds()}
	own.newest, own.next = m.in.sent, m.in.sent+1
	h.mirrors = append([]*peer{own}, m.peers.without(to)...)
	h.undecided = m.undecided
	h.world = m.line.Settled().Host().Save(nil)
	for c := range m.line.Pending {
		c.Image = slices.Clone(c.Image)
		h.pending = append(h.pending, c)
	}
	h.members = m.line.Members()
	if l := m.ruled.line; l != nil {
		h.term, h.changes = l.Terms()
		for r := range l.PendingRulings {
			h.rulings = append(h.rulings, r.Append(nil))
		}
		for _, r := range m.ruled.unheard {
			h.rulings = append(h.rulings, r.Append(nil))
		}
	}
	c := bits.CursorTo(nil)
	h.fields(&c, m.codec)
	return c.Data()
}

// takeOver goes on from what another mirror has sent.
func (m *Mirror) takeOver(b []byte) error {
	h := &handover{roll: newRoll(m.roll.registry.overlap)}
	c := bits.CursorOver(b)
	h.fields(&c, m.codec)
	if c.OK() && h.version != handoverVersion {
		return fmt.Errorf(
			"mirror: state of version %d, this program knows %d: run the same version everywhere",
			h.version, handoverVersion)
	}
	if !c.Done() {
		return errors.New("mirror: malformed state")
	}
	w, err := m.game.Load(h.world)
	if err != nil {
		return err
	}
	was, l := m.show.level, &h.level
	l.Data = slices.Clone(l.Data)
	m.show.level, m.levels = *l, h.levels
	m.roll.final, m.roll.registry = h.roll.final, h.roll.registry
	maps.Copy(m.roll.leaders, h.roll.leaders)
	maps.Copy(m.roll.epochs, h.roll.epochs)
	maps.Copy(m.roll.ended, h.roll.ended)
	m.pause = h.pause
	m.clock.enter(time.Duration(m.at(w))*m.game.TickLength() + m.pause.shift)
	if err := m.openLine(w, h); err != nil {
		return err
	}
	if err := m.openServer(); err != nil {
		return err
	}
	if err := m.takeLevel(&was); err != nil {
		return err
	}
	if next := m.levels.made; next != nil { // it is decided
		m.levels.made = nil
		next.level.Data = slices.Clone(next.level.Data)
		m.makeReady(next.level, m.levels.id)
	}
	for _, p := range h.mirrors {
		m.listen(p)
	}
	m.roster()
	if err := m.goOn(h); err != nil {
		return err
	}
	for _, c := range h.undecided {
		m.command(m.peers.of(c.Origin), c)
	}
	m.life.to(waiting)
	m.keeping.err = m.keepWorld(m.line.Settled())
	return nil
}

// goOn tells the timeline what else the other mirror's knew.
func (m *Mirror) goOn(h *handover) error {
	now, self := m.worldTime(), m.roll.self
	if m.line.Waits() {
		var list []timeline.Membership
		for _, x := range h.members {
			if p := m.peers.of(x.Mirror); p != nil {
				p.submitted = x.Seq
			}
			if x.Mirror != self {
				list = append(list, x)
			}
		}
		list = append(list, timeline.Membership{Mirror: self, From: m.line.Settled().Tick()})
		if err := m.line.SetMirrors(now, list); err != nil {
			return err
		}
	}
	if m.ruled.line == nil {
		return nil
	}
	for _, from := range h.changes {
		if err := m.ruled.line.SetJudge(now, false, from); err != nil {
			return err
		}
	}
	for _, b := range h.rulings {
		r, err := ruled.ParseRuling(m.game, b)
		if err != nil {
			return err
		}
		m.hear(r)
	}
	return nil
}
