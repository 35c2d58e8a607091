package crimp

import (
	"net/netip"
	"testing"

	"github.com/coeval-dev/coeval/member"
)

// TestRosterIsRefused: rosters that make no sense change nothing.
func TestRosterIsRefused(t *testing.T) {
	g := trio(t, nil)[0]
	good := Roster{Group: 77, Epoch: 2, Key: [16]byte{1}}
	for i := range 3 {
		good.Members = append(good.Members,
			Member{ID: member.ID(i + 1),
				Card: testIdentity(2, uint64(i)).Card(netip.AddrPort{}, 1)})
	}
	for name, change := range map[string]func(*Roster){
		"old":          func(r *Roster) { r.Epoch = 1 },
		"no epoch":     func(r *Roster) { r.Epoch = 0 },
		"other group":  func(r *Roster) { r.Group = 78 },
		"no key":       func(r *Roster) { r.Key = [16]byte{} },
		"empty":        func(r *Roster) { r.Members = nil },
		"out of order": func(r *Roster) { r.Members[1].ID = 1 },
		"other us": func(r *Roster) {
			r.Members[0].ID, r.Members[1].ID, r.Members[2].ID = 4, 5, 6
		},
		"other member": func(r *Roster) {
			r.Members[1].Card = testIdentity(9, 9).Card(netip.AddrPort{}, 1)
		},
		"unknown proof": func(r *Roster) { r.Proof = 9 },
		"no key at all": func(r *Roster) { r.Members[2].ID = 9; r.Members[2].Agree = [32]byte{} },
		"too many": func(r *Roster) {
			for i := range 200 {
				r.Members = append(r.Members, Member{ID: member.ID(i + 10)})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := good
			r.Members = append([]Member(nil), good.Members...)
			change(&r)
			if err := g.SetRoster(0, r); err == nil {
				t.Error("was taken")
			}
			if g.Epoch() != 1 || len(g.peers) > 3 {
				t.Errorf("changed something: epoch %d, %d peers", g.Epoch(), len(g.peers))
			}
		})
	}
	if err := g.SetRoster(0, good); err != nil {
		t.Errorf("a good one: %v", err)
	}
}
