package mailbox

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/link"
	"pgregory.net/rapid"
)

var from = netip.MustParseAddrPort("10.0.0.1:1")

// TestAgainstAModel: pushes and receives of any sizes give what a plain queue
// gives, and what was handed out stays as it is until the next Receive or Wait.
func TestAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := New(rapid.IntRange(1, 8).Draw(t, "capacity"))
		var queue, held []uint32
		handed := 0
		batch := make([]link.Datagram, 10)
		next := uint32(0)
		for range 200 {
			if rapid.Bool().Draw(t, "push") {
				ok := b.Push(from, binary.LittleEndian.AppendUint32(nil, next), nil)
				if want := len(queue)+handed < len(b.slots); ok != want {
					t.Fatalf("push was %v with %d of %d in use", ok, len(queue)+handed,
						len(b.slots))
				}
				if ok {
					queue = append(queue, next)
				}
				next++
				for i, v := range held {
					if binary.LittleEndian.Uint32(batch[i].Data) != v {
						t.Fatalf("a push overwrote what was handed out")
					}
				}
				continue
			}
			want := rapid.IntRange(0, 10).Draw(t, "batch")
			n, err := b.Receive(batch[:want])
			if err != nil || n != min(want, len(queue)) {
				t.Fatalf("received %d of %d, %v", n, len(queue), err)
			}
			held, queue, handed = queue[:n:n], queue[n:], n
			if rapid.Bool().Draw(t, "wait") {
				if ready, _ := b.Wait(0); ready != (len(queue) > 0) {
					t.Fatalf("ready is %v with %d waiting", ready, len(queue))
				}
				held, handed = nil, 0
			}
		}
	})
}

// TestShares: one sender cannot take the room of another.
func TestShares(t *testing.T) {
	b := New(10)
	greedy, modest := &Share{Limit: 4}, &Share{Limit: 4}
	taken := 0
	for range 20 {
		if b.Push(from, nil, greedy) {
			taken++
		}
	}
	if taken != 4 || !b.Push(from, nil, modest) {
		t.Errorf("the greedy took %d", taken)
	}
	b.Receive(make([]link.Datagram, 10))
	if b.Push(from, nil, greedy) {
		t.Error("what is handed out still takes up room")
	}
	b.Receive(nil)
	if !b.Push(from, nil, greedy) {
		t.Error("room was not given back")
	}
}

// TestPushWait: a sender that waits loses nothing, and is let go at the end.
func TestPushWait(t *testing.T) {
	b := New(3)
	var senders sync.WaitGroup
	for range 4 {
		share := &Share{Limit: 2}
		senders.Go(func() {
			for range 500 {
				if !b.PushWait(from, []byte("x"), share) {
					t.Error("not taken")
					return
				}
			}
		})
	}
	batch := make([]link.Datagram, 2)
	for got := 0; got < 2000; {
		if _, err := b.Wait(-1); err != nil {
			t.Fatal(err)
		}
		n, err := b.Receive(batch)
		if err != nil {
			t.Fatal(err)
		}
		got += n
	}
	senders.Wait()
	b.Receive(nil)

	stuck := &Share{Limit: 1}
	b.PushWait(from, nil, stuck)
	var results [2]bool
	senders.Go(func() { results[0] = b.PushWait(from, nil, stuck) })
	b.GiveUp(stuck)
	senders.Wait()
	other := &Share{Limit: 1}
	b.PushWait(from, nil, other)
	senders.Go(func() { results[1] = b.PushWait(from, nil, other) })
	lost := b.End(link.ErrClosed, false)
	senders.Wait()
	if results[0] || results[1] || lost != 2 {
		t.Errorf("waiting ended with %v, %d lost", results, lost)
	}
}

func TestEndKeepsWhatWaits(t *testing.T) {
	b := New(3)
	b.Push(from, []byte("last"), nil)
	b.End(link.ErrClosed, true)
	if b.Push(from, nil, nil) {
		t.Error("took one after the end")
	}
	batch := make([]link.Datagram, 2)
	if n, err := b.Receive(batch); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := b.Receive(batch); n != 0 || !errors.Is(err, link.ErrClosed) {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := b.Wait(-1); !errors.Is(err, link.ErrClosed) {
		t.Errorf("%v", err)
	}
}

func BenchmarkBox(b *testing.B) {
	box := New(64)
	data := make([]byte, 100)
	batch := make([]link.Datagram, 64)
	b.ReportAllocs()
	for b.Loop() {
		box.Push(from, data, nil)
		box.Receive(batch)
	}
}
