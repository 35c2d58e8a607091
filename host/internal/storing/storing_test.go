//go:build !js

package storing

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A purse belongs to an account. Digging fills it, and gold can be given away for good.
type purse struct {
	kept.Mark `world:"server"`
	Gold      int
}

func (p *purse) Sync(s *bits.Sync) { s.Int(&p.Gold, 0, 1000) }

func (p *purse) Kept(k *kept.Fields) {
	k.Account()
	k.Keep(&p.Gold)
}

func (p *purse) Step(w *world.World, me world.ID) {
	c := world.Command[wish](w, me)
	if c.Dig && p.Loaded() && !kept.Pending(w, me) {
		p.Gold++
	}
	if c.Give {
		_ = kept.Ask(w, gift{}, me) // or it is not loaded yet
	}
}

type wish struct {
	Dig  bool
	Give bool `world:"edge"`
}

func (c *wish) Sync(s *bits.Sync) {
	s.Bool(&c.Dig)
	s.Bool(&c.Give)
}

type gift struct{}

func (*gift) Sync(*bits.Sync) {}

var purses = world.Define("purses", world.Rate(10), world.Class[purse](), world.Commands[wish](),
	kept.Declare(kept.Request(func(d *kept.Deal, _ *gift) (gift, error) {
		kept.Party[purse](d, 0).Gold = 0
		return gift{}, nil
	}, nil)),
	world.OnJoin(func(w *world.World, p world.Player) {
		id := world.Spawn(w, purse{Gold: 5})
		w.SetOwner(id, p)
		if err := kept.Load(w, id); err != nil {
			panic(err)
		}
	}))

// A safe is a store that can be away, or take as long as a test wants. It counts what was written.
type safe struct {
	mu     sync.Mutex
	memory kept.Memory
	away   bool
	shut   chan struct{} // nothing is done before it is closed; nil is open
	writes int
}

func (s *safe) set(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

// do has one at a time be done, unless it is away.
func (s *safe) do(ctx context.Context, f func() error) error {
	s.mu.Lock()
	shut := s.shut
	s.mu.Unlock()
	if shut != nil {
		select {
		case <-shut:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return kept.ErrAway
	}
	return f()
}

func (s *safe) Claim(ctx context.Context, subject, owner string) (f kept.Fence, err error) {
	err = s.do(ctx, func() (err error) { f, err = s.memory.Claim(ctx, subject, owner); return err })
	return f, err
}

func (s *safe) Schema(ctx context.Context, hash uint64, text string) error {
	return s.do(ctx, func() error { return s.memory.Schema(ctx, hash, text) })
}

func (s *safe) Schemas(ctx context.Context) (m map[uint64]string, err error) {
	err = s.do(ctx, func() (err error) { m, err = s.memory.Schemas(ctx); return err })
	return m, err
}

func (s *safe) Load(ctx context.Context, keys []kept.Key) (rows []kept.Row, err error) {
	err = s.do(ctx, func() (err error) { rows, err = s.memory.Load(ctx, keys); return err })
	return rows, err
}

func (s *safe) Write(ctx context.Context, fences []kept.Fence, rows []kept.Row) error {
	return s.do(ctx, func() error {
		s.writes += len(rows)
		return s.memory.Write(ctx, fences, rows)
	})
}

func (s *safe) Prune(ctx context.Context, number uint64, upTo world.Tick) error {
	return s.do(ctx, func() error { return s.memory.Prune(ctx, number, upTo) })
}

func (s *safe) Do(ctx context.Context, n kept.Name, fences []kept.Fence,
	f func(kept.Tx) ([]byte, error)) (answer []byte, again bool, err error) {
	err = s.do(ctx, func() (err error) {
		answer, again, err = s.memory.Do(ctx, n, fences, f)
		return err
	})
	return answer, again, err
}

// lines is a log that a test reads while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// A match is a world with its clerk. The test is what drives it.
type match struct {
	t     *testing.T
	clerk *Clerk
	log   *lines
	world *world.World
	in    *world.Inputs
}

func newMatch(t *testing.T, s kept.Store, o Options) *match {
	t.Helper()
	m := &match{t: t, log: &lines{}, in: purses.NewInputs()}
	o.Store, o.Log = s, slog.New(slog.NewTextHandler(m.log, nil))
	var err error
	if m.clerk, err = New(t.Context(), purses, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.clerk.Close(false); <-m.clerk.ended })
	if m.world, err = purses.New(world.Settings{Seed: 1}); err != nil {
		t.Fatal(err)
	}
	return m
}

// step plays a tick, in which each player who is there does the same.
func (m *match) step(c wish, joins ...world.Player) {
	m.t.Helper()
	m.in.Reset()
	m.clerk.mu.Lock()
	err := m.clerk.desk.Tell(m.in)
	m.clerk.mu.Unlock()
	for _, p := range joins {
		m.in.Join(p)
	}
	for p := range m.world.Players {
		err = errors.Join(err, world.Give(m.in, p, c))
	}
	if err = errors.Join(err, m.world.Host().Step(m.in)); err != nil {
		m.t.Fatal(err)
	}
	m.clerk.Tick(m.world)
	m.clerk.mu.Lock()
	m.clerk.desk.Meet(m.world, func(yield func(world.Player, string) bool) {
		for p := range m.world.Players {
			if !yield(p, Account(uint64(p), nil)) {
				return
			}
		}
	})
	m.clerk.mu.Unlock()
}

// until plays until something is so.
func (m *match) until(what string, c wish, so func() bool) {
	m.t.Helper()
	for began := time.Now(); !so(); time.Sleep(time.Millisecond) {
		if m.step(c); time.Since(began) > time.Minute {
			m.t.Fatalf("never: %s\n%s", what, &m.log.b)
		}
	}
}

func (m *match) purse() *purse {
	_, p := world.Owned[purse](m.world, 1)
	return p
}

func (m *match) enter() {
	m.t.Helper()
	m.step(wish{}, 1)
	m.until("the purse is loaded", wish{}, func() bool { return m.purse().Loaded() })
}

// TestStoreAway: while the store is away ticks go on and requests wait, which is said once; when it
// is back that is said, too, and all is written and answered.
func TestStoreAway(t *testing.T) {
	var s safe
	m := newMatch(t, &s, Options{})
	m.enter()
	s.set(true)
	m.step(wish{Dig: true})
	m.step(wish{Give: true})
	m.until("the store is away", wish{Dig: true}, func() bool {
		n := m.clerk.Numbers()
		return n.Away && n.Retries >= 3 && n.Pending == 1
	})
	s.set(false)
	m.until("the gift is given", wish{}, func() bool { return m.purse().Gold == 0 })
	if n := m.clerk.Numbers(); n.Away || n.Requests != 1 || n.Loads != 1 || n.Longest < n.Last ||
		n.Last <= 0 {
		t.Errorf("%+v", n)
	}
	if away, back := m.log.count("the store cannot be used"), m.log.count(
		"the store answers again"); away != 1 || back != 1 {
		t.Errorf("it is said %d and %d times", away, back)
	}
}

// TestStoreSlow: while the store does one thing, ticks go by; what changes meanwhile is written
// once, as it is in the end.
func TestStoreSlow(t *testing.T) {
	var s safe
	m := newMatch(t, &s, Options{})
	m.enter()
	open := make(chan struct{})
	s.mu.Lock()
	s.shut, s.writes = open, 0
	s.mu.Unlock()
	for range 200 {
		m.step(wish{Dig: true})
	}
	if got := m.purse().Gold; got != 205 {
		t.Fatalf("%d gold", got)
	}
	close(open)
	if err := m.clerk.Settle(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if s.mu.Lock(); s.writes == 0 || s.writes > 40 {
		t.Errorf("of 200 ticks %d rows were written", s.writes)
	}
	s.mu.Unlock()
	m.step(wish{}) // in which what was written is passed over
	if n := m.clerk.Numbers(); n.Waiting != 0 || n.Rows == 0 {
		t.Errorf("%+v", n)
	}
	again := newMatch(t, &s, Options{})
	again.enter()
	if got := again.purse().Gold; got != 205 {
		t.Errorf("the store has %d gold", got)
	}
}

// TestStoreCloses: the end writes what was seen last; with a store that is away it says how much is
// not, within the time that it was given.
func TestStoreCloses(t *testing.T) {
	var s safe
	m := newMatch(t, &s, Options{})
	m.enter()
	m.step(wish{Dig: true})
	if err := m.clerk.Close(true); err != nil {
		t.Fatal(err)
	}
	<-m.clerk.ended // nothing goes on
	m = newMatch(t, &s, Options{})
	m.enter()
	if got := m.purse().Gold; got != 6 {
		t.Errorf("the store has %d gold", got)
	}
	s.set(true)
	m.step(wish{Dig: true})
	err := m.clerk.Settle(time.Now())
	if err == nil || !strings.Contains(err.Error(), "1 rows") {
		t.Errorf("a store that is away: %v", err)
	}
}

// TestStoreFenced: a process that another has taken the world over from writes no more, and says
// so, also at the end.
func TestStoreFenced(t *testing.T) {
	var s safe
	m := newMatch(t, &s, Options{})
	m.enter()
	other := newMatch(t, &s, Options{}) // goes on with the same world, as after a start elsewhere
	if err := other.world.Host().CopyFrom(m.world); err != nil {
		t.Fatal(err)
	}
	other.until("the other writes", wish{Dig: true}, func() bool {
		return other.clerk.Numbers().Rows > 0
	})
	m.until("it is fenced", wish{Dig: true}, func() bool { return m.clerk.Numbers().Fenced })
	rows := m.clerk.Numbers().Rows
	for range 50 {
		m.step(wish{Dig: true})
	}
	if err := m.clerk.Close(true); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("the end: %v", err)
	}
	if n := m.clerk.Numbers(); n.Rows != rows {
		t.Errorf("%d rows were written after that", n.Rows-rows)
	}
	if err := other.clerk.Close(true); err != nil {
		t.Error(err)
	}
}

// TestStoreWaitsForTheDisk: what is not durable is neither written nor executed, and whoever can
// make it so is asked to hurry.
func TestStoreWaitsForTheDisk(t *testing.T) {
	var s safe
	var mu sync.Mutex
	durable, hurries := ^world.Tick(0), 0
	m := newMatch(t, &s, Options{
		Durable: func() world.Tick { mu.Lock(); defer mu.Unlock(); return durable },
		Hurry:   func() { hurries++ }})
	m.enter()
	mu.Lock()
	durable = m.world.Tick()
	mu.Unlock()
	m.step(wish{Give: true})
	for range 100 {
		m.step(wish{})
	}
	if n := m.clerk.Numbers(); n.Requests != 0 || n.Pending != 1 || hurries == 0 ||
		m.purse().Gold != 5 {
		t.Errorf("%+v, %d hurries, %d gold", n, hurries, m.purse().Gold)
	}
	mu.Lock()
	durable = ^world.Tick(0)
	mu.Unlock()
	m.until("the gift is given", wish{}, func() bool { return m.purse().Gold == 0 })
}

// TestStoreCannotBeOpened: a store that is away at the start is an error, and nothing is left.
func TestStoreCannotBeOpened(t *testing.T) {
	s := safe{away: true}
	if c, err := New(t.Context(), purses, Options{Store: &s}); c != nil || !errors.Is(err,
		kept.ErrAway) {
		t.Errorf("%v, %v", c, err)
	}
	plain := world.Define("plain", world.Commands[wish]())
	if c, err := New(t.Context(), plain, Options{Store: &s}); c != nil || err != nil {
		t.Errorf("a game of which nothing is kept: %v, %v", c, err)
	}
}

// TestAccounts: the issuer's word counts if it is a line of text, and the number otherwise; the two
// are never the same.
func TestAccounts(t *testing.T) {
	for _, x := range []struct{ data, want string }{
		{"", "#2a"}, {"ada", "=ada"}, {"#2a", "=#2a"}, {"two\nlines", "#2a"}, {"\xff", "#2a"},
		{strings.Repeat("x", 101), "#2a"},
		{strings.Repeat("x", 100), "=" + strings.Repeat("x", 100)},
	} {
		if got := Account(42, []byte(x.data)); got != x.want {
			t.Errorf("%q: %q", x.data, got)
		}
	}
}
