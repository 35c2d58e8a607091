package reckon

import (
	"errors"
	"strconv"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/world"
)

// Contract is what a sender promises about a class: that what a receiver reckons is never further
// from the truth than this without an update being due. It never changes once made.
type Contract struct {
	checks    []check
	fields    int
	heartbeat world.Tick
	release   Ratio
}

// Terms are what a contract says. Fields of kind codec.Discrete that no tolerance names must be
// equal; other fields that none names do not count.
type Terms struct {
	Tolerances []Tolerance

	// Heartbeat is how many ticks after the last update one is due although nothing was wrong with
	// it, so that a receiver can tell a quiet thing from a lost sender. Zero means never, which is
	// right where a connection says as much.
	Heartbeat world.Tick

	// Release is the part of the tolerances that an error must come down to before an update, once
	// due, is due no longer. It keeps an error near the bound from switching to and fro. From 0 to
	// 1; the zero value means a half.
	Release Ratio
}

// Tolerance is how far off some fields may be.
type Tolerance struct {
	Fields []string // one field; or two or three, of the same unit, that are a point
	Within int32    // the largest error, or distance between points, that needs no update
}

// Watch is what a sender keeps for each entity, and for each receiver if they get different
// updates. The zero value is for one that nothing was sent about.
type Watch struct {
	// Slack multiplies the tolerances for this receiver, such as by the distance from which it
	// looks. The zero value means 1.
	Slack Ratio

	sent world.Tick
	any  bool
	late bool // an error went beyond its bound, and has not come down to the release since
}

// Reason is why an update is due.
type Reason uint8

const (
	Kept      Reason = iota // none is: what the receiver reckons is good enough
	Unsent                  // nothing was sent yet
	Drifted                 // the error is beyond its tolerance, or was and is not yet released
	Heartbeat               // the last update is long ago
)

func (r Reason) String() string {
	names := [...]string{"kept", "unsent", "drifted", "heartbeat"}
	if int(r) < len(names) {
		return names[r]
	}
	return "reason " + strconv.Itoa(int(r))
}

// check is a Tolerance with its fields found. span is zero for those that do not wrap.
type check struct {
	slots  [3]int
	spans  [3]int64
	n      int
	within int64
}

// maxDistance keeps squares of distances within 64 bits.
const maxDistance = 1 << 30

// NewContract makes a contract for a class with the given fields.
func NewContract(fields []codec.Field, t Terms) (*Contract, error) {
	c := &Contract{fields: len(fields), heartbeat: t.Heartbeat, release: t.Release}
	if c.release == (Ratio{}) {
		c.release = Ratio{1, 2}
	}
	num, den, err := c.release.terms()
	if err != nil || num < 0 || num > den {
		return nil, errors.New(
			"reckon: the release of a contract must be from 0 to 1, such as Ratio{1, 2}")
	}
	c.release = Ratio{int32(num), int32(den)}
	named := make([]bool, len(fields))
	for _, tol := range t.Tolerances {
		k := check{n: len(tol.Fields), within: int64(tol.Within)}
		if k.n < 1 || k.n > len(k.slots) {
			return nil, errors.New("reckon: a tolerance for " + strconv.Itoa(k.n) +
				" fields; name one, or the two or three of a point")
		}
		if tol.Within < 0 || tol.Within >= maxDistance {
			return nil, errors.New("reckon: a tolerance of " + strconv.Itoa(int(tol.Within)) +
				" for " + tol.Fields[0] + "; use 0 to 2^30-1")
		}
		for i, name := range tol.Fields {
			slot, err := find(fields, name)
			if err != nil {
				return nil, errors.New("reckon: tolerance: " + err.Error())
			}
			named[slot] = true
			k.slots[i] = slot
			if f := &fields[slot]; f.Kind == codec.Angle {
				k.spans[i] = int64(f.Max) - int64(f.Min) + 1
			}
		}
		c.checks = append(c.checks, k)
	}
	for i := range fields {
		if fields[i].Kind == codec.Discrete && !named[i] {
			c.checks = append(c.checks, check{slots: [3]int{i}, n: 1})
		}
	}
	return c, nil
}

// Check says whether an update is due at a tick, where truth is the image and reckoned is what the
// receiver makes of what it has. Call Sent if one then goes out. Where updates can be lost, reckon
// from what was acknowledged: it stays due until one has arrived.
func (c *Contract) Check(w *Watch, tick world.Tick, truth, reckoned []int32) Reason {
	bound := Ratio{1, 1}
	if w.late {
		bound = c.release
	}
	w.late = c.beyond(w.Slack, bound, truth, reckoned)
	switch {
	case !w.any:
		return Unsent
	case w.late:
		return Drifted
	case c.heartbeat > 0 && tick > w.sent && tick-w.sent >= c.heartbeat:
		return Heartbeat
	}
	return Kept
}

// Sent notes that an update went out at a tick.
func (w *Watch) Sent(tick world.Tick) { w.sent, w.any = tick, true }

// beyond says whether any error is more than a part of its tolerance. Images of another length are
// not what was promised either.
func (c *Contract) beyond(slack, part Ratio, truth, reckoned []int32) bool {
	if len(truth) != c.fields || len(reckoned) != c.fields {
		return true
	}
	num, den, err := slack.terms()
	if err != nil || num <= 0 {
		num, den = 1, 1
	}
	for i := range c.checks {
		k := &c.checks[i]
		limit := min(k.within*num/den, maxDistance-1) * int64(part.Num) / int64(part.Den)
		var square int64
		for j, slot := range k.slots[:k.n] {
			d := int64(truth[slot]) - int64(reckoned[slot])
			if k.spans[j] > 0 {
				d = shortWay(d, k.spans[j])
			}
			d = min(max(d, -maxDistance), maxDistance)
			square += d * d
		}
		if square > limit*limit {
			return true
		}
	}
	return false
}
