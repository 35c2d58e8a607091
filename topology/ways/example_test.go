package ways_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/topology/ways"
)

// A Set hands back datagrams to send; here they are the first of a handshake with a server that
// does not answer. Its owner sends them, gives it what comes, and looks at Next.
func Example() {
	s, err := ways.New(ways.Options{
		Protocol: token.ProtocolID("chess"), Tick: time.Second / 60, Datagram: 1200,
		Token:          token.Token{Sealed: make([]byte, token.SealedMin)},
		Servers:        []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:4000")},
		Conn:           conn.Options{Seed: [32]byte{1}},
		ConnectTimeout: time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	datagrams := 0
	for now := time.Duration(0); !s.Over(); now += 20 * time.Millisecond {
		s.Tend(now, 20*time.Millisecond)
		for _, w := range s.Live(nil) {
			datagrams += len(s.Flush(now, w, nil))
		}
		for e, ok := s.Next(); ok; e, ok = s.Next() {
			fmt.Println(e.Kind, "after", datagrams, "datagrams:", e.Err)
		}
	}
	// Output:
	// ended after 11 datagrams: client: timed out; check the address, the firewall and the network
}
