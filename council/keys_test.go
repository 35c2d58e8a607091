package council

import (
	"crypto/sha256"

	"github.com/coeval-dev/coeval/member"
)

// testKeys signs with a hash of who signs and what: simulations make signatures by the hundred
// thousand. No test makes one in the name of another.
type testKeys member.ID

func (k testKeys) Sign(statement []byte) (s Signature) {
	a := sha256.Sum256(append([]byte{byte(k >> 8), byte(k), 1}, statement...))
	copy(s[:], a[:])
	return s
}

func (k testKeys) Verify(_ *Decree, id member.ID, statement []byte, s Signature) bool {
	return testKeys(id).Sign(statement) == s
}

// linkOf is a decree with the votes of some.
func linkOf(d *Decree, b ballot, voters ...member.ID) Link {
	l := Link{Decree: d.Append(nil), ballot: b}
	sum := digest(sha256.Sum256(l.Decree))
	for _, id := range voters {
		l.votes = insertVote(l.votes,
			vote{id, testKeys(id).Sign(statement(stateVote, d.Epoch, b, ballot{}, &sum))})
	}
	return l
}

// proposalOf is a proposal of a decree, with the promises of some that have accepted nothing.
func proposalOf(present *Decree, b ballot, next *Decree, voters ...member.ID) message {
	m := message{kind: kindAccept, epoch: present.Epoch + 1, ballot: b, decree: next.Append(nil)}
	sum := digest(sha256.Sum256(m.decree))
	m.sign = testKeys(b.id).Sign(statement(stateProposal, m.epoch, b, ballot{}, &sum))
	for _, id := range voters {
		p := promised{from: id}
		p.sign = testKeys(id).Sign(statement(statePromise, m.epoch, b, ballot{}, &digest{}))
		m.promises = append(m.promises, p)
	}
	return m
}
