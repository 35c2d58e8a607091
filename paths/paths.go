package paths

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/seed"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// RelayID stands for the relay where a member is named that carries. No member has it.
const RelayID member.ID = 0xffff

// Paths is how one machine reaches the others of its group. It belongs to one goroutine.
type Paths struct {
	opt    Options
	random *seed.Reader
	now    time.Duration // goes only forward
	relay  bool          // the relay carries now
	number uint64        // of the last ask or carried datagram that we made
	turn   int           // whose turn it is to be looked at first

	reserved []netip.AddrPort // addresses of others than members

	peers []*peer // by rising number
	byID  map[member.ID]*peer
	at    map[netip.AddrPort]*path // where members were heard from

	out    outbox
	queue  relayQueue
	budget bucket // for asks

	table tables
	stats Stats
}

// Addr is the address by which connections know a member, wherever its datagrams really go.
func Addr(id member.ID) netip.AddrPort { return link.SessionAddr(link.Member, uint64(id)) }

// New makes the paths of a machine that knows no member yet.
func New(o Options) *Paths {
	p := &Paths{
		opt: o.withDefaults(), random: seed.New(o.Seed), byID: make(map[member.ID]*peer),
		at: make(map[netip.AddrPort]*path)}
	p.opt.Seed = [32]byte{}
	p.number = uint64(uint32(o.Wall)) << 32
	p.random.Forget()
	return p
}

// Add makes a member known: the key that we share with it and nobody else, and addresses at which
// it may be reached. For a member that is known it adds addresses; another key makes it another
// member, of which nothing is known.
func (p *Paths) Add(now time.Duration, id member.ID, key [32]byte, candidates []netip.AddrPort) {
	p.advance(now)
	if id == 0 || id == RelayID || id == p.opt.Self {
		return
	}
	q := p.byID[id]
	if q != nil && q.key != key {
		p.Remove(id)
		q = nil
	}
	if q == nil {
		q = &peer{
			id: id, key: key, addr: Addr(id), mac: hmac.New(sha256.New, key[:]),
			hearing: hearing{heard: p.now, data: p.now}}
		q.over = p.newPath(q, Relay, 2)
		q.over.via = RelayID
		q.paths = append(q.paths, q.over)
		p.byID[id] = q
		at, _ := slices.BinarySearchFunc(p.peers, id,
			func(q *peer, id member.ID) int { return cmp.Compare(q.id, id) })
		p.peers = slices.Insert(p.peers, at, q)
	}
	for _, c := range candidates {
		p.give(q, netip.AddrPortFrom(c.Addr().Unmap(), c.Port()))
	}
	p.choose(q)
}

// Remove forgets a member.
func (p *Paths) Remove(id member.ID) {
	q := p.byID[id]
	if q == nil {
		return
	}
	for _, x := range q.paths {
		p.unmark(x)
	}
	delete(p.byID, id)
	p.peers = slices.DeleteFunc(p.peers, func(o *peer) bool { return o == q })
	p.table.stale = true
}

// SetRelay says whether there is a relay that can carry now.
func (p *Paths) SetRelay(now time.Duration, ok bool) {
	p.advance(now)
	if ok == p.relay {
		return
	}
	p.relay = ok
	for _, q := range p.peers {
		q.over.doubted, q.over.tries, q.over.next = false, 0, p.now
		p.choose(q)
	}
}

// Reserve names an address that is no member's, such as the relay's, so that no member can pretend
// to be there.
func (p *Paths) Reserve(a netip.AddrPort) {
	a = netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	if slices.Contains(p.reserved, a) {
		return
	}
	p.reserved = append(p.reserved, a)
	for _, q := range p.peers {
		for _, x := range q.paths {
			if x.kind == Direct && x.addr == a {
				p.drop(x)
				break
			}
		}
	}
}

// Send says where datagrams go. Those for a member, by its made-up address, come back with the real
// one or are to be carried by the relay: see Carry. All others stay as they are, and datagrams of
// our own are added. It works within out; what it adds is good until the call after the next.
func (p *Paths) Send(now time.Duration, out []link.Datagram) []link.Datagram {
	p.advance(now)
	kept := out[:0]
	for _, d := range out {
		q, madeUp := p.named(d.Addr)
		switch {
		case !madeUp:
			kept = append(kept, d)
		case q == nil || q.current == nil:
			p.stats.Unsent++
		default:
			p.stats.Sent[q.current.kind]++
			p.stats.SentBytes[q.current.kind] += uint64(len(d.Data))
			if to, ok := p.over(q.current, d.Data); ok {
				kept = append(kept, to)
			}
		}
	}
	return p.out.flush(kept)
}

// named finds the member that a made-up address names.
func (p *Paths) named(a netip.AddrPort) (q *peer, madeUp bool) {
	c, n, ok := link.Session(a)
	if !ok || c != link.Member {
		return nil, false
	}
	if n >= uint64(RelayID) {
		return nil, true
	}
	return p.byID[member.ID(n)], true
}

// over sends a datagram for a member by a path: it returns what goes to the link, or puts it among
// what the relay carries.
func (p *Paths) over(x *path, data []byte) (link.Datagram, bool) {
	switch x.kind {
	case Direct:
		return link.Datagram{Addr: x.addr, Data: data}, true
	case Relay:
		p.toRelay(x.peer, data)
		return link.Datagram{}, false
	}
	hop := p.byID[x.via]
	if hop == nil || !hop.near() {
		p.stats.Unsent++
		return link.Datagram{}, false
	}
	return p.over(hop.current,
		p.wrap(hop, p.opt.Self, x.peer.id, maxCarriers, data))
}

// toRelay puts a datagram among what the relay carries.
func (p *Paths) toRelay(q *peer, data []byte) {
	if !p.relay || !p.queue.add(q.id, data) {
		p.stats.Unsent++
	}
}

// Carry returns what the relay is to carry, in order. The slice and its data are good until the
// next call.
func (p *Paths) Carry() []Carried { return p.queue.take() }

// Receive takes what is ours out of a batch that came, and gives datagrams of members their made-up
// addresses. All others stay as they are. It works within batch.
func (p *Paths) Receive(now time.Duration, batch []link.Datagram) []link.Datagram {
	p.advance(now)
	kept := batch[:0]
	for _, d := range batch {
		at := netip.AddrPortFrom(d.Addr.Addr().Unmap(), d.Addr.Port())
		if Ours(d.Data) {
			if !p.usable(at) {
				p.stats.Strangers++
				continue
			}
			if inner, ok := p.take(d.Data, source{kind: Direct, addr: at}, d.Waited); ok {
				kept = append(kept, inner)
			}
			continue
		}
		if x := p.at[at]; x != nil {
			x.heard = p.now
			p.hearData(x.peer)
			d.Addr = x.peer.addr
		}
		kept = append(kept, d)
	}
	return kept
}

// Carried takes a datagram that the relay carried here. It returns true if that was for a
// connection, from the made-up address of its sender.
func (p *Paths) Carried(now time.Duration, c Carried) (link.Datagram, bool) {
	p.advance(now)
	q := p.byID[c.Member]
	if q == nil || len(c.Data) == 0 {
		p.stats.Strangers++
		return link.Datagram{}, false
	}
	if Ours(c.Data) {
		return p.take(c.Data, source{kind: Relay, via: c.Member}, 0)
	}
	q.over.heard = p.now
	p.hearData(q)
	return link.Datagram{Addr: q.addr, Data: c.Data}, true
}

// Tick does what is due. It appends datagrams of our own to out, as Send does.
func (p *Paths) Tick(now time.Duration, out []link.Datagram) []link.Datagram {
	p.advance(now)
	if p.table.stale || p.now >= p.table.due {
		p.renewTable()
	}
	for i := range p.peers {
		// Each is the first in turn, so that all have a share of the asks.
		q := p.peers[(i+p.turn)%len(p.peers)]
		p.checkSilence(q)
		for _, x := range q.paths {
			if p.now >= x.next && p.wanted(x) {
				p.askAgain(x)
			}
		}
	}
	p.turn++
	p.forgetLearnt()
	return p.out.flush(out)
}

// Deadline is when Tick has something to do next.
func (p *Paths) Deadline() time.Duration {
	if p.table.stale || p.out.waits() {
		return p.now
	}
	due := p.table.due
	if p.table.ever {
		due = min(due, p.sayDue())
	}
	for _, q := range p.peers {
		if q.expects {
			due = min(due, p.silenceDue(q))
		}
		for _, x := range q.paths {
			if x.next < due && p.wanted(x) {
				due = x.next
			}
		}
	}
	return max(due, p.now)
}

func (p *Paths) advance(now time.Duration) { p.now = max(p.now, now) }

// outbox gathers datagrams of our own. There are two memories, so that what was handed out is good
// until the call after the next.
type outbox struct {
	ready  []link.Datagram
	memory [2][]byte
	turn   int
}

// maxReady is how many datagrams that others make us send wait to be handed out at most, and
// maxMemory how many bytes they take.
const (
	maxReady  = 256
	maxMemory = 256 << 10
)

func (o *outbox) waits() bool { return len(o.ready) > 0 }

// full reports whether what others make us send has to be left out until the next flush. It counts
// what the relay is to carry, too, since that is made here.
func (o *outbox) full() bool {
	return len(o.ready) >= maxReady || len(o.memory[o.turn]) >= maxMemory
}

func (o *outbox) add(d link.Datagram) { o.ready = append(o.ready, d) }

func (o *outbox) flush(out []link.Datagram) []link.Datagram {
	out = append(out, o.ready...)
	o.ready = o.ready[:0]
	o.turn ^= 1
	o.memory[o.turn] = o.memory[o.turn][:0]
	return out
}

// relayQueue gathers what the relay is to carry.
type relayQueue struct {
	list   [2][]Carried
	memory [2][]byte
	turn   int
}

// maxQueue is how many datagrams wait for Carry at most. An owner that never calls it loses them.
const maxQueue = 1024

func (r *relayQueue) add(to member.ID, data []byte) bool {
	k := r.turn
	if len(r.list[k]) >= maxQueue {
		return false
	}
	from := len(r.memory[k])
	r.memory[k] = append(r.memory[k], data...)
	r.list[k] = append(r.list[k], Carried{to, r.memory[k][from:len(r.memory[k]):len(r.memory[k])]})
	return true
}

func (r *relayQueue) take() []Carried {
	list := r.list[r.turn]
	r.turn ^= 1
	r.list[r.turn], r.memory[r.turn] = r.list[r.turn][:0], r.memory[r.turn][:0]
	return list
}
