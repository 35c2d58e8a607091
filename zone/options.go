package zone

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Options are for New. Self and Body have no default.
type Options struct {
	Self ServerID
	// Body makes an empty body for a zone, into which a snapshot is loaded.
	Body func(ID) Body
	// Length is that of a tick. Default: a 60th of a second.
	Length time.Duration
	// Zero is when tick 0 was due, by the clock that Tick and the others are given. It may be
	// negative, and off by what clocks are off: the server follows those who are ahead.
	Zero time.Duration
	// Silence is for how long an owner is not heard, neither in the map nor directly, before its
	// zones are taken over. Default: 1 s.
	Silence time.Duration
	// Resend is after how long what was not answered is said again. Default: 100 ms.
	Resend time.Duration
	// HashEvery and SnapshotEvery are how many ticks apart hashes and snapshots of a zone are.
	// Default: 60 and 240.
	HashEvery, SnapshotEvery Tick
	// Tries is how often a zone may be begun within 300 ticks, by whichever servers, before it is
	// halted, at least 4. Default: 8.
	Tries int
	// Zones is how many this server takes at most. Default: 64. With -1 it takes none.
	Zones int
	// Standby has this server follow the journals of zones that it would be the first to take over,
	// so that they go on sooner. Each record is then read and computed by two.
	Standby bool
	// Buddies has two other servers hold in memory what the journals of this one's zones have not
	// acknowledged yet, so that effects leave while the journal is slow or away. It takes three
	// servers.
	Buddies bool
	// Forsake is for how long who takes a zone over waits for those that hold records of it. When
	// two of the three are not heard for that long, it goes on with what the journal has, and what
	// they alone knew is lost. Default: 20 times Silence. Below zero it waits for ever.
	Forsake time.Duration
	// Before lists servers that are known to have ended, such as those whose address this one has
	// now. What they held is not waited for, by any server.
	Before []ServerID
	// Ticks is how many ticks of a zone are computed at most in one call, when it is behind.
	// Default: 8.
	Ticks int
}

func (o *Options) complete() error {
	o.Length = cmp.Or(o.Length, time.Second/60)
	o.Silence = cmp.Or(o.Silence, time.Second)
	o.Resend = cmp.Or(o.Resend, 100*time.Millisecond)
	o.HashEvery = cmp.Or(o.HashEvery, 60)
	o.SnapshotEvery = cmp.Or(o.SnapshotEvery, 240)
	o.Tries = cmp.Or(o.Tries, 8)
	o.Forsake = cmp.Or(o.Forsake, 20*o.Silence)
	o.Before = o.Before[max(0, len(o.Before)-maxBefore):]
	o.Zones = cmp.Or(o.Zones, 64)
	o.Ticks = cmp.Or(o.Ticks, 8)
	switch {
	case o.Self == 0 || o.Body == nil:
		return errors.New("zone: a server needs a number other than zero, and a Body")
	case o.Length <= 0 || o.Silence <= 0 || o.Resend <= 0:
		return errors.New("zone: length, silence and resend must be above zero")
	case o.Tries < 4 || o.Ticks < 1 || o.Zones < -1:
		return fmt.Errorf("zone: %d tries, %d ticks, %d zones; give at least 4, 1 and -1",
			o.Tries, o.Ticks, o.Zones)
	}
	return nil
}
