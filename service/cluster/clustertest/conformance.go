// Package clustertest tries implementations of what a seamless world keeps: the same tests for
// each, with a checker that reads back what was kept. It starts embedded nodes for them, too.
package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/topology/seamless"
)

// A Cluster is what is tried.
type Cluster interface {
	Map() seamless.Map
	Journal() seamless.Journal
	Store() seamless.Store
}

// Run tries a cluster by two handles, which may be one if it is in memory.
func Run(t *testing.T, a, b Cluster) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, c := range []struct {
		name string
		run  func(t *testing.T, a, b Cluster, r *rand.Rand)
	}{
		{"map", testMap}, {"map counts", testCount}, {"list", testList},
		{"journal", testJournal}, {"batch", testBatch}, {"fence", testFence},
		{"again", testAgain}, {"trim", testTrim}, {"fresh", testFresh}, {"large", testLarge},
		{"store", testStore}, {"store at once", testStoreAtOnce}, {"names", testNames},
		{"contexts", testContexts},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, a, b, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("the error is %v, and %v was expected", err, target)
	}
	for _, other := range []error{seamless.ErrNone, seamless.ErrStale, seamless.ErrDoubt,
		seamless.ErrAway} {
		if other != target && errors.Is(err, other) {
			t.Fatalf("the error %v is %v, too", err, other)
		}
	}
}

func testMap(t *testing.T, a, b Cluster, _ *rand.Rand) {
	ctx, m := t.Context(), a.Map()
	_, err := m.Get(ctx, "map/none")
	want(t, err, seamless.ErrNone)
	first, err := m.Set(ctx, "map/k", []byte("one"), 0)
	must(t, err)
	_, err = b.Map().Set(ctx, "map/k", []byte("one"), 0)
	want(t, err, seamless.ErrStale)
	e, err := b.Map().Get(ctx, "map/k")
	must(t, err)
	if e.Key != "map/k" || string(e.Value) != "one" || e.Revision != first {
		t.Fatalf("got %+v", e)
	}
	second, err := b.Map().Set(ctx, "map/k", nil, first)
	must(t, err)
	if second <= first {
		t.Fatalf("revision %d follows %d", second, first)
	}
	_, err = m.Set(ctx, "map/k", []byte("three"), first)
	want(t, err, seamless.ErrStale)
	want(t, m.Delete(ctx, "map/k", first), seamless.ErrStale)
	must(t, m.Delete(ctx, "map/k", second))
	_, err = b.Map().Get(ctx, "map/k")
	want(t, err, seamless.ErrNone)
	_, err = m.Set(ctx, "map/k", []byte("late"), second)
	want(t, err, seamless.ErrStale)
	again, err := b.Map().Set(ctx, "map/k", []byte("again"), 0)
	must(t, err)
	if again <= second {
		t.Fatalf("revision %d follows %d", again, second)
	}
	_, err = m.Set(ctx, "map/k", []byte("again"), 0)
	want(t, err, seamless.ErrStale)
}

// testCount has several count up one value. Each number must be set once. What was in doubt may
// have counted or not: a map keeps no history to tell.
func testCount(t *testing.T, a, b Cluster, _ *rand.Rand) {
	const workers, each = 4, 10
	ctx := t.Context()
	_, err := a.Map().Set(ctx, "count", []byte{0}, 0)
	must(t, err)
	var wg sync.WaitGroup
	var doubts atomic.Int32
	for w := range workers {
		m := []Cluster{a, b}[w%2].Map()
		wg.Go(func() {
			for done := 0; done < each; {
				e, err := m.Get(ctx, "count")
				if err == nil {
					_, err = m.Set(ctx, "count", []byte{e.Value[0] + 1}, e.Revision)
				}
				switch {
				case err == nil:
					done++
				case errors.Is(err, seamless.ErrDoubt):
					doubts.Add(1)
				case !errors.Is(err, seamless.ErrStale):
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	e, err := b.Map().Get(ctx, "count")
	must(t, err)
	extra := int(e.Value[0]) - workers*each
	if extra < 0 || extra > int(doubts.Load()) {
		t.Fatalf("%d were counted, %d are in doubt, and it is %d", workers*each, doubts.Load(),
			e.Value[0])
	}
}

func testList(t *testing.T, a, b Cluster, _ *rand.Rand) {
	ctx := t.Context()
	revisions := map[string]uint64{}
	for _, key := range []string{"list/b", "list/a/2", "list/a/1", "list/", "lists"} {
		r, err := a.Map().Set(ctx, key, []byte("of "+key), 0)
		must(t, err)
		revisions[key] = r
	}
	must(t, b.Map().Delete(ctx, "list/b", revisions["list/b"]))
	for prefix, keys := range map[string][]string{
		"list/": {"list/", "list/a/1", "list/a/2"}, "list/a": {"list/a/1", "list/a/2"},
		"lists": {"lists"}, "listen": nil,
	} {
		got, err := b.Map().List(ctx, prefix)
		must(t, err)
		if len(got) != len(keys) {
			t.Fatalf("%q lists %v", prefix, got)
		}
		for i, e := range got {
			if e.Key != keys[i] || string(e.Value) != "of "+e.Key ||
				e.Revision != revisions[e.Key] {
				t.Fatalf("%q lists %+v as number %d", prefix, e, i)
			}
		}
	}
}

// add appends one record.
func add(ctx context.Context, c Cluster, zone string, expect uint64, data []byte) (uint64, error) {
	out := c.Journal().Append(ctx, []seamless.Append{{Zone: zone, Expect: expect, Data: data}})
	return out[0].Sequence, out[0].Err
}

// all reads a journal behind a sequence, in small pieces.
func all(t testing.TB, c Cluster, zone string, after uint64) []seamless.Record {
	t.Helper()
	return pieces(t, c, zone, after, 100)
}

func pieces(t testing.TB, c Cluster, zone string, after uint64, bytes int) []seamless.Record {
	t.Helper()
	var records []seamless.Record
	for {
		got, err := c.Journal().Read(t.Context(), zone, after, bytes)
		must(t, err)
		if len(got) == 0 {
			return records
		}
		for _, r := range got {
			if r.Sequence <= after {
				t.Fatalf("record %d follows %d", r.Sequence, after)
			}
			after = r.Sequence
		}
		records = append(records, got...)
	}
}

func testJournal(t *testing.T, a, b Cluster, _ *rand.Rand) {
	ctx := t.Context()
	_, err := a.Journal().Last(ctx, "zone none")
	want(t, err, seamless.ErrNone)
	got, err := a.Journal().Read(ctx, "zone none", 0, 1000)
	must(t, err)
	if len(got) > 0 {
		t.Fatalf("read %v of nothing", got)
	}
	at := uint64(0)
	var sequences []uint64
	for i := range 20 {
		at, err = add(ctx, a, "zone/1", at, fmt.Appendf(nil, "record %d", i))
		must(t, err)
		sequences = append(sequences, at)
	}
	last, err := b.Journal().Last(ctx, "zone/1")
	must(t, err)
	if last.Sequence != at || string(last.Data) != "record 19" {
		t.Fatalf("the last is %+v", last)
	}
	for from, after := range append([]uint64{0}, sequences...) {
		records := all(t, b, "zone/1", after)
		if len(records) != 20-from {
			t.Fatalf("%d records behind %d", len(records), after)
		}
		for i, r := range records {
			if r.Sequence != sequences[from+i] || string(r.Data) != fmt.Sprint("record ", from+i) {
				t.Fatalf("record %d behind %d is %+v", i, after, r)
			}
		}
	}
	got, err = b.Journal().Read(ctx, "zone/1", 0, 1)
	must(t, err)
	if len(got) != 1 {
		t.Fatalf("1 byte is %d records", len(got))
	}
}

// testBatch appends to many zones at once, some of which must be refused.
func testBatch(t *testing.T, a, b Cluster, r *rand.Rand) {
	const zones = 12
	ctx := t.Context()
	at := make([]uint64, zones)
	var told [zones][]string
	for round := range 10 {
		var batch []seamless.Append
		var order []int
		wrong := map[int]bool{}
		for i, z := range r.Perm(zones)[:1+r.IntN(zones)] {
			data := fmt.Sprint("round ", round, " of ", z)
			expect := at[z]
			if r.IntN(4) == 0 && expect > 0 {
				expect--
				wrong[i] = true
			} else {
				told[z] = append(told[z], data)
			}
			batch = append(batch, seamless.Append{Zone: fmt.Sprint("batch", z), Expect: expect,
				Data: []byte(data)})
			order = append(order, z)
		}
		out := []Cluster{a, b}[round%2].Journal().Append(ctx, batch)
		if len(out) != len(batch) {
			t.Fatalf("%d answers to %d", len(out), len(batch))
		}
		for i, o := range out {
			if wrong[i] {
				want(t, o.Err, seamless.ErrStale)
				continue
			}
			must(t, o.Err)
			at[order[i]] = o.Sequence
		}
	}
	for z := range zones {
		checkRecords(t, a, fmt.Sprint("batch", z), told[z])
	}
}

// checkRecords is the checker of a journal: it has exactly these records, in this order.
func checkRecords(t testing.TB, c Cluster, zone string, told []string) {
	t.Helper()
	if len(told) == 0 {
		return
	}
	_, err := c.Journal().Last(t.Context(), zone)
	must(t, err)
	var got []string
	for _, r := range all(t, c, zone, 0) {
		got = append(got, string(r.Data))
	}
	if !slices.Equal(got, told) {
		t.Fatalf("%s has %q, and %q were acknowledged", zone, got, told)
	}
}

// testAgain appends what was appended before, as whoever is in doubt does.
func testAgain(t *testing.T, a, b Cluster, _ *rand.Rand) {
	ctx := t.Context()
	first, err := add(ctx, a, "again", 0, []byte("one"))
	must(t, err)
	second, err := add(ctx, a, "again", first, []byte("two"))
	must(t, err)
	for range 2 {
		s, err := add(ctx, a, "again", first, []byte("two"))
		must(t, err)
		if s != second {
			t.Fatalf("it is %d, and was %d", s, second)
		}
	}
	third, err := add(ctx, b, "again", second, []byte("of another"))
	must(t, err)
	s, err := add(ctx, a, "again", first, []byte("two"))
	must(t, err)
	if s != second {
		t.Fatalf("it is %d, and was %d", s, second)
	}
	_, err = add(ctx, a, "again", first, []byte("not two"))
	want(t, err, seamless.ErrStale)
	_, err = add(ctx, a, "again", second, []byte("not of another"))
	want(t, err, seamless.ErrStale)
	_, err = add(ctx, a, "again", third+1000, []byte("from the future"))
	want(t, err, seamless.ErrStale)
	checkRecords(t, b, "again", []string{"one", "two", "of another"})
}

func testTrim(t *testing.T, a, b Cluster, _ *rand.Rand) {
	ctx := t.Context()
	must(t, a.Journal().Trim(ctx, "trim none", 100))
	at := []uint64{0}
	for i := range 10 {
		s, err := add(ctx, a, "trim", at[i], fmt.Append(nil, i))
		must(t, err)
		at = append(at, s)
	}
	other, err := add(ctx, a, "trim other", 0, []byte("stays"))
	must(t, err)
	must(t, b.Journal().Trim(ctx, "trim", at[4]))
	Until(t, func() error { // another node may still have them
		if _, err := a.Journal().Read(ctx, "trim", at[2], 1000); !errors.Is(err, seamless.ErrNone) {
			return fmt.Errorf("what was given up is read: %w", err)
		}
		return nil
	})
	if got := all(t, a, "trim", at[3]); len(got) != 7 || got[0].Sequence != at[4] {
		t.Fatalf("read %v", got)
	}
	must(t, a.Journal().Trim(ctx, "trim", at[10]+100))
	last, err := b.Journal().Last(ctx, "trim")
	must(t, err)
	if last.Sequence != at[10] {
		t.Fatalf("the last is %d, and %d was", last.Sequence, at[10])
	}
	_, err = add(ctx, b, "trim", 0, []byte("as the first"))
	want(t, err, seamless.ErrStale)
	next, err := add(ctx, b, "trim", at[10], []byte("next"))
	must(t, err)
	if got := all(t, b, "trim", at[10]); len(got) != 1 || got[0].Sequence != next {
		t.Fatalf("read %v", got)
	}
	if got := all(t, a, "trim other", 0); len(got) != 1 || got[0].Sequence != other {
		t.Fatalf("the other zone has %v", got)
	}
}

// testFresh reads at once, by another handle, what was acknowledged.
func testFresh(t *testing.T, a, b Cluster, _ *rand.Rand) {
	ctx := t.Context()
	at, revision := uint64(0), uint64(0)
	for i := range 20 {
		var err error
		data := fmt.Append(nil, i)
		at, err = add(ctx, a, "fresh", at, data)
		must(t, err)
		last, err := b.Journal().Last(ctx, "fresh")
		must(t, err)
		if last.Sequence != at || !bytes.Equal(last.Data, data) {
			t.Fatalf("%d was acknowledged, and the last is %d", at, last.Sequence)
		}
		revision, err = a.Map().Set(ctx, "fresh", data, revision)
		must(t, err)
		e, err := b.Map().Get(ctx, "fresh")
		must(t, err)
		if e.Revision != revision || !bytes.Equal(e.Value, data) {
			t.Fatalf("%d was acknowledged, and there is %d", revision, e.Revision)
		}
		list, err := b.Map().List(ctx, "fresh")
		must(t, err)
		if len(list) != 1 || list[0].Revision != revision {
			t.Fatalf("%d was acknowledged, and listed is %v", revision, list)
		}
	}
}

func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func testLarge(t *testing.T, a, b Cluster, r *rand.Rand) {
	ctx := t.Context()
	at := uint64(0)
	var sizes []int
	for _, size := range []int{0, 1, 100_000, 1_500_000, 10} {
		var err error
		at, err = add(ctx, a, "large", at, noise(r, size))
		must(t, err)
		sizes = append(sizes, size)
	}
	_, err := b.Journal().Last(ctx, "large")
	must(t, err)
	for i, r := range all(t, b, "large", 0) {
		if len(r.Data) != sizes[i] {
			t.Fatalf("record %d has %d bytes, and had %d", i, len(r.Data), sizes[i])
		}
	}
	for _, size := range []int{0, 1, 256 << 10, 256<<10 + 1, 9_000_000} {
		value := noise(r, size)
		must(t, a.Store().Put(ctx, "large", value))
		got, err := b.Store().Get(ctx, "large")
		must(t, err)
		if !bytes.Equal(got, value) {
			t.Fatalf("%d bytes were put, and others are there", size)
		}
	}
	must(t, b.Store().Delete(ctx, "large"))
}

func testStore(t *testing.T, a, b Cluster, _ *rand.Rand) {
	ctx := t.Context()
	_, err := a.Store().Get(ctx, "snap/none")
	want(t, err, seamless.ErrNone)
	must(t, a.Store().Delete(ctx, "snap/none"))
	for _, key := range []string{"snap/2", "snap/1", "snaps", "snap/3"} {
		must(t, a.Store().Put(ctx, key, []byte("of "+key)))
	}
	must(t, b.Store().Put(ctx, "snap/1", []byte("newer")))
	must(t, b.Store().Delete(ctx, "snap/3"))
	keys, err := a.Store().Keys(ctx, "snap/")
	must(t, err)
	if !slices.Equal(keys, []string{"snap/1", "snap/2"}) {
		t.Fatalf("there are %q", keys)
	}
	for key, value := range map[string]string{"snap/1": "newer", "snap/2": "of snap/2"} {
		got, err := a.Store().Get(ctx, key)
		must(t, err)
		if string(got) != value {
			t.Fatalf("%s is %q", key, got)
		}
	}
	_, err = a.Store().Get(ctx, "snap/3")
	want(t, err, seamless.ErrNone)
	must(t, a.Store().Put(ctx, "snap/3", []byte("again")))
	got, err := b.Store().Get(ctx, "snap/3")
	must(t, err)
	if string(got) != "again" {
		t.Fatalf("it is %q", got)
	}
}

// testStoreAtOnce has several put one key while others read it: what is read is whole.
func testStoreAtOnce(t *testing.T, a, b Cluster, _ *rand.Rand) {
	ctx := t.Context()
	must(t, a.Store().Put(ctx, "at once", bytes.Repeat([]byte{9}, 300_000)))
	var wg sync.WaitGroup
	for w := range 3 {
		c := []Cluster{a, b}[w%2]
		wg.Go(func() {
			for i := range 3 {
				value := bytes.Repeat([]byte{byte(w)}, 200_000*(i+1)+w)
				if err := c.Store().Put(ctx, "at once", value); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for range 6 {
				got, err := b.Store().Get(ctx, "at once")
				if err != nil || len(got) == 0 || bytes.Count(got, got[:1]) != len(got) {
					t.Errorf("%d bytes are read, not all of one writer: %v", len(got), err)
				}
			}
		})
	}
	wg.Wait()
}

// testNames takes any bytes for keys and zones, within limits.
func testNames(t *testing.T, a, b Cluster, _ *rand.Rand) {
	ctx := t.Context()
	names := []string{"names *", "names >", "names .", "names =41", "names A", "names \x00\xff",
		"names =", "names ü", "names " + strings.Repeat("n", 194)}
	for _, name := range names {
		_, err := a.Map().Set(ctx, name, []byte(name), 0)
		must(t, err)
		_, err = add(ctx, a, name, 0, []byte(name))
		must(t, err)
		must(t, a.Store().Put(ctx, name, []byte(name)))
	}
	list, err := b.Map().List(ctx, "names")
	must(t, err)
	keys, err := b.Store().Keys(ctx, "names")
	must(t, err)
	slices.Sort(names)
	if !slices.Equal(keys, names) || len(list) != len(names) {
		t.Fatalf("of %q there are %q in the store, and %v in the map", names, keys, list)
	}
	for i, name := range names {
		last, err := b.Journal().Last(ctx, name)
		must(t, err)
		if string(last.Data) != name || list[i].Key != name || string(list[i].Value) != name {
			t.Fatalf("%q has %q and %+v", name, last.Data, list[i])
		}
	}
	for _, name := range []string{"", strings.Repeat("n", 201)} {
		if _, err := a.Map().Set(ctx, name, nil, 0); err == nil {
			t.Errorf("a key of %d bytes is taken", len(name))
		}
		if _, err := add(ctx, a, name, 0, nil); err == nil {
			t.Errorf("a zone of %d bytes is taken", len(name))
		}
		if err := a.Store().Put(ctx, name, nil); err == nil {
			t.Errorf("a key of %d bytes is taken for a snapshot", len(name))
		}
	}
}

// testContexts calls with a context that has ended.
func testContexts(t *testing.T, a, _ Cluster, _ *rand.Rand) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.Map().Get(ctx, "contexts")
	want(t, err, seamless.ErrAway)
	_, err = a.Map().Set(ctx, "contexts", nil, 0)
	want(t, err, seamless.ErrAway)
	_, err = a.Map().List(ctx, "contexts")
	want(t, err, seamless.ErrAway)
	_, err = add(ctx, a, "contexts", 0, nil)
	want(t, err, seamless.ErrAway)
	_, err = a.Journal().Last(ctx, "contexts")
	want(t, err, seamless.ErrAway)
	_, err = a.Journal().Read(ctx, "contexts", 0, 1)
	want(t, err, seamless.ErrAway)
	want(t, a.Store().Put(ctx, "contexts", []byte("x")), seamless.ErrAway)
	_, err = a.Store().Get(ctx, "contexts")
	want(t, err, seamless.ErrAway)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not say that it was cancelled", err)
	}
	_, err = a.Map().Get(t.Context(), "contexts")
	want(t, err, seamless.ErrNone)
	_, err = a.Journal().Last(t.Context(), "contexts")
	want(t, err, seamless.ErrNone)
}

const waitLong = time.Minute

// Until repeats a look until it finds nothing wrong, or the test has taken far too long.
func Until(t testing.TB, look func() error) {
	t.Helper()
	deadline := time.Now().Add(waitLong)
	for {
		err := look()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
