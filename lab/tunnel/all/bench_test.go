package all_test

import (
	"context"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/tunnel"
)

// BenchmarkMinute plays a minute of sixteen in the arena, on wireless networks, once under each
// architecture of the quick report. It is one thread's work, so its time is that of a core.
func BenchmarkMinute(b *testing.B) {
	s, err := lab.NewSubject(arena.Title, "", 16)
	if err != nil {
		b.Fatal(err)
	}
	f, err := tunnel.ParseField("wifi")
	if err != nil {
		b.Fatal(err)
	}
	for _, a := range tunnel.Architectures() {
		b.Run(a.Name, func(b *testing.B) {
			for b.Loop() {
				_, err := tunnel.Play(context.Background(), tunnel.Setup{Subject: s, Arch: a,
					Field: f, Players: 16, Seed: 1, Time: time.Minute, Cut: -1}, nil)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
