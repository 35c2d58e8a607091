package predict

import (
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// A Notice is something to be told about an event. Each event is to be shown once: when it is
// foreseen, or else when the server tells of it. The world that Show gives lists exactly those as
// events of its tick.
//
// A server whose world may be taken back, as that of a mirror, tells of events before they are
// certain. Such a notice is Provisional, and another follows: Settled or Retracted.
type Notice struct {
	// as it was when it was shown; the real one may have another tick, and be by what was foreseen
	// under another identifier
	world.Emitted
	What What
	// Provisional says of what Happened or is Confirmed that the server may still take it back.
	// Show it, and do not celebrate.
	Provisional bool
	// Believed is for how long what is Denied or Retracted had been shown: what was for a moment
	// only may just end, what was for longer is better explained.
	Believed time.Duration
	data     []byte
	told     world.Emitted // of what is Retracted: as the server told of it
}

// What a Notice says.
type What uint8

const (
	// Foreseen: the client predicts it; show it now.
	Foreseen What = iota + 1
	// Happened: the server tells of it, and it was not foreseen; show it now.
	Happened
	// Confirmed: the server tells of what was foreseen, and shown already.
	Confirmed
	// Denied: it was foreseen and shown, and did not happen; take back what can be taken back.
	Denied
	// Faded: it was foreseen and shown, and nothing was heard of it; it is of a kind that may be
	// lost on its way, or about something that left the view, so no one can tell.
	Faded
	// Settled: what the server told of as provisional is certain now. There is nothing to show.
	Settled
	// Retracted: the server told of it and takes that back, such as a kill that did not happen. It
	// was shown, perhaps because it was foreseen, too.
	Retracted
)

var whatNames = [...]string{
	"", "foreseen", "happened", "confirmed", "denied", "faded", "settled", "retracted"}

func (w What) String() string {
	if w >= Foreseen && int(w) < len(whatNames) {
		return whatNames[w]
	}
	return fmt.Sprintf("notice %d", uint8(w))
}

// Shows says whether the event is to be shown because of this notice.
func (n *Notice) Shows() bool { return n.What == Foreseen || n.What == Happened }

// Read sets an event's fields from a notice: *Fired for an event of type Fired.
func (n *Notice) Read(v bits.Syncer) error {
	var s bits.Sync
	var r bits.Reader
	r.Reset(n.data)
	s.StartRead(&r)
	v.Sync(&s)
	return s.Err()
}

// Deliver gives a world the event, as one of its tick: for those who look at what is foreseen by
// itself.
func (n *Notice) Deliver(w *world.World) error {
	var r bits.Reader
	r.Reset(n.data)
	return w.Host().Deliver(n.Emitted, &r)
}

const (
	// maxPending bounds how many events may wait for the server's word, and how many are remembered
	// after it.
	maxPending = 1024
	// moves is by how many ticks an event may turn out to be earlier or later and still be the
	// same, if the same entity causes the same kind of event.
	moves = 10
	// respawn is the same for what is by something that is itself foreseen.
	respawn = 2
)

// notices follow events from prediction to the server's word.
type notices struct {
	lossy    []bool        // by kind: it may be lost on its way
	me       world.Player  // whose events are foreseen, of those that are not for all
	everyone []bool        // by kind: it is told to everyone, whatever is in view
	pending  []expectation // foreseen, not decided
	fresh    []expectation // predicted just now, and perhaps only another tick for one of those
	decided  []decision    // decided, or told: not to be foreseen again
	held     []Notice      // told, and to be shown when what is shown has come so far
	doubted  []belief      // told, and may be retracted
	present  world.Tick    // the newest that was predicted
	length   time.Duration // of a tick
	list     []Notice      // since they were last taken
	free     [][]byte
	sync     bits.Sync
	scratch  [1 << 10]byte
}

// An expectation is a foreseen event.
type expectation struct {
	world.Emitted               // as it is foreseen now
	first         world.Emitted // and as it was shown
	predicted     bool          // the present prediction has it
	unseen        bool          // what it is about left the view, so that the server is silent
	since         world.Tick    // the present when it was shown
	data          []byte        // while it is fresh
}

// A decision is an event of which the server has told, or that it denied.
type decision struct {
	world.Emitted
	undone bool // it was retracted, and may be told again
}

// A belief is an event that was shown and may be retracted.
type belief struct {
	world.Emitted               // as the server told of it
	first         world.Emitted // and as it was shown
	since         world.Tick    // the present when it was
}

func (n *notices) init(g *world.Game) {
	n.length = g.TickLength()
	for _, e := range g.Events() {
		n.lossy = append(n.lossy, e.Delivery() == world.Unreliable)
		n.everyone = append(n.everyone, e.Delivery() == world.Everyone)
	}
}

// same says whether two have one name. What they are about may have another identifier on the
// client.
func same(a, b *world.Emitted) bool { return a.Name == b.Name && a.Kind == b.Kind }

// find looks for an expectation by its name, or gives -1.
func find(list []expectation, e *world.Emitted) int {
	for i := range list {
		if same(&list[i].Emitted, e) {
			return i
		}
	}
	return -1
}

// likely looks for one that is the same event, though its name is not: by something foreseen whose
// real identifier is not known here, or a little earlier or later.
func likely(list []expectation, e *world.Emitted, unpredicted bool) int {
	best, off := -1, world.Tick(moves+1)
	for i := range list {
		p := &list[i]
		if p.Kind != e.Kind || e.By == world.None || unpredicted && p.predicted {
			continue
		}
		d := max(p.Tick, e.Tick) - min(p.Tick, e.Tick)
		spawned := p.By.Allocator() == world.Predicted && e.By.Allocator() != world.Predicted &&
			p.By.Class() == e.By.Class() && d == 0 && p.Ordinal == e.Ordinal
		// What is spawned again, when its tick is predicted again, may have another identifier.
		respawned := unpredicted && p.By.Allocator() == world.Predicted &&
			e.By.Allocator() == world.Predicted && p.By.Class() == e.By.Class() && d <= respawn
		if (p.By == e.By || spawned || respawned) && d < off {
			best, off = i, d
		}
	}
	return best
}

// decision finds what was decided about an event, or gives nil.
func (n *notices) decision(e *world.Emitted) *decision {
	for i := range n.decided {
		if same(&n.decided[i].Emitted, e) {
			return &n.decided[i]
		}
	}
	return nil
}

// rename tells that what was foreseen under one identifier has another: what it caused, too.
func (n *notices) rename(from, to world.ID, born world.Tick) {
	for i := range n.pending {
		if p := &n.pending[i]; p.By == from && p.Tick >= born {
			p.By = to
		}
	}
	for i := range n.decided {
		if p := &n.decided[i]; p.By == from && p.Tick >= born {
			p.By = to
		}
	}
}

// left is told that an entity left the view after a tick: from there on the server tells nothing
// of it.
func (n *notices) left(id world.ID, after world.Tick) {
	for i := range n.pending {
		if p := &n.pending[i]; p.About == id && p.Tick > after && !n.everyone[p.Kind] {
			p.unseen = true
		}
	}
}

// again begins the prediction of a tick: what was foreseen for it must be found again.
func (n *notices) again(t world.Tick) {
	n.present = max(n.present, t)
	for i := range n.pending {
		if n.pending[i].Tick == t {
			n.pending[i].predicted = false
		}
	}
}

// foresee takes an event of a predicted tick.
func (n *notices) foresee(e world.Emitted, v bits.Syncer) {
	if a, some := v.(world.Addressed); some && !a.For(n.me) {
		return // the server will not tell of it
	}
	if i := find(n.pending, &e); i >= 0 {
		n.pending[i].predicted = true
		return
	}
	if n.decision(&e) != nil || find(n.fresh, &e) >= 0 {
		return
	}
	var w bits.Writer
	w.Reset(n.scratch[:])
	n.sync.StartWrite(&w)
	v.Sync(&n.sync)
	if w.Err() != nil || n.sync.Err() != nil || len(n.fresh) >= maxPending {
		return // too large to be kept; the server's will be shown
	}
	n.fresh = append(n.fresh,
		expectation{Emitted: e, first: e, predicted: true, data: n.copy(w.Bytes())})
}

// conclude ends a prediction: what is new is shown, unless it is something that was foreseen for
// another tick.
func (n *notices) conclude() {
	for i := range n.fresh {
		x := n.fresh[i]
		if j := likely(n.pending, &x.Emitted, true); j >= 0 {
			n.pending[j].Emitted, n.pending[j].predicted = x.Emitted, true
			n.free = append(n.free, x.data)
			continue
		}
		if len(n.pending) >= maxPending {
			n.free = append(n.free, x.data)
			continue
		}
		n.list = append(n.list, Notice{Emitted: x.Emitted, What: Foreseen, data: x.data})
		x.data, x.since = nil, n.present
		n.pending = append(n.pending, x)
	}
	clear(n.fresh)
	n.fresh = n.fresh[:0]
}

// span is how much of the client's time has passed since a tick.
func (n *notices) span(since world.Tick) time.Duration {
	return time.Duration(max(n.present, since)-since) * n.length
}

func (n *notices) copy(data []byte) []byte {
	var room []byte
	if k := len(n.free); k > 0 {
		room, n.free = n.free[k-1][:0], n.free[:k-1]
	}
	return append(room, data...)
}

// told takes an event from the server. If it concerns what is shown later, it waits until then.
func (n *notices) told(e world.Emitted, data []byte, later, provisional bool) {
	if n.moved(e, data, provisional) {
		return
	}
	i := find(n.pending, &e)
	if i < 0 {
		i = likely(n.pending, &e, false)
	}
	if i >= 0 {
		x := n.pending[i]
		n.pending = slices.Delete(n.pending, i, i+1)
		n.decide(e)
		if !same(&x.Emitted, &e) {
			n.decide(x.Emitted)
		}
		n.list = append(n.list,
			Notice{Emitted: x.first, What: Confirmed, Provisional: provisional, data: n.copy(data)})
		n.doubt(belief{e, x.first, x.since}, provisional)
		return
	}
	if d := n.decision(&e); d == nil {
		n.decide(e)
	} else if d.undone {
		d.undone = false // it did happen, in the end
	} else {
		return // it was foreseen and given up too early, and has been shown
	}
	n.doubt(belief{e, e, n.present}, provisional)
	x := Notice{Emitted: e, What: Happened, Provisional: provisional, data: n.copy(data)}
	if later && len(n.held) < maxPending {
		n.held = append(n.held, x)
	} else {
		n.list = append(n.list, x)
	}
}

func (n *notices) decide(e world.Emitted) {
	if len(n.decided) >= maxPending {
		n.decided = slices.Delete(n.decided, 0, maxPending/4)
	}
	n.decided = append(n.decided, decision{Emitted: e})
}

// release gives out what waited for the moment that is shown.
func (n *notices) release(view float64) {
	kept := n.held[:0]
	for _, x := range n.held {
		if float64(x.Tick) > view {
			kept = append(kept, x)
		} else {
			n.list = append(n.list, x)
		}
	}
	n.held = kept
}

// deny gives up on what was foreseen for ticks before one, of which the server has told everything.
func (n *notices) deny(before world.Tick) {
	kept := n.pending[:0]
	for _, x := range n.pending {
		if x.Tick >= before && x.first.Tick+2*moves >= before {
			kept = append(kept, x)
			continue
		}
		n.decide(x.Emitted)
		what := Denied
		if n.lossy[x.Kind] || x.unseen {
			what = Faded
		}
		n.list = append(n.list, Notice{Emitted: x.first, What: what, Believed: n.span(x.since)})
	}
	n.pending = kept
}

// forget drops the memory of what was decided about ticks before one: they are not predicted again.
func (n *notices) forget(before world.Tick) {
	n.decided = slices.DeleteFunc(n.decided, func(d decision) bool { return d.Tick < before })
}

// take hands out the notices; their memory is used again after the next call.
func (n *notices) take(into []Notice) []Notice {
	for i := range into {
		if into[i].data != nil {
			n.free = append(n.free, into[i].data)
		}
	}
	into = append(into[:0], n.list...)
	clear(n.list)
	n.list = n.list[:0]
	return into
}
