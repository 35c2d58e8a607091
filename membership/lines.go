package membership

import (
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
)

// linger is for how long the packets of a member that is silent are kept. One that should be taken
// out is, as soon as a majority hears each other; where none does, nothing is decided however long
// it takes, and when the lines are back all go on with what they had. Package crimp bounds how many
// packets that can be.
const linger = 24 * time.Hour

// listen tells the council whom the group has heard, and who has heard this mirror.
func (m *Membership) listen() {
	for _, id := range m.g.Members() {
		if id != m.self {
			m.council.Heard(id, m.now-m.g.Silent(id))
		}
	}
	d := m.council.Decree()
	for _, list := range [][]member.ID{d.Voters, d.Learners} {
		for _, id := range list {
			m.council.Echoed(id, m.g.Echoed(id))
		}
	}
}

// Absent lists the other members that this mirror is not in touch with: they were not heard of
// late, or have not heard it.
func (m *Membership) Absent() []member.ID {
	if m.council == nil || m.done {
		return nil
	}
	return m.council.Absent()
}

// Near reports whether a member is a voter with a world that this mirror is in touch with. While
// there is no quorum it stands still as well, and can come back as this one can.
func (m *Membership) Near(id member.ID) bool {
	return slices.Contains(m.decree().Voters, id) && !slices.Contains(m.Absent(), id) &&
		!m.charter.isWitness(id)
}
