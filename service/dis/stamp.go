package dis

import (
	"fmt"
	"time"
)

// Stamp is the time stamp of a PDU: how far past the hour it is, in units of 3600 s / 2^31, above a
// bit that says whether that is an hour of a clock that all share (absolute) or of the sender's own
// (relative). It says nothing of which hour.
type Stamp uint32

// unitsAnHour is how many units of a stamp an hour has.
const unitsAnHour = 1 << 31

// An hour in nanoseconds and in units, both divided by 1024 so that products fit into 64 bits.
const (
	hourPart  = uint64(time.Hour) >> 10
	unitsPart = unitsAnHour >> 10
)

// Absolute is the stamp of a moment, for simulators whose clocks agree.
func Absolute(t time.Time) Stamp { return past(sinceHour(t))<<1 | 1 }

// Relative is the stamp for a sender whose clock agrees with nobody's: since is how long it has
// been running.
func Relative(since time.Duration) Stamp {
	since %= time.Hour
	if since < 0 {
		since += time.Hour
	}
	return past(since) << 1
}

func sinceHour(t time.Time) time.Duration {
	t = t.UTC()
	return t.Sub(t.Truncate(time.Hour))
}

// past is a time below an hour in units, rounded to the nearest.
func past(d time.Duration) Stamp {
	return Stamp((uint64(d)*unitsPart + hourPart/2) / hourPart % unitsAnHour)
}

// IsAbsolute says whether the hour is one that all share.
func (s Stamp) IsAbsolute() bool { return s&1 != 0 }

// Past is how long after the full hour it is.
func (s Stamp) Past() time.Duration {
	return time.Duration((uint64(s>>1)*hourPart + unitsPart/2) / unitsPart)
}

// Since is by how much s is later than an earlier stamp of the same clock, from -30 min up to but
// not including 30 min, since it could be of another hour.
func (s Stamp) Since(earlier Stamp) time.Duration {
	units := int64(s>>1) - int64(earlier>>1)
	switch {
	case units >= unitsAnHour/2:
		units -= unitsAnHour
	case units < -unitsAnHour/2:
		units += unitsAnHour
	}
	return time.Duration(units * int64(hourPart) / unitsPart)
}

func (s Stamp) String() string {
	d, kind := s.Past(), "relative"
	if s.IsAbsolute() {
		kind = "absolute"
	}
	return fmt.Sprintf("%02d:%09.6f %s", int(d.Minutes()), (d % time.Minute).Seconds(), kind)
}

// Clock is a moment as Start and Stop PDUs tell it: hours since 1970 in UTC, and a stamp.
type Clock struct {
	Hours int32
	Stamp Stamp
}

// ClockAt is a moment as a Clock.
func ClockAt(t time.Time) Clock {
	s := Absolute(t)
	hours := t.Unix() / 3600
	if t.Unix()%3600 < 0 {
		hours--
	}
	if s>>1 == 0 && sinceHour(t) > time.Minute {
		hours++ // the stamp was rounded up to the next hour
	}
	return Clock{int32(hours), s}
}

// Time is the moment.
func (c Clock) Time() time.Time {
	return time.Unix(int64(c.Hours)*3600, 0).UTC().Add(c.Stamp.Past())
}
