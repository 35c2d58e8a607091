package mirror

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// mischief is what a rogue does at random to one other, for a while.
type mischief uint

const (
	replays     mischief = 1 << iota // what it or others said before comes again
	equivocates                      // data packets say something else
	miscounts                        // its digests say something else
	misroutes                        // what it says of lines and what it carries is changed
	decrees                          // what it says in the council is changed, or made up
	clashes                          // packets in the name of who gets them
	silences                         // nothing comes
	mischiefs   = 7
)

// A chaotic rogue changes its mind about each of the others from time to time.
type chaotic struct {
	*rogue
	moods []mischief
	past  [][]byte
	told  map[uint32][]byte
	did   [mischiefs]int
	ids   map[member.ID]bool // under which numbers it was a member
}

func (s *machine) raves() *chaotic {
	c := &chaotic{rogue: s.corrupt(), moods: make([]mischief, len(s.machines)),
		told: map[uint32][]byte{}, ids: map[member.ID]bool{}}
	c.change, c.heard = c.spoil, c.keep
	s.net.Every(400*time.Millisecond, func() {
		r := s.net.Rand()
		for i := range c.moods {
			if c.moods[i] = 0; r.Chance(0.7) {
				one, other := r.IntN(mischiefs), r.IntN(mischiefs)
				c.moods[i] = 1<<one | 1<<other
			}
		}
	})
	s.between.Every(70*time.Millisecond, c.makeUp)
	return c
}

func (c *chaotic) keep(b []byte) {
	if len(c.past) < 400 {
		c.past = append(c.past, b)
	} else {
		c.past[c.s.net.Rand().IntN(len(c.past))] = b
	}
}

// does says whether it is in the mood for something, mostly.
func (c *chaotic) does(to int, what mischief) bool {
	if c.moods[to]&what == 0 || !c.s.net.Rand().Chance(0.6) {
		return false
	}
	for i := range c.did {
		if what == 1<<i {
			c.did[i]++
		}
	}
	return true
}

// spoil changes a datagram.
func (c *chaotic) spoil(to int, b []byte) (out [][]byte) {
	c.ids[c.s.mirror.ID()] = true
	r := c.s.net.Rand()
	c.keep(bytes.Clone(b))
	if c.does(to, silences) {
		return nil
	}
	if c.does(to, replays) && len(c.past) > 0 {
		out = append(out, bytes.Clone(c.past[r.IntN(len(c.past))]))
	}
	joined := c.s.mirror.ID() != 0
	switch {
	case !joined:
	case b[0] == 0x40 && c.does(to, equivocates):
		b = c.reseal(b, c.flip)
	case b[0] == 0x49 && c.does(to, miscounts):
		b = c.reseal(b, func(b []byte) []byte { return c.resign(b, c.told) })
	case (b[0] == 0x47 || b[0] == 0x48) && c.does(to, misroutes),
		b[0] == 0x46 && c.does(to, decrees):
		b = c.rewhisper(b, c.flip)
	}
	return append(out, b)
}

// flip changes some bits of what it says.
func (c *chaotic) flip(b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + c.s.net.Rand().IntN(3) {
		if len(b) > 0 {
			b[c.s.net.Rand().IntN(len(b))] ^= 1 << c.s.net.Rand().IntN(8)
		}
	}
	return b
}

// rewhisper makes a whisper anew with other words.
func (r *rogue) rewhisper(b []byte, change func([]byte) []byte) []byte {
	const head = 12
	known := hidden(r.s.mirror.group.node.Group(), "whispers", "known")
	at := known.MapIndex(reflect.ValueOf(member.ID(be.Uint16(b[10:]))))
	if len(b) < head || !at.IsValid() {
		return b
	}
	field := at.Elem().FieldByName("to")
	key := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
	aead, ok := key.Interface().(cipher.AEAD)
	if !ok {
		return b
	}
	nonce := append(append([]byte{b[0], 0}, b[4:6]...), 0, 0, 0, 0)
	nonce = append(nonce, b[6:10]...)
	body, err := aead.Open(nil, nonce, b[head:], b[:head])
	if err != nil {
		return b
	}
	memory := make([]byte, len(body)+64)
	return append(bytes.Clone(b[:head]),
		aead.Seal(memory[:0], nonce, change(body), b[:head])...)
}

// makeUp says what nobody asked for: to one other that it is out, that the group ends, that there
// is a decree, that another is guilty; or it sends one a packet in its own name.
func (c *chaotic) makeUp() {
	m, r := c.s.mirror, c.s.net.Rand()
	to := r.IntN(len(c.s.machines))
	other := c.s.machines[to].mirror.ID()
	if c.s.dead || c.s.ended != nil || m.ID() == 0 || other == 0 || c.s.machines[to] == c.s {
		return
	}
	g := m.group.node.Group()
	if c.does(to, decrees) {
		epoch := be.AppendUint32(nil, g.Epoch()+uint32(r.IntN(3)))
		words := [][]byte{
			append([]byte{1, 2, 8}, epoch...),                              // out
			append(append([]byte{1, 2, 7}, epoch...), make([]byte, 60)...), // decided
			{5}, {3}, {8}, append([]byte{4}, epoch...),
			append([]byte{7, 0}, make([]byte, 236)...),
			append([]byte{7, 1}, make([]byte, 212)...)}
		_ = g.Confer(m.clock.steady, other, words[r.IntN(len(words))])
	}
	if c.does(to, clashes) {
		k := c.keys()
		out := be.AppendUint16([]byte{0x40, byte(k.number)}, uint16(k.group^k.group>>16^
			k.group>>32^k.group>>48))
		out = be.AppendUint32(be.AppendUint16(out, uint16(other)), 1<<20+uint32(r.IntN(1000)))
		out = append(out, make([]byte, k.bodyAt-len(out))...)
		sealed := k.aead.Seal(nil, k.nonce(out), make([]byte, 20), out)
		_ = c.s.between.SendTo(c.s.machines[to].between.PublicAddr(), append(out, sealed...))
	}
}

// deadCost is what a mirror that raves may cost the others beyond stillMost: it can first be
// silent, so that it has to be missed, and then lie, so that it has to be put out. Of three
// mirrors, one that joins anew meanwhile has to be back for that.
const deadCost = 6 * time.Second

// ravings plays a rogue for a while, which is then switched off.
func ravings(n *netsim.Net, did *[mischiefs]int) error {
	mirrors := 3 + n.Rand().IntN(3)
	f := tallyFleet(n, mirrors, 0, apart(10*time.Millisecond, 2*time.Millisecond,
		0.01*float64(n.Rand().IntN(3))))
	defer f.close()
	f.quarrel = agreeWithin
	n.Run(time.Second)
	bad := n.Rand().IntN(mirrors)
	c := f.machines[bad].raves()
	w := f.watch()
	n.Run(15 * time.Second)
	w.on = false
	for i, s := range f.machines {
		if i != bad && w.worst[i] > stillMost+deadCost {
			s.fail("%s stood still for %v", s.name, w.worst[i])
		}
		if s.ended != nil && i != bad {
			s.fail("%s is out for good: %v", s.name, s.ended)
		}
		for _, n := range s.news {
			if n.Kind == Equivocated && !c.ids[n.Mirror] && i != bad {
				s.fail("%s accuses %d", s.name, n.Mirror)
			}
		}
	}
	f.machines[bad].kill()
	f.until(heal, "the others serve in one group", f.whole)
	f.settles(10 * time.Second)
	for i := range did {
		did[i] += c.did[i]
	}
	if f.err != nil {
		return fmt.Errorf("%c of %d raves: %w", 'a'+bad, mirrors, f.err)
	}
	return nil
}

// TestRaving: one mirror of three to five does whatever it can with its keys, at random: it repeats
// what was said, tells different things, signs different things, spoils what it carries and says of
// lines, makes up decrees and evidence, sends others packets in their own names, and is silent to
// some. The others go on, accuse nobody else, and none is out for good; and they settle the same
// worlds again within agreeWithin, if they did not all the time.
func TestRaving(t *testing.T) {
	var did [mischiefs]int
	simtest.Run(t, seeds(3, 100), func(n *netsim.Net) error { return ravings(n, &did) })
	t.Logf("what was done: %v", did)
	if !testing.Short() && slices.Contains(did[:], 0) {
		t.Errorf("not everything was done: %v", did)
	}
}
