package lobby_test

import (
	"fmt"

	"github.com/coeval-dev/coeval/service/directory/lobby"
)

// Two people meet in a room, and a server is found for them.
func Example() {
	seed := uint64(7)
	l := lobby.New(lobby.Options{Random: func() uint64 { seed *= 6364136223846793005; return seed }})
	ann, bob := lobby.Who{Client: 1}, lobby.Who{Client: 2}
	room, _ := l.Make(0, ann, lobby.Setup{Game: "tanks"}, lobby.Profile{Name: "ann"})
	_, _ = l.Join(0, bob, room.Code, lobby.Profile{Name: "bob"})
	_, err := l.Start(0, ann, room.Code, false)
	fmt.Println(err)
	_, _ = l.Start(0, ann, room.Code, true)
	for _, o := range l.Orders() {
		fmt.Println(o.Game, "for", len(o.Players))
		l.Fulfil(0, o.ID, map[uint64]*lobby.Start{1: {Token: "ann's"}, 2: {Token: "bob's"}})
	}
	fmt.Println(l.Ping(0, bob).Start.Token)
	// Output:
	// not everyone is ready: wait, or start anyway
	// tanks for 2
	// bob's
}

// A rule of a game's own: whoever comes plays with whoever comes next.
type pairs struct{}

func (pairs) Match(waiting []lobby.Unit, _ []string) (out []lobby.Group) {
	for i := 0; i+1 < len(waiting); i += 2 {
		out = append(out, lobby.Group{Units: []int{i, i + 1}})
	}
	return out
}

func ExampleUse() {
	lobby.Use("chess", pairs{})
	groups := lobby.RuleOf("chess").Match(make([]lobby.Unit, 5), nil)
	fmt.Println(groups)
	// Output: [{[0 1] } {[2 3] }]
}
