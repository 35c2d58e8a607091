package wire

import (
	"testing"

	"github.com/coeval-dev/coeval/world"
)

// TestPrivateLine: a line for some alone is read as it is written, with bounds; one for nobody in
// particular is for everyone.
func TestPrivateLine(t *testing.T) {
	many := make([]world.Player, 2*MaxTo)
	for i := range many {
		many[i] = world.Player(i + 1)
	}
	for _, to := range [][]world.Player{nil, {3}, many} {
		b := (&Message{Kind: Chat, Player: 7, Name: "ada", Text: "hi", To: to}).Append(nil)
		var m Message
		if err := m.Parse(b); err != nil || len(m.To) != min(len(to), MaxTo) || m.Text != "hi" {
			t.Errorf("%d players: %v, %+v", len(to), err, m)
		}
	}
	b := (&Message{Kind: Chat, Player: 7, Text: "hi", To: many[:1]}).Append(nil)
	for _, bad := range [][]byte{
		append([]byte{b[0], b[1], b[2], MaxTo + 1}, b[4:]...), // too many
		{b[0], b[1], b[2], 1, 0, 0, 0, 0, 0, 0},               // Nobody
	} {
		if (&Message{}).Parse(bad) == nil {
			t.Errorf("%x is taken", bad)
		}
	}
}
