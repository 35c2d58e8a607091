package netsim

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// NATKind is whom a router lets in, and whether it gives a machine one address or many.
type NATKind uint8

// The kinds of routers, by the names of RFC 3489.
const (
	FullCone          NATKind = iota // one port for each machine, and everybody may send to it
	AddressRestricted                // one port; only hosts that the machine has sent to may
	PortRestricted                   // one port; only host and port that it has sent to may
	Symmetric                        // a port for each address it sends to, which alone may answer
	natKinds
)

var natNames = [natKinds]string{
	"full-cone", "address-restricted", "port-restricted", "symmetric"}

// String is the word that tests and documents use.
func (k NATKind) String() string {
	if k >= natKinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return natNames[k]
}

// ParseNATKind reads the word for a kind.
func ParseNATKind(s string) (NATKind, error) {
	if k := slices.Index(natNames[:], s); k >= 0 {
		return NATKind(k), nil
	}
	return 0, fmt.Errorf("unknown kind of router %q, use one of %v", s, natNames)
}

// NAT is how a router translates addresses. The zero value is a full cone without hairpin whose
// bindings last for ever.
type NAT struct {
	Kind NATKind
	// Hairpin lets a machine behind the router reach another, or itself, by the address that the
	// router gave it towards the outside.
	Hairpin bool
	// Timeout is how long a binding lives without outgoing traffic. The next datagram after that
	// gets a new port. Zero means for ever.
	Timeout time.Duration
}

// Router gives the machines behind it other addresses towards the rest of the network. Machines
// behind one router reach each other by their own addresses, which mean nothing outside: another
// router may have the same behind it.
type Router struct {
	net   *Net
	name  string
	nat   NAT
	outer *Router    // behind which it stands itself, or nil
	addr  netip.Addr // outside
	hosts int        // machines and routers that were given an address inside

	endpoints map[netip.AddrPort]*Endpoint // inside
	routers   map[netip.Addr]*Router       // inside
	bindings  map[pairing]*binding
	byPort    map[uint16]*binding
	moved     uint16 // by how much ports are off those of the machines, after a rebind
}

// pairing is what a binding is for: an address inside, and for symmetric routers one outside.
type pairing struct{ inner, outer netip.AddrPort }

// binding is a port of a router that stands for a machine.
type binding struct {
	router *Router
	pairing
	port uint16
	last time.Duration               // when something last went out
	sent map[netip.AddrPort]struct{} // who was sent to; without ports where only hosts count
	gone bool
}

const (
	firstHome  = 0xc0a80102 // 192.168.1.2, the same behind every router
	firstAtISP = 0x64400002 // 100.64.0.2, for routers behind a router (RFC 6598)
	portStep   = 7919       // a good part of the range, as routers' ports do
	maxNested  = 4          // routers behind each other
)

// Router makes a router with an address of its own. Scripts can rebind it by its name.
func (n *Net) Router(name string, o NAT) *Router {
	r := &Router{
		net: n, name: word(name), nat: o, endpoints: make(map[netip.AddrPort]*Endpoint),
		routers: make(map[netip.Addr]*Router), bindings: make(map[pairing]*binding),
		byPort: make(map[uint16]*binding)}
	n.allRouters = append(n.allRouters, r)
	r.setAddr(n.publicHost())
	return r
}

// publicHost is an address that nobody has yet.
func (n *Net) publicHost() netip.Addr {
	n.nextHost++
	return addr4(firstPublicNAT + n.nextHost - 1)
}

// Name is what scripts call the router.
func (r *Router) Name() string { return r.name }

// Addr is the address that the router has outside.
func (r *Router) Addr() netip.Addr { return r.addr }

// NAT is how the router translates.
func (r *Router) NAT() NAT { return r.nat }

// Behind puts the router behind another, as those of an internet provider that has fewer addresses
// than customers. At most four may stand behind each other.
func (r *Router) Behind(outer *Router) {
	depth := 1
	for o := outer; o != nil; o = o.outer {
		if depth++; depth > maxNested || o == r {
			panic("netsim: too many routers behind each other")
		}
	}
	delete(r.realm(), r.addr)
	r.outer = outer
	outer.hosts++
	r.setAddr(addr4(uint32(firstAtISP + outer.hosts - 1)))
}

// realm is where the router's outer address has a meaning.
func (r *Router) realm() map[netip.Addr]*Router {
	if r.outer != nil {
		return r.outer.routers
	}
	return r.net.routers
}

func (r *Router) setAddr(a netip.Addr) {
	delete(r.realm(), r.addr)
	r.addr = a
	r.realm()[a] = r
}

// Rebind makes the router forget all bindings, as when it was switched off and on: machines get
// other ports with what they send next. What is on its way to the old ones is lost.
func (r *Router) Rebind() {
	for _, b := range r.bindings {
		b.gone = true
	}
	clear(r.bindings)
	clear(r.byPort)
	r.moved += portStep
}

// RebindAddr gives the router another address outside, and forgets all bindings.
func (r *Router) RebindAddr() {
	r.Rebind()
	if r.outer == nil {
		r.setAddr(r.net.publicHost())
		return
	}
	r.outer.hosts++
	r.setAddr(addr4(uint32(firstAtISP + r.outer.hosts - 1)))
}

// Behind puts the endpoint behind a router, with an address that means something there only:
// 192.168.1.2:4000 for the first. Its PublicAddr is that as well until it sends something.
func (e *Endpoint) Behind(r *Router) {
	r.hosts++
	e.moveBehind(r, netip.AddrPortFrom(addr4(uint32(firstHome+r.hosts-1)), e.local.Port()))
}

// moveBehind puts an endpoint behind a router, with an address there.
func (e *Endpoint) moveBehind(r *Router, local netip.AddrPort) {
	if e.net.byAddr[e.public] == e {
		delete(e.net.byAddr, e.public)
	}
	if e.router != nil {
		delete(e.router.endpoints, e.local)
	}
	e.epoch++
	e.router, e.local, e.public = r, local, local
	r.endpoints[local] = e
}

// Router is what the endpoint stands behind, or nil.
func (e *Endpoint) Router() *Router { return e.router }

// BehindNAT puts the endpoint behind a router of its own. It keeps its local address, and has a
// public one at once.
func (e *Endpoint) BehindNAT(o NAT) {
	r := e.net.Router(e.name+"_router", o)
	e.moveBehind(r, e.local)
	if o.Kind != Symmetric {
		e.public = r.out(e.local, netip.AddrPort{})
	}
}

// rebindPort gives one machine behind the router another port.
func (r *Router) rebindPort(e *Endpoint) {
	port := uint16(0)
	for _, b := range r.bindings {
		if b.inner == e.local {
			port = max(port, b.port) // the same whatever the order
			r.forget(b)
		}
	}
	if r.nat.Kind == Symmetric || port == 0 {
		r.moved += portStep
		return
	}
	r.bind(pairing{inner: e.local}, port)
	e.public = r.outward(e.local)
}

// outward is the address by which the binding of an inner address is known outside of all routers.
func (r *Router) outward(inner netip.AddrPort) netip.AddrPort {
	b := r.bindings[pairing{inner: inner}]
	if b == nil {
		return inner
	}
	a := netip.AddrPortFrom(r.addr, b.port)
	if r.outer != nil {
		return r.outer.outward(a)
	}
	return a
}

func (r *Router) forget(b *binding) {
	b.gone = true
	delete(r.bindings, b.pairing)
	delete(r.byPort, b.port)
}

// bind gives an inner address a port: its own if that is free, or the next after another.
func (r *Router) bind(p pairing, after uint16) *binding {
	port := p.inner.Port()
	if port += r.moved; after != 0 {
		port = after
	}
	for again := after != 0 || r.nat.Kind == Symmetric || port < 1024; again ||
		r.byPort[port] != nil; again = false {
		if port += portStep; port < 1024 {
			port += 1024
		}
	}
	b := &binding{
		router: r, pairing: p, port: port, last: r.net.now,
		sent: make(map[netip.AddrPort]struct{})}
	r.bindings[p], r.byPort[port] = b, b
	return b
}

func (b *binding) expired() bool {
	t := b.router.nat.Timeout
	return t > 0 && b.router.net.now-b.last > t
}

// out is what the router does to a datagram that goes out: the address it then comes from.
func (r *Router) out(from, to netip.AddrPort) netip.AddrPort {
	p := pairing{inner: from}
	if r.nat.Kind == Symmetric {
		p.outer = to
	}
	b := r.bindings[p]
	after := uint16(0)
	if b != nil && b.expired() {
		after = b.port
		r.forget(b)
		b = nil
	}
	if b == nil {
		b = r.bind(p, after)
	}
	b.last = r.net.now
	switch r.nat.Kind {
	case FullCone:
	case AddressRestricted:
		b.sent[netip.AddrPortFrom(to.Addr(), 0)] = struct{}{}
	default:
		b.sent[to] = struct{}{}
	}
	return netip.AddrPortFrom(r.addr, b.port)
}

// admits is what the router does to a datagram that comes in for a binding.
func (b *binding) admits(from netip.AddrPort) bool {
	if b.gone || b.expired() {
		return false
	}
	switch b.router.nat.Kind {
	case FullCone:
		return true
	case AddressRestricted:
		from = netip.AddrPortFrom(from.Addr(), 0)
	}
	_, ok := b.sent[from]
	return ok
}

// doors are the bindings that a datagram comes in by, from the outermost on.
type doors [maxNested]*binding

// admit asks all routers on the way in.
func (d *doors) admit(from netip.AddrPort) bool {
	for _, b := range d {
		if b == nil {
			break
		}
		if !b.admits(from) {
			return false
		}
	}
	return true
}

// find is who has an address: behind a router, or on the open network where there is none.
func (n *Net) find(in *Router, to netip.AddrPort) (*Endpoint, *Router) {
	if in == nil {
		e := n.byAddr[to]
		if e != nil || len(n.routers) == 0 {
			return e, nil
		}
		return nil, n.routers[to.Addr()]
	}
	return in.endpoints[to], in.routers[to.Addr()]
}

// translate finds who gets a datagram, from where it then seems to come, and by which doors. It
// goes out by as many routers as it has to, and in by as many again.
func (n *Net) translate(e *Endpoint, from, to netip.AddrPort) (
	seen netip.AddrPort, dst *Endpoint, in doors) {
	var left *Router // the one that it went out by last
	realm := e.router
	dst, r := n.find(realm, to)
	for realm != nil && dst == nil && r == nil {
		from = realm.out(from, to)
		left, realm = realm, realm.outer
		dst, r = n.find(realm, to)
	}
	if realm == nil && e.router != nil {
		e.public = from
	}
	if dst != nil || r == nil || r == left && !r.nat.Hairpin {
		return from, dst, in
	}
	for k := range in {
		b := r.byPort[to.Port()]
		if b == nil {
			return from, nil, in
		}
		in[k], to = b, b.inner
		if dst, r = n.find(r, to); dst != nil || r == nil {
			break
		}
	}
	return from, dst, in
}

// String is the text form, like "port-restricted hairpin timeout=30s".
func (o NAT) String() string {
	s := o.Kind.String()
	if o.Hairpin {
		s += " hairpin"
	}
	if o.Timeout > 0 {
		s += " timeout=" + o.Timeout.String()
	}
	return s
}

// ParseNAT reads the text form: a kind, and then hairpin and timeout in any order.
func ParseNAT(text string) (NAT, error) {
	var o NAT
	w := strings.Fields(text)
	if len(w) == 0 {
		return o, fmt.Errorf("no kind of router, use one of %v", natNames)
	}
	var err error
	if o.Kind, err = ParseNATKind(w[0]); err != nil {
		return NAT{}, err
	}
	for _, s := range w[1:] {
		value, timed := strings.CutPrefix(s, "timeout=")
		switch {
		case s == "hairpin":
			o.Hairpin = true
		case timed:
			if o.Timeout, err = time.ParseDuration(value); err != nil || o.Timeout <= 0 {
				return NAT{}, fmt.Errorf("bad timeout %q, write it like timeout=30s", value)
			}
		default:
			return NAT{}, fmt.Errorf("unknown %q of a router, use hairpin or timeout=30s", s)
		}
	}
	return o, nil
}
