package lobby

import (
	"fmt"
	"slices"
)

// Check says what is wrong with a lobby that must always be right.
func (l *Lobby) Check() error {
	rooms, units := map[uint64]string{}, map[*unit]bool{}
	for code, r := range l.rooms {
		if len(r.members) == 0 || len(r.members) > r.Most || r.code != code {
			return fmt.Errorf("room %s has %d members of %d", code, len(r.members), r.Most)
		}
		for _, m := range r.members {
			if rooms[m.Client] != "" {
				return fmt.Errorf("%d is in %s and %s", m.Client, rooms[m.Client], code)
			}
			rooms[m.Client] = code
			if m.room != r || l.people[m.Client] != m.person {
				return fmt.Errorf("%d is in %s and does not know it", m.Client, code)
			}
			if slices.Contains(r.kicked, m.Client) {
				return fmt.Errorf("%d was removed from %s, and is there", m.Client, code)
			}
			if m.unit != r.unit {
				return fmt.Errorf("%d waits without %s", m.Client, code)
			}
			if m.team > r.Teams {
				return fmt.Errorf("%d is in team %d of %d", m.Client, m.team, r.Teams)
			}
		}
		if r.order != 0 && l.orders[r.order] == nil {
			return fmt.Errorf("%s starts for ever", code)
		}
	}
	for _, q := range l.queues {
		for _, u := range q.units {
			if units[u] {
				return fmt.Errorf("a unit waits twice")
			}
			units[u] = true
			if u.order != 0 && l.orders[u.order] == nil {
				return fmt.Errorf("a unit is matched for ever")
			}
			for _, p := range u.people {
				if p.unit != u || l.people[p.Client] != p {
					return fmt.Errorf("%d waits and does not know it", p.Client)
				}
			}
		}
	}
	from := 0
	for n, p := range l.people {
		if p.unit != nil && !units[p.unit] {
			return fmt.Errorf("%d waits nowhere", n)
		}
		if p.room != nil && rooms[n] != p.room.code {
			return fmt.Errorf("%d is in %s, which does not know it", n, p.room.code)
		}
	}
	for _, n := range l.from {
		from += n
	}
	if from != len(l.people) {
		return fmt.Errorf("%d people, and %d by address", len(l.people), from)
	}
	return nil
}
