package membership

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// certified is a decree of so many mirrors, and the next one with the votes of a quorum, by real
// keys.
func certified(b *testing.B, mirrors int) (known, next council.Decree, l council.Link, k *keys) {
	ch := charter{nextID: member.ID(mirrors + 1)}
	ch.roster = crimp.Roster{Group: 7, Epoch: 1, Key: [16]byte{1}}
	known = council.Decree{Epoch: 1, Leader: 1}
	var ids []*crimp.Identity
	for i := range mirrors {
		id, err := crimp.NewIdentity(testSeed(5, uint64(i)))
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, id)
		at := netip.MustParseAddrPort("192.0.2.1:4100")
		ch.add(crimp.Member{ID: member.ID(i + 1), Card: id.Card(at, 0)}, false)
		known.Voters = append(known.Voters, member.ID(i+1))
	}
	known.Body = ch.append(nil)
	ch.roster.Epoch, ch.roster.Key = 2, [16]byte{2}
	next = known.Clone()
	next.Epoch, next.Body = 2, ch.append(nil)
	l, text := council.NewLink(&next, 1, 1)
	for i := range mirrors/2 + 1 {
		l.Add(member.ID(i+1), (&keys{identity: ids[i], group: 7}).Sign(text))
	}
	return known, next, l, &keys{identity: ids[0], group: 7}
}

// BenchmarkVote is what it costs a voter to sign.
func BenchmarkVote(b *testing.B) {
	_, next, _, k := certified(b, 3)
	_, text := council.NewLink(&next, 1, 1)
	for b.Loop() {
		k.Sign(text)
	}
}

// BenchmarkProof is what it costs to check a decree, and how large it is with its proof.
func BenchmarkProof(b *testing.B) {
	for _, mirrors := range []int{3, 5, 8} {
		b.Run(fmt.Sprint(mirrors), func(b *testing.B) {
			known, next, l, k := certified(b, mirrors)
			for b.Loop() {
				if !l.Proved(k, &known) {
					b.Fatal("it is not proved")
				}
			}
			b.ReportMetric(float64(len(next.Append(nil))), "decree-B")
			b.ReportMetric(float64(len(l.Append(nil))), "proved-B")
		})
	}
}
