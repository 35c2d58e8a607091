package find_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/find"
	"github.com/coeval-dev/coeval/service/directory/ask"
)

// TestLAN: servers on the local network are found by a datagram to everyone on it, without a
// directory; one that answers at several addresses is listed once, and one that says nothing of
// itself not at all. What is found can be joined.
func TestLAN(t *testing.T) {
	t.Parallel()
	ports := []int{freePort(t), freePort(t), freePort(t)}
	for i, args := range [][]string{{"--region", "home"}, {"--region", "attic", "--players", "2"},
		{"--queries", "ping"}} {
		begin(t, "serving", append([]string{"serve", "pong", "--listen",
			fmt.Sprintf(":%d", ports[i])}, args...)...)
	}
	var asked []netip.AddrPort
	for _, host := range []string{"127.0.0.1", "127.255.255.255", "127.0.0.2"} {
		for _, port := range ports {
			asked = append(asked, netip.AddrPortFrom(netip.MustParseAddr(host), uint16(port)))
		}
	}
	x := find.Search{LAN: true, Asked: asked, Titles: []*game.Title{pong.Title}}
	r, err := x.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Servers) != 2 || !r.Local {
		t.Fatalf("%d servers: %v", len(r.Servers), r)
	}
	regions := ""
	for _, s := range r.Servers {
		regions += s.Region + " "
		if s.Game != "pong" || s.Trip == nil || s.Hindrance != "" || !s.Local ||
			!strings.HasPrefix(s.Places[0].Door, "http://127.0.0.") {
			t.Errorf("%+v %+v", s, s.Places[0])
		}
	}
	if !strings.Contains(regions, "home ") || !strings.Contains(regions, "attic ") {
		t.Errorf("regions %s", regions)
	}
	x.Filter = ask.Filter{Region: "attic", Room: true, Game: "pong"}
	if r, err = x.Run(t.Context()); err != nil || len(r.Servers) != 1 ||
		r.Servers[0].Capacity != 2 {
		t.Errorf("%v %v", r, err)
	}
	x.Filter = ask.Filter{Game: "tanks"}
	if r, err = x.Run(t.Context()); err != nil || len(r.Servers) != 0 {
		t.Errorf("%v %v", r, err)
	}
}
