package federation

// A Kind is what a notice is about.
type Kind uint8

// What a federate is told.
const (
	// Discovered: Object, of Class as this federate knows it, with Name.
	Discovered Kind = iota + 1
	// Reflected: Values of Object, with Tag, and Time if Stamped.
	Reflected
	// Removed: Object is deleted, or was withdrawn from this federate.
	Removed
	// Interacted: Interaction, with Parameters.
	Interacted
	// Retracted: what came under Retraction is taken back.
	Retracted
	// Provide: the values of Attributes of Object are asked for.
	Provide
	// Offered: Attributes of Object may be acquired.
	Offered
	// Wanted: another wants Attributes of Object, which this federate owns: release or refuse.
	Wanted
	// Confirm: somebody takes Attributes of Object that this federate offered: confirm or cancel.
	Confirm
	// Acquired: this federate owns Attributes of Object now.
	Acquired
	// Unavailable: Attributes of Object cannot be had.
	Unavailable
	// Divested: Attributes of Object are owned no more by this federate.
	Divested
	// Granted: Time is this federate's time now.
	Granted
	// Regulating: this federate regulates time from Time on.
	Regulating
	// Constrained: this federate is constrained by time from Time on.
	Constrained
	// PointAnnounced: a synchronisation point with Name and Tag.
	PointAnnounced
	// PointReached: everybody is at the point Name; Failed are those that said they were not.
	PointReached
	// SaveBegins: save what you have under Name, and say when it is done.
	SaveBegins
	// SaveEnded: the save Name is complete, if OK.
	SaveEnded
	// RestoreBegins: go back to what was saved under Name, and say when it is done. Your numbers
	// of before count again.
	RestoreBegins
	// RestoreEnded: all are as they were saved, if OK.
	RestoreEnded
	// UpdatesWanted and UpdatesIdle: somebody receives Attributes of Object, or nobody any more.
	UpdatesWanted
	UpdatesIdle
	// Extended: the model has grown.
	Extended
	// Waited: others wait for the federate Name, for what Tag says.
	Waited
	// Left: the federate Name has resigned or is lost, as Tag says.
	Left
	// Out: this federate is put out; Tag says why. Nothing follows.
	Out
)

var kindNames = [...]string{"", "discovered", "reflected", "removed", "interacted", "retracted",
	"provide", "offered", "wanted", "confirm", "acquired", "unavailable", "divested", "granted",
	"regulating", "constrained", "pointAnnounced", "pointReached", "saveBegins", "saveEnded",
	"restoreBegins", "restoreEnded", "updatesWanted", "updatesIdle", "extended", "waited", "left",
	"out"}

func (k Kind) String() string { return kindNames[k] }

// A Value is the value of an attribute. What the bytes mean is for the federates.
type Value struct {
	Attribute AttributeID
	Data      []byte
}

// An Argument is the value of an interaction's parameter.
type Argument struct {
	Parameter ParameterID
	Data      []byte
}

// A Notice is something that a federate is told. Only what its kind names is set.
type Notice struct {
	Kind        Kind
	Order       Order // in which order it was delivered
	Stamped     bool  // whether it has a Time
	OK          bool
	Class       ClassID
	Interaction InteractionID
	Object      ObjectID
	From        FederateID // who caused it, if a federate did
	Time        Time
	Retraction  Retraction
	Name        string
	Tag         []byte
	Values      []Value
	Arguments   []Argument
	Attributes  []AttributeID
	Failed      []string
}

// A message is what goes to several federates: it is made once, and used again when nobody needs
// it any more.
type message struct {
	refs      int
	from      FederateID
	object    ObjectID
	class     ClassID
	action    InteractionID
	kind      Kind
	stamped   bool
	time      Time
	number    Retraction
	retracted bool
	told      []FederateID // who was delivered it, as long as it can be retracted
	tag       []byte
	values    []Value
	slots     []uint8 // of values, in the object's class
	arguments []Argument
	buffer    []byte // what the slices above are of
}

// A pool has messages that can be used again.
type pool struct{ free []*message }

func (p *pool) get() *message {
	if n := len(p.free); n > 0 {
		m := p.free[n-1]
		p.free = p.free[:n-1]
		return m
	}
	return &message{}
}

func (p *pool) release(m *message) {
	if m.refs--; m.refs > 0 {
		return
	}
	buf := m.buffer
	*m = message{told: m.told[:0], values: m.values[:0], slots: m.slots[:0],
		arguments: m.arguments[:0], buffer: buf[:0]}
	if cap(buf) <= 4<<10 { // a large one is not kept for small ones
		p.free = append(p.free, m)
	}
}

// size is what a message takes of the queues in which it waits.
func (m *message) size() int { return len(m.buffer) + 64 }

// An entry is a notice that waits for its federate.
type entry struct {
	kind    Kind
	order   Order
	ok      bool
	mask    Set // of the message's values, in slots of the object's class
	class   ClassID
	object  ObjectID
	from    FederateID
	time    Time
	number  Retraction
	name    string
	tag     []byte
	list    []AttributeID
	failed  []string
	message *message
}

func (e *entry) size() int {
	n := 96 + len(e.name) + len(e.tag) + 2*len(e.list)
	if e.message != nil {
		n += e.message.size()
	}
	return n
}
