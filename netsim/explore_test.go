package netsim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// stopAndWait is a small reliable protocol: the client sends a number until it
// is acknowledged, then the next. With the flaw, the server knows a repetition
// only by the last number, and takes an old one that arrives late for new.
func stopAndWait(flawed bool) func(n *Net) error {
	return func(n *Net) error {
		server, client := n.Endpoint("server"), n.Endpoint("client")
		n.Use(WiFi)
		if err := n.Chaos(Chaos{End: 3 * time.Second, Most: 5, Cut: []string{"*"},
			Pause: []string{"*"}, Rebind: []string{"client"}}); err != nil {
			return err
		}
		var got []uint32
		server.Handle(func(from netip.AddrPort, data []byte) {
			v := binary.LittleEndian.Uint32(data)
			if flawed && (len(got) == 0 || got[len(got)-1] != v) || int(v) == len(got) {
				got = append(got, v)
			}
			server.SendTo(from, data)
		})
		next := uint32(0)
		send := func() {
			client.SendTo(server.PublicAddr(), binary.LittleEndian.AppendUint32(nil, next))
		}
		client.Handle(func(from netip.AddrPort, data []byte) {
			if binary.LittleEndian.Uint32(data) == next {
				next++
				send()
			}
		})
		client.Every(200*time.Millisecond, send)
		n.Run(5 * time.Second)
		for i, v := range got {
			if v != uint32(i) {
				return fmt.Errorf("the value at %d is %d", i, v)
			}
		}
		return nil
	}
}

func TestExplorePassesWhatIsRight(t *testing.T) {
	if err := Explore(Search{Seeds: 50}, stopAndWait(false)); err != nil {
		t.Fatal(err)
	}
}

// TestExploreReducesToTheCause: the flaw shows when one datagram or its copy is
// overtaken by two others, so a single fault must be left of the hundreds.
func TestExploreReducesToTheCause(t *testing.T) {
	err := Explore(Search{Seeds: 200}, stopAndWait(true))
	var f *Failure
	if !errors.As(err, &f) {
		t.Fatalf("the flaw was not found: %v", err)
	}
	t.Log(f)
	if f.Unrepeatable || len(f.Script.Faults) != 1 || f.Faults < 10 {
		t.Errorf("reduced from %d to %d faults", f.Faults, len(f.Script.Faults))
	}
	s, err := Parse(f.Script.String())
	if err != nil {
		t.Fatal(err)
	}
	if err := Replay(s, stopAndWait(true)); err == nil || err.Error() != f.Last.Error() {
		t.Errorf("the script gives %v, want %v", err, f.Last)
	}
	if err := Replay(s, stopAndWait(false)); err != nil {
		t.Errorf("the script fails without the flaw: %v", err)
	}
}

// TestRecordedScriptDoesTheSame: what was written down of a run, replayed
// without chance, is the same run.
func TestRecordedScriptDoesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		conditions := rapid.SampledFrom(Presets()).Draw(t, "preset")
		var digest uint64
		run := func(n *Net) error {
			a, b := n.Endpoint("a"), n.Endpoint("b")
			n.Use(conditions)
			b.Handle(func(from netip.AddrPort, data []byte) { b.SendTo(from, data) })
			a.Every(5*time.Millisecond, func() {
				data := make([]byte, 1+n.Rand().IntN(300))
				n.Rand().Fill(data)
				a.SendTo(b.PublicAddr(), data)
			})
			n.Chaos(Chaos{End: time.Second, Most: 6, Cut: []string{"*"}, Pause: []string{"*"},
				Rebind: []string{"*"}, Storm: []string{"*"}})
			n.Run(time.Second)
			digest = n.Digest()
			return nil
		}
		n := New(Options{Seed: rapid.Uint64().Draw(t, "seed")})
		n.noting = true
		run(n)
		want := digest
		s, err := Parse(n.Script().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := Replay(s, run); err != nil {
			t.Fatal(err)
		}
		if digest != want {
			t.Fatalf("digest %x, want %x, after\n%v", digest, want, s)
		}
	})
}

func TestExploreNoticesUnrepeatableRuns(t *testing.T) {
	calls := 0
	err := Explore(Search{Seeds: 1}, func(n *Net) error {
		if calls++; calls == 1 {
			return errors.New("by accident")
		}
		return nil
	})
	var f *Failure
	if !errors.As(err, &f) || !f.Unrepeatable || !strings.Contains(err.Error(), "map iteration") {
		t.Errorf("%v", err)
	}
}

func TestExploreCatchesPanics(t *testing.T) {
	err := Explore(Search{First: 5, Seeds: 1}, func(n *Net) error { panic("boom") })
	var f *Failure
	if !errors.As(err, &f) || f.Seed != 5 || !strings.Contains(err.Error(), "boom") ||
		len(f.Script.Faults) != 0 {
		t.Errorf("%v", err)
	}
}

func TestReplayNoticesStrangers(t *testing.T) {
	err := Replay(Script{Faults: []Fault{{Kind: Pause, From: "cleint"}}}, func(n *Net) error {
		n.Endpoint("client")
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "cleint") {
		t.Errorf("%v", err)
	}
}

// TestReduce: for a cause that is any set of faults, exactly that set is left.
func TestReduce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 300).Draw(t, "total")
		var s Script
		for i := range total {
			s.Faults = append(s.Faults,
				Fault{Kind: Drop + Kind(i%5), From: "a", To: "b", Number: uint64(i + 1),
					By: 123456789})
		}
		cause := rapid.SliceOfNDistinct(rapid.Uint64Range(1, uint64(total)), 0, min(5, total),
			rapid.ID).Draw(t, "cause")
		reduced, runs := Reduce(s, 5000, func(s Script) bool {
			found := 0
			for _, f := range s.Faults {
				if slices.Contains(cause, f.Number) {
					found++
				}
			}
			return found == len(cause)
		})
		if len(reduced.Faults) != len(cause) {
			t.Fatalf("%d faults left of %d, want %v: %v", len(reduced.Faults), total, cause,
				reduced)
		}
		for _, f := range reduced.Faults {
			if f.By != 100*time.Millisecond {
				t.Fatalf("%v is not round", f)
			}
		}
		t.Logf("%d runs", runs)
	})
}

func TestReduceKeepsToItsBudget(t *testing.T) {
	s := Script{Faults: make([]Fault, 1000)}
	for i := range s.Faults {
		s.Faults[i].Number = uint64(i)
	}
	calls := 0
	reduced, runs := Reduce(s, 20, func(s Script) bool {
		calls++
		return slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.Number == 77 }) &&
			len(s.Faults) > 0
	})
	if calls != runs || runs > 20 || len(reduced.Faults) == 1000 || len(reduced.Faults) == 0 {
		t.Errorf("%d faults after %d runs and %d calls", len(reduced.Faults), runs, calls)
	}
}
