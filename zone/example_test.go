package zone_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/zone"
	"github.com/coeval-dev/coeval/zone/zonetest"
)

// Two zones on two servers hand tokens to each other for five seconds, in virtual time. One of the
// servers dies in the middle of it.
func Example() {
	s := zonetest.New(zonetest.Options{Seed: 1, Servers: 2, Zones: 2, Tokens: 10,
		MovePer: 30, ActPer: 30, For: 5 * time.Second, CrashAt: 1000})
	r := s.Run()
	fmt.Println("crashes:", r.Crashes, "faults found in the journals:", len(r.Audit.Faults))
	fmt.Println("entities lost:", r.Audit.LostEntities, "doubled:", r.Audit.DoubledEntities)
	fmt.Println("all hand-overs were taken in:", r.Audit.HandOvers > 50)
	// Output:
	// crashes: 1 faults found in the journals: 0
	// entities lost: 0 doubled: 0
	// all hand-overs were taken in: true
}

// counter is a body that counts its commands.
type counter struct{ n byte }

func (c *counter) Step(in *zone.Input, _ *zone.Output)               { c.n += byte(len(in.Commands)) }
func (c *counter) Has(uint64) bool                                   { return false }
func (c *counter) Observe(_ zone.ID, _ zone.Tick, dst []byte) []byte { return dst }
func (c *counter) Hash() uint64                                      { return uint64(c.n) }
func (c *counter) Save(dst []byte) []byte                            { return append(dst, c.n) }
func (c *counter) Load(data []byte) error                            { c.n = data[0]; return nil }

// A zone begins with a snapshot in the store and an entry in the map.
func ExampleFound() {
	key, data := zone.Found(7, 0, new(counter))
	var nobody zone.Assignment
	fmt.Println(key, len(data), "bytes")
	fmt.Println(zone.ZoneKey(7), len(nobody.Append(nil)), "bytes")
	// Output:
	// snapshot.00000007.0000000000000000.0 29 bytes
	// zone.7 6 bytes
}
