package zone

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Keys of the map and of the store begin with these.
const (
	ZonePrefix   = "zone."
	ServerPrefix = "server."
	imagePrefix  = "snapshot."
)

// ZoneKey is where the map has a zone's Assignment.
func ZoneKey(id ID) string { return ZonePrefix + strconv.FormatUint(uint64(id), 10) }

func serverKey(id ServerID) string { return fmt.Sprintf("%s%016x", ServerPrefix, uint64(id)) }

func imagesOf(id ID) string { return fmt.Sprintf("%s%08x.", imagePrefix, uint32(id)) }

// imageKey sorts snapshots of a zone by tick, and tells those of different epochs apart.
func imageKey(id ID, tick Tick, epoch uint64) string {
	return fmt.Sprintf("%s%016x.%x", imagesOf(id), uint64(tick), epoch)
}

func imageTick(id ID, key string) (Tick, bool) {
	rest, ok := strings.CutPrefix(key, imagesOf(id))
	if !ok || len(rest) < 18 || rest[16] != '.' {
		return 0, false
	}
	t, err := strconv.ParseUint(rest[:16], 16, 64)
	return Tick(t), err == nil
}

func zoneOfKey(key string) (ID, bool) {
	rest, ok := strings.CutPrefix(key, ZonePrefix)
	n, err := strconv.ParseUint(rest, 10, 32)
	return ID(n), ok && err == nil && n != 0 && ZoneKey(ID(n)) == key
}

func serverOfKey(key string) (ServerID, bool) {
	rest, ok := strings.CutPrefix(key, ServerPrefix)
	b, err := hex.DecodeString(rest)
	if !ok || err != nil || len(b) != 8 {
		return 0, false
	}
	r := reader{b: b}
	id := ServerID(r.fixed())
	return id, id != 0
}

// An Assignment is what the map has of a zone.
type Assignment struct {
	// Epoch grows with each owner. Owner is zero if nobody owns the zone.
	Epoch uint64
	Owner ServerID
	// Tries is how many times the zone was taken over, or begun again, since it stood at a tick,
	// without having got far beyond it.
	Tries int
	At    Tick
	// Halted says that the zone is not to be stepped by anyone, until somebody sets it to false.
	Halted bool
	// Holders are three servers, the owner first, that hold records of the zone which the journal
	// may not have. Whoever takes the zone over asks two of them first. Zeros are for none.
	Holders [holders]ServerID
}

// holders is how many servers hold a record that is durable before the journal has it: the owner
// and its buddies. Two of them are enough, so that any two of them know of all such records.
const holders = 3

// Flags of an Assignment.
const (
	entryHalted = 1 << iota
	entryHeld   // Holders follow
	entryFlags  = iota
)

// Append writes an assignment as it stands in the map.
func (a *Assignment) Append(b []byte) []byte {
	var flags byte
	if a.Halted {
		flags |= entryHalted
	}
	if a.Holders != [holders]ServerID{} {
		flags |= entryHeld
	}
	b = append(b, wireVersion, flags)
	b = appendUint(b, a.Epoch)
	b = appendUint(b, uint64(a.Owner))
	b = appendUint(b, uint64(a.Tries))
	b = appendUint(b, uint64(a.At))
	for i := range a.Holders {
		if flags&entryHeld != 0 {
			b = appendUint(b, uint64(a.Holders[i]))
		}
	}
	return b
}

// ReadAssignment reads what Append wrote.
func ReadAssignment(b []byte) (Assignment, error) {
	r := reader{b: b}
	version, flags := r.byte(), r.byte()
	a := Assignment{Epoch: r.uint(), Owner: ServerID(r.uint())}
	tries := r.uint()
	a.Tries, a.At, a.Halted = int(min(tries, 1<<20)), Tick(r.uint()), flags&entryHalted != 0
	for i := range a.Holders {
		if flags&entryHeld != 0 {
			if a.Holders[i] = ServerID(r.uint()); a.Holders[i] == 0 {
				r.fail()
			}
		}
	}
	if !r.done() || version != wireVersion || flags>>entryFlags > 0 || tries > 1<<20 {
		return Assignment{}, errDamaged
	}
	return a, nil
}

// presence is what the map has of a server: it counts up while the server is there.
type presence struct {
	beats  uint64
	zones  int
	before []ServerID // servers that are known to have ended
}

func (p *presence) append(b []byte) []byte {
	b = append(b, wireVersion)
	b = appendUint(b, p.beats)
	b = appendUint(b, uint64(p.zones))
	for _, id := range p.before {
		b = appendUint(b, uint64(id))
	}
	return b
}

func readPresence(b []byte) (presence, bool) {
	r := reader{b: b}
	version := r.byte()
	p := presence{beats: r.uint()}
	zones := r.uint()
	p.zones = int(min(zones, 1<<20))
	for len(r.b) > 0 && len(p.before) < maxBefore {
		p.before = append(p.before, ServerID(r.uint()))
	}
	return p, r.done() && version == wireVersion && zones <= 1<<20
}
