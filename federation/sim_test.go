package federation_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/coeval-dev/coeval/federation"
)

// A witness watches what a federate is told, and compares it with what was sent.
type witness struct {
	f         *federation.Federate
	closed    bool            // what it asked for leaves nothing to come of that time
	last      federation.Time // of what was delivered by time
	from      federation.FederateID
	floor     federation.Time // nothing of before may come
	got       map[federation.Retraction]bool
	awaiting  bool
	regulates bool
	constrain bool
	owns      map[federation.ObjectID]map[federation.AttributeID]bool
}

// A post is a message that was sent by time.
type post struct {
	at       federation.Time
	by       federation.FederateID
	to       []*witness
	number   federation.Retraction
	retracts bool
}

// A history is a federation in which federates do what chance says.
type history struct {
	t     *testing.T
	w     *tester
	rng   *rand.Rand
	seed  uint64
	all   []*witness
	posts []*post
	names int
	objs  []federation.ObjectID
	count struct{ posts, grants, retracted, moved int }
}

func (h *history) fail(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("seed %d: %s", h.seed, fmt.Sprintf(format, args...))
}

// However federates send, advance, take back, come, go and are lost: nobody is granted a time
// before the last message below it was delivered, nobody is given the past, messages of one time
// come in one order, and an attribute has one owner or none.
func TestHistories(t *testing.T) {
	seeds := uint64(300)
	if s := os.Getenv("COEVAL_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		seeds = uint64(n)
	} else if os.Getenv("COEVAL_SOAK") != "" {
		seeds = 10_000
	}
	var posts, grants, retracted, moved int
	for seed := range seeds {
		h := &history{t: t, w: newTester(t, federation.Options{}), seed: seed,
			rng: rand.New(rand.NewPCG(seed, 77))}
		for range 2 + h.rng.IntN(4) {
			h.join()
		}
		for range 400 {
			h.step()
			h.listen()
		}
		h.finish()
		posts, grants = posts+h.count.posts, grants+h.count.grants
		retracted, moved = retracted+h.count.retracted, moved+h.count.moved
	}
	t.Logf("%d federations: %d messages by time, %d grants, %d taken back, %d changes of owner",
		seeds, posts, grants, retracted, moved)
	if posts == 0 || grants == 0 || retracted == 0 || moved == 0 {
		t.Fatal("nothing happened")
	}
}

func (h *history) join() {
	h.names++
	f := h.w.join(fmt.Sprintf("f%d", h.names))
	n := &witness{f: f, got: map[federation.Retraction]bool{},
		owns: map[federation.ObjectID]map[federation.AttributeID]bool{}}
	crash, _ := h.w.m.Interaction("crash")
	h.w.ok(f.PublishInteraction(crash))
	h.w.ok(f.SubscribeInteraction(crash))
	h.w.publish(f, "vehicle", "fuel")
	h.w.subscribe(f, "vehicle", "fuel")
	if h.rng.IntN(4) > 0 {
		h.w.ok(f.EnableConstraint())
		n.awaiting, n.constrain = true, true
		h.hear(n)
	}
	if h.rng.IntN(4) > 0 && !n.awaiting {
		h.w.ok(f.EnableRegulation(federation.Time(h.rng.IntN(11))))
		n.awaiting, n.regulates = true, true
	}
	h.all = append(h.all, n)
	h.listen()
}

func (h *history) step() {
	if len(h.all) == 0 {
		h.join()
		return
	}
	n := h.all[h.rng.IntN(len(h.all))]
	switch p := h.rng.IntN(100); {
	case p < 45:
		h.send(n)
	case p < 80:
		h.advance(n)
	case p < 84:
		if i := len(h.posts) - 1 - h.rng.IntN(8); i >= 0 && h.posts[i].by == n.f.ID() {
			if n.f.Retract(h.posts[i].number) == nil {
				h.posts[i].retracts = true
				h.count.retracted++
			}
		}
	case p < 86:
		h.leave(n)
	case p < 88 && len(h.all) < 8:
		h.join()
	case p < 90 && n.regulates && !n.awaiting:
		h.w.ok(n.f.SetLookahead(federation.Time(h.rng.IntN(11))))
	default:
		h.own(n)
	}
}

// send sends an interaction as early as this federate may, or a little later.
func (h *history) send(n *witness) {
	crash, _ := h.w.m.Interaction("crash")
	at := n.f.Now() + n.f.Lookahead() + federation.Time(h.rng.IntN(30))
	number, err := n.f.Send(crash, nil, federation.Sending{Stamped: true, Time: at})
	if err != nil || number == 0 {
		return // it has promised more than its time says, or does not regulate
	}
	p := &post{at: at, by: n.f.ID(), number: number}
	for _, m := range h.all {
		if m != n && m.constrain && !m.f.Left() {
			p.to = append(p.to, m)
		}
	}
	h.posts = append(h.posts, p)
	h.count.posts++
}

func (h *history) advance(n *witness) {
	if n.awaiting {
		return
	}
	to := n.f.Now() + federation.Time(h.rng.IntN(40))
	var err error
	n.awaiting = true
	switch h.rng.IntN(5) {
	case 0:
		n.closed, err = true, n.f.AdvanceTo(to)
	case 1:
		n.closed, err = false, n.f.AdvanceToAvailable(to)
	case 2:
		n.closed, err = true, n.f.AdvanceToNext(to)
	case 3:
		n.closed, err = false, n.f.AdvanceToNextAvailable(to)
	case 4:
		n.closed = false
		n.last, n.from = 0, 0 // what is flushed may be later than what comes after
		err = n.f.Flush(to)
	}
	h.w.ok(err)
}

func (h *history) leave(n *witness) {
	if h.rng.IntN(2) == 0 {
		h.w.x.Lose(n.f, "chance")
	} else {
		h.w.ok(n.f.Resign(federation.DeleteThenDivest))
	}
	h.all = slices.DeleteFunc(h.all, func(m *witness) bool { return m == n })
}

// own registers, acquires, offers, gives away.
func (h *history) own(n *witness) {
	if len(h.objs) < 5 || h.rng.IntN(20) == 0 {
		id, err := n.f.Register(h.w.class("vehicle"), "")
		h.w.ok(err)
		n.owns[id] = map[federation.AttributeID]bool{}
		for _, a := range append(h.w.attrs("vehicle", "fuel"), federation.Privilege) {
			n.owns[id][a] = true
		}
		h.objs = append(h.objs, id)
		return
	}
	id := h.objs[h.rng.IntN(len(h.objs))]
	a := append(h.w.attrs("vehicle", "fuel"), federation.Privilege)[h.rng.IntN(2)]
	switch h.rng.IntN(8) {
	case 0:
		_ = n.f.Divest(id, nil, a)
	case 1:
		_ = n.f.Offer(id, nil, a)
	case 2:
		_ = n.f.Confirm(id)
	case 3:
		_ = n.f.CancelOffer(id, a)
	case 4:
		_ = n.f.Acquire(id, nil, a)
	case 5:
		_ = n.f.AcquireIfAvailable(id, a)
	case 6:
		_, _ = n.f.Release(id)
	case 7:
		_ = n.f.Refuse(id, a)
	}
}

func (h *history) listen() {
	for _, n := range h.all {
		h.hear(n)
	}
	for _, id := range h.objs {
		for _, a := range append(h.w.attrs("vehicle", "fuel"), federation.Privilege) {
			h.oneOwner(id, a)
		}
	}
}

// oneOwner asks everybody who owns an attribute, and compares that with what each was told.
func (h *history) oneOwner(id federation.ObjectID, a federation.AttributeID) {
	for _, n := range h.all {
		owner, err := n.f.OwnerOf(id, a)
		if err != nil {
			continue // not known, or gone
		}
		if (owner == n.f.ID()) != n.owns[id][a] {
			h.fail("object %d, attribute %d: the owner is %d, and %d was told otherwise", id, a,
				owner, n.f.ID())
		}
	}
}

func (h *history) hear(n *witness) {
	for {
		e, ok := n.f.Next()
		if !ok {
			return
		}
		switch e.Kind {
		case federation.Interacted:
			h.delivered(n, e)
		case federation.Granted, federation.Regulating, federation.Constrained:
			h.granted(n, e)
		case federation.Acquired, federation.Divested:
			h.count.moved++
			for _, a := range e.Attributes {
				if n.owns[e.Object] == nil {
					n.owns[e.Object] = map[federation.AttributeID]bool{}
				}
				if has := e.Kind == federation.Acquired; n.owns[e.Object][a] == has {
					h.fail("%d is told twice: %v", n.f.ID(), e)
				} else {
					n.owns[e.Object][a] = has
				}
			}
		case federation.Removed:
			delete(n.owns, e.Object)
		}
	}
}

func (h *history) delivered(n *witness, e federation.Notice) {
	if !e.Stamped || e.Order != federation.ByTime {
		return
	}
	if n.got[e.Retraction] {
		h.fail("message %d comes twice", e.Retraction)
	}
	n.got[e.Retraction] = true
	if e.Time < n.floor {
		h.fail("%d is given the past: %d, and it was granted %d", n.f.ID(), e.Time, n.floor)
	}
	if e.Time < n.last {
		h.fail("%d is given %d after %d", n.f.ID(), e.Time, n.last)
	}
	if e.Time == n.last && e.From < n.from {
		h.fail("%d is given messages of %d in another order", n.f.ID(), e.Time)
	}
	n.last, n.from = e.Time, e.From
}

func (h *history) granted(n *witness, e federation.Notice) {
	h.count.grants++
	n.awaiting = false
	n.floor, n.last, n.from = e.Time, e.Time, 0
	if n.closed && e.Kind == federation.Granted {
		n.floor++
	}
	for _, p := range h.posts {
		if p.at < n.floor && !p.retracts && slices.Contains(p.to, n) && !n.got[p.number] {
			h.fail("%d is granted %d before a message of %d", n.f.ID(), e.Time, p.at)
		}
	}
}

// finish has everybody go far: nobody waits for ever, and all that was sent has come.
func (h *history) finish() {
	const far = 10_000
	for round := 0; ; round++ {
		if round > 20_000 {
			h.fail("somebody waits for ever")
		}
		done := true
		for _, n := range h.all {
			h.hear(n)
			if n.awaiting || n.f.Now() < far {
				done = false
			}
			if !n.awaiting && n.f.Now() < far {
				n.awaiting, n.closed = true, true
				h.w.ok(n.f.AdvanceTo(min(far, n.f.Now()+50)))
			}
		}
		if done {
			break
		}
	}
	h.listen()
	for _, p := range h.posts {
		for _, n := range p.to {
			if !p.retracts && slices.Contains(h.all, n) && !n.got[p.number] {
				h.fail("a message of %d never comes to %d", p.at, n.f.ID())
			}
		}
	}
}
