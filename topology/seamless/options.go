package seamless

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// A Backing is where a cluster keeps things: what service/cluster opens, or anything that does the
// same.
type Backing interface {
	Map() Map
	Journal() Journal
	Store() Store
}

// Options are for New. Title, Cluster, Link and Keys have no default.
type Options struct {
	// Title is the game, the same on all servers.
	Title *game.Title
	// Cluster is where the world is kept.
	Cluster Backing
	// Link is how servers reach each other, and Address where the others reach this one by it.
	// Default for Address: where the link is.
	Link    link.Link
	Address netip.AddrPort
	// Keys are the cluster's secret, which all servers have: who knows one may join. The first is
	// used; more let it be replaced while the cluster runs.
	Keys []token.Key
	// Name is what people call this server. Default: its address.
	Name string

	// Zones is how many zones this server takes at most. Default: 64. With -1 it takes none, and is
	// there for its players alone.
	Zones int
	// Silence is for how long a server is not heard before its zones are taken over. Default: 1 s.
	Silence time.Duration
	// Resend is after how long what was not answered is said again. Default: 100 ms.
	Resend time.Duration
	// HashEvery and SnapshotEvery are after how many ticks a zone's journal has a hash, and its
	// store a snapshot. Default: 60 and 240.
	HashEvery, SnapshotEvery world.Tick
	// Standby has this server follow the journals of zones that it would be the first to take over,
	// so that they go on sooner. Each tick is then computed by two.
	Standby bool
	// Buddies has two other servers hold in memory what the journals of this server's zones have
	// not acknowledged, so that hand-overs and all else go on while the journals are slow or away.
	// It takes three servers. All servers of a world should be alike in it.
	Buddies bool
	// Forsake is for how long who takes a zone over waits for the servers that hold records of it
	// in memory. If two of the three are gone for longer, what they alone knew is lost. A server
	// that starts at the address of one that was killed is not waited for. Default: 20 times
	// Silence; below zero it is waited for ever.
	Forsake time.Duration
	// Leave is for how long a server that is stopped waits until others have its zones. Default:
	// 3 s.
	Leave time.Duration

	// Bots says for which players this server plays, while their entities are in its zones: for
	// measuring and for tests. Default: none.
	Bots func(world.Player) bool
	// News is told what happens, by the goroutine that runs the server.
	News func(News)
	// Event is told the strict events of the game, each with its number in its zone, when they are
	// durable. After a take-over an event may be told again, under the same number.
	Event func(z zone.ID, number uint64, e world.Emitted, fields []byte)

	// Durable is told up to which tick a zone of this server is durable, by the goroutine that runs
	// the server.
	Durable func(z zone.ID, epoch uint64, until world.Tick)

	// Gate, if it is not nil, makes the member a gateway's: see Member.Gate.
	Gate *GateOptions

	// Born is when the clock of whoever drives the member is at zero. Default: now; in a simulation
	// when the world began.
	Born time.Time
	// Simulated says that time is simulated: how long it takes until it is known what came of an
	// operation on the cluster, which is done at once; below zero, that the cluster cannot be
	// reached. Default: nil, and operations are done beside the loop.
	Simulated func() time.Duration

	// Seed is 32 bytes of good randomness, fresh for each server. Zero means drawn.
	Seed [32]byte
	// Self is the server's number, another one after each start. 0 means drawn.
	Self zone.ServerID

	before  []zone.ServerID // that have ended
	virtual bool            // time is virtual, and how long things take says nothing
}

// News is something that happened to a zone; see zone.Notice.
type News struct {
	Kind zone.NoticeKind
	Zone zone.ID
	Tick world.Tick
	Err  error
}

func (o *Options) fill() error {
	switch {
	case o.Title == nil:
		return errors.New("seamless: nothing to play, set Options.Title")
	case o.Cluster == nil:
		return errors.New("seamless: nowhere to keep the world, set Options.Cluster")
	case o.Link == nil:
		return errors.New("seamless: no link to other servers, set Options.Link")
	case len(o.Keys) == 0:
		return errors.New("seamless: no key by which servers know each other; give all of them " +
			"the same Options.Keys")
	}
	if !o.Address.IsValid() {
		o.Address = o.Link.LocalAddr()
	}
	if !o.Address.IsValid() || o.Address.Addr().IsUnspecified() {
		return fmt.Errorf("seamless: other servers cannot reach this one at %v, set "+
			"Options.Address", o.Address)
	}
	if o.Born.IsZero() && o.Simulated == nil {
		o.Born = time.Now()
	}
	o.Name = cmp.Or(o.Name, o.Address.String())
	o.Zones = cmp.Or(o.Zones, 64)
	o.Silence = cmp.Or(o.Silence, time.Second)
	o.Resend = cmp.Or(o.Resend, 100*time.Millisecond)
	o.HashEvery = cmp.Or(o.HashEvery, 60)
	o.SnapshotEvery = cmp.Or(o.SnapshotEvery, 240)
	o.Leave = cmp.Or(o.Leave, 3*time.Second)
	if o.Seed == [32]byte{} {
		if _, err := rand.Read(o.Seed[:]); err != nil {
			return fmt.Errorf("seamless: %w", err)
		}
	}
	for o.Self == 0 {
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			return fmt.Errorf("seamless: %w", err)
		}
		o.Self = zone.ServerID(binary.BigEndian.Uint64(b[:]))
	}
	return nil
}
