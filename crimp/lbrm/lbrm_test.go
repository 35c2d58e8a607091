package lbrm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
)

func text(n int) []byte { return fmt.Appendf(nil, "state %d", n) }

func seeds(few int) int {
	more, _ := strconv.Atoi(os.Getenv("COEVAL_SEEDS"))
	return max(few, more)
}

// With lines that lose 10 % and machines that lose 5 %, everybody has everything soon after it was
// said, once; and what a line has lost is fetched over it about once, not by each receiver.
func TestAllHaveAll(t *testing.T) {
	for seed := range uint64(seeds(3)) {
		w := newWAN(t, seed, 8, 6, nil)
		w.tail, w.local = 0.1, 0.05
		var at []time.Duration
		for n := range 40 {
			w.run(time.Duration(n+1) * 2 * time.Second)
			at = append(at, w.now)
			if err := w.source.Send(w.now, text(n)); err != nil {
				t.Fatal(err)
			}
		}
		w.run(w.now + 60*time.Second)
		first := 0 // a receiver that missed the first hears of it by what follows, as a newcomer
		var slowest time.Duration
		for i, came := range w.came {
			for seq := uint64(1); seq <= 40; seq++ {
				when, ok := came[seq]
				if !ok {
					if seq > 5 {
						t.Fatalf("seed %d: receiver %d never had %d", seed, i, seq)
					}
					first++
					continue
				}
				slowest = max(slowest, when-at[seq-1])
			}
		}
		if first > 40 || w.events[GaveUp] > 0 || !w.source.Safe() {
			t.Errorf("seed %d: %d early ones missed, %d given up, safe: %v", seed, first,
				w.events[GaveUp], w.source.Safe())
		}
		if n := w.events[Delivered]; n != 40*48-first {
			t.Errorf("seed %d: %d deliveries", seed, n)
		}
		// 40 packets over 8 lines at 10 %: about 32 losses, and those that are asked for in vain.
		if n := w.primary.Counters.Answered; n > 150 {
			t.Errorf("seed %d: the primary log was asked %d times", seed, n)
		}
		if slowest > 30*time.Second {
			t.Errorf("seed %d: the last came after %v", seed, slowest)
		}
		if logs := w.source.Logs(); logs < 3 || logs > 16 {
			t.Errorf("seed %d: of 8 logs the source sees %v", seed, logs)
		}
	}
}

// The setting of the paper: an update every 120 s. Heartbeats that slow down from 250 ms to 32 s
// are fifty times fewer than fixed ones, and a loss is noticed as soon.
func TestHeartbeats(t *testing.T) {
	type result struct {
		hearts uint64
		mean   time.Duration
	}
	measure := func(fixed bool) (r result) {
		w := newWAN(t, 1, 4, 5, func(o *Options) { o.Fixed = fixed })
		lost, sum := 0, time.Duration(0)
		w.run(time.Second)
		if err := w.source.Send(w.now, text(0)); err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 10; n++ {
			w.run(time.Duration(n) * 120 * time.Second)
			w.tail = 1 // this one is lost to all
			sent := w.now
			if err := w.source.Send(w.now, text(n)); err != nil {
				t.Fatal(err)
			}
			w.run(w.now + 100*time.Millisecond)
			w.tail = 0
			w.run(w.now + 10*time.Second)
			for i := range w.came {
				when, ok := w.came[i][uint64(n+1)]
				if !ok {
					t.Fatalf("receiver %d never had %d", i, n)
				}
				lost++
				sum += when - sent
			}
		}
		w.run(1320 * time.Second)
		r.hearts = w.source.Counters.Hearts
		r.mean = sum / time.Duration(lost)
		return r
	}
	fixed, slowing := measure(true), measure(false)
	t.Logf("heartbeats in 22 min: %d fixed, %d slowing down: %.1f times fewer", fixed.hearts,
		slowing.hearts, float64(fixed.hearts)/float64(slowing.hearts))
	t.Logf("what was lost came after %v with fixed ones, %v with those",
		fixed.mean, slowing.mean)
	if slowing.hearts*50 > fixed.hearts {
		t.Errorf("%d heartbeats instead of %d", slowing.hearts, fixed.hearts)
	}
	if slowing.mean > fixed.mean+20*time.Millisecond {
		t.Errorf("a loss is mended after %v instead of %v", slowing.mean, fixed.mean)
	}
}

// A packet that most sites have missed is said again to all at once; one that a single site has
// missed is not.
func TestStatisticalAcknowledgement(t *testing.T) {
	w := newWAN(t, 3, 20, 1, nil)
	for n := range 20 { // the source learns how many there are
		w.run(time.Duration(n+1) * time.Second)
		if err := w.source.Send(w.now, text(n)); err != nil {
			t.Fatal(err)
		}
	}
	w.run(w.now + 5*time.Second)
	if w.source.Counters.Again != 0 {
		t.Fatalf("%d were said again, though none was lost", w.source.Counters.Again)
	}
	if logs := w.source.Logs(); logs < 10 || logs > 40 {
		t.Errorf("of 20 logs the source sees %v", logs)
	}
	w.tail = 0.8
	if err := w.source.Send(w.now, text(20)); err != nil {
		t.Fatal(err)
	}
	w.run(w.now + 10*time.Millisecond) // lost on its way out
	w.tail = 0
	w.run(w.now + 5*time.Second)
	if w.source.Counters.Again != 1 {
		t.Errorf("lost to most, it was said again %d times", w.source.Counters.Again)
	}
	for i := range w.came {
		if _, ok := w.came[i][21]; !ok {
			t.Errorf("receiver %d does not have it", i)
		}
	}
}

// A newcomer learns at once what it wants of what was said before, from the log of its site.
func TestNewcomer(t *testing.T) {
	w := newWAN(t, 4, 1, 1, nil)
	for n := range 10 {
		w.run(time.Duration(n+1) * time.Second)
		if err := w.source.Send(w.now, text(n)); err != nil {
			t.Fatal(err)
		}
	}
	w.run(w.now + time.Second)
	r, err := NewReceiver(w.o, 99, addr(0, 0), 4)
	if err != nil {
		t.Fatal(err)
	}
	w.nodes = append(w.nodes, node{r, addr(0, 50), 0})
	w.all = append(w.all, r)
	w.came = append(w.came, map[uint64]time.Duration{})
	w.run(w.now + 3*time.Second)
	got := w.came[len(w.came)-1]
	for seq := uint64(7); seq <= 10; seq++ {
		if _, ok := got[seq]; !ok {
			t.Errorf("it does not have %d", seq)
		}
	}
	if len(got) != 4 {
		t.Errorf("it has %d", len(got))
	}
}

// A source that falls silent is noticed, and so is that it is back, or begins anew.
func TestSilence(t *testing.T) {
	w := newWAN(t, 5, 1, 2, nil)
	w.run(time.Second)
	if err := w.source.Send(w.now, text(1)); err != nil {
		t.Fatal(err)
	}
	w.run(10 * time.Second)
	if w.events[Stale] != 0 {
		t.Fatal("it is taken for silent")
	}
	w.silence = true
	w.run(100 * time.Second)
	if w.events[Stale] != 2 {
		t.Errorf("%d of 2 receivers noticed", w.events[Stale])
	}
	w.silence = false
	w.run(200 * time.Second)
	if w.events[Fresh] != 2 {
		t.Errorf("%d of 2 receivers noticed that it is back", w.events[Fresh])
	}
	again, err := NewSource(w.o, 4711)
	if err != nil {
		t.Fatal(err)
	}
	w.source, w.nodes[0].machine = again, again
	if err := again.Send(w.now, text(2)); err != nil {
		t.Fatal(err)
	}
	w.run(w.now + time.Second)
	if w.events[Restarted] != 2 || w.events[Delivered] != 4 {
		t.Errorf("%d restarts, %d deliveries", w.events[Restarted], w.events[Delivered])
	}
}

// Who has not the key is not heard, and what was heard before changes nothing.
func TestStrangers(t *testing.T) {
	w := newWAN(t, 6, 1, 1, nil)
	stranger, err := NewSource(Options{Key: Key{1}, Group: w.o.Group, Primary: w.o.Primary}, 7)
	if err != nil {
		t.Fatal(err)
	}
	if err := stranger.Send(0, text(1)); err != nil {
		t.Fatal(err)
	}
	r := w.all[0]
	for _, d := range stranger.Flush(nil) {
		r.Receive(0, []link.Datagram{d})
	}
	if len(r.Events()) != 0 || r.Counters.Refused != 2 {
		t.Errorf("%d refused", r.Counters.Refused)
	}
	if err := w.source.Send(0, text(1)); err != nil {
		t.Fatal(err)
	}
	said := w.source.Flush(nil)
	for range 3 {
		r.Receive(0, said)
	}
	if n := len(r.Events()); n != 1 {
		t.Errorf("%d events of one packet, said three times", n)
	}
	if err := w.source.Send(0, make([]byte, MaxData+1)); err == nil {
		t.Error("too much was said at once")
	}
	if _, err := NewSource(Options{}, 1); err == nil {
		t.Error("a source without a group")
	}
}

// Memory is bounded, whatever numbers come from who has the key.
func TestBounds(t *testing.T) {
	w := newWAN(t, 7, 1, 1, func(o *Options) { o.Keep = 100 })
	l, r := w.logs[0], w.all[0]
	v := newVoice(w.o.Key, 12345)
	for i := range uint64(20000) {
		seq := i + 1
		if i%3 == 0 {
			seq = i*i*1e12 + 1
		}
		v.say(w.o.Group, &packet{kind: kindData, session: 5, seq: seq, data: []byte("x")})
		v.say(w.o.Group, &packet{kind: kindAsk, session: 5, asked: []uint64{seq + 1, seq / 2}})
		d := v.Flush(nil)
		for k := range d {
			d[k].Addr = addr(3, int(i%200))
		}
		l.Receive(0, d)
		r.Receive(0, d)
		r.Events()
		l.Flush(nil)
	}
	if l.Kept() > 100 || len(l.asked) > maxRequests || len(l.g.missing) > maxMissing ||
		r.Missing() > maxMissing {
		t.Errorf("%d kept, %d asked, %d and %d missing", l.Kept(), len(l.asked),
			len(l.g.missing), r.Missing())
	}
}

func FuzzPacket(f *testing.F) {
	for k := uint8(0); k < 10; k++ {
		f.Add((&packet{kind: k, session: 3, epoch: 2, seq: 7, asked: []uint64{1, 2}}).append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var p, q packet
		if p.read(b) != nil {
			return
		}
		again := p.append(nil)
		if !bytes.Equal(again, b) {
			t.Fatalf("%x became %x", b, again)
		}
		if err := q.read(again); err != nil {
			t.Fatal(err)
		}
		key := Key{}
		v := newVoice(key, 9)
		v.say(netip.AddrPort{}, &p)
		l, _ := NewPrimary(Options{Group: addr(1, 1), Primary: addr(1, 2)}, 1)
		r, _ := NewReceiver(Options{Group: addr(1, 1), Primary: addr(1, 2)}, 2, addr(1, 3), 3)
		s, _ := NewSource(Options{Group: addr(1, 1), Primary: addr(1, 2)},
			binary.BigEndian.Uint32(b[1:]))
		for _, m := range []machine{l, r, s} {
			for i := range 3 {
				m.Receive(time.Duration(i), v.out)
				m.Tick(time.Duration(i) * time.Second)
				m.Flush(nil)
			}
		}
	})
}

// One says something, and one hears it.
func Example() {
	o := Options{Key: Key{1, 2, 3}, Group: netip.MustParseAddrPort("239.1.2.3:4000"),
		Primary: netip.MustParseAddrPort("192.0.2.1:4001")}
	source, err := NewSource(o, 1) // a random number
	if err != nil {
		fmt.Println(err)
		return
	}
	receiver, err := NewReceiver(o, 2, netip.AddrPort{}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := source.Send(0, []byte("the bridge is gone")); err != nil {
		fmt.Println(err)
		return
	}
	receiver.Receive(0, source.Flush(nil))
	for _, e := range receiver.Events() {
		fmt.Printf("%d: %s\n", e.Seq, e.Data)
	}
	// Output: 1: the bridge is gone
}
