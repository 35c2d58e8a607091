//go:build !js

package mirrors

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/membership"
)

// This file is what a witness must not forget, so that it counts among those who come back after
// most have died: a mirror and the witness that remembers are enough then, as they are in play.

// vows are what a witness remembers of its group. A nil one remembers nothing.
type vows struct {
	disk    disk
	memory  membership.Memory   // as the disk was given it last
	revival *membership.Revival // nil before it was in a group for the first time
	options membership.Options  // of the witness
	asked   uint64              // what is to be remembered, as it was numbered
	known   uint64              // what the disk has, as was passed on
	waits   string              // for whom it waits, as was said last
}

// A disk is the part of a mirror.Keeper that a witness needs.
type disk interface {
	Memory() []byte
	Remember(memory []byte) uint64
	Remembered() uint64
}

// newVows finds what a witness remembers.
func newVows(d disk, o *membership.Options) (*vows, error) {
	v := &vows{disk: d, options: *o}
	b := d.Memory()
	if b == nil {
		var mark [8]byte
		_, _ = rand.Read(mark[:]) // it never fails
		v.memory.Mark = binary.BigEndian.Uint64(mark[:]) | 1
		return v, nil
	}
	m, err := membership.ReadMemory(b)
	if err != nil {
		return nil, fmt.Errorf("%w: put a copy of the folder in its place, or name another folder "+
			"to join as a newcomer", err)
	}
	v.memory = *m
	v.revive()
	return v, nil
}

// revive makes what finds the others that come back.
func (v *vows) revive() {
	o := membership.RevivalOptions{Memory: v.memory, Addr: v.options.Card.Addr,
		Doors: v.options.Ask, Keys: v.options.Keys}
	_, _ = rand.Read(o.Seed[:]) // it never fails
	o.Remember = func(m *membership.Memory) uint64 {
		v.memory = *m
		return v.disk.Remember(m.Append(nil))
	}
	v.revival = membership.NewRevival(o)
}

// remember has the disk take what must not be forgotten as a member.
func (v *vows) remember(m *membership.Memory) uint64 {
	m.Mark = v.memory.Mark
	v.memory = *m
	if v.revival == nil {
		v.revive()
	}
	v.revival.Live(m)
	v.asked = v.disk.Remember(m.Append(nil))
	return v.asked
}

// whom lists whom to ask, with those that were met.
func (v *vows) whom(ask []netip.AddrPort) []netip.AddrPort {
	if v == nil || v.revival == nil {
		return ask
	}
	for _, a := range v.revival.Doors() {
		if !slices.Contains(ask, a) {
			ask = append(ask, a)
		}
	}
	return ask
}

// hear takes what is for the revival out of a batch.
func (v *vows) hear(now time.Duration, batch []link.Datagram) []link.Datagram {
	return slices.DeleteFunc(batch, func(d link.Datagram) bool {
		if !membership.Ours(d.Data) {
			return false
		}
		if v != nil && v.revival != nil {
			v.revival.Receive(now, d.Addr, d.Data)
		}
		return true
	})
}

// remembers passes on what the disk has, and does what is due for a witness that comes back. It
// reports whether the witness is to leave its group, as those who came back need it.
func (v *vows) remembers(now time.Duration, g *membership.Membership, in bool) (needed bool) {
	if v == nil {
		return false
	}
	if n := v.disk.Remembered(); n != v.known {
		v.known = n
		g.Remembered(n)
		if v.revival != nil {
			v.revival.Remembered(n)
		}
	}
	switch {
	case v.revival == nil:
	case in:
		v.revival.Touch(g.Quorum())
		return v.known >= v.asked && v.revival.Needed(now, g.Near)
	default:
		v.revival.Tick(now)
	}
	return false
}

// unknown is where the group begins again, if that is not among those who are asked.
func (v *vows) unknown(asked []netip.AddrPort) bool {
	if v == nil || v.revival == nil {
		return false
	}
	f, ok := v.revival.Decided()
	return ok && f.Addr.IsValid() && !slices.Contains(asked, f.Addr)
}

// flush appends what is to be sent.
func (v *vows) flush(out []link.Datagram) []link.Datagram {
	if v == nil || v.revival == nil {
		return out
	}
	return v.revival.Flush(out)
}

// returns tells that the witness is out of its group.
func (v *vows) returns() {
	if v != nil && v.revival != nil {
		v.revival.Returns(false, 0, 0)
	}
}

// news is for whom the witness waits, if that is another than it was. At first nobody is there.
func (v *vows) news(now time.Duration, in bool) (text string, is bool) {
	if v == nil || v.revival == nil || in || now < 2*time.Second {
		return "", false
	}
	if text = v.revival.Waits(); text == v.waits {
		return "", false
	}
	v.waits = text
	return text, true
}
