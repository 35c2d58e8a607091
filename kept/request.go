package kept

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// maxParties is how many entities a request may be about, and maxRequest how many bytes it may
// take.
const (
	maxParties = 4
	maxRequest = 1 << 10
)

// A request is one that is pending. It is an entity, so it is copied, saved and sent like all else,
// and whoever decides can execute it again after a crash by the name that it had: its origin.
type request struct {
	Kind    uint16
	Parties [maxParties]world.ID
	Data    string `world:"server"`
}

func (r *request) Sync(s *bits.Sync) {
	s.Uint16(&r.Kind, 0, 1<<16-1)
	for i := range r.Parties {
		bits.Integer(s, &r.Parties[i], 0, 1<<64-1)
	}
}

// A requestKind is what Request declares.
type requestKind struct {
	number  uint16
	typ     reflect.Type
	layout  *bits.Layout
	execute func(d *Deal, q []byte) ([]byte, error)
	done    func(w *world.World, q, a []byte, refused error)
}

// Request declares a kind of request: something that is durable before it is shown as done. The
// game asks for it by Ask with a Q. Execute is called outside of the world, with what the store
// holds of its parties; what it changes of them is written in one transaction with its answer, once
// for ever. If it returns an error nothing is changed, and that is the answer.
//
// When the answer comes in, the fields that it changed are set in the world's entities, and then
// done is called in the world, at the beginning of a tick, on all machines that decide: to emit an
// event, or to say why not. It may be nil. Execute may be called several times until a transaction
// succeeds, from another goroutine; it must not look at the world.
func Request[Q, A any, PQ world.Synced[Q], PA world.Synced[A]](
	execute func(d *Deal, q *Q) (A, error),
	done func(w *world.World, q *Q, a *A, refused error),
) Part {
	return func(p *plan) error {
		k := &requestKind{number: uint16(len(p.kinds)), typ: reflect.TypeFor[Q]()}
		fail := func(err error) error { return fmt.Errorf("request %s: %w", k.typ.Name(), err) }
		questions, err := bits.NewLayout(PQ(nil))
		if err != nil {
			return fail(err)
		}
		k.layout = questions
		answers, err := bits.NewLayout(PA(nil))
		if err != nil {
			return fail(err)
		}
		for _, other := range p.kinds {
			if other.typ == k.typ {
				return fail(errors.New("it is declared twice"))
			}
		}
		if execute == nil {
			return fail(errors.New("say how it is executed"))
		}
		k.execute = func(d *Deal, data []byte) ([]byte, error) {
			q := PQ(new(Q))
			if err := read(q, data); err != nil {
				return nil, err
			}
			a, err := execute(d, (*Q)(q))
			if err != nil {
				return nil, err
			}
			return write(answers, PA(&a), maxAnswer/2)
		}
		k.done = func(w *world.World, data, answer []byte, refused error) {
			q, a := PQ(new(Q)), PA(new(A))
			if done != nil && read(q, data) == nil && (refused != nil || read(a, answer) == nil) {
				done(w, (*Q)(q), (*A)(a), refused)
			}
		}
		p.kinds = append(p.kinds, k)
		return nil
	}
}

// write makes the bytes of a value.
func write(l *bits.Layout, v bits.Syncer, most int) ([]byte, error) {
	var s bits.Sync
	if err := l.Quantise(&s, v); err != nil {
		return nil, err
	}
	for room := 256; ; room *= 2 {
		var w bits.Writer
		w.Reset(make([]byte, min(room, most)))
		s.StartWrite(&w)
		v.Sync(&s)
		if s.Err() == nil && w.Err() == nil {
			return w.Bytes(), nil
		}
		if room >= most {
			return nil, fmt.Errorf("it takes more than %d bytes", most)
		}
	}
}

// read reads what write has made, or somebody else.
func read(v bits.Syncer, data []byte) error {
	var s bits.Sync
	r := bits.NewReader(data)
	s.StartRead(r)
	v.Sync(&s)
	return cmp.Or(s.Err(), r.Finish())
}

// Why a request is not asked.
var (
	// ErrPending says that one of the parties is in a request that is pending.
	ErrPending = errors.New("kept: a request about one of the parties is pending")
	// ErrNotLoaded says that one of the parties is not there, or not loaded.
	ErrNotLoaded = errors.New("kept: one of the parties is not loaded")
)

// Ask asks for a request about some entities, at most four, that are loaded and that no other
// request is about. From now on it is pending, on clients as well once they are told; nothing of
// its parties is written until it is answered. What the request takes should be taken as
// spoken for meanwhile: the fields that it changes are set when the answer comes in, whatever they
// were by then. On clients nothing happens.
func Ask[Q any, P world.Synced[Q]](w *world.World, q Q, parties ...world.ID) error {
	if !w.Decides() {
		return nil
	}
	p := at(w)
	i := -1
	if p != nil {
		i = slices.IndexFunc(p.kinds, func(k *requestKind) bool {
			return k.typ == reflect.TypeFor[Q]()
		})
	}
	if i < 0 || len(parties) > maxParties {
		return fmt.Errorf("kept: a %T about %d entities cannot be asked; declare it by "+
			"kept.Request, and name at most %d", q, len(parties), maxParties)
	}
	r := request{Kind: uint16(i)}
	for k, id := range parties {
		_, m := p.find(w, id)
		switch {
		case m == nil || m.state != loaded:
			return ErrNotLoaded
		case m.busy != world.None || slices.Contains(parties[:k], id):
			return ErrPending
		}
		r.Parties[k] = id
	}
	data, err := write(p.kinds[i].layout, P(&q), maxRequest)
	if err != nil {
		return fmt.Errorf("kept: request %T: %w", q, err)
	}
	r.Data = string(data)
	id := world.Spawn(w, r)
	if id == world.None {
		return errors.New("kept: too many requests are pending")
	}
	for _, party := range parties {
		_, m := p.find(w, party)
		m.busy = id
	}
	return nil
}

// Pending says whether a request about an entity waits for its answer. Clients know it, too.
func Pending(w *world.World, id world.ID) bool {
	if _, m := at(w).find(w, id); m != nil && m.busy != world.None {
		return true
	}
	for _, r := range world.All[request](w) {
		if id != world.None && slices.Contains(r.Parties[:], id) {
			return true
		}
	}
	return false
}

// answered takes what came of a request.
func (p *plan) answered(w *world.World, to world.Name, a *keptAnswer) {
	for id, r := range world.All[request](w) {
		if w.Origin(id) != to || w.Removing(id) || int(r.Kind) >= len(p.kinds) {
			continue
		}
		out, err := readOutcome(a.Data)
		if err != nil {
			out = outcome{refused: "the answer is damaged"}
		}
		for _, party := range r.Parties {
			if _, m := p.find(w, party); m != nil && m.busy == id {
				m.busy = world.None
			}
		}
		for _, c := range out.changes {
			party := r.Parties[c.party]
			if k, m := p.find(w, party); k != nil && m.state == loaded && c.schema == k.hash {
				at := reflect.ValueOf(w.Host().Value(party)).UnsafePointer()
				_ = k.patch(at, c.patch) // it was made of the same class
			}
		}
		w.Remove(id)
		var refused error
		if out.refused != "" {
			refused = errors.New(out.refused)
		}
		p.kinds[r.Kind].done(w, []byte(r.Data), out.answer, refused)
		return
	}
}

// An outcome is what came of a request, as the store keeps it.
type outcome struct {
	refused  string // or nothing
	question uint64
	answer   []byte
	changes  []change
}

// A change is what a request has changed of one of its parties.
type change struct {
	party  int
	schema uint64
	patch  []byte
}

// append writes the outcome.
func (o *outcome) append(dst []byte) []byte {
	dst = append(dst, 1) // the format
	dst = appendText(dst, o.refused)
	dst = binary.LittleEndian.AppendUint64(dst, o.question)
	dst = appendText(dst, string(o.answer))
	dst = append(dst, byte(len(o.changes)))
	for _, c := range o.changes {
		dst = append(dst, byte(c.party))
		dst = binary.LittleEndian.AppendUint64(dst, c.schema)
		dst = appendText(dst, string(c.patch))
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

var errOutcome = errors.New("an answer that is damaged")

// readOutcome reads what append writes.
func readOutcome(data []byte) (o outcome, err error) {
	if len(data) == 0 || data[0] != 1 {
		return o, errOutcome
	}
	data = data[1:]
	text := func() []byte {
		n, at := binary.Uvarint(data)
		if at <= 0 || n > uint64(len(data)-at) {
			err, data = errOutcome, nil
			return nil
		}
		out := data[at : at+int(n)]
		data = data[at+int(n):]
		return out
	}
	o.refused = string(text())
	if len(data) < 8 {
		return o, errOutcome
	}
	o.question = binary.LittleEndian.Uint64(data)
	data = data[8:]
	o.answer = text()
	if len(data) == 0 || data[0] > maxParties {
		return o, errOutcome
	}
	n := data[0]
	data = data[1:]
	for range n {
		if len(data) < 9 || data[0] >= maxParties {
			return o, errOutcome
		}
		c := change{party: int(data[0]), schema: binary.LittleEndian.Uint64(data[1:])}
		data = data[9:]
		c.patch = text()
		o.changes = append(o.changes, c)
	}
	if err == nil && len(data) > 0 {
		err = errOutcome
	}
	return o, err
}
