package query

import (
	"cmp"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/internal/heap"
	"github.com/coeval-dev/coeval/link"
)

// ProbeOptions say how a Prober measures. Seed has no default.
type ProbeOptions struct {
	// Seed is 32 random bytes, from which nonces are drawn.
	Seed [32]byte
	// Pings is how many go to each address, up to 64. Default: 8.
	Pings int
	// Spread is the time between two pings to one address, more or less, so that they meet
	// different moments of the network. Default: 100 ms.
	Spread time.Duration
	// Patience is after how long a ping is lost. Default: 1 s.
	Patience time.Duration
	// Rate is how many pings go out in a second, to all addresses together. Default: 1000.
	Rate int
	// Info also asks each address what it is, until it answers or the pings are over.
	Info bool
}

const (
	mostPings = 64
	// infoLength is how long a first question is, as pings wait behind it on a slow line: most
	// answers fit, and whoever has a longer one says so.
	infoLength = 400
)

func (o *ProbeOptions) fill() {
	o.Pings = min(max(cmp.Or(o.Pings, 8), 1), mostPings)
	o.Spread = max(cmp.Or(o.Spread, 100*time.Millisecond), time.Millisecond)
	o.Patience = max(cmp.Or(o.Patience, time.Second), time.Millisecond)
	o.Rate = max(cmp.Or(o.Rate, 1000), 1)
}

// A Probed is what is known of an address so far.
type Probed struct {
	Addr netip.AddrPort
	Round
	// Info is what the server says of itself, if Known.
	Info  Info
	Known bool
	// Done says that nothing more is sent to it or waited for.
	Done bool
}

// A Prober measures the ways to many servers at once, and asks them what they are. It is given the
// time and the datagrams that came, and hands back those that are to go.
type Prober struct {
	opt    ProbeOptions
	nonces nonces
	at     map[netip.AddrPort]*target
	order  []*target
	due    heap.Heap[time.Duration, *target]
	pushed uint64
	next   time.Duration // when the rate lets another datagram go
	open   int           // targets that are not done

	buf   []byte
	trips []time.Duration
	// Strangers counts answers from addresses that were not asked, or with a nonce that was not
	// sent there; Again answers that came twice.
	Strangers, Again uint64
}

// target is one address.
type target struct {
	addr   netip.AddrPort
	cookie Cookie
	pings  []trip
	asked  []trip // for Info
	done   bool
	lost   int
	info   Info
	known  bool
	silent bool // it does not say what it is, though it answers
	short  bool // what it is needs a longer query
}

// trip is one datagram that went out.
type trip struct {
	nonce    uint64
	sent     time.Duration
	took     time.Duration
	answered bool
}

// NewProber makes a prober that has nobody to ask yet.
func NewProber(o ProbeOptions) *Prober {
	o.fill()
	return &Prober{opt: o, nonces: newNonces(&o.Seed), at: map[netip.AddrPort]*target{}}
}

// Add has an address be measured from now on. One that is there already is not asked anew.
func (p *Prober) Add(now time.Duration, addr netip.AddrPort) {
	addr = plain(addr)
	if !addr.IsValid() || addr.Port() == 0 || p.at[addr] != nil {
		return
	}
	t := &target{addr: addr, pings: make([]trip, 0, p.opt.Pings)}
	p.at[addr] = t
	p.order = append(p.order, t)
	p.open++
	p.schedule(t, now)
}

func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func (p *Prober) schedule(t *target, at time.Duration) {
	p.pushed++
	p.due = p.due.Push(heap.Item[time.Duration, *target]{Key: at, Order: p.pushed, Value: t})
}

// Deadline is when Flush has something to do, if nothing comes before; false if it never has.
func (p *Prober) Deadline() (time.Duration, bool) {
	if len(p.due) == 0 {
		return 0, false
	}
	return max(p.due[0].Key, p.next), true
}

// Done says that all there is to know is known.
func (p *Prober) Done() bool { return p.open == 0 }

// Flush appends the datagrams that are due to out. Their memory is good until the next Flush.
func (p *Prober) Flush(now time.Duration, out []link.Datagram) []link.Datagram {
	p.buf = p.buf[:0]
	gap := time.Second / time.Duration(p.opt.Rate)
	p.next = max(p.next, now-10*time.Millisecond) // what may go at once
	for len(p.due) > 0 && p.due[0].Key <= now && p.next <= now {
		var x heap.Item[time.Duration, *target]
		x, p.due = p.due.Pop()
		t := x.Value
		if len(t.pings) == p.opt.Pings {
			p.finish(t)
			continue
		}
		out = p.ask(t, Ping, Least, &t.pings, now, out)
		p.next += gap
		if p.opt.Info && !t.known && !t.silent {
			length := infoLength
			if t.short {
				length = Most
			}
			out = p.ask(t, AskInfo, length, &t.asked, now, out)
			p.next += gap * time.Duration(length/100)
		}
		// Not in step with whatever else is periodic on the way.
		wait := p.opt.Spread/2 + time.Duration(p.nonces.draw()%uint64(p.opt.Spread))
		if len(t.pings) == p.opt.Pings {
			wait = p.opt.Patience
		}
		p.schedule(t, now+wait)
	}
	return out
}

func (p *Prober) ask(
	t *target, k Kind, length int, list *[]trip, now time.Duration, out []link.Datagram,
) []link.Datagram {
	q := Query{Kind: k, Nonce: p.nonces.draw(), Cookie: t.cookie}
	*list = append(*list, trip{nonce: q.Nonce, sent: now})
	start := len(p.buf)
	p.buf = q.Append(p.buf, length)
	return append(out, link.Datagram{Addr: t.addr, Data: p.buf[start:len(p.buf):len(p.buf)]})
}

// finish gives up on what has not come.
func (p *Prober) finish(t *target) {
	if t.done {
		return
	}
	t.done = true
	p.open--
	for i := range t.pings {
		if !t.pings[i].answered {
			t.lost++
		}
	}
}

// Receive takes datagrams that came. What is no answer to something that was asked at the address
// that it comes from is counted and left alone.
func (p *Prober) Receive(now time.Duration, batch []link.Datagram) {
	for i := range batch {
		d := &batch[i]
		a, ok := ParseAnswer(d.Data)
		if !ok {
			continue
		}
		t := p.at[plain(d.Addr)]
		if t == nil || t.done {
			p.Strangers++
			continue
		}
		p.receive(t, &a, now-d.Waited)
	}
}

func (p *Prober) receive(t *target, a *Answer, at time.Duration) {
	list := t.pings
	if a.Kind == AskInfo {
		list = t.asked
	}
	i := 0
	for i < len(list) && (list[i].nonce != a.Nonce || a.Kind != Ping && a.Kind != AskInfo) {
		i++
	}
	if i == len(list) {
		p.Strangers++
		return
	}
	x := &list[i]
	if x.answered {
		p.Again++
		return
	}
	x.answered, t.cookie = true, a.Cookie
	if a.Kind == AskInfo {
		t.hear(a)
	} else if x.took = max(at-x.sent-a.Held, 0); x.took > p.opt.Patience {
		x.answered = false // as it was given up already, or will be
	}
	if t.complete(p.opt.Pings) {
		p.finish(t)
	}
}

// hear takes what a server says of itself.
func (t *target) hear(a *Answer) {
	switch info, ok := ParseInfo(a.Body); {
	case t.known:
	case a.Status == Short:
		t.short = true
	case a.Status == OK && ok:
		t.info, t.known = info, true
	default:
		t.silent = true
	}
}

// complete says whether all that was to go has gone and come.
func (t *target) complete(pings int) bool {
	if len(t.pings) < pings || len(t.asked) > 0 && !t.known && !t.silent {
		return false
	}
	for i := range t.pings {
		if !t.pings[i].answered {
			return false
		}
	}
	return true
}

// Len is how many addresses there are, and At the ith of them, in the order of Add.
func (p *Prober) Len() int { return len(p.order) }

// At says what is known of the ith address at a time.
func (p *Prober) At(i int, now time.Duration) Probed {
	t := p.order[i]
	r := Probed{Addr: t.addr, Info: t.info, Known: t.known, Done: t.done}
	r.Sent, r.Lost = len(t.pings), t.lost
	p.trips = p.trips[:0]
	for j := range t.pings {
		if x := &t.pings[j]; x.answered {
			p.trips = append(p.trips, x.took)
		} else if !t.done && now-x.sent > p.opt.Patience {
			r.Lost++
		}
	}
	r.measure(p.trips)
	return r
}

// Of is what is known of an address, if it was added.
func (p *Prober) Of(addr netip.AddrPort, now time.Duration) (Probed, bool) {
	for i, t := range p.order {
		if t.addr == plain(addr) {
			return p.At(i, now), true
		}
	}
	return Probed{}, false
}
