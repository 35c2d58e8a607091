package council_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/member"
)

// keys are by what members sign. Here they are derived from the member's number, which everybody
// knows: in a real council each has a secret one.
type keys struct{ id member.ID }

func secret(id member.ID) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(id)}, ed25519.SeedSize))
}

func (k keys) Sign(statement []byte) council.Signature {
	return council.Signature(ed25519.Sign(secret(k.id), statement))
}

func (k keys) Verify(_ *council.Decree, id member.ID, statement []byte, s council.Signature) bool {
	return ed25519.Verify(secret(id).Public().(ed25519.PublicKey), statement, s[:])
}

// clerk is an owner that numbers its decrees and takes out who is silent.
type clerk struct{ id member.ID }

func (clerk) Report([]member.ID) []byte { return nil }
func (clerk) Farewell(member.ID) []byte { return []byte("you were silent") }
func (k clerk) Compose(d *council.Decree, suspects []member.ID, _ []council.Report) council.Decree {
	next := council.Decree{Epoch: d.Epoch + 1, Leader: k.id, Body: fmt.Appendf(nil, "by %d", k.id)}
	for _, v := range d.Voters {
		silent := false
		for _, s := range suspects {
			silent = silent || s == v
		}
		if !silent {
			next.Voters = append(next.Voters, v)
		}
	}
	return next
}

// The leader of three crashes; one of the others succeeds it.
func Example() {
	first := council.Decree{Epoch: 1, Leader: 1, Voters: []member.ID{1, 2, 3}}
	var members []*council.Council
	for _, id := range first.Voters {
		c, err := council.New(0, council.Options{ID: id, Owner: clerk{id}, Keys: keys{id}}, first)
		if err != nil {
			fmt.Println(err)
			return
		}
		members = append(members, c)
	}
	for now := time.Duration(0); now < 3*time.Second; now += 10 * time.Millisecond {
		for i, c := range members {
			if i == 0 && now > time.Second {
				continue // has crashed
			}
			c.Tick(now)
			for _, d := range c.Decided() {
				fmt.Printf("member %d: epoch %d, leader %d, voters %v, %s\n", i+1, d.Epoch,
					d.Leader, d.Voters, d.Body)
			}
			for _, m := range c.Outgoing() {
				members[m.To-1].Receive(now, member.ID(i+1), m.Data)
			}
		}
	}
	// Output:
	// member 2: epoch 2, leader 2, voters [2 3], by 2
	// member 3: epoch 2, leader 2, voters [2 3], by 2
}
