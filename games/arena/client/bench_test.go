package client_test

import (
	"testing"
	"time"

	"github.com/coeval-dev/coeval/draw"
)

// BenchmarkFrame plays and draws a frame of a fight of eight on the largest map.
func BenchmarkFrame(b *testing.B) {
	a := play(b, "foundry")
	var s draw.Surface
	var h hands
	for begin := time.Now(); time.Since(begin) < time.Second; {
		frame(a, &s, &h, 1280, 720)
	}
	b.ReportAllocs()
	for b.Loop() {
		frame(a, &s, &h, 1280, 720)
	}
	b.ReportMetric(float64(len(s.List())), "bytes")
}
