package zone

// OpKind says what an operation does. Each is a method of Map, Journal or Store of package
// topology/seamless, by the same rules.
type OpKind uint8

// The operations.
const (
	// MapGet reads the latest value of Key.
	MapGet OpKind = iota + 1
	// MapSet writes Data to Key if its revision is Expect.
	MapSet
	// MapDelete removes Key if its revision is Expect.
	MapDelete
	// MapList gives all entries whose keys begin with Key.
	MapList
	// Append appends Data to the journal of Zone if its last sequence is Expect.
	Append
	// Last gives the latest record of the journal of Zone.
	Last
	// Read gives records of the journal of Zone behind the sequence Expect, of about Size bytes.
	Read
	// Trim gives up the records of the journal of Zone before the sequence Expect.
	Trim
	// Put keeps Data in the store under Key.
	Put
	// Get reads Key from the store.
	Get
	// Delete removes Key from the store.
	Delete
	// Keys lists the keys of the store that begin with Key.
	Keys
)

// An Op is an operation for whoever drives a Server. Each is answered by one Result, whatever
// happens, and those of one Server may be answered in any order.
type Op struct {
	ID     uint64
	Kind   OpKind
	Zone   ID
	Key    string
	Expect uint64
	Size   int
	// Data must not be changed, and is good until the operation's Result.
	Data []byte
}

// Outcome is how an operation ended.
type Outcome uint8

// The outcomes.
const (
	// OK says that it was done.
	OK Outcome = iota
	// None says that there is nothing by that key or behind that sequence.
	None
	// Stale says that nothing was written as something else was expected to be there.
	Stale
	// Doubt says that it is not known whether it was done; it may yet be.
	Doubt
	// Away says that it was not done, as nobody could be reached.
	Away
)

// An Entry is a value of the map.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64
}

// A Record is one of a journal.
type Record struct {
	Sequence uint64
	Data     []byte
}

// A Result is what came of an operation. Its bytes belong to the Server from then on.
type Result struct {
	ID      uint64
	Outcome Outcome
	// Revision is that of what was set or read, and Sequence that of what was appended or is last.
	Revision, Sequence uint64
	Data               []byte   // of MapGet, Last and Get
	Entries            []Entry  // of MapList, in order of key
	Records            []Record // of Read
	Keys               []string // of Keys, in order
}

// asked remembers for what an operation was asked.
type asked struct {
	kind  uint32 // counts up with each use of the slot, so that no result is taken for another
	used  bool
	what  purpose
	zone  *owned
	peer  ServerID
	route ID
}

// opTable gives operations their numbers.
type opTable struct {
	slots []asked
	free  []uint32
	out   []Op
	given []Op
}

func (t *opTable) ask(op Op, a asked) {
	var slot uint32
	if n := len(t.free); n > 0 {
		slot, t.free = t.free[n-1], t.free[:n-1]
	} else {
		slot = uint32(len(t.slots))
		t.slots = append(t.slots, asked{})
	}
	a.kind, a.used = t.slots[slot].kind+1, true
	t.slots[slot] = a
	op.ID = uint64(a.kind)<<32 | uint64(slot)
	t.out = append(t.out, op)
}

// answered finds what a result is of, once.
func (t *opTable) answered(id uint64) (asked, bool) {
	slot := uint32(id)
	if uint64(slot) >= uint64(len(t.slots)) {
		return asked{}, false
	}
	a := t.slots[slot]
	if !a.used || a.kind != uint32(id>>32) {
		return asked{}, false
	}
	t.slots[slot] = asked{kind: a.kind}
	t.free = append(t.free, slot)
	return a, true
}

func (t *opTable) take() []Op {
	clear(t.given)
	t.given, t.out = t.out, t.given[:0]
	return t.given
}
