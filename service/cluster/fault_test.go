package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/coeval-dev/coeval/service/cluster"
	"github.com/coeval-dev/coeval/service/cluster/clustertest"
	"github.com/coeval-dev/coeval/topology/seamless"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Fatalf("the error is %v, and %v was expected", err, target)
		}
	}
}

func open(t testing.TB, o cluster.Options) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func add(ctx context.Context, c *cluster.Cluster, zone string, expect uint64, data string,
) (uint64, error) {
	out := c.Journal().Append(ctx, []seamless.Append{{Zone: zone, Expect: expect,
		Data: []byte(data)}})
	return out[0].Sequence, out[0].Err
}

// soon is a context that ends while nothing passes.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// A write whose answer is lost is in doubt; said again, it turns out to be done.
func TestAnswerIsLost(t *testing.T) {
	t.Parallel()
	url := clustertest.Server(t)
	p := clustertest.Through(t, url)
	direct := open(t, cluster.Options{URL: url, Found: true})
	c := open(t, cluster.Options{URL: p.URL})
	first, err := add(t.Context(), c, "zone", 0, "first")
	must(t, err)
	revision, err := c.Map().Set(t.Context(), "key", []byte("one"), 0)
	must(t, err)

	p.Hold(false, true)
	_, err = add(soon(t), c, "zone", first, "second")
	want(t, err, seamless.ErrDoubt, context.DeadlineExceeded)
	_, err = c.Map().Set(soon(t), "key", []byte("two"), revision)
	want(t, err, seamless.ErrDoubt)
	_, err = c.Map().Get(soon(t), "key")
	want(t, err, seamless.ErrAway)
	clustertest.Until(t, func() error {
		last, err := direct.Journal().Last(t.Context(), "zone")
		if err == nil && string(last.Data) != "second" {
			err = fmt.Errorf("the last is %q", last.Data)
		}
		return err
	})
	p.Cut()
	p.Hold(false, false)

	clustertest.Until(t, func() error {
		_, err := c.Journal().Last(t.Context(), "zone")
		return err
	})
	second, err := add(t.Context(), c, "zone", first, "second")
	must(t, err)
	_, err = add(t.Context(), direct, "zone", second, "third")
	must(t, err)
	again, err := add(t.Context(), c, "zone", first, "second")
	must(t, err)
	if again != second {
		t.Fatalf("the same record is %d and %d", second, again)
	}
	e, err := c.Map().Get(t.Context(), "key")
	must(t, err)
	if string(e.Value) != "two" {
		t.Fatalf("the map has %q", e.Value)
	}
	if n := len(read(t, direct, "zone")); n != 3 {
		t.Fatalf("there are %d records", n)
	}
}

// A write that arrives late is refused if somebody has raised the fence meanwhile.
func TestLateWriteMeetsFence(t *testing.T) {
	t.Parallel()
	url := clustertest.Server(t)
	p := clustertest.Through(t, url)
	direct := open(t, cluster.Options{URL: url, Found: true})
	c := open(t, cluster.Options{URL: p.URL})
	first, err := add(t.Context(), c, "zone", 0, "first")
	must(t, err)
	p.Hold(true, false)
	_, err = add(soon(t), c, "zone", first, "late")
	want(t, err, seamless.ErrDoubt)
	fence, err := add(t.Context(), direct, "zone", first, "fence")
	must(t, err)
	p.Hold(false, false)
	_, err = add(t.Context(), c, "zone", first, "late")
	want(t, err, seamless.ErrStale)
	records := read(t, direct, "zone")
	if len(records) != 2 || records[1].Sequence != fence {
		t.Fatalf("the journal has %v", records)
	}
}

// While nobody is there, nothing is written, and that is said. It goes on by itself.
func TestAway(t *testing.T) {
	t.Parallel()
	url := clustertest.Server(t)
	p := clustertest.Through(t, url)
	c := open(t, cluster.Options{URL: p.URL, Found: true, Ping: 50 * time.Millisecond})
	p.Hold(true, true)
	clustertest.Until(t, func() error { // until the client notices
		if _, err := add(soon(t), c, "zone", 0, "first"); !errors.Is(err, seamless.ErrAway) {
			return fmt.Errorf("not away: %w", err)
		}
		return nil
	})
	p.Cut()
	p.Hold(false, false)
	_, err := add(t.Context(), c, "zone", 0, "first")
	must(t, err)
	if n := len(read(t, c, "zone")); n != 1 {
		t.Fatalf("there are %d records", n)
	}
}

func read(t testing.TB, c *cluster.Cluster, zone string) []seamless.Record {
	t.Helper()
	_, err := c.Journal().Last(t.Context(), zone)
	must(t, err)
	records, err := c.Journal().Read(t.Context(), zone, 0, 1<<20)
	must(t, err)
	return records
}

func stranger(t testing.TB, url string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url)
	must(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	must(t, err)
	return js
}

// A stream that is deleted is missed by who runs and by who comes, and not made again.
func TestStreamDeleted(t *testing.T) {
	t.Parallel()
	url := clustertest.Server(t)
	ctx, js := t.Context(), stranger(t, url)
	dir := t.TempDir()
	c := open(t, cluster.Options{URL: url, Found: true, Dir: dir, Streams: 1})
	at, err := add(ctx, c, "zone", 0, "first")
	must(t, err)
	at, err = add(ctx, c, "zone", at, "first")
	must(t, err)

	must(t, js.DeleteStream(ctx, "coeval_world_journal0"))
	_, err = add(ctx, c, "zone", at, "second")
	want(t, err, cluster.ErrGone, seamless.ErrAway)
	_, err = c.Journal().Last(ctx, "zone")
	want(t, err, cluster.ErrGone)
	_, err = c.Journal().Read(ctx, "zone", 0, 1)
	want(t, err, cluster.ErrGone)
	want(t, c.Journal().Trim(ctx, "zone", at), cluster.ErrGone)
	_, err = cluster.Open(ctx, cluster.Options{URL: url, Found: true})
	want(t, err, cluster.ErrGone)

	must(t, js.DeleteStream(ctx, "coeval_world_map"))
	_, err = c.Map().Get(ctx, "key")
	want(t, err, cluster.ErrGone)
	_, err = c.Map().Set(ctx, "key", nil, 0)
	want(t, err, cluster.ErrGone)
	_, err = c.Map().List(ctx, "")
	want(t, err, cluster.ErrGone)
	for _, o := range []cluster.Options{{Found: true, Dir: dir}, {Found: true}} {
		o.URL = url
		_, err = cluster.Open(ctx, o)
		want(t, err, cluster.ErrGone)
	}

	must(t, js.DeleteStream(ctx, "coeval_world_store"))
	want(t, c.Store().Put(ctx, "key", nil), cluster.ErrGone)
	_, err = cluster.Open(ctx, cluster.Options{URL: url})
	want(t, err, cluster.ErrNotFounded)
	// Somebody begins anew by that name. Who still runs is not taken in.
	other := open(t, cluster.Options{URL: url, Found: true})
	if other.ID() == c.ID() {
		t.Fatal("two clusters have one identity")
	}
	_, err = c.Map().Get(ctx, "key")
	want(t, err, cluster.ErrOther)
	_, err = add(ctx, c, "zone", at, "second")
	want(t, err, cluster.ErrOther)
	_, err = cluster.Open(ctx, cluster.Options{URL: url, Dir: dir})
	want(t, err, cluster.ErrOther)
}

// Two clusters of one name: each program remembers which one is its own.
func TestTwoOfOneName(t *testing.T) {
	t.Parallel()
	one, two := clustertest.Server(t), clustertest.Server(t)
	dir := t.TempDir()
	a := open(t, cluster.Options{URL: one, Found: true, Dir: dir})
	b := open(t, cluster.Options{URL: two, Found: true})
	_, err := cluster.Open(t.Context(), cluster.Options{URL: two, Dir: dir})
	want(t, err, cluster.ErrOther)
	_, err = cluster.Open(t.Context(), cluster.Options{URL: two, ID: a.ID()})
	want(t, err, cluster.ErrOther)
	_, err = cluster.Open(t.Context(), cluster.Options{URL: two, ID: b.ID(), Dir: dir})
	want(t, err, cluster.ErrOther)
	if again := open(t, cluster.Options{URL: one, Dir: dir}); again.ID() != a.ID() {
		t.Fatalf("it is %s, and was %s", again.ID(), a.ID())
	}
	// Other names beside it are others.
	open(t, cluster.Options{URL: one, Name: "w", Found: true})
	open(t, cluster.Options{URL: one, Name: "world_map", Found: true})
}

// A stream that was put back to an earlier state has less than was acknowledged.
func TestPutBack(t *testing.T) {
	t.Parallel()
	url := clustertest.Server(t)
	ctx, js := t.Context(), stranger(t, url)
	c := open(t, cluster.Options{URL: url, Found: true, Streams: 1})
	at, err := add(ctx, c, "zone", 0, "first")
	must(t, err)
	s, err := js.Stream(ctx, "coeval_world_journal0")
	must(t, err)
	must(t, s.Purge(ctx))
	_, err = c.Journal().Last(ctx, "zone")
	want(t, err, cluster.ErrGone)
	_, err = add(ctx, c, "zone", at, "second")
	want(t, err, cluster.ErrGone)
}

// What does not fit any more is refused, and nothing is dropped for it.
func TestFull(t *testing.T) {
	t.Parallel()
	n := clustertest.Start(t, 1, cluster.Options{MaxDisk: 1 << 20})
	c, ctx := n.Open[0], t.Context()
	record := string(make([]byte, 100_000))
	at, count := uint64(0), 0
	var err error
	for next := uint64(0); err == nil; {
		if next, err = add(ctx, c, "zone", at, record); err == nil {
			at, count = next, count+1
		}
	}
	want(t, err, cluster.ErrFull, seamless.ErrAway)
	want(t, c.Store().Put(ctx, "key", make([]byte, 500_000)), cluster.ErrFull)
	if _, err := c.Store().Get(ctx, "key"); !errors.Is(err, seamless.ErrNone) {
		t.Fatalf("half a snapshot is there: %v", err)
	}
	if got := len(read(t, c, "zone")); got != count || count < 5 {
		t.Fatalf("%d of %d records are there", got, count)
	}
	must(t, c.Journal().Trim(ctx, "zone", at))
	_, err = add(ctx, c, "zone", at, record)
	must(t, err)
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	c := open(t, cluster.Options{URL: clustertest.Server(t), Found: true})
	_, err := add(t.Context(), c, "zone", 0, string(make([]byte, 2<<20)))
	want(t, err, cluster.ErrLarge)
	must(t, c.Store().Put(t.Context(), "key", make([]byte, 2<<20)))
}

func TestOptions(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	peers := []string{"127.0.0.1:1"}
	for name, o := range map[string]cluster.Options{
		"name":         {Dir: dir, Name: "a.b"},
		"node":         {Dir: dir, Node: "a b"},
		"replicas":     {Dir: dir, Replicas: 2},
		"no peers":     {Dir: dir, Replicas: 3},
		"streams":      {Dir: dir, Streams: 65},
		"no folder":    {},
		"open clients": {Dir: dir, Listen: "0.0.0.0:0", ListenPeers: "127.0.0.1:0", Peers: peers},
		"open peers":   {Dir: dir, ListenPeers: ":0", Peers: peers},
		"no address":   {Dir: dir, ListenPeers: "localhost", Peers: peers},
	} {
		if c, err := cluster.Embed(ctx, o); err == nil {
			t.Errorf("%s is taken", name)
			must(t, c.Close())
		}
	}
	if _, err := cluster.Open(ctx, cluster.Options{}); err == nil {
		t.Error("no URL is taken")
	}
	entries, err := os.ReadDir(filepath.Join(dir))
	must(t, err)
	if len(entries) > 0 {
		t.Errorf("refused options leave %v behind", entries)
	}
}

// After Close, calls say so.
func TestClosed(t *testing.T) {
	t.Parallel()
	url := clustertest.Server(t)
	c, err := cluster.Open(t.Context(), cluster.Options{URL: url, Found: true})
	must(t, err)
	must(t, c.Close())
	_, err = add(t.Context(), c, "zone", 0, "late")
	want(t, err, cluster.ErrClosed, seamless.ErrAway)
	_, err = c.Map().Get(t.Context(), "key")
	want(t, err, cluster.ErrClosed)
	want(t, c.Store().Put(t.Context(), "key", []byte("x")), cluster.ErrClosed)
}
