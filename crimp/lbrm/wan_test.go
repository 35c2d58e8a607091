package lbrm

import (
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/link"
)

// machine is a source, a log or a receiver.
type machine interface {
	Receive(now time.Duration, batch []link.Datagram)
	Tick(now time.Duration)
	Flush(out []link.Datagram) []link.Datagram
}

// wan is a source with its log, and sites behind lines that lose, each with receivers that do.
type wan struct {
	r       det.Rand
	o       Options
	source  *Source
	primary *Log
	logs    []*Log
	all     []*Receiver
	nodes   []node
	air     []onWay
	now     time.Duration
	tail    float64 // how much is lost on the line to a site
	local   float64 // and by each machine there
	perSite int
	came    []map[uint64]time.Duration // by receiver
	events  [6]int
	silence bool // the source is cut off
}

type node struct {
	machine
	addr netip.AddrPort
	site int // -1 for the source and its log
}

type onWay struct {
	at   time.Duration
	to   int
	from netip.AddrPort
	data []byte
}

func addr(site, n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(site + 1), 0, byte(n + 1)}), 4000)
}

func siteGroup(site int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{239, 1, 1, byte(site + 1)}), 4000)
}

func newWAN(t testing.TB, seed uint64, sites, perSite int, change func(*Options)) *wan {
	w := &wan{r: det.At(seed, 1, 2), perSite: perSite, o: Options{
		Group: netip.MustParseAddrPort("239.1.2.3:4000"), Primary: addr(-1, 1)}}
	if change != nil {
		change(&w.o)
	}
	add := func(m machine, err error, at netip.AddrPort, site int) {
		if err != nil {
			t.Fatal(err)
		}
		w.nodes = append(w.nodes, node{m, at, site})
	}
	var err error
	id := func() uint32 { return uint32(w.r.Uint64()) }
	w.source, err = NewSource(w.o, id())
	add(w.source, err, addr(-1, 0), -1)
	w.primary, err = NewPrimary(w.o, id())
	add(w.primary, err, addr(-1, 1), -1)
	for s := range sites {
		l, err := NewLog(w.o, id(), siteGroup(s))
		w.logs = append(w.logs, l)
		add(l, err, addr(s, 0), s)
		for i := range perSite {
			r, err := NewReceiver(w.o, id(), addr(s, 0), 0)
			w.all = append(w.all, r)
			w.came = append(w.came, map[uint64]time.Duration{})
			add(r, err, addr(s, i+1), s)
		}
	}
	return w
}

// send puts a datagram on its way to all that it is for, if it is not lost before.
func (w *wan) send(from *node, d link.Datagram) {
	if w.silence && from.site < 0 {
		return
	}
	crosses := map[int]bool{} // whether it passed the line to a site: it is lost there for all
	for i := range w.nodes {
		n := &w.nodes[i]
		to := d.Addr == n.addr || d.Addr == w.o.Group ||
			n.site >= 0 && d.Addr == siteGroup(n.site) && from.site == n.site
		if !to || n.addr == from.addr {
			continue
		}
		delay := time.Millisecond
		if n.site != from.site {
			delay = 40 * time.Millisecond
			line := max(n.site, from.site)
			if _, ok := crosses[line]; !ok {
				crosses[line] = !w.r.Chance(w.tail)
			}
			if !crosses[line] {
				continue
			}
		}
		if n.site >= 0 && w.r.Chance(w.local) {
			continue
		}
		delay += time.Duration(w.r.IntN(5)) * time.Millisecond
		w.air = append(w.air, onWay{w.now + delay, i, from.addr, d.Data})
	}
}

const step = 5 * time.Millisecond

// run lets time pass.
func (w *wan) run(until time.Duration) {
	var out []link.Datagram
	for ; w.now < until; w.now += step {
		kept := w.air[:0]
		for _, p := range w.air {
			if p.at > w.now {
				kept = append(kept, p)
				continue
			}
			w.nodes[p.to].Receive(w.now, []link.Datagram{{Addr: p.from, Data: p.data}})
		}
		w.air = kept
		for i := range w.nodes {
			w.nodes[i].Tick(w.now)
			out = w.nodes[i].Flush(out[:0])
			for _, d := range out {
				w.send(&w.nodes[i], d)
			}
		}
		for i, r := range w.all {
			for _, e := range r.Events() {
				w.events[e.Kind]++
				if e.Kind == Delivered {
					w.came[i][e.Seq] = w.now
				}
			}
		}
	}
}
