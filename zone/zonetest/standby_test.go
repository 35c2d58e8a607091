package zonetest

import (
	"testing"
	"time"
)

// TestStandby kills a server whose zones were followed by those that take them over.
func TestStandby(t *testing.T) {
	s := New(Options{Seed: 5, Servers: 3, Zones: 6, Tokens: 20, MovePer: 60, ActPer: 60,
		For: 9 * time.Second, Standby: true})
	s.at(6*time.Second, func() { s.kill(s.nodes[0]) })
	r := s.Run()
	check(t, r)
	t.Logf("%d zones went on after %v", len(r.TakeOvers), r.TakeOvers)
	if r.Stats.Warm != 2 || len(r.TakeOvers) != 2 {
		t.Errorf("%d zones went on, %d of them had been followed", len(r.TakeOvers), r.Stats.Warm)
	}
}
