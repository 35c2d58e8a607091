package mirror

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/world"
)

// TestWhatIsSettled: who has promised and holds what, and what may be settled by that.
func TestWhatIsSettled(t *testing.T) {
	type other struct {
		started             bool
		from, promise, have world.Tick
	}
	for _, c := range []struct {
		name          string
		own           standing
		others        []other
		holds, settle world.Tick
	}{
		{"alone", standing{started: true, promise: 50}, nil, 50, 50},
		{"alone and not started", standing{promise: 50}, nil, 0, 0},
		{"the slowest promise counts", standing{started: true, promise: 50},
			[]other{{true, 0, 40, 90}, {true, 0, 45, 90}}, 40, 40},
		{"its own too", standing{started: true, promise: 30}, []other{{true, 0, 40, 90}}, 30, 30},
		{"what another lacks is not settled", standing{started: true, promise: 50},
			[]other{{true, 0, 49, 20}, {true, 0, 48, 30}}, 48, 20},
		{"a newcomer is not waited for", standing{started: true, promise: 50},
			[]other{{true, 0, 49, 47}, {false, 0, 3, 2}}, 49, 47},
		{"until it is started, and then not for what it may not stamp",
			standing{started: true, promise: 50}, []other{{true, 45, 3, 44}}, 45, 44},
		{"a newcomer holds what the others promised", standing{},
			[]other{{true, 0, 49, 47}, {true, 0, 48, 46}}, 48, 46},
	} {
		var list peers
		for i, o := range c.others {
			p := newPeer(member.ID(i + 2))
			p.standing, p.have = standing{started: o.started, from: o.from, promise: o.promise},
				o.have
			list = list.with(p)
		}
		s := newSettling(16, 0)
		h := holds(&c.own, list)
		if until, _ := s.allow(h, list); h != c.holds || until != c.settle {
			t.Errorf("%s: holds %d, settles %d; want %d and %d", c.name, h, until, c.holds,
				c.settle)
		}
	}
}

// TestNothingIsAllowedTwice: what may be settled only grows.
func TestNothingIsAllowedTwice(t *testing.T) {
	s := newSettling(16, 10)
	for _, c := range []struct {
		holds, until world.Tick
		more         bool
	}{{9, 10, false}, {10, 10, false}, {11, 11, true}, {5, 11, false}, {20, 20, true}, {
		20, 20, false}} {
		if until, more := s.allow(c.holds, nil); until != c.until || more != c.more {
			t.Errorf("holding %d: up to %d, %v; want %d, %v", c.holds, until, more, c.until, c.more)
		}
	}
}

// A desk is a mirror without a network: what it has heard of the others, and what it settles.
type desk struct {
	ingress
	id      member.ID
	peers   peers
	settle  settling
	arrives map[member.ID][]*packet // what each other has sent, of which some has come
	came    map[member.ID][]bool
}

// send promises up to a tick, and tells what is held.
func (d *desk) send(tick world.Tick) *packet {
	d.stamp = max(d.stamp, tick)
	k := &packet{header: d.nextHeader(d.closed(holds(&d.standing, d.peers)))}
	k.have = min(holds(&d.standing, d.peers), k.promise)
	return k
}

// take has a packet come, in whatever order, and settles what it may.
func (d *desk) take(from member.ID, i int) {
	if d.came[from][i] {
		return
	}
	d.came[from][i] = true
	p := d.peers.of(from)
	p.put(crimp.Sequence(i+1), d.arrives[from][i])
	for k := p.beyond[p.next]; k != nil; k = p.beyond[p.next] {
		p.promised(&k.header)
		p.passed()
	}
	d.settle.allow(holds(&d.standing, d.peers), d.peers)
}

// TestSettledIsHeldByAll: whatever comes late, twice or never, what one mirror settles every mirror
// holds.
func TestSettledIsHeldByAll(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var desks []*desk
		n := rapid.IntRange(2, 4).Draw(r, "mirrors")
		for i := range n {
			d := &desk{id: member.ID(i + 1), settle: newSettling(16, 0),
				arrives: map[member.ID][]*packet{}, came: map[member.ID][]bool{}}
			d.started = true
			for j := range n {
				if j != i {
					p := newPeer(member.ID(j + 1))
					p.started = true
					d.peers = d.peers.with(p)
				}
			}
			desks = append(desks, d)
		}
		for range rapid.IntRange(1, 80).Draw(r, "steps") {
			a := desks[rapid.IntRange(0, n-1).Draw(r, "who")]
			if rapid.Bool().Draw(r, "sends") {
				k := a.send(a.stamp + world.Tick(rapid.IntRange(0, 3).Draw(r, "ticks")))
				for _, b := range desks {
					if b != a {
						b.arrives[a.id], b.came[a.id] = append(b.arrives[a.id], k),
							append(b.came[a.id], false)
					}
				}
			} else if b := desks[rapid.IntRange(0, n-1).Draw(r, "of")]; b != a &&
				len(a.arrives[b.id]) > 0 {
				a.take(b.id, rapid.IntRange(0, len(a.arrives[b.id])-1).Draw(r, "packet"))
			}
			for _, one := range desks {
				for _, other := range desks {
					if h := holds(&other.standing, other.peers); one.settle.held > h {
						r.Fatalf("mirror %d settles tick %d, and mirror %d holds only %d", one.id,
							one.settle.held, other.id, h)
					}
				}
			}
		}
	})
}

// TestWhoIsWrong: of settled worlds that differ most are right, and of two the überserver's.
func TestWhoIsWrong(t *testing.T) {
	const self, uber = 2, 1
	for _, c := range []struct {
		by            map[member.ID]uint64
		with, against int
		wrong         bool
	}{
		{map[member.ID]uint64{1: 7, 3: 8}, 0, 0, false}, // it has none itself
		{map[member.ID]uint64{2: 7}, 1, 0, false},
		{map[member.ID]uint64{2: 7, 1: 7, 3: 7}, 3, 0, false},
		{map[member.ID]uint64{2: 7, 1: 8}, 1, 1, true},
		{map[member.ID]uint64{2: 7, 3: 8}, 1, 1, false},
		{map[member.ID]uint64{2: 7, 1: 8, 3: 7}, 2, 1, false},
		{map[member.ID]uint64{2: 7, 1: 7, 3: 8, 4: 8}, 2, 2, false},
		{map[member.ID]uint64{2: 7, 1: 8, 3: 7, 4: 8}, 2, 2, true},
		{map[member.ID]uint64{2: 7, 3: 8, 4: 8}, 1, 2, true},
		{map[member.ID]uint64{2: 7, 3: 8, 4: 9}, 1, 1, false}, // nobody agrees with anybody
	} {
		e := hashEntry{by: c.by}
		if with, against, wrong := e.compare(self, uber); with != c.with || against != c.against ||
			wrong != c.wrong {
			t.Errorf("%v: %d with, %d against, wrong %v; want %d, %d, %v", c.by, with, against,
				wrong, c.with, c.against, c.wrong)
		}
	}
	s := newSettling(16, 0)
	s.at(16 + 64*16).by[self] = 1
	for tick, want := range map[world.Tick]bool{15: false, 16: false, 32: true, 16 + 64*16: true} {
		if e := s.at(tick); (e != nil) != want {
			t.Errorf("tick %d has an entry: %v, want %v", tick, e != nil, want)
		}
	}
}
