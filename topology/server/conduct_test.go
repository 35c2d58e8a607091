package server

import (
	"testing"
	"time"
)

// TestConduct: a client whose clock is far ahead for a minute is not thrown out for it, one that
// sends what cannot be read is, and both are counted.
func TestConduct(t *testing.T) {
	const most = 100
	var early conduct
	for i := range 60 * 60 {
		if early.add(time.Duration(i)*time.Second/60, FutureTick, most) {
			t.Fatalf("thrown out after %d commands for later", i)
		}
	}
	if early.offences[FutureTick] != 3600 {
		t.Errorf("%d were counted", early.offences[FutureTick])
	}
	var bad conduct
	n := 0
	for ; !bad.add(time.Duration(n)*time.Second/60, BadCommand, most); n++ {
		if n > 100 {
			t.Fatal("never thrown out")
		}
	}
	// What is early beside what is bad changes nothing.
	var both conduct
	m := 0
	for ; !both.add(time.Duration(m)*time.Second/60, BadCommand, most); m++ {
		both.add(time.Duration(m)*time.Second/60, FutureTick, most)
	}
	if m > n {
		t.Errorf("thrown out after %d and %d", n, m)
	}
}
