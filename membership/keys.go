package membership

import (
	"encoding/binary"
	"slices"

	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// keys is how members sign what they say in the council: by the keys of their cards, which stand in
// the charter of each decree. What is signed begins with the group's number.
type keys struct {
	identity *crimp.Identity
	group    uint64
	// The charter of the decree that was asked about last.
	epoch   uint32
	body    []byte
	charter charter
	text    []byte
}

// of is the charter of a decree, or nil if it has none.
func (k *keys) of(d *council.Decree) *charter {
	if k.epoch != d.Epoch || len(k.body) != len(d.Body) || len(d.Body) == 0 ||
		&k.body[0] != &d.Body[0] {
		ch, err := readCharter(d.Body)
		if err != nil {
			return nil
		}
		k.epoch, k.body, k.charter = d.Epoch, d.Body, ch
	}
	return &k.charter
}

func (k *keys) statement(statement []byte) []byte {
	k.text = append(binary.BigEndian.AppendUint64(k.text[:0], k.group), statement...)
	return k.text
}

// Sign signs a statement.
func (k *keys) Sign(statement []byte) council.Signature {
	return k.identity.Sign(k.statement(statement))
}

// Verify reports whether a member of a decree has signed a statement.
func (k *keys) Verify(d *council.Decree, id member.ID, statement []byte,
	s council.Signature) bool {
	ch := k.of(d)
	if ch == nil {
		return false
	}
	m := ch.find(id)
	return m != nil && m.Signed(k.statement(statement), (*[64]byte)(&s))
}

// approve reports whether a decree that another proposes may follow the present one. It must make
// sense, and whoever leads cannot change by it what is not its to change: the group, the keys of
// those who stay, that newcomers have no vote at first, and that packets are signed.
func (k *keys) approve(present, next *council.Decree) bool {
	now := k.of(present)
	ch, err := readCharter(next.Body)
	if now == nil || err != nil || !ch.fits(next) || ch.roster.Group != k.group ||
		ch.roster.Key == now.roster.Key ||
		now.roster.Proof == crimp.Signatures && ch.roster.Proof != crimp.Signatures {
		return false
	}
	for _, list := range [][]crimp.Member{ch.roster.Members, ch.witnesses} {
		for i := range list {
			m := &list[i]
			was := now.find(m.ID)
			if was != nil && (was.Sign != m.Sign || was.Agree != m.Agree ||
				now.isWitness(m.ID) != ch.isWitness(m.ID)) {
				return false
			}
			if was == nil && (next.Votes(m.ID) || now.holder(m.Sign) != nil && ch.find(
				now.holder(m.Sign).ID) != nil) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(ch.roster.Gone,
		func(d crimp.Departure) bool { return now.find(d.ID) == nil || ch.find(d.ID) != nil })
}
