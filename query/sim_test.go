package query_test

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/query"
)

// drive has a prober do all that it is to do.
func drive(n *netsim.Net, at *netsim.Endpoint, p *query.Prober) {
	var out []link.Datagram
	batch := make([]link.Datagram, 16)
	for !p.Done() {
		out = p.Flush(n.Now(), out[:0])
		_, _ = link.SendAll(at, out)
		due, _ := p.Deadline()
		_, _ = at.Wait(max(due-n.Now(), time.Millisecond))
		for {
			k, _ := at.Receive(batch)
			if p.Receive(n.Now(), batch[:k]); k < len(batch) {
				break
			}
		}
	}
}

// answer is a server that knows what it is, and notes what it is told.
func answer(e *netsim.Endpoint, info query.Info) (r *query.Responder, told *[]string) {
	told = &[]string{}
	r = query.NewResponder(query.AnswerOptions{Seed: [32]byte{byte(info.Players), 3},
		Answers: query.AllKinds, Info: func(i *query.Info) { *i = info },
		Who: func(to []query.Player) []query.Player {
			return append(to, query.Player{Name: "ada"}, query.Player{Name: "bob"})
		},
		Message: func(_ netip.AddrPort, text string) { *told = append(*told, text) }})
	e.Handle(func(from netip.AddrPort, data []byte) {
		d := link.Datagram{Addr: from, Data: data}
		if out := r.Answer(e.Net().Now(), &d, nil); len(out) > 0 {
			_ = e.SendTo(from, out)
		}
	})
	return r, told
}

// bad is a network on which everything happens but damage, which UDP's own checksum finds.
var bad = netsim.Both(netsim.Profile{Latency: 20 * time.Millisecond, Loss: 0.2, Duplicate: 0.2,
	Reorder: 0.1, Jitter: netsim.Jitter{Amount: 10 * time.Millisecond}})

// ask has an asker do all that it is to do.
func ask(n *netsim.Net, at *netsim.Endpoint, a *query.Asker) {
	batch := make([]link.Datagram, 16)
	for !a.Done() {
		_, _ = link.SendAll(at, a.Flush(n.Now(), nil))
		_, _ = at.Wait(max(a.Deadline()-n.Now(), time.Millisecond))
		k, _ := at.Receive(batch)
		a.Receive(n.Now(), batch[:k])
	}
}

// Over a bad network questions are answered, and a message is told once, however often it had to be
// sent and whatever was doubled on the way.
func TestAsking(t *testing.T) {
	simtest.Run(t, 30, func(n *netsim.Net) error {
		server, player := n.Endpoint("server"), n.Endpoint("player")
		n.Connect(player, server, bad)
		r, told := answer(server, query.Info{Game: "pong", Players: 7})
		seed := [32]byte{1}
		one := func(q query.Query) (query.Answer, error) {
			seed[1]++
			a := query.NewAsker(n.Now(), server.PublicAddr(), q, seed, 10*time.Second)
			ask(n, player, a)
			x, took, ok := a.Answer()
			if !ok || x.Status != query.OK || took < 40*time.Millisecond {
				return x, fmt.Errorf("%v after %d attempts: %v %v %v", q.Kind, a.Sent(), ok,
					x.Status, took)
			}
			return x, nil
		}
		a, err := one(query.Query{Kind: query.AskInfo})
		if err != nil {
			return err
		}
		if i, ok := query.ParseInfo(a.Body); !ok || i.Players != 7 {
			return fmt.Errorf("info: %v %+v", ok, i)
		}
		if a, err = one(query.Query{Kind: query.AskWho, Cookie: a.Cookie}); err != nil {
			return err
		}
		if w, ok := query.ParseWho(a.Body); !ok || len(w.Players) != 2 {
			return fmt.Errorf("who: %v %+v", ok, w)
		}
		if _, err = one(query.Query{Kind: query.Message, Text: []byte("hello")}); err != nil {
			return err
		}
		n.Run(n.Now() + time.Second)
		if len(*told) != 1 || (*told)[0] != "hello" {
			return fmt.Errorf("told: %q", *told)
		}
		if c := r.Counts(); c.BytesOut > c.BytesIn {
			return fmt.Errorf("%d bytes out for %d in", c.BytesOut, c.BytesIn)
		}
		return nil
	})
}

// Over a bad network the ways to many servers are measured at once. Whatever comes twice, from
// somebody else or with another nonce changes nothing.
func TestProbing(t *testing.T) {
	simtest.Run(t, 20, func(n *netsim.Net) error {
		player, liar := n.Endpoint("player"), n.Endpoint("liar")
		p := query.NewProber(query.ProbeOptions{Seed: [32]byte{9}, Info: true})
		const servers = 8
		for i := range servers {
			s := n.Endpoint(fmt.Sprint("server", i))
			n.Connect(player, s, netsim.Both(netsim.Profile{
				Latency: time.Duration(10+5*i) * time.Millisecond, Loss: 0.02, Duplicate: 0.05,
				Reorder: 0.02, Jitter: netsim.Jitter{Shape: netsim.Uniform,
					Amount: 5 * time.Millisecond}}))
			answer(s, query.Info{Game: "pong", Players: uint16(i)})
			p.Add(n.Now(), s.PublicAddr())
		}
		gone := netip.MustParseAddrPort("192.0.2.9:4000")
		p.Add(n.Now(), gone)
		liar.Every(7*time.Millisecond, func() {
			_ = liar.SendTo(player.PublicAddr(), query.Answer{Kind: query.Ping}.Append(nil, 32))
		})
		drive(n, player, p)
		for i := range servers {
			r := p.At(i, n.Now())
			least := 2 * time.Duration(10+5*i) * time.Millisecond
			if r.Sent != 8 || r.Answered+r.Lost != r.Sent || !r.Done {
				return fmt.Errorf("server %d: %+v does not add up", i, r)
			}
			if r.Answered < 3 || !r.Known || int(r.Info.Players) != i {
				return fmt.Errorf("server %d is not known: %+v", i, r)
			}
			if r.Best < least || r.Median > least+40*time.Millisecond || r.Jitter < 0 {
				return fmt.Errorf("server %d is at %v: %+v", i, least, r)
			}
		}
		if r, ok := p.Of(gone, n.Now()); !ok || r.Lost != 8 || r.Answered != 0 || r.Loss() != 1 {
			return fmt.Errorf("nobody is measured as %+v", r)
		}
		if p.Strangers == 0 {
			return errors.New("the liar was not heard")
		}
		return nil
	})
}
