package codeclab

import (
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/lab"
)

// blockFrames is how many frames one strategy encodes before the next one's turn: enough to warm
// the caches, as a server does that encodes for one client after another, and few enough that all
// strategies meet the same disturbances.
const blockFrames = 8

// allocBlocks is the share of blocks for which allocations are counted, as counting stops the
// world.
const allocBlocks = 8

// A lane is a contender at work: its sender, its receiver and what was measured of them.
type lane struct {
	sender   *sender
	receiver *receiver

	now, still                 lab.Timer // of what is being done, in this block
	bytes, packets             int
	encode, unchanged, decode  time.Duration
	encodeAllocs, decodeAllocs uint64
	verified                   int
	wrong                      error // the first thing that did not come out as it went in
}

func newLane(c Contender, r *codec.Recording, order []int, packet int) (*lane, error) {
	// Two instances, made apart, so that nothing that an encoder learns can reach the decoder but
	// by packets.
	near, err := c.New(cloneSchema(r.Schema))
	if err != nil {
		return nil, err
	}
	far, err := c.New(cloneSchema(r.Schema))
	if err != nil {
		return nil, err
	}
	return &lane{
		sender:   newSender(c.Name, r, near.NewEncoder(), order, packet),
		receiver: newReceiver(r, far.NewDecoder(), order),
	}, nil
}

func cloneSchema(s *codec.Schema) *codec.Schema {
	c := &codec.Schema{Name: s.Name, Classes: slices.Clone(s.Classes)}
	for i := range c.Classes {
		c.Classes[i].Fields = slices.Clone(c.Classes[i].Fields)
	}
	return c
}

// A moment is one frame made ready to be encoded, in the order of sending: what a server has at
// hand.
type moment struct {
	frame     int
	histories []codec.History
	now       [][]int32
	base      [][]int32 // what now would be had nothing changed
}

// A meter plays blocks of frames and sums up.
type meter struct {
	recording *codec.Recording
	order     []int
	arrived   []bool
	rounds    int

	moments                  [blockFrames]moment
	blocks                   int
	frames, received         int
	changed                  int
	counted, countedReceived int // frames for which allocations were counted
}

func (m *meter) prepare(x *moment, frame int) {
	if x.histories == nil {
		x.histories = make([]codec.History, len(m.order))
		x.now = make([][]int32, len(m.order))
		x.base = make([][]int32, len(m.order))
	}
	known, n := knownFrames(m.recording, frame, m.arrived)
	x.frame = frame
	for i, e := range m.order {
		m.recording.History(&x.histories[i], e, frame, known[:n])
		x.now[i] = m.recording.Image(frame, e)
		x.base[i] = x.histories[i].Images[0]
		if !slices.Equal(x.now[i], x.base[i]) {
			m.changed++
		}
	}
}

// block plays the frames from first up to end.
func (m *meter) block(lanes []*lane, first, end int) error {
	moments := m.moments[:end-first]
	for i := range moments {
		m.prepare(&moments[i], first+i)
	}
	m.frames += len(moments)
	m.blocks++
	count := m.blocks%allocBlocks == 2 // everything is warm after the first
	if err := m.encode(lanes, moments, count); err != nil {
		return err
	}
	if count {
		m.counted += len(moments)
	}
	for i := range moments {
		if x := &moments[i]; m.arrived[x.frame] {
			m.decode(lanes, x, i, count)
		}
	}
	return nil
}

func (m *meter) encode(lanes []*lane, moments []moment, count bool) error {
	for _, l := range lanes {
		l.now, l.still = lab.Timer{}, lab.Timer{}
	}
	for range m.rounds {
		for _, l := range lanes {
			start := time.Now()
			if err := l.sender.all(moments, false); err != nil {
				return err
			}
			l.now.Took(time.Since(start))
			start = time.Now()
			if err := l.sender.all(moments, true); err != nil {
				return err
			}
			l.still.Took(time.Since(start))
		}
	}
	for _, l := range lanes {
		l.encode += l.now.Best
		l.unchanged += l.still.Best
		if count { // it did not fail just now
			l.encodeAllocs += lab.Allocations(2, func() { _ = l.sender.all(moments, false) })
		}
		for i := range moments {
			if err := l.sender.encode(&moments[i], moments[i].now); err != nil {
				return err
			}
			l.bytes += l.sender.size()
			l.packets += len(l.sender.packets)
			l.receiver.post(i, l.sender.packets)
		}
	}
	return nil
}

// decode gives a frame to the receivers. It cannot fail: what goes wrong is a result.
func (m *meter) decode(lanes []*lane, x *moment, slot int, count bool) {
	m.received++
	if count {
		m.countedReceived++
	}
	for _, l := range lanes {
		l.now = lab.Timer{}
		l.receiver.prepare(x.frame)
	}
	for range m.rounds {
		for _, l := range lanes {
			if l.wrong != nil {
				continue
			}
			start := time.Now()
			l.wrong = l.receiver.decode(slot)
			l.now.Took(time.Since(start))
		}
	}
	for _, l := range lanes {
		if l.wrong == nil && count {
			l.decodeAllocs += lab.Allocations(2, func() { l.wrong = l.receiver.decode(slot) })
		}
		if l.wrong == nil {
			l.wrong = compare(m.recording, x.frame, l.receiver.image(x.frame))
		} else {
			l.wrong = fmt.Errorf("frame %d: %w", x.frame, l.wrong)
		}
		if l.wrong == nil {
			l.verified++
			l.decode += l.now.Best
		}
	}
}
