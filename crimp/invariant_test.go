package crimp

import (
	"fmt"
	"time"
)

// sound checks what must hold of a machine's books at any moment.
func (g *Group) sound() error {
	for _, p := range g.peers {
		if p.next < p.base || int(p.next-p.base) > len(p.ring) {
			return fmt.Errorf("member %d: %d packets from %d in a ring of %d", p.id, p.next-p.base,
				p.base, len(p.ring))
		}
		losses, planned := 0, 0
		for s := p.base; s < p.next; s++ {
			slot := p.at(s)
			if slot.loss != 0 {
				losses++
				if int(slot.loss) > len(p.losses) || p.losses[slot.loss-1].seq != s {
					return fmt.Errorf("member %d: packet %d of %d to %d points to loss %d of %+v",
						p.id, s, p.base, p.next, slot.loss, p.losses)
				}
				if slot.state != slotMissing {
					return fmt.Errorf("member %d: packet %d is here and looked for", p.id, s)
				}
			}
			if slot.planned != 0 {
				planned++
				if r := g.repairs[slot.planned-1]; r.peer != p || r.seq != s {
					return fmt.Errorf("member %d: packet %d points to another's repair", p.id, s)
				}
			}
		}
		if losses != len(p.losses) {
			return fmt.Errorf("member %d: %d losses for %d packets", p.id, len(p.losses), losses)
		}
	}
	return nil
}

// due says what of a machine is overdue.
func (g *Group) due() (text string) {
	add := func(what string, at time.Duration) {
		if at <= g.now {
			text += fmt.Sprintf(" %s %v;", what, at)
		}
	}
	add("beat", g.beat.at)
	add("report", g.report.at)
	add("window", g.forward.closeAt)
	for _, r := range g.repairs {
		add("repair", r.due)
	}
	for _, p := range g.peers {
		add(fmt.Sprint("clock of ", p.id), p.overdueAt(g))
		for _, l := range p.losses {
			add(fmt.Sprintf("loss %d of %d %+v", l.seq, p.id, l), l.due)
		}
	}
	return text
}
