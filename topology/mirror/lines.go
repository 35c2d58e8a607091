package mirror

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/route"
)

// This file says how the other mirrors are reached: directly, over others, or not at all.

// Lines tells how each other mirror of the group is reached, witnesses included.
func (m *Mirror) Lines() []route.Line { return m.group.node.Group().Lines() }

// Absent lists the mirrors of the group that this one is not in touch with: they were not heard of
// late, or have not heard it. Where it is not in touch with most, it has stopped: Suspended.
func (m *Mirror) Absent() []member.ID { return m.group.council.Absent() }

// Multicast counts what package crimp has met, what this mirror has carried for others included.
func (m *Mirror) Multicast() crimp.Stats { return m.group.node.Group().Stats() }

// Casts lists the mirrors that are sent to by multicast: those that hear this one's.
func (m *Mirror) Casts() []member.ID { return m.group.node.Group().Casts() }

// outOfTouch says with whom this mirror is not in touch, for people.
func (m *Mirror) outOfTouch() string {
	var list []string
	for _, id := range m.Absent() {
		list = append(list, fmt.Sprint(id))
	}
	if len(list) == 0 {
		return ""
	}
	return "not in touch with " + strings.Join(list, ", ")
}

// lookEvery is how often lines are looked at, to tell how they are.
const lookEvery = 100 * time.Millisecond

// watchLines tells when a mirror is reached otherwise than before.
func (m *Mirror) watchLines() {
	g := &m.group
	if m.clock.steady-g.looked < lookEvery {
		return
	}
	g.looked = m.clock.steady
	m.watchCasts()
	if g.ways == nil {
		g.ways = map[member.ID]member.ID{}
	}
	lines := g.node.Group().Lines()
	for _, l := range lines {
		was, known := g.ways[l.Member]
		if g.ways[l.Member] = l.Via; was == l.Via && known || !known && l.Via == l.Member {
			continue
		}
		n := News{Kind: LineDown, Mirror: l.Member, Text: "it is not reached"}
		switch l.Via {
		case 0:
		case l.Member:
			n.Kind, n.Text = LineUp, ""
		default:
			n.Via, n.Text = l.Via, fmt.Sprintf("it is reached over mirror %d", l.Via)
		}
		m.tell(n)
	}
	if len(lines) == len(g.ways) {
		return
	}
	now := map[member.ID]member.ID{}
	for _, l := range lines {
		now[l.Member] = l.Via
	}
	g.ways = now
}

// watchCasts tells when a mirror begins to be sent to by multicast, or is sent to by itself again.
func (m *Mirror) watchCasts() {
	g := &m.group
	if !m.opt.Multicast.IsValid() {
		return
	}
	now := g.node.Group().Casts()
	for _, id := range now {
		if !slices.Contains(g.casts, id) {
			m.tell(News{Kind: CastUp, Mirror: id})
		}
	}
	members := g.node.Group().Members()
	for _, id := range g.casts {
		if !slices.Contains(now, id) && slices.Contains(members, id) {
			m.tell(News{Kind: CastDown, Mirror: id, Text: "it is sent to by itself"})
		}
	}
	g.casts = now
}
