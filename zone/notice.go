package zone

// NoticeKind says what a Notice is about.
type NoticeKind uint8

// What a server has to tell.
const (
	// Owned says that this server steps the zone from now on, from Tick on, in Epoch. What clients
	// were told of later ticks by the owner before is taken back.
	Owned NoticeKind = iota + 1
	// Deposed says that the zone has another owner, or none. What was computed of it after Tick
	// never happened.
	Deposed
	// Durable says that the journal has all of the zone up to Tick.
	Durable
	// Event is one that the body put out, with its number. It is durable. It may be told again
	// after a take-over, under the same number.
	Event
	// Failed says that the body failed at Tick, with Err. The zone is begun again.
	Failed
	// Halted says that nobody steps the zone any more until its Assignment is changed, with Err.
	Halted
	// Dropped says that commands for Tick were dropped, as the tick failed with them.
	Dropped
	// SetAside says that an item from Peer's stream was set aside at Tick: see Server.Aside.
	SetAside
	// Gone says that the action with that Number in Peer's stream was on an Entity that is
	// nowhere any more.
	Gone
	// JournalGone says that the records of the zone are not there any more. It goes on, with a new
	// snapshot as soon as there can be one.
	JournalGone
	// Forsaken says that a zone was taken over without hearing two of the three servers that hold
	// records of it. What they alone knew is lost, if there was anything.
	Forsaken
	// Unfounded says that there is no snapshot of a zone that is on the map.
	Unfounded
)

// A Notice is what a server tells whoever drives it.
type Notice struct {
	Kind   NoticeKind
	Zone   ID
	Tick   Tick
	Epoch  uint64
	Peer   ID
	Number uint64
	Entity uint64
	Data   []byte // of an Event; good until the next call of the server
	Err    error
}

// Stats count what a server has met.
type Stats struct {
	Ticks      uint64 // computed
	Replayed   uint64 // computed again from journals
	Appends    uint64 // records that were acknowledged
	Recorded   uint64 // their bytes
	Refused    uint64 // appends that were refused although right
	Doubts     uint64 // operations of which it was not known whether they were done
	HandOvers  uint64 // taken in
	Actions    uint64 // of other zones, taken in
	Forwarded  uint64 // of these, passed on
	Waited     uint64 // of these, for an entity that was still on its way
	Gone       uint64 // of these, on what is nowhere any more
	SetAside   uint64 // items
	Events     uint64
	Resent     uint64 // times that items were sent again
	Duplicates uint64 // items that came again
	Overtaken  uint64 // items that came before others that were sent first
	Ghosts     uint64 // shown to others
	Unfit      uint64 // ghosts that could not be used
	TooMuch    uint64 // that the body showed more than may be
	Malformed  uint64 // messages that are none
	Clocks     uint64 // times that another server's clock was further ahead than is believed
	Panics     uint64
	Halted     uint64
	Standstill uint64 // times that a tick was not computed as too much was not durable
	// Late counts hand-overs by how many ticks they missed; the last is for more than MaxMissed.
	Late [MaxMissed + 2]uint64
	OwnerStats
	BuddyStats
}

// OwnerStats count how zones came to a server, and went.
type OwnerStats struct {
	Claims    uint64 // of zones
	Lost      uint64 // of these, to another
	TakenOver uint64 // of these, that led to owning the zone
	Warm      uint64 // of these, whose journals had been followed
	Fenced    uint64 // zones that were lost to another owner
}

// BuddyStats count what has to do with records that servers hold in memory.
type BuddyStats struct {
	Ahead    uint64 // records whose effects left before the journal had them
	Named    uint64 // times that the map was told who the buddies of a zone are
	Helped   uint64 // records of another server that this one appended
	Forsaken uint64 // times that those who hold records were not waited for any more
}
