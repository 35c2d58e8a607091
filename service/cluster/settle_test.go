package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/coeval-dev/coeval/topology/seamless"
)

func embedded(t testing.TB) *connection {
	t.Helper()
	c, err := Embed(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c.nats
}

func said(text string) attempt { return attempt{answer: &nats.Msg{Data: []byte(text)}} }

// What NATS was seen to answer to a write that is right, and what must come of it.
func TestSettle(t *testing.T) {
	t.Parallel()
	n := embedded(t)
	ctx := t.Context()
	falsely := said(`{"error":{"err_code":10071,"description":"wrong last sequence: 7"}}`)
	busy := said(`{"error":{"err_code":10164,"description":"wrong last sequence"}}`)
	broken := said(`{"error":{"code":503,"err_code":10077,"description":"it failed"}}`)
	silent := attempt{call: &call{}}
	nobody := attempt{answer: &nats.Msg{Header: nats.Header{"Status": {"503"}}}}
	for i, a := range []attempt{falsely, busy, broken, silent, nobody, said("no JSON"), said(`{}`),
		{err: nats.ErrReconnectBufExceeded}, {err: errors.New("a pipe broke")}} {
		for _, done := range []bool{false, true} {
			zone := fmt.Sprint("zone", i, done)
			j := &journal{n}
			s, subject, err := j.at(zone)
			if err != nil {
				t.Fatal(err)
			}
			r := record{kind: kindValue, writer: n.writer, data: []byte("data")}
			w := write{stream: s, subject: subject, payload: r.encode()}
			var first uint64
			if done {
				if first, err = n.write(ctx, w); err != nil {
					t.Fatal(err)
				}
			}
			got, err := n.settle(ctx, &w, a)
			if err != nil || done && got != first {
				t.Fatalf("attempt %d settles as %d, %v; it was %d", i, got, err, first)
			}
			records, err := j.Read(ctx, zone, 0, 1000)
			if err != nil || len(records) != 1 || records[0].Sequence != got {
				t.Fatalf("attempt %d leaves %v, %v", i, records, err)
			}
		}
	}
	if c := n.counts.refused.Load(); c != 2 {
		t.Errorf("%d false refusals are counted", c)
	}
}

// A write that was in doubt, and behind whose place somebody else wrote, is done or stale; if what
// was there is not kept any more, it stays in doubt.
func TestSettleBehindOthers(t *testing.T) {
	t.Parallel()
	n := embedded(t)
	ctx := t.Context()
	j := &journal{n}
	s, subject, _ := j.at("zone")
	r := record{kind: kindValue, writer: n.writer, data: []byte("mine")}
	w := write{stream: s, subject: subject, payload: r.encode()}
	at, err := n.write(ctx, w)
	if err != nil {
		t.Fatal(err)
	}
	first := at
	for i := range 3 {
		o := record{writer: mark(), kind: kindValue, before: at, data: []byte{byte(i)}}
		if at, err = n.write(ctx, write{stream: s, subject: subject, expect: at,
			payload: o.encode()}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := n.settle(ctx, &w, attempt{call: &call{}}); got != first || err != nil {
		t.Fatalf("it is %d, %v", got, err)
	}
	not := w
	not.payload = record{kind: kindValue, writer: n.writer, data: []byte("not mine")}.encode()
	if _, err := n.settle(ctx, &not, attempt{call: &call{}}); !errors.Is(err, seamless.ErrStale) {
		t.Fatal(err)
	}
	if err := j.Trim(ctx, "zone", at); err != nil {
		t.Fatal(err)
	}
	_, err = n.settle(ctx, &w, attempt{call: &call{}})
	if !errors.Is(err, seamless.ErrDoubt) || errors.Is(err, seamless.ErrStale) {
		t.Fatal(err)
	}
}

// What is left of snapshots that were never finished is removed, and no other.
func TestSweep(t *testing.T) {
	t.Parallel()
	n := embedded(t)
	ctx := t.Context()
	s := &snapshots{n}
	parts, _ := s.parts("key")
	if _, err := s.upload(ctx, parts+group(0), make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if keys, err := s.Keys(ctx, ""); err != nil || len(keys) > 0 {
		t.Fatalf("unfinished, and there: %v, %v", keys, err)
	}
	old, err := s.manifest(ctx, "key")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(ctx, "key", make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	at, err := s.manifest(ctx, "key")
	if err != nil {
		t.Fatal(err)
	}
	// One that began before, and one that began since.
	for _, replaces := range []uint64{old.sequence, at.sequence} {
		if _, err := s.upload(ctx, parts+group(replaces), make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	m, _ := decodeRecord(at.payload)
	now, _ := decodeManifest(m.data)
	s.sweep(ctx, parts, now.group, at.sequence)
	st, err := n.js.Stream(ctx, n.store.name)
	if err != nil {
		t.Fatal(err)
	}
	// 4 parts each of the current one and of the one that replaces it, and the manifest.
	if info, err := st.Info(ctx); err != nil || info.State.Msgs != 4+4+1 {
		t.Fatalf("%d messages are left, %v", info.State.Msgs, err)
	}
	if got, err := s.Get(ctx, "key"); err != nil || len(got) != 1<<20 {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, "key"); err != nil {
		t.Fatal(err)
	}
	if info, err := st.Info(ctx); err != nil || info.State.Msgs != 1 {
		t.Fatalf("%d messages are left, %v", info.State.Msgs, err)
	}
}

// Whatever is stored damaged is an error, and no panic.
func TestDamaged(t *testing.T) {
	t.Parallel()
	n := embedded(t)
	n.options.Patience = 300 * time.Millisecond
	ctx := t.Context()
	for _, c := range []struct {
		stream *stream
		read   func() error
	}{
		{&n.world, func() error { _, err := (&worldMap{n}).Get(ctx, "key"); return err }},
		{&n.world, func() error { _, err := (&worldMap{n}).List(ctx, ""); return err }},
		{&n.store, func() error { _, err := (&snapshots{n}).Get(ctx, "key"); return err }},
		{&n.store, func() error { _, err := (&snapshots{n}).Keys(ctx, ""); return err }},
		{&n.journals[0], func() error { _, err := (&journal{n}).Last(ctx, "key"); return err }},
		{&n.journals[0], func() error {
			_, err := (&journal{n}).Read(ctx, "key", 0, 1)
			return err
		}},
	} {
		subject, _ := c.stream.subject("key")
		if _, err := n.js.Publish(ctx, subject, []byte("of somebody else")); err != nil {
			t.Fatal(err)
		}
		if err := c.read(); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v", subject, err)
		}
	}
}

// A record that is missing between others is noticed.
func TestMissingRecord(t *testing.T) {
	t.Parallel()
	n := embedded(t)
	ctx := t.Context()
	j := &journal{n}
	s, subject, _ := j.at("zone")
	at := uint64(0)
	for i := range 4 {
		r := record{kind: kindValue, before: at, data: []byte{byte(i)}}
		if i == 2 {
			r.before++ // as if there had been one
		}
		var err error
		if at, err = n.write(ctx, write{stream: s, subject: subject, expect: at,
			payload: r.encode()}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j.Read(ctx, "zone", 0, 1000); !errors.Is(err, ErrBroken) {
		t.Fatal(err)
	}
}

func TestUnsure(t *testing.T) {
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	for _, maybe := range []bool{false, true} {
		for _, cause := range []error{nil, errors.New("a cause"), seamless.ErrAway,
			fmt.Errorf("%w: %w", ErrGone, seamless.ErrAway), seamless.ErrStale} {
			err := unsure(ended, maybe, cause)
			if errors.Is(err, seamless.ErrDoubt) != maybe ||
				errors.Is(err, seamless.ErrAway) == maybe ||
				errors.Is(err, seamless.ErrStale) ||
				errors.Is(cause, ErrGone) != errors.Is(err, ErrGone) ||
				!strings.Contains(err.Error(), "enough") {
				t.Errorf("%v, %v is %v", maybe, cause, err)
			}
		}
	}
}

func FuzzStored(f *testing.F) {
	f.Add(record{kind: kindValue, before: 300, data: []byte("data")}.encode())
	f.Add(record{kind: kindDeleted}.encode())
	f.Add(chunk{300, []byte("data")}.encode())
	f.Add(manifest{size: 1000, chunks: 2, group: group(300)}.encode())
	f.Add([]byte("a-0123456789abcdef"))
	f.Add([]byte("key=2Fof"))
	f.Add([]byte(`{"seq":1,"error":{"err_code":10071}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decodeRecord(b); err == nil && !bytes.Equal(r.encode(), b) {
			t.Errorf("record %x is %x", b, r.encode())
		}
		if c, err := decodeChunk(b); err == nil && !bytes.Equal(c.encode(), b) {
			t.Errorf("chunk %x is %x", b, c.encode())
		}
		if m, err := decodeManifest(b); err == nil && !bytes.Equal(m.encode(), b) {
			t.Errorf("manifest %x is %x", b, m.encode())
		}
		if key, ok := untoken(string(b)); ok {
			if again, err := token(key); err != nil || again != string(b) {
				t.Errorf("token %q is %q", b, again)
			}
		}
		if tok, err := token(string(b)); err == nil {
			if key, ok := untoken(tok); !ok || key != string(b) ||
				strings.Trim(tok, plain+"=") != "" {
				t.Errorf("key %q is %q", b, tok)
			}
		}
		if v, sequence, _ := judge(&nats.Msg{Data: b}); v == taken && sequence == 0 {
			t.Errorf("%q is taken without a sequence", b)
		}
	})
}

// FuzzAnswer takes what stands in the headers of an answer apart.
func FuzzAnswer(f *testing.F) {
	f.Add("5", "stream", "4")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, sequence, name, last string) {
		m := &nats.Msg{Header: nats.Header{"Nats-Sequence": {sequence}, "Nats-Stream": {name},
			"Nats-Last-Sequence": {last}}}
		got, err := parse(&stream{name: "stream"}, m, 4)
		if err == nil && (got.sequence <= 4 || name != "stream" || last != "4") {
			t.Errorf("%q of %q behind %q is %d", sequence, name, last, got.sequence)
		}
	})
}

// A snapshot that is replaced while it is read is not waited for.
func TestReplacedWhileRead(t *testing.T) {
	t.Parallel()
	n := embedded(t)
	ctx := t.Context()
	s := &snapshots{n}
	parts, _ := s.parts("key")
	if err := s.Put(ctx, "key", make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	at, err := s.manifest(ctx, "key")
	if err != nil {
		t.Fatal(err)
	}
	r, _ := decodeRecord(at.payload)
	m, _ := decodeManifest(r.data)
	if _, err := s.download(ctx, parts+m.group, m); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(ctx, "key", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.download(ctx, parts+m.group, m); !errors.Is(err, ErrBroken) {
		t.Fatalf("what was replaced is read: %v", err)
	}
}
