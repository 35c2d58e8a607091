package zone

import "time"

// ID is the number of a zone. It is never zero, and never used again for another zone.
type ID uint32

// Tick is the number of a simulation step, the same in all zones.
type Tick uint64

// ServerID is the number of a server. A server that starts again takes another one, so that what
// it said before is never taken for what it says now. It is never zero.
type ServerID uint64

// Limits that nothing exceeds, whoever sends it.
const (
	// MaxItem is the largest entity, action, command or event, in bytes.
	MaxItem = 48 << 10
	// MaxShow is the most that one zone can show another of a tick, in bytes.
	MaxShow = 32 << 10
	// MaxMessage is the largest message between servers.
	MaxMessage = 64 << 10
	// MaxRecord is the largest record of a journal.
	MaxRecord = 1000 << 10
	// MaxMissed is for how many ticks an arrival is stepped alone; those beyond are not executed.
	MaxMissed = 8
	// MaxPeers is with how many other zones one zone can have to do.
	MaxPeers = 256
)

const (
	maxFrames    = 1024      // ticks of one record
	maxBuild     = 256 << 10 // a record takes no further tick when it has come to that
	maxCommands  = 1024      // that wait for a tick
	maxTaken     = 512       // items that a tick takes from all peers
	maxTakenLen  = 128 << 10 // their bytes, if there are several
	maxGhosts    = 96 << 10  // bytes of what other zones show that a tick takes
	maxInput     = 64 << 10  // bytes of commands
	maxOutput    = 128 << 10 // bytes that a tick may put out
	maxOut       = 1024      // items that a tick may put out
	maxEvents    = 1024      // events of a tick
	maxOutbox    = 1 << 14   // items for a peer that are not taken yet; then it is closed
	maxOutboxLen = 4 << 20   // their bytes
	maxOutboxAll = 32 << 20  // bytes for all peers of a zone
	maxInbox     = 1024      // items of a peer that wait for a tick
	maxInboxLen  = 1 << 20   // their bytes, if there are several
	maxHeld      = 16 << 20  // bytes of a zone's records that a buddy holds
	maxHeldAll   = 256 << 20 // bytes of all records that a server holds for others
	maxChunk     = 24 << 10  // bytes of a record in one message
	maxBefore    = 16        // servers of which a presence says that they have ended
	maxServers   = 4096
	maxRoutes    = 1 << 16
	maxMoved     = 1 << 16 // entities of which a zone knows where they went
	maxAside     = 64      // items that a zone has set aside
	maxClosed    = MaxPeers
	maxAhead     = 10 * time.Second // by which another server's clock is believed to be ahead
)

// never is a time that does not come.
const never = time.Duration(1<<63 - 1)
