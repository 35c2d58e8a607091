package conn_test

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
)

func seed() (s [32]byte) {
	rand.Read(s[:])
	return s
}

// A client connects to a server over a simulated network and is greeted. Over real
// sockets only the endpoints would be others.
func Example() {
	network := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.WiFi})
	serverLink, clientLink := network.Endpoint("server"), network.Endpoint("client")

	// The backend and the server share a key. The backend issues a token for player 42.
	key, _ := token.NewKey(rand.Reader)
	const wall = 1_800_000_000 // the time of day when the network's clock starts
	tok, err := token.Issue(key, token.Grant{
		Protocol: token.ProtocolID("greetings"),
		Client:   42,
		Expires:  wall + 60,
		Servers:  []netip.AddrPort{serverLink.LocalAddr()},
		UserData: []byte("Ada"),
	}, rand.Reader)
	if err != nil {
		panic(err)
	}

	common := conn.Options{Protocol: token.ProtocolID("greetings"), Wall: wall}
	so := conn.ServerOptions{
		Options: common, Keys: []token.Key{key}, Addresses: []netip.AddrPort{
			serverLink.LocalAddr()}}
	so.Seed = seed()
	server, err := conn.NewServer(so)
	if err != nil {
		panic(err)
	}
	co := conn.ClientOptions{Options: common, Token: tok}
	co.Seed = seed()
	client, err := conn.NewClient(co)
	if err != nil {
		panic(err)
	}

	var batch [64]link.Datagram
	var out []link.Datagram
	serverLink.Every(time.Second/60, func() {
		n, _ := serverLink.Receive(batch[:])
		server.Receive(network.Now(), batch[:n])
		for _, e := range server.Events() {
			if e.Kind == conn.Connected {
				// Channel 2 is ordered, if nothing else is said.
				_ = e.Conn.Send(2, fmt.Appendf(nil, "welcome, %s", e.Conn.UserData()))
			}
		}
		out = server.Flush(network.Now(), out[:0])
		link.SendAll(serverLink, out)
	})
	done := false
	clientLink.Every(time.Second/60, func() {
		n, _ := clientLink.Receive(batch[:])
		client.Receive(network.Now(), batch[:n])
		for _, e := range client.Events() {
			if e.Kind == conn.Message {
				fmt.Printf("%s\n", e.Data)
				done = true
			}
		}
		out = client.Flush(network.Now(), out[:0])
		link.SendAll(clientLink, out)
	})
	network.RunUntil(10*time.Second, func() bool { return done })
	// Output: welcome, Ada
}

// A layer that builds its own packets writes into them, and is told what became of
// each.
func ExampleConn_Compose() {
	send := func(c *conn.Conn, now time.Duration, snapshot []byte) (conn.PacketNumber, error) {
		if !c.Due(now) || c.Budget(now) < len(snapshot) {
			return 0, nil // not now
		}
		b, err := c.Compose(now, 0, len(snapshot))
		if err != nil {
			return 0, err
		}
		return c.Commit(append(b, snapshot...)), nil
	}
	verdict := func(e conn.Event) {
		switch e.Kind {
		case conn.Arrived: // e.Packet may serve as a base
		case conn.Lost: // what e.Packet brought must be sent again
		}
	}
	_, _ = send, verdict
}
