package audit

import "sort"

// Finish compares all that was with the newest snapshots, which must be of a time when nothing was
// on its way any more.
func (a *Audit) Finish(snapshots [][]byte) {
	found := map[uint64]uint32{}
	var total uint64
	for _, data := range snapshots {
		s, err := ReadSnapshot(data)
		if err != nil {
			a.fault(Form, 0, 0, "a snapshot: %v", err)
			continue
		}
		for _, i := range s.Aside {
			if !i.Acts {
				found[i.Entity] = s.Zone
				total += a.game.Carried(i.Data).Value
			}
		}
		for _, e := range a.game.Entities(s.Tick, s.Body) {
			total += e.Value
			if at, twice := found[e.ID]; twice {
				a.DoubledEntities++
				a.fault(Doubled, s.Zone, s.Tick, "entity %d, which is in zone %d too", e.ID, at)
			}
			found[e.ID] = s.Zone
			at, known := a.where[e.ID]
			if a.Births && !known {
				a.began[e.ID], at = true, s.Zone
			}
			if at != s.Zone {
				a.fault(Owned, s.Zone, s.Tick, "entity %d, which is at %d by the journals", e.ID,
					at)
			}
			if !a.began[e.ID] {
				a.fault(Doubled, s.Zone, s.Tick, "entity %d was never born", e.ID)
			}
			if e.Wrong != "" {
				a.fault(Doubled, s.Zone, s.Tick, "entity %d: %s", e.ID, e.Wrong)
			}
		}
	}
	a.missing(found)
	if total != a.total && !a.Births {
		a.fault(Sum, 0, 0, "%d in all, and %d in the beginning", total, a.total)
	}
}

// missing looks for what was there and is not.
func (a *Audit) missing(found map[uint64]uint32) {
	var lost []uint64
	for id := range a.began {
		if _, ok := found[id]; !ok && (!a.Births || a.where[id] == 0) {
			lost = append(lost, id)
		}
	}
	sort.Slice(lost, func(i, j int) bool { return lost[i] < lost[j] })
	a.LostEntities = len(lost)
	for _, id := range lost {
		a.fault(Lost, a.where[id], 0, "entity %d", id)
	}
	undone := 0
	for _, n := range a.deeds {
		if n == 0 {
			undone++
		}
	}
	if undone > 0 {
		a.fault(Lost, 0, 0, "%d actions were never executed", undone)
	}
	waiting := 0
	for _, s := range a.streams {
		waiting += len(s.flying)
	}
	if waiting > 0 {
		a.fault(Lost, 0, 0, "%d items were never taken", waiting)
	}
}
