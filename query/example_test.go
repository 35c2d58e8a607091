package query_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/query"
)

// A program measures the way to a server, and asks what it is. The
// network is simulated: 30 ms there, and 30 ms back.
func ExampleProber() {
	n := netsim.New(netsim.Options{Seed: 1})
	server, player := n.Endpoint("server"), n.Endpoint("player")
	n.Connect(player, server, netsim.Both(netsim.Profile{Latency: 30 * time.Millisecond}))
	r := query.NewResponder(query.AnswerOptions{Answers: query.DefaultKinds,
		Info: func(i *query.Info) { i.Game, i.Players, i.Capacity = "pong", 1, 2 }})
	server.Handle(func(from netip.AddrPort, data []byte) {
		d := link.Datagram{Addr: from, Data: data}
		server.SendTo(from, r.Answer(n.Now(), &d, nil))
	})

	p := query.NewProber(query.ProbeOptions{Pings: 5, Info: true})
	p.Add(n.Now(), server.PublicAddr())
	drive(n, player, p)

	at := p.At(0, n.Now())
	fmt.Println(at.Answered, "of", at.Sent, "in", at.Median, "jitter", at.Jitter, "loss", at.Loss())
	fmt.Println(at.Info.Game, at.Info.Players, "of", at.Info.Capacity)
	// Output:
	// 5 of 5 in 60ms jitter 0s loss 0
	// pong 1 of 2
}
