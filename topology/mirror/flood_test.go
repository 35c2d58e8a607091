package mirror_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
)

// endless is a link at which more waits than can ever be taken.
type endless struct {
	link.Link
	taken int
}

func (l *endless) Receive(batch []link.Datagram) (int, error) {
	for i := range batch {
		l.taken++
		batch[i] = link.Datagram{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{
			198, byte(l.taken >> 16), byte(l.taken >> 8), byte(l.taken)}), 9),
			Data: make([]byte, 40)}
	}
	return len(batch), nil
}

// TestEndlessFlood: junk without end on the sockets for mirrors and for players does not hold up a
// mirror, whose world ticks on.
func TestEndlessFlood(t *testing.T) {
	hub := mem.NewHub(mem.Options{})
	var links [2]*endless
	for i := range links {
		l, err := hub.Open(netip.AddrPort{})
		if err != nil {
			t.Fatal(err)
		}
		links[i] = &endless{Link: l}
	}
	o := mirror.Options{
		Server: server.Options{Title: pong.Title, Links: []link.Link{links[1]}, Workers: 1},
		Link:   links[0], Address: links[0].LocalAddr(), Public: links[1].LocalAddr(),
		Name: "one", Keys: []token.Key{{1}}, Seed: [32]byte{1}, Wall: 1_800_000_000, Found: true,
	}
	o.Server.Conn.Seed = [32]byte{9}
	m, err := mirror.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for now := time.Duration(0); now < time.Second; now += 8 * time.Millisecond {
		before := links[0].taken
		if err := m.Poll(now); err != nil {
			t.Fatal(err)
		}
		if n := links[0].taken - before; n > 4096 {
			t.Fatalf("a poll took in %d datagrams", n)
		}
	}
	if tick := m.Server().World().Tick(); tick < 50 {
		t.Errorf("after a second the world is at tick %d", tick)
	}
}
