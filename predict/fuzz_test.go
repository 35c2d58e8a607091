package predict

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/world"
)

// FuzzSnapshot gives a client news that no server makes: any entities with any images, in any order
// of ticks. It must take what it can and go on; nothing may break, and what it keeps must stay
// bounded.
func FuzzSnapshot(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0, 3, 0, 0, 0, 1, 1, 9, 9, 9, 9, 2, 5, 7, 0, 1, 0, 1, 1})
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 0, 200, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
		15, 16})
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newSite(t, yard, 1)
		g := s.join(netsim.LAN, 1,
			Options{Style: Style(len(data) % 3),
				Classes: map[string]Class{"walker": {Obstacle: true}, "bird": {Alone: true}}},
			fight)
		s.run(300 * time.Millisecond)
		c := g.c
		next := func() byte {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return b
		}
		now := time.Second
		for len(data) > 0 {
			flags := next()
			snap := &replica.Snapshot{
				Tick: c.Known() + world.Tick(next()) - 20, Certain: flags&1 != 0,
				Behind: flags&2 != 0, Report: flags&4 != 0, Early: int(int8(next()))}
			if flags&8 != 0 {
				snap.Tick = c.Known() + 1
			}
			for range next() % 8 {
				id := world.MakeID(int(next())%6, int(next()%2)*world.Predicted, int(next())%20,
					int(next())%4)
				u := replica.Update{
					ID: id, What: replica.What(next() % 4), Entry: world.Entry{
						Owner: world.Player(next() % 3), Origin: world.Name{
							By: id, Tick: snap.Tick, Ordinal: 0}}}
				for range next() % 10 {
					var b [4]byte
					for i := range b {
						b[i] = next()
					}
					u.Image = append(u.Image, int32(binary.LittleEndian.Uint32(b[:])))
				}
				if flags&16 != 0 {
					snap.Deferred = append(snap.Deferred, id)
				}
				snap.Updates = append(snap.Updates, u)
			}
			if flags&32 != 0 {
				snap.Commands = append(snap.Commands,
					replica.Relayed{
						Player: world.Player(next() % 4), Image: []int32{
							int32(next()), int32(next()), 0, 1}})
			}
			if int64(snap.Tick) < 0 || snap.Tick > 1<<40 {
				continue
			}
			now += time.Duration(next()) * time.Millisecond
			c.Snapshot(now, snap)
			for range min(c.Due(now), 8) {
				_ = world.Give(c.Next(), 1, drive{X: 1, Fire: true})
				c.Step()
			}
			c.Show(now)
			_ = c.Err()
			if len(c.notices.pending) > maxPending || len(c.outdated) > 4096 ||
				len(c.tracks.of) > 4096 {
				t.Fatal("it keeps too much")
			}
		}
	})
}
