package crimp

import (
	"errors"
	"time"
)

// What Diagnose finds.
var (
	// ErrOtherGroup says that strangers use the same address.
	ErrOtherGroup = errors.New(
		"crimp: another group sends to this multicast address and port: choose another for one " +
			"of the two")
	// ErrWrongKey says that packets of this group do not open.
	ErrWrongKey = errors.New(
		"crimp: packets of this group come that were damaged, or sealed with another key: check " +
			"that all members joined the same group")
	// ErrUnproven says that packets pass themselves off as others'.
	ErrUnproven = errors.New(
		"crimp: a member sends packets in the name of another: change the group's members and keys")
	// ErrDeaf says that nothing comes from anybody.
	ErrDeaf = errors.New(
		"crimp: members are known, but none is heard: multicast does not get through; check the " +
			"interface, TTL, firewall and switches, or use a unicast mesh")
	// ErrClash says that another machine has this member's identity.
	ErrClash = errors.New("crimp: another machine uses this member's identity: give each its own")
)

// Diagnose says what is most likely wrong with the group, and what to do, or nil if
// nothing stands out. It looks at the counts since the start, and is meant for people.
func (g *Group) Diagnose() error {
	s := &g.stats
	switch {
	case g.self == nil:
		return nil
	case s.Clashes > 0:
		return ErrClash
	case s.Unproven > 0:
		return ErrUnproven
	case g.deaf():
		if s.OtherGroup > 0 {
			return ErrOtherGroup
		}
		return ErrDeaf
	case s.Forged > 10 && s.Forged > s.Delivered/10:
		return ErrWrongKey
	case s.OtherGroup > 10 && s.OtherGroup > s.Delivered/10:
		return ErrOtherGroup
	}
	return nil
}

// deafAfter is how long nobody may be heard before something is wrong.
const deafAfter = 2 * time.Second

func (g *Group) deaf() bool {
	heard, others := false, false
	for _, p := range g.peers {
		if p.present {
			others = true
			heard = heard || g.now-p.heard < deafAfter
		}
	}
	return others && !heard
}
