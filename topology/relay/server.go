package relay

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/seed"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/drive"
)

// Options are what a relay takes. Links, Keys and the seed and time of Conn have no defaults.
type Options struct {
	// Links are where members come from. The relay owns them.
	Links []link.Link
	// Keys open tokens; the first also seals tickets.
	Keys []token.Key
	// Conn is what else connections take: Seed and Wall are needed. Protocol, Version and Channels
	// are the relay's.
	Conn   conn.Options
	Limits Limits
	// Step is how often Run looks for what has come and what is due. Default: 2 ms.
	Step time.Duration
	// Ticked, if set, is told by Run how long each tick took.
	Ticked func(time.Duration)
	// News, if set, is told what happens, for logs.
	News func(News)
	// Voter, if set, makes a witness for a match in mesh mode, or says nil for none.
	Voter func(Code, *Match) Voter
}

// A Server is a relay. It is driven by Tick, every few milliseconds, or by Run. Its methods belong
// to the goroutine that drives it; while Run does, others use Do.
type Server struct {
	opt     Options
	ports   []*port
	matches []*match
	wakes   []time.Duration // of each match: when to look at it
	byCode  map[Code]*match
	sources sources
	random  *seed.Reader
	calls   drive.Calls

	now     time.Duration
	born    time.Time     // when Run's clock was at zero
	flushed time.Duration // all connections, for the last time
	greeted time.Duration // newcomers
	swept   time.Duration
	started uint64 // matches that have begun with rows
	conns   int    // connections
	closing bool

	stats   Stats
	writer  bits.Writer
	reader  bits.Reader
	runs    [mostRuns]span
	item    [1 + MaxItem]byte
	scratch []byte
	flat    []byte
}

// New makes a relay.
func New(o Options) (*Server, error) {
	o.Limits.fill()
	if o.Step <= 0 {
		o.Step = 2 * time.Millisecond
	}
	if len(o.Links) == 0 {
		return nil, errors.New("relay: no link, nobody could reach the relay")
	}
	s := &Server{
		opt: o, byCode: map[Code]*match{}, sources: sources{}, born: time.Now(),
	}
	for i, l := range o.Links {
		p, err := s.newPort(l, i)
		if err != nil {
			return nil, err
		}
		s.ports = append(s.ports, p)
	}
	s.random = seed.New(s.seedFor("relay"))
	s.random.Forget()
	s.opt.Conn.Seed = [32]byte{}
	return s, nil
}

func (s *Server) seedFor(what string) [32]byte {
	return sha256.Sum256(append(s.opt.Conn.Seed[:32:32], what...))
}

// Rates of connections with a relay, in bytes a second. What is carried has rate control of its
// own, so the relay's stays out of its way.
const (
	startRate = 2 << 20
	leastRate = 256 << 10
)

// options are those of both ends of a connection.
func options(o conn.Options) conn.Options {
	o.Protocol, o.Version, o.Channels = Protocol, Version, Channels()
	o.MaxBulk = -1
	if o.RideShare == 0 {
		o.RideShare = -1 // what is said beside rows may take a round trip more where it is lost
	}
	if o.Rate == 0 {
		o.Rate = startRate
	}
	if o.MinRate == 0 {
		o.MinRate = leastRate
	}
	return o
}

// A port is one link of a relay, with the connections that came by it.
type port struct {
	link   link.Link
	keeper link.Keeper // the same, if it has places
	conn   *conn.Server
	batch  []link.Datagram
	out    []link.Datagram
	spoken []*conn.Conn // those with something to say before the next Flush of all
	peers  []*peer      // by the slot of their connections
	down   error
	empty  bool
}

func (s *Server) newPort(l link.Link, i int) (*port, error) {
	o := conn.ServerOptions{
		Options: options(s.opt.Conn), Keys: s.opt.Keys,
		MaxClients: s.opt.Limits.Connections, MaxPerSource: s.opt.Limits.PerAddress,
		Source:     func(peer netip.AddrPort) netip.Addr { return sourceOf(l, peer) },
		DatagramTo: func(peer netip.AddrPort) int { return link.MaxTo(l, peer) },
	}
	o.Seed = s.seedFor(fmt.Sprintf("link %d", i))
	c, err := conn.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("relay: link %d: %w", i, err)
	}
	p := &port{link: l, conn: c, batch: make([]link.Datagram, receiveBatch)}
	if p.keeper, _ = l.(link.Keeper); p.keeper != nil {
		p.keeper.Guard(provingTime)
	}
	return p, nil
}

// sourceOf is what a peer of a link counts for where addresses are limited. This machine's own, the
// zero address, is not.
func sourceOf(l link.Link, peer netip.AddrPort) netip.Addr {
	a := link.Remote(l, peer).Addr().Unmap()
	if a.IsLoopback() {
		return netip.Addr{}
	}
	return link.SourceOf(a)
}

const (
	receiveBatch = 128
	handleBatch  = 16
	// provingTime is how long a session of a browser may take to connect.
	provingTime = 10 * time.Second
	// flushEvery is how often all connections are looked after, and flushAtOnce how many that may
	// be before it is less often: those who are sent rows are looked after when they are.
	flushEvery  = 25 * time.Millisecond
	flushAtOnce = 512
	sweepEvery  = time.Second
	// mostAtOnce is how many datagrams of each link one tick takes in, beside mostOfEach for each
	// connection.
	mostAtOnce = 4096
	mostOfEach = 8
)

// Token issues a token by which someone can connect within the given time.
func (s *Server) Token(client uint64, life time.Duration) (token.Token, error) {
	wall := s.opt.Conn.Wall + int64(s.now/time.Second)
	return token.Issue(s.opt.Keys[0], token.Grant{
		Protocol: Protocol, Client: client, Issued: wall,
		Expires: wall + int64((life+time.Second-1)/time.Second),
	}, rand.Reader)
}

// Tick takes in what has come, closes the rows that are due, and sends. It is called every few
// milliseconds, with a time that runs forward. The error is one that the relay cannot go on after.
func (s *Server) Tick(now time.Duration) error {
	if gap := now - s.now; gap > drive.Stall && s.now > 0 {
		s.stats.Stalls++
		for _, m := range s.matches {
			if len(m.peers) > 0 {
				m.begin += gap // nobody could be heard meanwhile
			}
		}
	}
	s.now = now
	if !s.takeIn() {
		return errors.New("relay: every link has ended, nobody can reach the relay any more")
	}
	for i := 0; i < len(s.matches); i++ {
		if s.wakes[i] <= now {
			m := s.matches[i]
			s.wakes[i] = now + time.Hour
			s.attend(m)
		}
	}
	if now-s.swept >= sweepEvery {
		s.sweep()
	}
	s.flush()
	return nil
}

// wake has a match looked at no later than at a time.
func (s *Server) wake(m *match, at time.Duration) {
	s.wakes[m.index] = min(s.wakes[m.index], at)
}

// takeIn handles what waits at the links, each in turn, and says whether any is alive.
func (s *Server) takeIn() (alive bool) {
	rounds := (mostAtOnce + mostOfEach*s.conns) / receiveBatch
	for _, p := range s.ports {
		p.empty = p.down != nil
	}
	for waiting := true; waiting && rounds > 0; rounds-- {
		waiting = false
		for _, p := range s.ports {
			if p.empty {
				continue
			}
			s.takeBatch(p)
			waiting = waiting || !p.empty
		}
	}
	for _, p := range s.ports {
		if p.down == nil {
			s.handle(p) // what flushing has brought about
			alive = true
		}
	}
	return alive
}

func (s *Server) takeBatch(p *port) {
	n, err := p.link.Receive(p.batch)
	if err != nil {
		p.down, p.empty = err, true
		s.tell(News{Kind: NewsLinkDown, Err: err})
		return
	}
	for i := 0; i < n; i += handleBatch {
		p.conn.Receive(s.now, p.batch[i:min(i+handleBatch, n)])
		s.handle(p)
	}
	p.empty = n < len(p.batch)
}

// flush sends all that is due: on all connections once in a while, and in between on those that
// have something to say.
func (s *Server) flush() {
	every := flushEvery * time.Duration(1+s.conns/flushAtOnce)
	all := s.now-s.flushed >= every || s.closing
	if all {
		s.flushed = s.now
	}
	if s.now-s.greeted >= flushEvery {
		s.greeted = s.now
	}
	for _, p := range s.ports {
		if p.down == nil {
			p.flush(s, all)
		}
	}
}

func (p *port) flush(s *Server, all bool) {
	if all {
		p.out = p.conn.Flush(s.now, p.out[:0])
	} else {
		if s.greeted == s.now {
			p.conn.AttendStrangers(s.now)
		}
		p.out = p.conn.FlushSome(s.now, p.spoken, p.out[:0])
	}
	clear(p.spoken)
	p.spoken = p.spoken[:0]
	for done := 0; done < len(p.out); {
		n, err := p.link.Send(p.out[done:])
		if done += n; err == nil {
			continue
		}
		if !link.Passing(err) {
			p.down = err
			s.tell(News{Kind: NewsLinkDown, Err: err})
			return
		}
		p.conn.Refused(done)
		done++
	}
}

// sweep does what need not be done often.
func (s *Server) sweep() {
	s.swept = s.now
	for _, o := range s.ports {
		if o.down != nil {
			continue
		}
		for c := range o.conn.Conns {
			if o.keeper != nil {
				o.keeper.Keep(c.Addr())
			}
			if p := o.peer(c); p != nil && p.match == nil && s.now-p.since > provingTime {
				s.drop(p, ReasonSilent, "asked for no match")
			}
		}
		if o.keeper != nil {
			o.keeper.Guard(provingTime)
		}
	}
	for i := 0; i < len(s.matches); {
		if m := s.matches[i]; s.over(m) {
			s.remove(m)
			continue
		}
		i++
	}
	s.sources.sweep(s.now)
}

// drop ends a connection with a reason.
func (s *Server) drop(p *peer, reason conn.Reason, note string) {
	if p.ending {
		return
	}
	p.ending = true
	s.stats.count(reason)
	s.tell(News{Kind: NewsDropped, Peer: p.about(), Text: note, Reason: reason})
	p.conn.Close(reason, note)
}

// offend ends the connection of a member that sent what no honest one does.
func (s *Server) offend(p *peer, what string) {
	s.stats.Offences++
	s.drop(p, ReasonOffence, what)
}

// Shutdown tells everyone that the relay stops, and lets no one in any more. Call Tick until Done,
// or for two seconds, so that all hear of it.
func (s *Server) Shutdown(note string) {
	s.closing = true
	for _, p := range s.ports {
		p.conn.Shutdown(conn.ReasonClosing, note)
	}
}

// Done says whether everyone knows that the relay has stopped.
func (s *Server) Done() bool {
	for _, p := range s.ports {
		if p.down == nil && !p.conn.Done() {
			return false
		}
	}
	return s.closing
}

// Close closes the links, without a word to anyone.
func (s *Server) Close() error {
	s.calls.Close()
	var all []error
	for _, p := range s.ports {
		all = append(all, p.link.Close())
	}
	return errors.Join(all...)
}
