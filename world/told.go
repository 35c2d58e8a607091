package world

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/coeval-dev/coeval/bits"
)

// An InputSource says where an input comes from that is neither a player's coming or going nor a
// command.
type InputSource uint8

const (
	// FromOperator is a knob: a state that whoever runs the world may set.
	FromOperator InputSource = iota
	// FromContent is content that takes the place of other content.
	FromContent
	// FromAnswer is an answer to what the game asked of the outside.
	FromAnswer
	// FromElsewhere is a message from another server.
	FromElsewhere
	// FromCommands is a command that is executed before that of the tick: see Inputs.Move. No game
	// declares it.
	FromCommands
	inputSources
)

func (s InputSource) String() string {
	if s >= inputSources {
		return fmt.Sprintf("source %d", uint8(s))
	}
	return [...]string{"knob", "content", "answer", "message", "move"}[s]
}

// An InputInfo describes a kind of input that a game has declared.
type InputInfo struct {
	number int
	name   string
	source InputSource
	limit  int // bytes
	typ    reflect.Type
	layout *bits.Layout // nil for content, which is bytes
	fresh  func() bits.Syncer
	act    func(w *World, t Told, v bits.Syncer, data []byte)
}

// Number is the kind's place in the game.
func (i *InputInfo) Number() int { return i.number }

// Name is what the kind is called.
func (i *InputInfo) Name() string { return i.name }

// Source is where such inputs come from.
func (i *InputInfo) Source() InputSource { return i.source }

// Limit is how many bytes one may take.
func (i *InputInfo) Limit() int { return i.limit }

// Layout makes and reads images of it; nil for content, which is plain bytes.
func (i *InputInfo) Layout() *bits.Layout { return i.layout }

// Inputs lists the kinds of inputs that the game has declared beside commands, for tools and for
// what carries them. A kind's number is its index.
func (g *Game) Inputs() []*InputInfo { g.prepare(); return g.inputs }

// Told is what is known of such an input apart from its fields. Two with the same Told are one, and
// the later counts.
type Told struct {
	Kind uint16 // its number in Game.Inputs
	To   Name   // of an answer: the question, by the name of its event
	From uint32 // of a message: who sent it
	Seq  uint32 // of a message: its number among those of its sender
}

// Compare orders what is told in a tick, and with it what happens first.
func (t Told) Compare(o Told) int {
	return cmp.Or(cmp.Compare(t.Kind, o.Kind), cmp.Compare(t.To.Tick, o.To.Tick),
		cmp.Compare(t.To.By, o.To.By), cmp.Compare(t.To.Ordinal, o.To.Ordinal),
		cmp.Compare(t.From, o.From), cmp.Compare(t.Seq, o.Seq))
}

// Sync writes or reads it: the kind, and as much as most kinds have need of.
func (t *Told) Sync(s *bits.Sync) {
	s.Uint16(&t.Kind, 0, 1<<16-1)
	if asked := t.To != (Name{}); s.Bool(&asked) {
		bits.Integer(s, &t.To.By, 0, 1<<64-1)
		bits.Integer(s, &t.To.Tick, 0, 1<<64-1)
		s.Uint16(&t.To.Ordinal, 0, 1<<16-1)
	}
	if sent := t.From != 0 || t.Seq != 0; s.Bool(&sent) {
		s.Uint32(&t.From, 0, 1<<32-1)
		s.Uint32(&t.Seq, 0, 1<<32-1)
	}
}

// told is one of them in a tick, as bytes that are never changed: every one has one form.
type told struct {
	Told
	data []byte
}

// maxTold is the largest input of all, and maxTellings how many there may be in a tick.
const (
	maxTold     = 1<<16 - 1
	maxTellings = 1 << 10
)

// Knob declares a state that whoever runs the world may set while it runs: gravity, the length of a
// round, who may friendly-fire. It is a State in every other way; so clients are told of it, and
// rules read it by StateOf. A change comes in at the beginning of a tick, and is part of
// recordings.
func Knob[T any, P Synced[T]](options ...ClassOptions) Declaration {
	return func(g *Game) error {
		if err := declareClass[T, P](g, true, option(options)); err != nil {
			return err
		}
		c := g.classes[len(g.classes)-1]
		if c.deep {
			return fmt.Errorf("knob %s: it has slices, maps or pointers; use arrays", c.name)
		}
		return g.declareInput(&InputInfo{
			name: c.name, source: FromOperator, typ: c.typ, layout: c.layout,
			fresh: func() bits.Syncer { return P(new(T)) },
			act: func(w *World, _ Told, v bits.Syncer, _ []byte) {
				c.kind.assign(w.tables[c.number].at(w.tables[c.number].banks[0].pages[0], 0), v)
			}})
	}
}

// Answer declares a kind of answer to what the game asks of the outside, such as a player's record
// in a store, and what the world does with it. The question is an event, mostly one whose Delivery
// is Outside; the answer names it. It comes in at the beginning of a tick, whenever the outside has
// it, and never on clients, which are told what came of it.
func Answer[A any, P Synced[A]](act func(w *World, to Name, a *A)) Declaration {
	return declareTyped[A, P](FromAnswer, act != nil,
		func(w *World, t Told, v *A) { act(w, t.To, v) })
}

// Message declares a kind of message from other servers, and what the world does with it. From is
// the number of the sender. It comes in at the beginning of a tick, and never on clients.
func Message[M any, P Synced[M]](act func(w *World, from uint32, m *M)) Declaration {
	return declareTyped[M, P](FromElsewhere, act != nil,
		func(w *World, t Told, v *M) { act(w, t.From, v) })
}

// OnContent declares that content can change while the world runs, such as a map or a table of
// weapons, and what the world does with the new one. It comes in at the beginning of a tick, and
// never on clients: what clients need of it belongs into states and entities. The data is at most
// 64 KiB, and is the game's to check; it is to be left as it is.
func OnContent(act func(w *World, data []byte)) Declaration {
	return func(g *Game) error {
		if act == nil {
			return errors.New("content: say what is to be done with it")
		}
		return g.declareInput(&InputInfo{name: "content", source: FromContent,
			act: func(w *World, _ Told, _ bits.Syncer, data []byte) { act(w, data) }})
	}
}

func declareTyped[T any, P Synced[T]](
	source InputSource, acts bool, act func(*World, Told, *T),
) Declaration {
	return func(g *Game) error {
		typ := reflect.TypeFor[T]()
		fail := func(err error) error { return fmt.Errorf("%v %s: %w", source, typ.Name(), err) }
		if !acts {
			return fail(errors.New("say what is to be done with it"))
		}
		layout, err := bits.NewLayout(P(nil))
		if err != nil {
			return fail(err)
		}
		if _, err := examine(typ, layout.Schema()); err != nil {
			return fail(err)
		}
		return g.declareInput(&InputInfo{name: typ.Name(), source: source, typ: typ, layout: layout,
			fresh: func() bits.Syncer { return P(new(T)) },
			act: func(w *World, t Told, v bits.Syncer, _ []byte) {
				act(w, t, (*T)(v.(P)))
			}})
	}
}

func (g *Game) declareInput(i *InputInfo) error {
	i.number, i.limit = len(g.inputs), maxTold
	for _, other := range g.inputs {
		if other.name == i.name || i.typ != nil && other.typ == i.typ {
			return fmt.Errorf("%v %s: %v %s has the same name or type; declare it once", i.source,
				i.name, other.source, other.name)
		}
	}
	g.inputs = append(g.inputs, i)
	return nil
}

// ErrInput says that an input is not one of the game's. Use errors.Is.
var ErrInput = errors.New("world: an input that the game does not have")

// kindOfInput finds a kind by its type.
func (g *Game) kindOfInput(source InputSource, typ reflect.Type) (*InputInfo, error) {
	for _, i := range g.Inputs() {
		if i.source == source && i.typ == typ {
			return i, nil
		}
	}
	return nil, fmt.Errorf("%w: %v is no %v of game %q; declare it", ErrInput, typ, source, g.name)
}

// write makes the bytes of a value.
func (i *InputInfo) write(v bits.Syncer) ([]byte, error) {
	var s bits.Sync
	if err := i.layout.Quantise(&s, v); err != nil {
		return nil, err
	}
	for room := 256; ; room *= 2 {
		var w bits.Writer
		w.Reset(make([]byte, room))
		s.StartWrite(&w)
		v.Sync(&s)
		if s.Err() == nil && w.Err() == nil {
			return w.Bytes(), nil
		}
		if room >= i.limit {
			return nil, fmt.Errorf("%w: %v %s takes more than %d bytes", ErrInput, i.source, i.name,
				i.limit)
		}
	}
}

// read is the value that bytes are, which may come from anyone.
func (i *InputInfo) read(data []byte) (bits.Syncer, error) {
	if i.layout == nil {
		return nil, nil
	}
	v := i.fresh()
	var s bits.Sync
	r := bits.NewReader(data)
	s.StartRead(r)
	v.Sync(&s)
	err := cmp.Or(s.Err(), r.Finish())
	if err != nil {
		return nil, fmt.Errorf("%w: %v %s: %w", ErrInput, i.source, i.name, err)
	}
	return v, nil
}

// SetKnob puts a change of a knob among the inputs of a tick. What cannot be one is an error.
func SetKnob[T any, P Synced[T]](in *Inputs, v T) error {
	return tellTyped[T, P](in, FromOperator, Told{}, v)
}

// SetKnobTo is SetKnob for programs that do not know the knob's type: it takes a pointer to a
// value, such as ClassInfo.New makes of the class that has the knob's name. What its fields cannot
// hold is brought into range; Layout.Quantise of a strict bits.Sync says whether that is necessary.
func SetKnobTo(in *Inputs, v bits.Syncer) error {
	typ := reflect.TypeOf(v)
	if typ == nil || typ.Kind() != reflect.Pointer || reflect.ValueOf(v).IsNil() {
		return fmt.Errorf("%w: a %T is not a pointer to a knob", ErrInput, v)
	}
	i, err := in.game.kindOfInput(FromOperator, typ.Elem())
	if err != nil {
		return err
	}
	data, err := i.write(v)
	if err != nil {
		return err
	}
	return in.Tell(Told{Kind: uint16(i.number)}, data)
}

// TellAnswer puts an answer among the inputs of a tick, to the question by that name.
func TellAnswer[A any, P Synced[A]](in *Inputs, to Name, a A) error {
	return tellTyped[A, P](in, FromAnswer, Told{To: to}, a)
}

// TellMessage puts a message among the inputs of a tick: that of a number of a sender.
func TellMessage[M any, P Synced[M]](in *Inputs, from, seq uint32, m M) error {
	return tellTyped[M, P](in, FromElsewhere, Told{From: from, Seq: seq}, m)
}

// TellContent puts content among the inputs of a tick.
func TellContent(in *Inputs, data []byte) error {
	for _, i := range in.game.Inputs() {
		if i.source == FromContent {
			return in.Tell(Told{Kind: uint16(i.number)}, data)
		}
	}
	return fmt.Errorf("%w: game %q takes no content; declare OnContent", ErrInput, in.game.name)
}

func tellTyped[T any, P Synced[T]](in *Inputs, source InputSource, t Told, v T) error {
	i, err := in.game.kindOfInput(source, reflect.TypeFor[T]())
	if err != nil {
		return err
	}
	data, err := i.write(P(&v))
	if err != nil {
		return err
	}
	t.Kind = uint16(i.number)
	return in.Tell(t, data)
}

// Tell puts an input among those of a tick by its bytes, which may come from anyone and are copied:
// for what carries inputs without knowing their types. On an error there is none.
func (in *Inputs) Tell(t Told, data []byte) error {
	data, err := in.game.checkTold(t, data)
	if err != nil {
		return err
	}
	at, found := slices.BinarySearchFunc(in.told, t,
		func(a told, b Told) int { return a.Compare(b) })
	switch {
	case found:
		in.told[at].data = data
	case len(in.told) >= maxTellings:
		return fmt.Errorf("%w: more than %d in a tick; tell the rest later", ErrInput, maxTellings)
	default:
		in.told = slices.Insert(in.told, at, told{t, data})
	}
	return nil
}

// checkTold says what is wrong with an input, and gives its bytes in the one form they have.
func (g *Game) checkTold(t Told, data []byte) ([]byte, error) {
	if t.Kind == g.moveKind() {
		return g.checkMove(t, data)
	}
	if int(t.Kind) >= len(g.Inputs()) {
		return nil, fmt.Errorf("%w: kind %d of game %q, which declares %d kinds", ErrInput, t.Kind,
			g.name, len(g.inputs))
	}
	i := g.inputs[t.Kind]
	plain := Told{Kind: t.Kind}
	switch i.source {
	case FromAnswer:
		plain.To = t.To
	case FromElsewhere:
		plain.From, plain.Seq = t.From, t.Seq
	}
	switch {
	case plain != t:
		return nil, fmt.Errorf("%w: %v %s has no such question or sender", ErrInput, i.source,
			i.name)
	case len(data) > i.limit:
		return nil, fmt.Errorf("%w: %v %s of %d bytes; at most %d", ErrInput, i.source, i.name,
			len(data), i.limit)
	case i.layout == nil:
		return bytes.Clone(data), nil
	}
	v, err := i.read(data)
	if err != nil {
		return nil, err
	}
	again, err := i.write(v)
	if err == nil && !bytes.Equal(again, data) {
		err = fmt.Errorf("%w: %v %s in a form that nobody writes", ErrInput, i.source, i.name)
	}
	return again, err
}

// CheckTold says what is wrong with an input of a game's worlds, as Tell would.
func (g *Game) CheckTold(t Told, data []byte) error {
	_, err := g.checkTold(t, data)
	return err
}

// Tellings goes through what is told in the tick beside commands, in order, with the bytes of each.
func (in *Inputs) Tellings(yield func(Told, []byte) bool) {
	for _, t := range in.told {
		if !yield(t.Told, t.data) {
			return
		}
	}
}

// Telling is the bytes of what is told under a key, or nil.
func (in *Inputs) Telling(of Told) []byte {
	i, found := slices.BinarySearchFunc(in.told, of,
		func(a told, b Told) int { return a.Compare(b) })
	if !found {
		return nil
	}
	return in.told[i].data
}

// Empty says that nothing comes in: nobody joins, leaves or commands, nothing is told, and nothing
// is done by what is elsewhere.
func (in *Inputs) Empty() bool {
	return len(in.joins)+len(in.leaves)+len(in.players)+len(in.told)+len(in.acts.list) == 0
}

// syncTold takes what is told, in a game that declares any. Moves alone are left out: they are for
// the server that took them, and whoever exchanges inputs has none.
func (in *Inputs) syncTold(s *bits.Sync) {
	if len(in.game.inputs) == 0 {
		return
	}
	n := uint16(len(in.told))
	s.Uint16(&n, 0, maxTellings)
	list := in.told
	if s.Reading() {
		in.told = in.told[:0]
	}
	for i := 0; i < int(n) && s.Err() == nil; i++ {
		var t told
		if !s.Reading() {
			t = list[i]
		}
		t.Told.Sync(s)
		s.Bytes(&t.data, maxTold)
		if s.Reading() && s.Err() == nil {
			if k := len(in.told); k > 0 && in.told[k-1].Compare(t.Told) >= 0 {
				s.Refuse(errTold)
			}
			s.Refuse(in.Tell(t.Told, t.data))
		}
	}
}

var errTold = errors.New("world: what is told is not in order")

// hear lets what is told happen. A client's world has no part in it.
func (w *World) hear(in *Inputs) {
	if w.settings.Partial {
		return
	}
	for k := range in.told {
		t := &in.told[k]
		if t.Kind == w.game.moveKind() {
			w.move(t)
			continue
		}
		i := w.game.inputs[t.Kind]
		v, err := i.read(t.data)
		if err != nil {
			w.fail(i.name, None, err) // it was checked when it came
			continue
		}
		i.act(w, t.Told, v, t.data)
	}
}
