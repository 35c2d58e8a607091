package conn

import (
	"bytes"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
)

func TestBulkCancel(t *testing.T) {
	data := bytes.Repeat([]byte("abcdefgh"), 64<<10)
	start := func(t *testing.T) *pair {
		p := newPair(t, netsim.New(netsim.Options{Seed: 5, Conditions: netsim.WiFi}), pairOptions{})
		p.connect(t)
		for i := range uint32(3) {
			if id, err := p.sc.SendBulk(i, data); err != nil || id != BulkID(i) {
				t.Fatal(id, err)
			}
		}
		halfway := func() bool { a, _, _ := p.sc.BulkProgress(0); return a > len(data)/4 }
		if !p.net.RunUntil(20*time.Second, halfway) {
			t.Fatal("no progress")
		}
		if id, got, size, ok := p.client.Conn().BulkIncoming(); !ok || id != 0 || got == 0 ||
			size != len(data) {
			t.Fatalf("incoming: %d, %d of %d, %v", id, got, size, ok)
		}
		return p
	}
	received := func(p *pair) (tags []uint32) {
		for _, e := range p.clientEvents {
			if e.Kind == BulkReceived {
				if !bytes.Equal(e.Data, data) {
					t.Error("altered")
				}
				tags = append(tags, e.Tag)
			}
		}
		return tags
	}
	t.Run("by the sender", func(t *testing.T) {
		p := start(t)
		if err := p.sc.CancelBulk(0); err != nil {
			t.Fatal(err)
		}
		if err := p.sc.CancelBulk(1); err != nil {
			t.Fatal(err)
		}
		p.net.Run(20 * time.Second)
		if tags := received(p); len(tags) != 1 || tags[0] != 2 {
			t.Errorf("received %v", tags)
		}
		if k := kinds(p.clientEvents); k[BulkCanceled] != 1 {
			t.Errorf("client saw %v", k)
		}
		if err := p.sc.CancelBulk(0); err != ErrNoBulk {
			t.Errorf("cancelled twice: %v", err)
		}
	})
	t.Run("by the receiver", func(t *testing.T) {
		p := start(t)
		if err := p.client.Conn().RefuseBulk(0); err != nil {
			t.Fatal(err)
		}
		p.net.Run(30 * time.Second)
		if tags := received(p); len(tags) != 2 || tags[0] != 1 || tags[1] != 2 {
			t.Errorf("received %v", tags)
		}
		if k := kinds(p.serverEvents); k[BulkCanceled] != 1 || k[BulkSent] != 2 {
			t.Errorf("server saw %v", k)
		}
	})
	t.Run("the last one, by the sender", func(t *testing.T) {
		p := start(t)
		for i := range BulkID(3) {
			if err := p.sc.CancelBulk(i); err != nil {
				t.Fatal(err)
			}
		}
		p.net.Run(5 * time.Second)
		if _, _, _, ok := p.client.Conn().BulkIncoming(); ok ||
			kinds(p.clientEvents)[BulkCanceled] != 1 {
			t.Error("the receiver does not know")
		}
	})
}

// TestBulkTooLarge: a server takes no more than it was told to, and says so.
func TestBulkTooLarge(t *testing.T) {
	p := newPair(t, netsim.New(netsim.Options{Seed: 5, Conditions: netsim.Cable}), pairOptions{
		server: func(o *ServerOptions) { o.MaxBulk = 10_000 },
	})
	p.connect(t)
	c := p.client.Conn()
	if _, err := c.SendBulk(1, nil); err != ErrBulkSize {
		t.Errorf("an empty transfer: %v", err)
	}
	for _, size := range []int{10_001, 10_000} {
		if _, err := c.SendBulk(uint32(size), make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	p.net.Run(5 * time.Second)
	if k := kinds(p.serverEvents); k[BulkReceived] != 1 {
		t.Errorf("server saw %v", k)
	}
	if k := kinds(p.clientEvents); k[BulkCanceled] != 1 || k[BulkSent] != 1 {
		t.Errorf("client saw %v", k)
	}
}

// TestLargestBulk sends all of the 64 MiB that a transfer may have.
func TestLargestBulk(t *testing.T) {
	if testing.Short() {
		t.Skip("64 MiB")
	}
	n := netsim.New(netsim.Options{Seed: 5, Conditions: netsim.LAN})
	p := newPair(t, n, pairOptions{})
	p.connect(t)
	data := make([]byte, mostBulk)
	n.Rand().Fill(data)
	if _, err := p.sc.SendBulk(1, append(data, 0)); err != ErrBulkSize {
		t.Errorf("one byte more: %v", err)
	}
	same := false
	p.onClient = func(e *Event) {
		if e.Kind == BulkReceived {
			same = bytes.Equal(e.Data, data)
		}
		e.Data = nil
	}
	if _, err := p.sc.SendBulk(1, data); err != nil {
		t.Fatal(err)
	}
	if !n.RunUntil(2*time.Minute, func() bool { return kinds(p.serverEvents)[BulkSent] == 1 }) {
		a, _, _ := p.sc.BulkProgress(0)
		t.Fatalf("%d bytes after two minutes; %+v", a, p.sc.Quality())
	}
	if !same {
		t.Error("altered")
	}
	t.Logf("64 MiB in %v", n.Now())
}

// TestBulkLeavesRoom: on a tight budget a transfer takes what messages leave, and
// no message is dropped for it.
func TestBulkLeavesRoom(t *testing.T) {
	n := netsim.New(netsim.Options{Seed: 5, Conditions: netsim.Cable})
	p := newPair(t, n,
		pairOptions{server: func(o *ServerOptions) { o.Rate, o.MaxRate = 24<<10, 24<<10 }})
	p.connect(t)
	if _, err := p.sc.SendBulk(1, make([]byte, 100<<10)); err != nil {
		t.Fatal(err)
	}
	ticks := 0
	p.sp.step = func() {
		// Every third tick, as snapshots are: a burst that needs what three ticks earn.
		if ticks++; ticks%3 == 0 {
			if err := p.sc.Send(0, make([]byte, 600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !n.RunUntil(time.Minute, func() bool { return kinds(p.clientEvents)[BulkReceived] == 1 }) {
		t.Fatal("the transfer did not complete")
	}
	if d := p.sc.Ledger().Dropped; d != 0 {
		t.Errorf("%d messages of %d dropped", d, ticks/3)
	}
}
