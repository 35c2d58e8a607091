package relaylab

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/seed"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/relay"
)

// Bytes is what one match takes of the relay's line, in bytes a second with all headers, and of a
// member's.
type Bytes struct {
	Players int     `json:"byte_players" head:"players"`
	Send    int     `json:"byte_send_rate" head:"packets/s"`
	Network string  `json:"network" head:"network"`
	Out     float64 `json:"out_per_second" head:"out B/s" as:"%.0f"`
	In      float64 `json:"in_per_second" head:"in B/s" as:"%.0f"`
	Down    float64 `json:"down_per_member" head:"down B/s" as:"%.0f"`
	Up      float64 `json:"up_per_member" head:"up B/s" as:"%.0f"`
	// Message is the mean size of what a packet to a member says, without any header.
	Message float64 `json:"message_bytes" head:"rows in a packet, B" as:"%.1f"`
	// Repeat is how many rows a packet carries for each row that is closed between two packets.
	Repeat float64 `json:"copies" head:"copies" as:"%.2f"`
}

// ipBytes is what IPv4 and UDP add to a datagram.
const ipBytes = 28

// countBytes plays matches in virtual time.
func countBytes(rate int) (all []Bytes, err error) {
	for _, x := range []struct {
		players, send int
		net           netsim.Conditions
	}{
		{8, 60, netsim.Cable}, {8, 20, netsim.Cable}, {4, 60, netsim.Cable}, {4, 20, netsim.Cable},
		{2, 60, netsim.Cable}, {8, 60, netsim.WiFi}, {8, 60, lossy},
	} {
		b, err := countMatch(x.players, min(x.send, rate), rate, x.net)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// lossy is a cable that loses one packet in ten.
var lossy = func() netsim.Conditions {
	c := netsim.Cable
	c.Name = "cable, 10 % loss"
	c.Up.Loss, c.Down.Loss = 0.1, 0.1
	return c
}()

const (
	wall = 1_800_000_000
	// byteTime is how long bytes are counted, after warmTime.
	byteTime = 30 * time.Second
	warmTime = 5 * time.Second
)

// countMatch plays one match and counts what the relay's link carries.
func countMatch(players, send, rate int, c netsim.Conditions) (b Bytes, err error) {
	n := netsim.New(netsim.Options{Seed: 1, Conditions: c})
	at := n.Endpoint("relay")
	random := seed.New([32]byte{1})
	var key token.Key
	random.Read(key[:])
	o := relay.Options{Links: []link.Link{at}, Keys: []token.Key{key},
		Conn: conn.Options{Wall: wall}}
	random.Read(o.Conn.Seed[:])
	r, err := relay.New(o)
	if err != nil {
		return b, err
	}
	at.Every(step, func() { _ = r.Tick(n.Now()) })
	var list []*virtual
	for i := range players {
		v, err := newVirtual(n, at.PublicAddr(), key, random, i)
		if err != nil {
			return b, err
		}
		list = append(list, v)
	}
	if err := list[0].client.Create(relay.Match{Game: game, Seats: uint8(players),
		Start: uint8(players), Rate: uint8(rate), SendRate: uint8(send)},
		relay.Entry{}); err != nil {
		return b, err
	}
	n.RunUntil(10*time.Second, func() bool { return list[0].in != nil })
	if list[0].in == nil {
		return b, fmt.Errorf("%s: no match could be created", c.Name)
	}
	for _, v := range list[1:] {
		err := v.client.Join(list[0].in.Code, game, relay.Rows, [relay.SecretSize]byte{},
			relay.Entry{})
		if err != nil {
			return b, err
		}
	}
	n.Run(warmTime)
	before, stats := at.Counters(), r.Stats()
	n.Run(byteTime)
	after, now := at.Counters(), r.Stats()
	seconds := byteTime.Seconds()
	if rows := float64(now.Rows - stats.Rows); rows < 0.98*seconds*float64(rate) {
		return b, fmt.Errorf("%s: only %.0f rows in %.0f s", c.Name, rows, seconds)
	}
	out := float64(after.SentBytes-before.SentBytes) + ipBytes*float64(after.Sent-before.Sent)
	in := float64(after.ReceivedBytes-before.ReceivedBytes) +
		ipBytes*float64(after.Received-before.Received)
	packets := float64(now.Packets - stats.Packets)
	b = Bytes{Players: players, Send: send, Network: c.Name, Out: out / seconds, In: in / seconds}
	b.Down, b.Up = b.Out/float64(players), b.In/float64(players)
	b.Message = float64(now.RowBytes-stats.RowBytes) / packets
	rows := float64(now.Rows-stats.Rows) * float64(players)
	b.Repeat = float64(now.RowsSent-stats.RowsSent) / rows
	return b, nil
}

// virtual is a member on a simulated network.
type virtual struct {
	at     *netsim.Endpoint
	client *relay.Client
	in     *relay.Welcome
	random uint32
	batch  []link.Datagram
	out    []link.Datagram
	item   [8]byte
}

func newVirtual(n *netsim.Net, server netip.AddrPort, key token.Key, random *seed.Reader,
	i int) (*virtual, error) {
	tok, err := token.Issue(key, token.Grant{Protocol: relay.Protocol, Client: uint64(i + 1),
		Expires: wall + 3600}, random)
	if err != nil {
		return nil, err
	}
	o := conn.ClientOptions{Token: tok, Servers: []netip.AddrPort{server}}
	random.Read(o.Seed[:])
	v := &virtual{at: n.Endpoint(fmt.Sprintf("member %d", i)), batch: make([]link.Datagram, 32)}
	v.random = binary.BigEndian.Uint32(o.Seed[:]) | 1
	if v.client, err = relay.NewClient(o); err != nil {
		return nil, err
	}
	v.at.Every(time.Second/60, func() { v.play(n.Now()) })
	return v, nil
}

func (v *virtual) play(now time.Duration) {
	k, _ := v.at.Receive(v.batch)
	v.client.Receive(now, v.batch[:k])
	for _, e := range v.client.Events() {
		if e.Kind == relay.Welcomed {
			v.in = e.Welcome
			_ = v.client.Ready()
		}
	}
	for _, ok := v.client.NextRow(); ok; _, ok = v.client.NextRow() {
	}
	// One item a tick, but for one more or none where it runs away from the rows.
	const reach = 8 // rows ahead, which is more than a round trip
	items := 0
	switch ahead := v.client.Ahead() - v.client.Owed(); {
	case v.in == nil || ahead > reach+3:
	case ahead < reach-3:
		items = 2
	default:
		items = 1
	}
	for range items {
		if _, err := v.client.Submit(item(&v.random, v.item[:])); err != nil {
			break
		}
	}
	v.out = v.client.Flush(now, v.out[:0])
	link.SendAll(v.at, v.out)
}
