package mirror

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"reflect"
	"slices"
	"unsafe"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// A rogue stands between a mirror and its link. The mirror is as honest as any; the rogue has its
// keys, and sends to each of the others what it likes in its name.
type rogue struct {
	link.Link
	s *machine
	// change is given each datagram to each other machine, and what is sent in its place is what it
	// gives back: none, one, or several.
	change func(to int, b []byte) [][]byte
	heard  func(b []byte)
	out    []link.Datagram
}

// corrupt puts a rogue between a mirror and its link, in this life of it.
func (s *machine) corrupt() *rogue {
	r := &rogue{Link: s.mirror.opt.Link, s: s}
	s.mirror.opt.Link, s.rogue = r, true
	return r
}

// Send changes what the mirror sends.
func (r *rogue) Send(batch []link.Datagram) (int, error) {
	if r.change == nil {
		return r.Link.Send(batch)
	}
	r.out = r.out[:0]
	for _, d := range batch {
		to := slices.IndexFunc(r.s.machines,
			func(o *machine) bool { return o.between.PublicAddr() == d.Addr })
		if to < 0 {
			r.out = append(r.out, d)
			continue
		}
		for _, b := range r.change(to, bytes.Clone(d.Data)) {
			r.out = append(r.out, link.Datagram{Addr: d.Addr, Data: b})
		}
	}
	if _, err := r.Link.Send(r.out); err != nil {
		return 0, err
	}
	return len(batch), nil
}

// Receive lets the rogue listen.
func (r *rogue) Receive(batch []link.Datagram) (int, error) {
	n, err := r.Link.Receive(batch)
	for i := range n {
		if r.heard != nil {
			r.heard(bytes.Clone(batch[i].Data))
		}
	}
	return n, err
}

// hidden reads a field of another package's struct, by the names that lead to it. A rogue has the
// memory of its own program.
func hidden(v any, names ...string) reflect.Value {
	at := reflect.ValueOf(v)
	for _, n := range names {
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		at = at.FieldByName(n)
		if !at.IsValid() {
			panic("there is no " + n)
		}
	}
	if at.CanAddr() {
		at = reflect.NewAt(at.Type(), unsafe.Pointer(at.UnsafeAddr())).Elem()
	}
	return at
}

// rogueKeys are what the mirror seals and proves with at present, as docs/protocol.md says.
type rogueKeys struct {
	number uint32
	own    int
	bodyAt int
	aead   cipher.AEAD
	tags   []cipher.Block
	id     *crimp.Identity
	group  uint64
}

func (r *rogue) keys() rogueKeys {
	g := r.s.mirror.group.node.Group()
	e := func(name string) reflect.Value { return hidden(g, "sending", name) }
	return rogueKeys{
		number: uint32(e("number").Uint()), own: int(e("own").Int()),
		bodyAt: int(e("bodyAt").Int()), aead: e("aead").Interface().(cipher.AEAD),
		tags:  e("sendTag").Interface().([]cipher.Block),
		id:    hidden(g, "identity").Interface().(*crimp.Identity),
		group: hidden(g, "group").Uint()}
}

const (
	rogueHead = 10
	rogueTag  = 8
	rogueSeal = 12
)

var be = binary.BigEndian

// nonce is that of a datagram under the group's key.
func (k *rogueKeys) nonce(b []byte) []byte {
	n := append([]byte{b[0], 0}, b[4:6]...)
	n = be.AppendUint32(n, k.number)
	return append(n, b[6:10]...)
}

// reseal makes a datagram of the mirror anew: with another body, and a tag that is bad for some.
func (r *rogue) reseal(b []byte, change func([]byte) []byte, spoil ...int) []byte {
	k := r.keys()
	if b[1] != byte(k.number) || len(b) < k.bodyAt+rogueSeal {
		return b // of an epoch that is over
	}
	c := bytes.Clone(b)
	body, err := k.aead.Open(nil, k.nonce(c), c[k.bodyAt:], c[:k.bodyAt])
	if err != nil {
		return b
	}
	body = change(body)
	digest := sha256.Sum256(append(slices.Clone(c[:rogueHead]), body...))
	out := slices.Clone(c[:rogueHead])
	if k.tags == nil {
		text := be.AppendUint64([]byte("coeval crimp 2 packet"), k.group)
		sign := k.id.Sign(append(append(text, out...), digest[:]...))
		if len(spoil) > 0 {
			sign[0] ^= 1
		}
		out = append(out, sign[:]...)
	}
	for i, t := range k.tags {
		if i == k.own {
			continue
		}
		var tag [aes.BlockSize]byte
		t.Encrypt(tag[:], digest[:aes.BlockSize])
		if slices.Contains(spoil, i) {
			tag[0] ^= 1
		}
		out = append(out, tag[:rogueTag]...)
	}
	memory := make([]byte, len(body)+rogueSeal+16)
	sealed := k.aead.Seal(memory[:0], k.nonce(out), body, out)
	return append(out, sealed...)
}

func asIs(b []byte) []byte { return b }

// place is where a machine's mirror stands in the roster, for tags.
func (r *rogue) place(of int) int {
	ids := r.s.mirror.group.node.Group().Members()
	return slices.Index(ids, r.s.machines[of].mirror.ID())
}

// resign makes the mirror's own digest in a body of digests one that says something else. It keeps
// to its other story.
func (r *rogue) resign(b []byte, told map[uint32][]byte) []byte {
	const digest = 118
	k := r.keys()
	for at := 1; at+digest <= 1+int(b[0])*digest; at += digest {
		d := b[at : at+digest]
		if member.ID(be.Uint16(d)) != r.s.mirror.ID() {
			continue
		}
		index := be.Uint32(d[2:])
		now, ok := told[index]
		if !ok {
			now = bytes.Clone(d[34:54])
			now[0] ^= 1
			told[index] = now
		}
		copy(d[14:34], told[index-1])
		copy(d[34:54], now)
		text := be.AppendUint64([]byte("coeval crimp 2 digest"), k.group)
		sign := k.id.Sign(append(text, d[:54]...))
		copy(d[54:], sign[:])
	}
	return b
}

// seeds is how many are tried: few, or many in a soak.
func seeds(few, many int) int {
	if soak {
		return many
	}
	return few
}
