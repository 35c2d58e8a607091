package membership

import "slices"

// unlisten tells the council whom this mirror hears, but who does not hear it: for them it is not
// there, so they do not count here either, from when they last heard it.
func (m *Membership) unlisten() {
	d := m.council.Decree()
	for _, id := range slices.Concat(d.Voters, d.Learners) {
		if last, one := m.g.OneWay(id); one {
			m.council.Unheard(id, last)
		}
	}
}
