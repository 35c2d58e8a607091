package relay_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/seed"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/relay"
)

const wall = 1_800_000_000

var soak = os.Getenv("COEVAL_SOAK") != ""

// A town is a relay and those who use it, on a simulated network.
type town struct {
	net    *netsim.Net
	at     *netsim.Endpoint
	relay  *relay.Server
	limits relay.Limits
	key    token.Key
	seeds  *seed.Reader
	news   []relay.News
	voter  func(relay.Code, *relay.Match) relay.Voter
	people []*person
	err    error
}

func newTown(n *netsim.Net, limits relay.Limits) *town {
	t := &town{net: n, at: n.Endpoint("relay"), limits: limits}
	var s [32]byte
	binary.BigEndian.PutUint64(s[:], n.Seed())
	t.seeds = seed.New(s)
	t.seeds.Read(t.key[:])
	t.open()
	t.at.Every(2*time.Millisecond, func() {
		if err := t.relay.Tick(n.Now()); err != nil && t.err == nil {
			t.err = err
		}
	})
	return t
}

// open starts the relay, for the first time or anew.
func (t *town) open() {
	o := relay.Options{Links: []link.Link{t.at}, Keys: []token.Key{t.key}, Limits: t.limits,
		Voter: t.voter,
		Conn:  conn.Options{Wall: wall, Timeout: 5 * time.Second}, News: func(n relay.News) {
			t.news = append(t.news, n)
		}}
	t.seeds.Read(o.Conn.Seed[:])
	var err error
	if t.relay, err = relay.New(o); err != nil {
		t.err = err
	}
}

func (t *town) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf("%v: "+format, append([]any{t.net.Now()}, args...)...)
	}
}

// A person is one member: it plays a game whose commands are its own number and a count.
type person struct {
	town   *town
	name   string
	at     *netsim.Endpoint
	client *relay.Client
	mode   relay.Mode // of the matches that it joins
	batch  []link.Datagram
	out    []link.Datagram

	in      *relay.Welcome
	peers   map[string]*relay.Peer
	refused []relay.Event
	found   []relay.Mode
	carried [][]byte
	words   []string
	voted   []string
	ended   []relay.Event

	rows    []string // as text, from first on
	first   uint32
	plays   bool
	over    bool
	submits bool
	item    func(n uint32) []byte
	sent    uint32
	onRow   func(r *relay.Row)
	came    []time.Duration // when each row was handed out
	ahead   int             // how many items to keep ahead of the rows
	owed    int
}

func (t *town) person(name string) *person { return t.settle(name, t.net.Endpoint(name)) }

func (t *town) personAt(name string, at netip.AddrPort) *person {
	return t.settle(name, t.net.EndpointAt(name, at))
}

func (t *town) settle(name string, at *netsim.Endpoint) *person {
	p := &person{town: t, name: name, at: at, submits: true, ahead: 8,
		batch: make([]link.Datagram, 64), peers: map[string]*relay.Peer{}}
	p.item = func(n uint32) []byte {
		return fmt.Appendf(nil, "%s%d", name[:1], n)[:min(int(n%5), 2)]
	}
	p.connect()
	p.at.Every(time.Second/60, p.tick)
	t.people = append(t.people, p)
	return p
}

// connect makes a client with a token of its own.
func (p *person) connect() {
	t := p.town
	tok, err := token.Issue(t.key, token.Grant{Protocol: relay.Protocol, Client: t.seeds.Uint64(),
		Expires: wall + 100_000}, t.seeds)
	if err != nil {
		t.fail("%v", err)
		return
	}
	o := conn.ClientOptions{Token: tok, Servers: []netip.AddrPort{t.at.PublicAddr()}}
	o.Wall, o.Timeout = wall, 5*time.Second
	t.seeds.Read(o.Seed[:])
	if p.client, err = relay.NewClient(o); err != nil {
		t.fail("%v", err)
	}
	p.in, p.sent, p.plays, p.over, p.owed = nil, 0, false, false, 0
}

func (p *person) create(m relay.Match, e relay.Entry) {
	e.Name = p.name
	if err := p.client.Create(m, e); err != nil {
		p.town.fail("%s creates: %v", p.name, err)
	}
}

func (p *person) join(code relay.Code, secret [relay.SecretSize]byte, e relay.Entry) {
	e.Name = p.name
	if err := p.client.Join(code, game, p.mode, secret, e); err != nil {
		p.town.fail("%s joins: %v", p.name, err)
	}
}

const game = "tag 1"

func (p *person) tick() {
	now := p.town.net.Now()
	for {
		n, err := p.at.Receive(p.batch)
		if err != nil {
			return
		}
		p.client.Receive(now, p.batch[:n])
		p.handle()
		if n < len(p.batch) {
			break
		}
	}
	for r, ok := p.client.NextRow(); ok; r, ok = p.client.NextRow() {
		p.take(r)
	}
	if p.in != nil && p.in.Player > 0 && p.submits && !p.over {
		for p.client.Ahead() < min(p.ahead+p.client.Owed(), relay.MaxAhead) {
			if _, err := p.client.Submit(p.item(p.sent)); err != nil {
				p.town.fail("%s submits: %v", p.name, err)
			}
			p.sent++
			if p.plays {
				break
			}
		}
	}
	p.out = p.client.Flush(now, p.out[:0])
	link.SendAll(p.at, p.out)
}

func (p *person) handle() {
	for _, e := range p.client.Events() {
		switch e.Kind {
		case relay.Welcomed:
			p.in = e.Welcome
			p.first, p.rows, p.came = e.Welcome.First, nil, nil
			if e.Welcome.Player > 0 {
				_ = p.client.Ready()
			}
		case relay.Found:
			p.found = append(p.found, e.Mode)
		case relay.Refused:
			p.refused = append(p.refused, e)
		case relay.Met:
			p.peers[e.Peer.Name] = e.Peer
		case relay.Carried:
			p.carried = append(p.carried, append([]byte(nil), e.Data...))
		case relay.Voted:
			p.voted = append(p.voted, string(e.Data))
		case relay.Said:
			p.words = append(p.words, fmt.Sprintf("%d:%s", e.Member, e.Data))
		case relay.Ended:
			p.ended, p.over = append(p.ended, e), true
			if e.Err != nil {
				p.town.fail("%s: %v", p.name, e.Err)
			}
		}
	}
}

// take writes down a row.
func (p *person) take(r *relay.Row) {
	if want := p.first + uint32(len(p.rows)); r.Tick != want {
		p.town.fail("%s got row %d in place of %d", p.name, r.Tick, want)
	}
	text := fmt.Sprint(r.Tick)
	for _, c := range r.Changes {
		text += fmt.Sprintf(" %v:%d:%d", c.Kind, c.Player(), c.Member)
		if c.Kind == relay.Joined && p.in != nil && c.Member == p.in.Self {
			p.plays = true
		}
	}
	for i := range r.Seats {
		s := &r.Seats[i]
		// The relay takes no more than what this member knows to owe.
		if p.in != nil && s.Member == p.in.Self && int(s.Count) > 1+p.owed {
			p.town.fail("%s owes %d rows, and row %d takes %d items", p.name, p.owed, r.Tick,
				s.Count)
		}
		text += fmt.Sprintf(" %d(%d)*%d", s.Player(), s.Member, s.Count)
		for item := range s.Items {
			text += fmt.Sprintf(" %q", item)
		}
	}
	p.owed = p.client.Owed()
	p.rows = append(p.rows, text)
	p.came = append(p.came, p.town.net.Now())
	if p.onRow != nil {
		p.onRow(r)
	}
}

// same says whether all rows that several people have of one tick are the same.
func (t *town) same(people ...*person) error {
	if t.err != nil {
		return t.err
	}
	seen := map[uint32]string{}
	by := map[uint32]string{}
	for _, p := range people {
		for i, text := range p.rows {
			tick := p.first + uint32(i)
			if was, ok := seen[tick]; ok && was != text {
				return fmt.Errorf("row %d:\n%s: %s\n%s: %s", tick, by[tick], was, p.name, text)
			}
			seen[tick], by[tick] = text, p.name
		}
	}
	return nil
}

// match has some people meet in a match of the first one.
func (t *town) match(m relay.Match, people ...*person) {
	m.Game = game
	people[0].create(m, relay.Entry{})
	t.net.RunUntil(20*time.Second, func() bool { return people[0].in != nil || t.err != nil })
	if people[0].in == nil {
		t.fail("%s is not let in", people[0].name)
		return
	}
	for _, p := range people[1:] {
		p.mode = m.Mode
		p.join(people[0].in.Code, [relay.SecretSize]byte{}, relay.Entry{})
	}
}
