package membership

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/council"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
)

// sorted lists the keys of a map in order, so that a run repeats from its seed.
func sorted[V any](m map[member.ID]V) []member.ID { return slices.Sorted(maps.Keys(m)) }

// asking is one that asks at doors: to be let in, for the state, or whether it still is a
// member. A door that does not answer at once is not waited for: the next is asked beside it, up to
// maxDoors at a time. A door whose mirror does not lead names the überserver. That one is asked
// then; if it does not answer either, the door that did asks for us.
type asking struct {
	m        *Membership
	targets  []netip.AddrPort
	turn     int // which of them is next
	rounds   int // through all targets
	attempts []*attempt
	nextAt   time.Duration // when to ask the next, if there is no answer by then
	began    time.Duration
	started  bool
	inquiry  bool // only whether we are still in
	stopped  bool // there is nothing more to ask for
	refused  map[netip.AddrPort]refusal
	silent   map[netip.AddrPort]bool // have not answered
}

// attempt is a connection to one door.
type attempt struct {
	client  *conn.Client
	at      netip.AddrPort
	began   time.Duration
	hops    int            // so many doors in a row have named the next
	conn    *conn.Conn     // once the door has answered
	heard   time.Duration  // when it has, or has begun to ask for us
	named   netip.AddrPort // the überserver, if the door has named it
	through bool           // the door was told that we do not reach that one
	closed  bool
	start   *start
	state   []byte
	has     bool
}

func newAsking(m *Membership, targets []netip.AddrPort) *asking {
	return &asking{m: m, targets: targets, refused: map[netip.AddrPort]refusal{},
		silent: map[netip.AddrPort]bool{}}
}

type refusal struct {
	why  crimp.Reason
	text string
}

const (
	connectPatience = time.Second
	doorTimeout     = 4 * time.Second
	maxHops         = 4
	// maxDoors bounds the doors that are asked at a time, and maxAttempts those with the ones that
	// they have named.
	maxDoors    = 3
	maxAttempts = 4
	// stagger is how long a door has to answer until the next is asked as well.
	stagger = 250 * time.Millisecond
	// throughAfter is how long the überserver has to answer until another asks it for us.
	throughAfter = 500 * time.Millisecond
	// hope is for how long no other is asked when a door has answered and decides nothing.
	hope = time.Second
	// maxKnown bounds the addresses of which it is remembered how they answered.
	maxKnown = 256
)

// dial makes a connection to a door, with a token that this mirror issues to itself.
func (a *asking) dial(to netip.AddrPort, hops int) error {
	m := a.m
	t, err := token.Issue(m.opt.Keys[0], token.Grant{
		Protocol: m.opt.Protocol, Client: m.client, Expires: m.opt.Wall + int64(m.now/time.Second) +
			tokenLife,
	}, m.random)
	if err != nil {
		return fmt.Errorf("membership: %w", err)
	}
	o := conn.ClientOptions{
		Token: t, Servers: []netip.AddrPort{to}, ConnectTimeout: connectPatience}
	if m.self != 0 {
		o.ConnectTimeout *= 2 // it may have to be found out who carries it
	}
	o.Protocol, o.Version, o.Wall, o.Channels, o.MaxBulk = m.opt.Protocol, joinVersion, m.opt.Wall,
		channels, m.opt.MaxState
	o.Datagram, o.Timeout = max(m.opt.Datagram, 512), doorTimeout
	m.random.Read(o.Seed[:])
	c, err := conn.NewClient(o)
	if err != nil {
		return fmt.Errorf("membership: %w", err)
	}
	a.makeRoom()
	a.attempts = append(a.attempts, &attempt{client: c, at: to, began: m.now, hops: hops})
	a.nextAt = m.now + stagger<<min(a.rounds, 4)
	return nil
}

// makeRoom gives up an attempt if there are many: the oldest, of those without an answer if there
// are any.
func (a *asking) makeRoom() {
	if a.open() < maxAttempts {
		return
	}
	oldest := func(answered bool) *attempt {
		i := slices.IndexFunc(a.attempts,
			func(t *attempt) bool { return !t.closed && (t.conn != nil) == answered })
		if i < 0 {
			return nil
		}
		return a.attempts[i]
	}
	a.drop(cmp.Or(oldest(false), oldest(true)))
}

// open counts the attempts that go on.
func (a *asking) open() (n int) {
	for _, t := range a.attempts {
		if !t.closed {
			n++
		}
	}
	return n
}

// of is the attempt at an address, or nil.
func (a *asking) of(at netip.AddrPort) *attempt {
	i := slices.IndexFunc(a.attempts,
		func(t *attempt) bool { return !t.closed && t.at == at })
	if i < 0 {
		return nil
	}
	return a.attempts[i]
}

// drop ends an attempt: the goodbye goes out with the next Flush.
func (a *asking) drop(t *attempt) {
	if !t.closed {
		t.closed = true
		t.client.Close(conn.ReasonLeft, "")
	}
}

// dropOthers ends all attempts but one.
func (a *asking) dropOthers(t *attempt) {
	for _, o := range a.attempts {
		if o != t {
			a.drop(o)
		}
	}
}

// close ends asking in good order.
func (a *asking) close() { a.dropOthers(nil) }

// sweep forgets attempts that have ended.
func (a *asking) sweep() {
	a.attempts = slices.DeleteFunc(a.attempts, func(t *attempt) bool {
		if !t.closed || !t.client.Done() {
			return false
		}
		l := t.client.Ledger()
		a.m.bytes += l.Total()
		return true
	})
}

func (a *asking) deadline() time.Duration {
	at := a.m.now + time.Second
	for _, t := range a.attempts {
		at = min(at, t.client.Deadline())
		if u := a.of(t.named); !t.closed && !t.through && u != nil && u.conn == nil {
			at = min(at, u.began+throughAfter)
		}
	}
	if !a.stopped && !a.m.done && a.open() < maxDoors {
		at = min(at, max(a.nextAt, a.hopes()))
	}
	return at
}

// step does what doors say, and goes on to the next.
func (a *asking) step() {
	m := a.m
	if !a.started {
		a.started, a.began = true, m.now
	}
	if m.self == 0 && m.opt.Patience > 0 && m.now-a.began > m.opt.Patience && !m.done {
		a.giveUp()
	}
	for _, t := range slices.Clone(a.attempts) {
		a.take(t)
	}
	a.sweep()
	if m.done || a.stopped {
		if len(a.attempts) == 0 {
			m.asking = nil
		}
		return
	}
	a.askThrough()
	a.askAgain()
	a.askMore()
}

// take does what one door says.
func (a *asking) take(t *attempt) {
	m := a.m
	for _, e := range t.client.Events() {
		if t.closed || m.done {
			return // it was left for another
		}
		switch e.Kind {
		case conn.Connected:
			t.conn = e.Conn
			delete(a.silent, t.at)
			for _, o := range a.attempts {
				if o.named == t.at && !o.through {
					a.drop(o)
				}
			}
			a.join(t)
		case conn.Message:
			a.message(t, e.Data)
		case conn.BulkReceived:
			if e.Tag == stateTag && !t.has {
				t.has, t.state = true, e.Data
				a.begin(t)
			}
		case conn.Disconnected:
			a.lost(t, e.Reason)
		}
	}
}

// join asks at a door that has answered.
func (a *asking) join(t *attempt) {
	m := a.m
	t.heard = m.now
	j := join{m.self, m.Epoch(), m.opt.Witness, t.through, m.opt.Order, m.opt.History, m.opt.About,
		m.opt.Card}
	_ = t.conn.Send(channel, write(messageJoin, &j))
}

// askThrough has doors ask for this mirror, if the überserver that they have named does not answer.
func (a *asking) askThrough() {
	if a.m.self != 0 {
		return
	}
	for _, t := range a.attempts {
		if t.closed || t.through || !t.named.IsValid() {
			continue
		}
		u := a.of(t.named)
		if u == nil || u.conn == nil && (a.silent[t.named] || a.m.now-u.began >= throughAfter) {
			t.through = true
			a.join(t)
		}
	}
}

// askAgain reminds an überserver that it owes the state: it may have come to lead since it was
// asked. A candidate asks again at doors that have not said anything for a while.
func (a *asking) askAgain() {
	if t := a.uber(); t != nil && t.start == nil && a.m.now-t.heard >= doorTimeout {
		a.join(t)
	}
	if a.m.self != 0 {
		return
	}
	// Doors may have named each other while the lead changed hands.
	for _, t := range a.attempts {
		if !t.closed && t.conn != nil && !t.through && a.m.now-t.heard >= doorTimeout {
			t.named = netip.AddrPort{}
			a.join(t)
		}
	}
}

// uber is the attempt at the überserver, if that has answered and is asked for the state.
func (a *asking) uber() *attempt {
	m := a.m
	if uber := m.charter.find(m.uber); uber != nil && !m.state {
		if t := a.of(uber.Addr); t != nil && t.conn != nil {
			return t
		}
	}
	return nil
}

// hopes is until when no other door is asked, as one that has answered may yet let us in.
func (a *asking) hopes() (until time.Duration) {
	if a.uber() != nil {
		return a.m.now + hope // it gives the state as fast as it can
	}
	for _, t := range a.attempts {
		if !t.closed && t.conn != nil {
			until = max(until, t.heard+hope)
		}
	}
	return until
}

// askMore asks the next door, if it is time.
func (a *asking) askMore() {
	m := a.m
	if m.now < a.nextAt || a.open() >= maxDoors || m.now < a.hopes() {
		return
	}
	if m.self != 0 {
		a.targets = m.doors()
	}
	if len(a.targets) == 0 {
		if a.open() == 0 {
			m.asking = nil
		}
		return
	}
	n := len(a.targets)
	for i := range n {
		to := a.targets[(a.turn+i)%n]
		if a.of(to) != nil {
			continue
		}
		a.rounds += (a.turn%n + i + 1) / n
		a.turn = (a.turn + i + 1) % n
		if err := a.dial(to, 0); err != nil {
			m.end(crimp.Denied, crimp.ReasonToken, err.Error())
		}
		return
	}
	a.nextAt = m.now + stagger // all of them are being asked
}

// pause has the next door asked after a while that grows with each round.
func (a *asking) pause() {
	pause := 100 * time.Millisecond << min(a.rounds, 5)
	a.nextAt = a.m.now + pause/2 + time.Duration(a.m.random.Uint64()%uint64(pause))
}

// message does what a door says.
func (a *asking) message(t *attempt, b []byte) {
	m := a.m
	if len(b) == 0 {
		return
	}
	switch b[0] {
	case messageDenied:
		if len(b) < 2 {
			return
		}
		kind := crimp.Denied
		if m.self != 0 {
			// A member that is in touch with the others hears from them, with proof, if it is out.
			if m.state && m.council.Quorum() {
				m.refusals.Door++
				return
			}
			kind = crimp.Dismissed
		}
		m.end(kind, crimp.Reason(b[1]), string(b[2:]))
	case messageWait:
		a.drop(t)
		a.pause()
	case messageRedirect:
		a.redirected(t, b)
	case messageWelcome:
		a.welcomed(t, b)
	case messageDecree:
		if l, err := council.ReadLink(b[1:]); err == nil && m.self != 0 &&
			m.council.Teach(m.now, &l) {
			m.learn()
		}
	case messageStart:
		if s := new(start); t.start == nil && m.self != 0 && !m.state && read(b, s) {
			t.start = s
			m.g.Expect(m.now, s.Start)
			a.begin(t)
		}
	}
}

// redirected asks the überserver that a door has named. A candidate keeps the door: it may have to
// ask for it.
func (a *asking) redirected(t *attempt, b []byte) {
	m := a.m
	var to address
	if !read(b, &to) || t.hops >= maxHops || to.AddrPort == t.at ||
		to.AddrPort == m.opt.Card.Addr {
		a.drop(t)
		a.pause()
		return
	}
	if t.named = to.AddrPort; m.self != 0 {
		a.drop(t)
	}
	if a.of(t.named) == nil && a.dial(t.named, t.hops+1) != nil {
		a.drop(t)
		a.pause()
	}
}

// welcomed takes it that this mirror was let in.
func (a *asking) welcomed(t *attempt, b []byte) {
	m := a.m
	var w welcome
	if !read(b, &w) || m.self != 0 {
		return
	}
	l, err := council.ReadLink(w.link)
	if err == nil {
		err = m.welcomed(w.member, &l)
	}
	switch {
	case err != nil:
		m.end(crimp.Denied, crimp.ReasonMismatch, err.Error())
	case m.opt.Witness:
		m.state = true
		a.stop()
	case t.through:
		a.follow() // who has told it does not have the state to give
	default:
		a.dropOthers(t)
	}
}

// begin takes up where the state ends. State and start may come in either order.
func (a *asking) begin(t *attempt) {
	m := a.m
	if t.start == nil || t.start.state && !t.has || m.state {
		return
	}
	if t.start.state {
		m.g.Tell(crimp.Event{Kind: crimp.State, Member: m.self, Data: t.state})
	}
	m.g.Begin(m.now, t.start.Start)
	m.state, m.sayAt = true, m.now
	a.stop()
}

// stop ends asking: there is nothing more to ask for.
func (a *asking) stop() {
	a.stopped = true
	a.close()
	for _, t := range a.attempts {
		t.state, t.start = nil, nil
	}
}

// refusals are the ends of a connection that say that asking again does not help.
var refusals = map[conn.Reason]refusal{
	conn.ReasonWrongGame: {crimp.ReasonGame, "the mirror asked is of another game"},
	conn.ReasonWrongVersion: {
		crimp.ReasonProgram, "the mirror asked speaks another version of the protocol"},
	conn.ReasonBadToken: {crimp.ReasonToken, "the mirror asked has another key"},
	conn.ReasonExpired: {
		crimp.ReasonToken,
		"the mirror asked takes the token for out of date: check the clocks of both machines"},
	conn.ReasonBanned:      {crimp.ReasonRefused, ""},
	conn.ReasonWrongServer: {crimp.ReasonRefused, ""},
}

// lost deals with the end of a connection.
func (a *asking) lost(t *attempt, why conn.Reason) {
	t.closed = true
	if len(a.refused)+len(a.silent) > maxKnown {
		clear(a.refused)
		clear(a.silent)
	}
	if why == conn.ReasonTimeout && t.conn == nil {
		a.silent[t.at] = true
	}
	r, refused := refusals[why]
	if refused && a.m.self == 0 {
		a.refused[t.at] = r
		if !slices.ContainsFunc(a.targets,
			func(to netip.AddrPort) bool { return a.refused[to].why == 0 }) {
			a.m.end(crimp.Denied, r.why, r.text)
			return
		}
	} else {
		delete(a.refused, t.at)
	}
	a.pause()
}

// follow turns to a new überserver for the state, unless the old one is there and has begun to
// send it.
func (a *asking) follow() {
	m := a.m
	uber := m.charter.find(m.uber)
	if m.state || a.stopped || uber == nil {
		return
	}
	t := a.of(uber.Addr)
	if t != nil && t.conn != nil {
		if a.dropOthers(t); t.named.IsValid() { // it did not lead when it was asked
			t.named, t.through = netip.AddrPort{}, false
			a.join(t)
		}
		return
	}
	for _, o := range a.attempts {
		if o.start != nil && !o.closed && slices.ContainsFunc(m.charter.roster.Members,
			func(x crimp.Member) bool { return x.Addr == o.at }) {
			return
		}
	}
	a.close() // what is under way was asked for by one who was no member
	if err := a.dial(uber.Addr, 0); err != nil {
		a.pause()
	}
}

// giveUp ends asking without success.
func (a *asking) giveUp() {
	r := refusal{
		crimp.ReasonUnreachable,
		fmt.Sprintf("none of %v let this mirror in within %v", a.targets, a.m.opt.Patience)}
	for _, t := range a.targets {
		if got, ok := a.refused[t]; ok {
			r = got
		}
	}
	a.m.end(crimp.Denied, r.why, r.text)
}

// doors lists where members may be found: the überserver first, then the others, then
// those who were asked in the beginning.
func (m *Membership) doors() (list []netip.AddrPort) {
	add := func(a netip.AddrPort) {
		if a.IsValid() && a != m.opt.Card.Addr && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	if uber := m.charter.find(m.uber); uber != nil && m.uber != m.self {
		add(uber.Addr)
	}
	for i := range m.charter.roster.Members {
		add(m.charter.roster.Members[i].Addr)
	}
	for _, a := range m.opt.Ask {
		add(a)
	}
	return list
}

// inquire asks at the doors: for the state, where it was not had from whoever let this
// mirror in, or whether it still is a member.
func (m *Membership) inquire() {
	targets := m.doors()
	if len(targets) == 0 {
		return
	}
	a := newAsking(m, targets)
	a.began, a.started, a.inquiry = m.now, true, m.state
	m.asking = a
	if m.cutOff {
		m.cutAt = m.now // not again at once
	}
	a.turn = 1
	if err := a.dial(targets[0], 0); err != nil {
		m.asking = nil
	}
}
