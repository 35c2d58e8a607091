package mirror

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

func drawItem(r *rapid.T, promise world.Tick, image []int32) item {
	after := promise + 1 + world.Tick(rapid.Uint64Range(0, 1000).Draw(r, "after"))
	player := world.Player(rapid.IntRange(1, 1<<16-1).Draw(r, "player"))
	name := rapid.StringMatching(`[a-zäß]{0,20}`).Draw(r, "name")
	member := member.ID(rapid.Uint16().Draw(r, "member"))
	addr := netip.MustParseAddrPort("[2001:db8::7]:4000")
	kinds := rapid.IntRange(1, int(itemKinds)-1).Filter(func(k int) bool {
		return itemKind(k) != itemHalt-1 // which is not used any more
	})
	switch k := itemKind(kinds.Draw(r, "kind")); k {
	case itemGive:
		it := item{kind: k, player: player, tick: after, image: image}
		if it.shown = rapid.Bool().Draw(r, "shown"); it.shown {
			it.sight = world.Sight{Ago: rapid.Uint16().Draw(r, "ago"), Base: 3}
			for range rapid.IntRange(0, world.MaxClaims).Draw(r, "claims") {
				it.sight.Add(world.Claim{Target: 1 << 60, Place: [3]int32{-5, 1 << 30, 7}})
			}
		}
		return it
	case itemTell:
		return item{kind: k, tick: after, data: []byte{3}, told: world.Told{
			Kind: rapid.Uint16().Draw(r, "kind"), From: 2, Seq: 9,
			To: world.Name{By: 8, Tick: promise, Ordinal: 1}}}
	case itemClaim:
		return item{kind: k, client: rapid.Uint64().Draw(r, "client"), name: name,
			why: wire.Journey{Why: wire.Nearer, Trip: 20, From: rapid.Uint16().Draw(r, "from")}}
	case itemRelease:
		return item{kind: k, client: 7, player: player}
	case itemAssign:
		return item{
			kind: k, player: player, tick: after, client: 9, member: member, epoch: 12,
			what: byte(rapid.IntRange(0, 2).Draw(r, "what")), name: name,
			why: wire.Journey{Why: wire.Why(rapid.IntRange(0, int(wire.Whys)-1).Draw(r, "why"))}}
	case itemDeny:
		return item{kind: k, client: 1 << 60, member: member}
	case itemStart:
		return item{kind: k, tick: after, member: member, epoch: 3}
	case itemResign:
		return item{kind: k, tick: after, epoch: 7}
	case itemWhere:
		return item{
			kind: k, addr: addr, peer: netip.MustParseAddrPort("10.0.0.1:1"), load: 12, room: 40,
			name: name}
	case itemHalt:
		it := item{kind: k, what: byte(rapid.IntRange(1, int(haltKinds)-1).Draw(r, "what"))}
		if it.decides() {
			it.tick, it.epoch = after, 9
		}
		switch it.what {
		case haltAsk, haltAt:
			it.load = uint32(rapid.IntRange(0, 30000).Draw(r, "limit"))
		case haltCedeAsk, haltCede:
			it.text = "10.0.0.1:4000,[2001:db8::7]:4000"
			if it.what == haltCedeAsk {
				it.tick = promise / 2
			}
		}
		return it
	case itemPause:
		it := item{kind: k, what: byte(rapid.IntRange(1, int(pauseKinds)-1).Draw(r, "what")),
			text: name}
		if it.decides() {
			it.tick, it.epoch = after, 9
		} else {
			it.load = rapid.Uint32().Draw(r, "changes")
		}
		if it.what == resumeFrom {
			it.shift = time.Duration(rapid.IntRange(0, 1<<49).Draw(r, "µs")) * time.Microsecond
		}
		return it
	case itemLevel:
		it := item{kind: k, what: byte(rapid.IntRange(1, int(levelKinds)-1).Draw(r, "what")),
			client: rapid.Uint64().Draw(r, "level")}
		switch it.what {
		case levelPart:
			it.load, it.room, it.data = maxLevel, rapid.Uint32Range(0, 1<<20).Draw(r, "from"),
				[]byte("map")
		case levelAsk:
			it.load = rapid.Uint32().Draw(r, "changes")
		case levelSays:
			it.load, it.text = uint32(rapid.IntRange(0, int(levelStates)-1).Draw(r, "far")), name
		case levelAt:
			it.tick, it.epoch = after, 9
		}
		return it
	case itemChat:
		return item{kind: k, player: player, name: name, text: "hello",
			alone: rapid.SampledFrom([][]world.Player{nil, {3, 9}}).Draw(r, "alone")}
	default:
		return item{kind: k, data: []byte{1, 2, 3}}
	}
}

func TestPacketsAreReadAsWritten(t *testing.T) {
	g := fair.Game
	c := newCodec(g)
	image := neutralImage(g)
	rapid.Check(t, func(r *rapid.T) {
		p := header{
			waiting: rapid.Bool().Draw(r, "waiting"), unsure: rapid.Bool().Draw(r, "unsure"),
			promise: world.Tick(rapid.Uint64Range(100, 1<<40).Draw(r, "promise")),
			count:   rapid.Uint32().Draw(r, "count")}
		p.have = p.promise - world.Tick(rapid.IntRange(0, 100).Draw(r, "lag"))
		if p.clock = rapid.Bool().Draw(r, "clock"); p.clock {
			p.group, p.raw, p.echoed, p.echoRaw, p.held = 77*time.Second, 5, 3, 9,
				12*time.Microsecond
		}
		if p.hash = rapid.Bool().Draw(r, "hash"); p.hash {
			p.settledTick, p.settledHash = p.promise-50, 0xdeadbeef
		}
		if p.disk = rapid.Bool().Draw(r, "disk"); p.disk {
			p.kept = keptSaid{epoch: rapid.Uint32().Draw(r, "epoch"), what: keptNothing}
			if rapid.Bool().Draw(r, "keeps") {
				p.kept.what = keptUpTo
				p.kept.tick = world.Tick(rapid.Uint64Range(0, uint64(p.promise)).Draw(r, "kept"))
			}
		}
		b := p.append(nil)
		var items []item
		for range rapid.IntRange(0, 5).Draw(r, "items") {
			it := drawItem(r, p.promise, image)
			items = append(items, it)
			var err error
			if b, err = c.append(b, p.promise, &it); err != nil {
				r.Fatal(err)
			}
		}
		q := c.parse(b)
		if q.err != nil || q.header != p {
			r.Fatalf("%+v was read as %+v, %v", p, q.header, q.err)
		}
		for i := range q.items {
			q.items[i].seq = 0 // which is not sent
		}
		if len(q.items) != len(items) || !slices.EqualFunc(q.items, items, same) {
			r.Fatalf("%+v were read as %+v", items, q.items)
		}
		c.done(q)
	})
}

// same says whether two items say the same.
func same(a, b item) bool {
	if len(a.image) == 0 && len(b.image) == 0 {
		a.image, b.image = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// FuzzPacket: whatever a mirror sends, nothing panics, and what is understood is written again to
// the same meaning.
func FuzzPacket(f *testing.F) {
	g := testGame(f)
	c := newCodec(g)
	p := header{
		promise: 100, have: 90, clock: true, group: time.Second, hash: true, settledTick: 64}
	b := p.append(nil)
	b, _ = c.append(b, 100, &item{kind: itemGive, player: 3, tick: 101, image: neutralImage(g)})
	b, _ = c.append(b, 100,
		&item{kind: itemAssign, player: 3, tick: 104, client: 5, member: 2, epoch: 1, name: "ann"})
	f.Add(b)
	f.Add([]byte{0, 1, 0, 0})
	again := newCodec(g)
	f.Fuzz(func(t *testing.T, data []byte) {
		p := c.parse(data)
		defer c.done(p)
		if p.void && (p.err == nil || len(p.items) > 0) {
			t.Fatal("a header that makes no sense, and items after it")
		}
		if p.have > p.promise && !p.void {
			t.Fatal("it has more than it promised")
		}
		for _, it := range p.items {
			if it.kind == itemGive && it.tick <= p.promise {
				t.Fatal("a command for a tick that was promised to be over")
			}
			w, err := c.append(p.header.append(nil), p.promise, &it)
			if err != nil {
				t.Fatal(err)
			}
			back := again.parse(w)
			if back.err != nil || len(back.items) != 1 || back.header != p.header {
				t.Fatalf("%+v was written and read as %+v", it, back)
			}
			if back.items[0].seq = it.seq; !same(it, back.items[0]) {
				t.Fatalf("%+v was written and read as %+v", it, back.items[0])
			}
			again.done(back)
		}
	})
}
