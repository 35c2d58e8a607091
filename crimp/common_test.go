package crimp

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
)

func testSeed(a, b uint64) (s [32]byte) {
	binary.BigEndian.PutUint64(s[:], a+1)
	binary.BigEndian.PutUint64(s[8:], b+1)
	return sha256.Sum256(s[:16])
}

func testIdentity(a, b uint64) *Identity {
	id, err := NewIdentity(testSeed(a, b))
	if err != nil {
		panic(err)
	}
	return id
}

// seeds is how many seeds a test runs: few, or many in a soak, and as many times as COEVAL_SEEDS
// has thousands.
func seeds(few, many int) int {
	if os.Getenv("COEVAL_SOAK") != "" {
		few = many
	}
	if more, err := strconv.Atoi(os.Getenv("COEVAL_SEEDS")); err == nil && more > 1000 {
		return max(few, many*more/1000)
	}
	return few
}

func dsl(loss float64) netsim.Conditions {
	p := netsim.Profile{Latency: 25 * time.Millisecond, Loss: loss}
	return netsim.Conditions{Up: p, Down: p}
}

var testGroupAddr = netip.MustParseAddrPort("239.7.7.7:7000")

type name struct {
	member member.ID
	seq    Sequence
}

// written is a message as it goes out.
func written(m interface{ Fields(*bits.Cursor) }) []byte {
	c := bits.CursorTo(nil)
	m.Fields(&c)
	return c.Data()
}

// What the tests of package crimp_test see of a machine's inside.

var (
	TestSeed      = testSeed
	TestIdentity  = testIdentity
	TestGroupAddr = testGroupAddr
	TestSeeds     = seeds
	TestPath      = dsl
)

func (g *Group) Sound() error { return g.sound() }

// Insists says what a machine wants to be called for again and again, although nothing comes of it.
func (g *Group) Insists() string {
	if g.self == nil || len(g.ready) > 0 || g.Deadline() > g.now || g.turnAt <= g.now {
		return ""
	}
	return g.due()
}

func (g *Group) ForwardMode() ForwardMode { return g.forward.mode }

// AskForEverything asks all for the last packets of all.
func (g *Group) AskForEverything() {
	if g.self == nil {
		return
	}
	c := &controlBody{}
	for _, p := range g.peers {
		first := Sequence(1)
		if p.next > 32 {
			first = p.next - 32
		}
		c.requests = append(c.requests, request{p.id, first, 63, 9})
	}
	g.sealControl(c, toAll)
}
