//go:build !js

package seamlesslab

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone/zonetest/audit"
)

// This file reads the journals of real zones, and has package audit follow them. Of package
// topology/seamless it uses nothing but the interface by which journals are read: bodies of zones
// are taken apart by what is known of saved worlds.

// bodies tell an audit of the bytes of a title.
type bodies struct {
	title *game.Title
	// leftOut is how many ticks of each entity were not executed, as it came more than MaxMissed
	// ticks late.
	leftOut map[uint64]uint64
	purses  bool
	sync    bits.Sync
	err     error
}

// saved is with what a saved world begins. What a zone has beside its world stands before it.
const saved = "coevalw1"

// load makes the world of a zone's body.
func (b *bodies) load(body []byte) *world.World {
	at := bytes.Index(body, []byte(saved))
	if at < 0 {
		b.err = errors.Join(b.err, errors.New("a snapshot without a world"))
		return nil
	}
	w, err := b.title.Game.Load(body[at:])
	b.err = errors.Join(b.err, err)
	return w
}

// Entities is of audit.Game. States are no entities: each zone has them.
func (b *bodies) Entities(tick uint64, body []byte) (list []audit.Entity) {
	w := b.load(body)
	if w == nil {
		return nil
	}
	classes := b.title.Game.Classes()
	for id := range w.Entities() {
		if classes[id.Class()].State() || w.Ghost(id) {
			continue
		}
		e := audit.Entity{ID: uint64(id)}
		if b.purses {
			b.purse(w, id, tick, &e)
		}
		list = append(list, e)
	}
	return list
}

// purse says what a purse holds, and whether each tick of its life was executed once.
func (b *bodies) purse(w *world.World, id world.ID, tick uint64, e *audit.Entity) {
	p := world.Get[purse](w, id)
	e.Value = uint64(p.Gold)
	if left := b.leftOut[e.ID]; uint64(p.Ticks)+left != tick {
		e.Wrong = fmt.Sprintf("%d ticks were executed and %d left out until %d", p.Ticks, left,
			tick)
	}
}

// Carried is of audit.Game. It counts what is set aside, which has no value in a world any more.
func (b *bodies) Carried(data []byte) (e audit.Entity) {
	if len(data) >= 8 {
		e.ID = binary.BigEndian.Uint64(data)
	}
	return e
}

// Deed is of audit.Game.
func (b *bodies) Deed(i *audit.Item) (name [2]uint64) {
	if !b.purses || i.Entity == 0 {
		return name
	}
	data := i.Data
	for range 5 { // kind, who, tick, number and hops
		data = skip(data)
	}
	var g gift
	b.read(data, &g)
	return [2]uint64{g.From, uint64(g.Number)}
}

// Told is of audit.Game.
func (b *bodies) Told(event []byte) (name [2]uint64) {
	if !b.purses || len(event) == 0 || event[0] != 0 {
		return name
	}
	data := event[1:]
	for range 5 { // kind, who, tick, number and what it is about
		data = skip(data)
	}
	var g given
	b.read(data, &g)
	return [2]uint64{g.From, uint64(g.Number)}
}

// skip leaves out a number.
func skip(data []byte) []byte {
	_, n := binary.Uvarint(data)
	return data[max(n, 0):]
}

// read reads the fields of an action or an event.
func (b *bodies) read(data []byte, v bits.Syncer) {
	r := bits.NewReader(data)
	b.sync.StartRead(r)
	v.Sync(&b.sync)
	b.err = errors.Join(b.err, b.sync.Err(), r.Err())
}

// Replay is of audit.Game. A zone of a real game is computed again by its next owner alone, who
// compares hashes: that needs the topology.
func (b *bodies) Replay(uint32, []byte) audit.Replay { return nil }

// tape is the journal of a zone, as far as it is not read yet.
type tape struct {
	zone  uint32
	after uint64
	page  []seamless.Record
	head  *audit.Record // of the first of the page
	ended bool
}

// reading follows the journals of all zones. It goes by cause: a record is read when all that it
// took has been sent by records that were read. What took something that nobody has sent comes
// last, and the audit says so.
type reading struct {
	journal seamless.Journal
	audit   *audit.Audit
	game    *bodies
	tapes   []*tape
	sent    map[[2]uint32]uint64
	handing int // records that hand something over
	// skip is which of the records that hand something over is left out on purpose; 0 for none.
	skip int
}

// next makes sure that a tape has a head, unless it is at its end.
func (r *reading) next(ctx context.Context, t *tape) error {
	if t.head != nil || t.ended {
		return nil
	}
	if len(t.page) == 0 {
		var err error
		t.page, err = r.journal.Read(ctx, strconv.FormatUint(uint64(t.zone), 10), t.after, 4<<20)
		if err != nil && !errors.Is(err, seamless.ErrNone) {
			return fmt.Errorf("the journal of zone %d: %w", t.zone, err)
		}
		if len(t.page) == 0 {
			t.ended = true
			return nil
		}
	}
	head, err := audit.ReadRecord(t.zone, t.page[0].Data)
	if err != nil {
		head = audit.Record{} // the audit says what is wrong with it
	}
	t.head = &head
	return nil
}

// ready says whether all has been sent that a record took.
func (r *reading) ready(t *tape) bool {
	for i := range t.head.Frames {
		for k := range t.head.Frames[i].Taken {
			x := &t.head.Frames[i].Taken[k]
			if x.Number > r.sent[[2]uint32{x.From, t.zone}] {
				return false
			}
		}
	}
	return true
}

// hands says whether the head of a tape hands something over.
func (t *tape) hands() bool {
	for i := range t.head.Frames {
		for k := range t.head.Frames[i].Out {
			if !t.head.Frames[i].Out[k].Acts {
				return true
			}
		}
	}
	return false
}

// take has the audit read the head of a tape.
func (r *reading) take(t *tape) {
	if t.hands() {
		if r.handing++; r.handing == r.skip {
			t.after, t.page, t.head = t.page[0].Sequence, t.page[1:], nil
			return
		}
	}
	for i := range t.head.Frames {
		f := &t.head.Frames[i]
		for k := range f.Out {
			x := &f.Out[k]
			way := [2]uint32{t.zone, x.To}
			r.sent[way] = max(r.sent[way], x.Number)
		}
		for k := range f.Taken {
			x := &f.Taken[k]
			if late := f.Tick - 1 - x.Tick; !x.Acts && !x.Aside && late > maxMissed {
				r.game.leftOut[x.Entity] += late - maxMissed
			}
		}
	}
	r.audit.Record(t.zone, t.page[0].Sequence, t.page[0].Data)
	t.after, t.page, t.head = t.page[0].Sequence, t.page[1:], nil
}

const maxMissed = 8 // ticks that are caught up with at a hand-over

// all reads all journals to their ends.
func (r *reading) all(ctx context.Context) error {
	for {
		went, left := false, false
		for _, t := range r.tapes {
			for {
				if err := errors.Join(r.next(ctx, t), ctx.Err()); err != nil {
					return err
				}
				if t.ended || !r.ready(t) {
					break
				}
				r.take(t)
				went = true
			}
			left = left || !t.ended
		}
		if !left {
			return nil
		}
		if !went { // something is wrong, which the audit is to say
			i := slices.IndexFunc(r.tapes, func(t *tape) bool { return !t.ended })
			r.take(r.tapes[i])
		}
	}
}

// newest gives the newest snapshot of each zone.
func newest(ctx context.Context, s seamless.Store, zones []uint32) ([][]byte, error) {
	var list [][]byte
	for _, z := range zones {
		data, err := newestOf(ctx, s, z)
		if err != nil {
			return nil, err
		}
		list = append(list, data)
	}
	return list, nil
}

func newestOf(ctx context.Context, s seamless.Store, z uint32) ([]byte, error) {
	for {
		keys, err := s.Keys(ctx, fmt.Sprintf("snapshot.%08x.", z))
		if err != nil {
			return nil, err
		}
		if len(keys) == 0 {
			return nil, fmt.Errorf("zone %d has no snapshot", z)
		}
		data, err := s.Get(ctx, keys[len(keys)-1])
		if !errors.Is(err, seamless.ErrNone) { // a newer one has come
			return data, err
		}
	}
}

// Audited is what was read of the journals of a run.
type Audited struct {
	Records   uint64 `json:"records" head:"records"`
	Bytes     uint64 `json:"bytes" head:"- bytes"`
	Frames    uint64 `json:"ticks" head:"- ticks in them"`
	Fences    uint64 `json:"fences" head:"- fences"`
	HandOvers uint64 `json:"handovers" head:"hand-overs"`
	Actions   uint64 `json:"actions" head:"actions on others' entities"`
	Forwards  uint64 `json:"forwarded" head:"- forwarded"`
	Events    uint64 `json:"events" head:"strict events"`
	Gone      uint64 `json:"gone" head:"actions on what is no more"`
	Aside     uint64 `json:"aside" head:"set aside"`
	LeftOut   uint64 `json:"ticks_left_out" head:"ticks left out, beyond 8 late"`
	Entities  int    `json:"entities" head:"entities at the end"`
	Found
	// Caught says that the audit found it when a record was left out on purpose.
	Caught bool     `json:"control_caught" head:"- a record left out on purpose is found"`
	Wrong  []string `json:"wrong,omitempty"`

	handing int // records with hand-overs
}

// audit reads the journals, and compares what they say with the last snapshots. It does so twice,
// the second time with a record left out on purpose: that it must find.
func (s *session) audit(ctx context.Context) (*Audited, error) {
	last, err := newest(ctx, s.kept.Store(), s.zones)
	if err != nil {
		return nil, err
	}
	out, err := s.read(ctx, last, 0)
	if err != nil || out.HandOvers == 0 {
		return out, err
	}
	control, err := s.read(ctx, last, 1+out.handing/2)
	if err == nil {
		out.Caught = control.all() > 0
	}
	return out, err
}

// read has an audit read all journals.
func (s *session) read(ctx context.Context, last [][]byte, skip int) (*Audited, error) {
	g := &bodies{title: s.title, leftOut: map[uint64]uint64{}, purses: s.spec.Game == ""}
	a := audit.New(g)
	a.Births = !g.purses
	for _, data := range s.first {
		a.Found(data)
	}
	r := &reading{journal: s.kept.Journal(), audit: a, game: g, sent: map[[2]uint32]uint64{},
		skip: skip}
	for _, z := range s.zones {
		r.tapes = append(r.tapes, &tape{zone: z})
	}
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	a.Finish(last)
	out := &Audited{Records: a.Records, Bytes: a.Bytes, Frames: a.Frames, Fences: a.Fences,
		HandOvers: a.HandOvers, Actions: a.Actions, Forwards: a.Forwards, Events: a.Events,
		Gone: a.Gone, Aside: a.Aside, handing: r.handing}
	for _, n := range g.leftOut {
		out.LeftOut += n
	}
	for _, data := range last {
		if shot, err := audit.ReadSnapshot(data); err == nil {
			out.Entities += len(g.Entities(shot.Tick, shot.Body))
		}
	}
	out.Found.add(a)
	for _, f := range a.Faults {
		if len(out.Wrong) < 20 {
			out.Wrong = append(out.Wrong, f.String())
		}
	}
	if g.err != nil {
		out.Wrong = append(out.Wrong, g.err.Error())
	}
	return out, nil
}
