package zone

// A Body is what a zone computes: a game's world, as seen from here. From the same state and the
// same input it must come to the same state and output, on every machine: other servers compute it
// again from the journal.
type Body interface {
	// Step computes one tick. It first takes in arrivals, each of which it steps alone for the
	// ticks that it missed, then actions, then all else. What it is given is good until it returns.
	Step(in *Input, out *Output)
	// Has says whether to give the body actions on an entity: it is owned here, or the body knows
	// better what to do with them than to let go of them. Of what has gone from here it is not
	// asked.
	Has(entity uint64) bool
	// Observe appends what another zone is to see of this one: whatever has changed after a tick,
	// in full values, so that it can be applied to what was true at that tick or at any later one.
	// Since zero asks for everything. It must not change what Step, Hash and Save do.
	Observe(to ID, since Tick, dst []byte) []byte
	// Hash is of all that Step depends on.
	Hash() uint64
	// Save appends all that Step depends on, for Load.
	Save(dst []byte) []byte
	// Load replaces the state by a saved one.
	Load(data []byte) error
}

// Input is all that a tick depends on beside the state before it.
type Input struct {
	Tick Tick
	// Commands are as they were given to Server.Command, in that order.
	Commands [][]byte
	// Ghosts is what other zones show of themselves, at most one of each.
	Ghosts []Ghost
	// Arrivals are entities that are owned here from now on.
	Arrivals []Arrival
	// Actions are on entities that are owned here.
	Actions []Action
	// Closed are zones that take nothing just now: what is put out to them has not been taken for
	// so long that no more of it is kept. Whatever would cross must wait on this side.
	Closed []ID
}

// A Ghost is what another zone shows: see Body.Observe.
type Ghost struct {
	From ID
	// Tick is that of the other zone.
	Tick Tick
	// Since is zero where it is everything, and what was known before has to be forgotten.
	Since Tick
	Data  []byte
}

// An Arrival is an entity that another zone handed over.
type Arrival struct {
	From   ID
	Entity uint64
	// Tick is the last that was computed of it. Missed is how many must be now, before this one;
	// it is less than what lies between if that is more than MaxMissed.
	Tick   Tick
	Missed int
	Data   []byte
}

// An Action is what an entity of another zone does to one of this zone.
type Action struct {
	// From is the zone that sent it last, and Tick when it was done.
	From   ID
	Tick   Tick
	Entity uint64
	// Hops is how many zones have forwarded it.
	Hops int
	Data []byte
}

// Output is what a tick does beyond its zone. Nothing of it but what is shown leaves before the
// tick is durable. What is given to its methods is copied.
type Output struct {
	items  []outItem
	events [][]byte
	show   []ID
	died   []uint64
	buf    []byte
	over   bool // something was more than there may be
}

type outItem struct {
	to     ID
	kind   itemKind
	more   bool // see item
	entity uint64
	data   []byte
}

// Depart hands an entity over, as it is after this tick. It is not owned here any more.
func (o *Output) Depart(to ID, entity uint64, data []byte) {
	o.add(outItem{to: to, kind: handOver, entity: entity, data: data})
}

// Act does something to an entity that is thought to be owned by another zone. It is forwarded to
// where that entity has gone.
func (o *Output) Act(to ID, entity uint64, data []byte) {
	o.add(outItem{to: to, kind: action, entity: entity, data: data})
}

// Died says that an entity is gone for good, so that actions on it are told as Gone at once. Those
// on an entity that was never here wait for it, for a minute.
func (o *Output) Died(entity uint64) {
	if len(o.died) < maxOut {
		o.died = append(o.died, entity)
	}
}

// Event says something that is told once it is durable, and neither lost nor told as two: each
// event of a zone has a number, and is told again under it after a take-over.
func (o *Output) Event(data []byte) {
	if len(data) > MaxItem || len(o.events) >= maxEvents || !o.room(len(data)) {
		o.over = true
		return
	}
	o.events = append(o.events, o.copy(data))
}

// Show has another zone be shown this one as it is after this tick, at once.
func (o *Output) Show(to ID) {
	if len(o.show) < MaxPeers {
		o.show = append(o.show, to)
	}
}

func (o *Output) add(i outItem) {
	if i.to == 0 || len(i.data) > MaxItem || len(o.items) >= maxOut || !o.room(len(i.data)) {
		o.over = true
		return
	}
	i.data = o.copy(i.data)
	o.items = append(o.items, i)
}

func (o *Output) room(n int) bool { return len(o.buf)+n <= maxOutput }

func (o *Output) copy(data []byte) []byte {
	at := len(o.buf)
	o.buf = append(o.buf, data...)
	return o.buf[at:len(o.buf):len(o.buf)]
}

func (o *Output) reset() {
	o.items, o.events, o.show, o.buf = o.items[:0], o.events[:0], o.show[:0], o.buf[:0]
	o.died, o.over = o.died[:0], false
}
