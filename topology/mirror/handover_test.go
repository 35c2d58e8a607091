package mirror

import (
	"bytes"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

func written(h *handover, k *codec) []byte {
	c := bits.CursorTo(nil)
	h.fields(&c, k)
	return c.Data()
}

// FuzzHandover: whatever a newcomer is sent, nothing panics, and what is understood is written
// again to the same meaning.
func FuzzHandover(f *testing.F) {
	g := testGame(f)
	k, image := newCodec(g), neutralImage(g)
	h := &handover{
		version: handoverVersion, level: server.Level{Name: "duel", Seed: 5, Data: []byte{1, 2}}}
	h.roll = newRoll(60)
	h.roll.final = 12
	h.pause = pause{at: 77, shift: 3 * time.Hour, changes: 5, why: "tea"}
	h.roll.led(1, 1)
	h.roll.led(2, 3)
	h.roll.registry.apply(&item{what: assignJoin, player: 1, client: 7, member: 2, tick: 100,
		name: "ann"})
	p := newPeer(2)
	p.started, p.from, p.promise, p.next = true, 3, 90, 5
	early := header{promise: 100, have: 90}
	p.put(8, k.parse(early.append(nil)))
	h.mirrors = []*peer{newPeer(1), p}
	h.world = []byte("saved")
	h.pending = []timeline.Command{
		{Kind: timeline.Give, Tick: 101, Origin: 2, Seq: 4, Player: 1, Image: image}, {
			Kind: timeline.Join, Tick: 99, Origin: 1, Player: 1}}
	h.undecided = h.pending[:1]
	h.members = []timeline.Membership{
		{Mirror: 2, From: 7, Seq: 3, Also: []uint32{5, 6}, Left: true, Until: 50}}
	h.term, h.changes, h.rulings = 2, []world.Tick{40, 60}, [][]byte{{1}, {2, 3}}
	whole := written(h, k)
	f.Add(whole)
	f.Add(whole[:len(whole)-4])
	f.Add([]byte{handoverVersion})
	f.Add([]byte{9})
	f.Fuzz(func(t *testing.T, data []byte) {
		h := &handover{roll: newRoll(60)}
		c := bits.CursorOver(data)
		if h.fields(&c, k); !c.Done() || h.version != handoverVersion {
			return
		}
		b := written(h, k)
		back := &handover{roll: newRoll(60)}
		c = bits.CursorOver(b)
		if back.fields(&c, k); !c.Done() {
			t.Fatalf("%+v could not be read again", h)
		}
		if !bytes.Equal(written(back, k), b) {
			t.Fatalf("%+v became %+v", h, back)
		}
		if bytes.Equal(data, whole) &&
			(!h.roll.leaders[2] || h.roll.epochs[1] != 1 || h.mirrors[1].beyond[8].promise != 100 ||
				h.roll.registry.clients[7].owner() != member.ID(2) || len(h.rulings) != 2 ||
				string(h.world) != "saved" || h.pause.at != 77 || h.pause.shift != 3*time.Hour) {
			t.Fatalf("%+v", h)
		}
	})
}
