package demo

import (
	"bytes"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
)

// FuzzScreens asks for frames with whatever a page may send: it is refused, or answered with no
// more than was asked for.
func FuzzScreens(f *testing.F) {
	d := &flags{title: pong.Title, preset: "lan", seed: 1, peers: &peerFlags{count: 2}}
	p, err := d.openParty(game.Level{Seed: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(make([]byte, requestHead))
	f.Add(bytes.Repeat([]byte{1, 0, 0, 0}, (requestHead+requestEach)/4))
	f.Fuzz(func(t *testing.T, data []byte) {
		g := &gaze{party: p, began: time.Now(), known: map[int]*seatCanvas{}}
		answer, err := g.answer(t.Context(), data)
		const each = 36 // without anything drawn, since nobody runs
		if n := max(len(data)-requestHead, 0) / requestEach; err == nil && len(answer) != n*each {
			t.Errorf("%d bytes for %d peers", len(answer), n)
		}
	})
}
