package conn

// EventKind says what an Event is about.
type EventKind uint8

const (
	// Connected: the connection can be used. At a server the client has proved both
	// its token and its address.
	Connected EventKind = iota + 1
	// Disconnected: the connection has ended; Reason and, if the peer left one, a note in Data say
	// why. It comes exactly once for each Connected, and once for a client that never got that far.
	Disconnected
	// Message: Data came on Channel, in the peer's packet number Packet.
	Message
	// Arrived: the packet of ours numbered Packet, one that was composed, was received.
	Arrived
	// Lost: the packet of ours numbered Packet, one that was composed, is taken for
	// lost. Each composed packet gets one verdict, Arrived or Lost, and it is final: should
	// the packet turn up later, it is delivered there, but never reported here.
	Lost
	// Roamed: the peer's address has changed, and the new one has proved itself.
	Roamed
	// BulkBegun: the peer has begun transfer Bulk with Tag, of Size bytes.
	BulkBegun
	// BulkReceived: transfer Bulk of the peer is complete; Data is its own memory,
	// which the receiver may keep.
	BulkReceived
	// BulkSent: transfer Bulk of ours has arrived completely.
	BulkSent
	// BulkCanceled: transfer Bulk was cancelled by the other side. Size tells whose it
	// was: the bytes of the peer's transfer, or zero for one of ours.
	BulkCanceled
	// TicketReceived: the client has a new resumption ticket; see Client.Ticket.
	TicketReceived
)

var eventNames = [...]string{
	"", "connected", "disconnected", "message", "arrived", "lost", "roamed",
	"bulk begun", "bulk received", "bulk sent", "bulk canceled", "ticket received"}

func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return "unknown event"
}

// Event is something that happened on a connection. Events come in the order in
// which they happened. Data is good only as long as Server.Events and Client.Events
// say.
type Event struct {
	Kind    EventKind
	Channel uint8
	Reason  Reason
	Bulk    BulkID
	Packet  PacketNumber
	Tag     uint32
	Size    int
	Conn    *Conn
	Data    []byte
}

// PacketNumber counts the packets that one end has sent over a connection, from one.
type PacketNumber uint32
