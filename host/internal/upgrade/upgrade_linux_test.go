package upgrade

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A process is one of the two, as a goroutine that dies, or hangs, at one of its steps: before or
// after anything that it does to the world outside.
type process struct {
	name  string
	steps int
	dies  int // at which step; 0 is never
	hangs int
	long  time.Duration
	ch    Channel
	dead  bool
	said  bool // Going
}

type death struct{}

func (p *process) step() {
	p.steps++
	if p.steps == p.hangs {
		time.Sleep(p.long)
	}
	if p.steps == p.dies {
		panic(death{})
	}
}

// live runs a process to its end or its death. The system closes what the dead have open.
func (p *process) live(f func()) {
	defer func() {
		if x := recover(); x != nil {
			if _, ok := x.(death); !ok {
				panic(x)
			}
			p.dead = true
		}
		_ = p.ch.Close()
	}()
	f()
}

// mortal is a channel at which its owner dies.
type mortal struct {
	Channel
	p *process
}

func (m *mortal) Read(b []byte) (int, error) {
	m.p.step()
	defer m.p.step()
	return m.Channel.Read(b)
}

func (m *mortal) Write(b []byte) (int, error) {
	m.p.step()
	defer m.p.step()
	m.p.said = m.p.said || b[0] == byte(kindGoing)
	return m.Channel.Write(b)
}

func (m *mortal) WriteWith(b []byte, fds []int) error {
	m.p.step()
	defer m.p.step()
	return m.Channel.WriteWith(b, fds)
}

type mortalBaton struct {
	Baton
	p *process
}

func (m *mortalBaton) Take() bool {
	m.p.step()
	defer m.p.step()
	return m.Baton.Take()
}

// A history is who computed which tick.
type history struct {
	mu    sync.Mutex
	seen  map[uint64]string
	twice []string
}

func (h *history) compute(who string, tick uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if was := h.seen[tick]; was != "" {
		h.twice = append(h.twice, fmt.Sprintf("tick %d by %s and %s", tick, was, who))
	}
	h.seen[tick] = who
}

// An old is the program that runs, with a world that is a number.
type old struct {
	*process
	history *history
	tick    uint64
}

func (o *old) Greet(h *Hello) error {
	if h.Game != "test" {
		return errors.New("another game")
	}
	return nil
}

func (o *old) Moment(context.Context) (*Moment, error) {
	o.tick++
	o.history.compute("old", o.tick)
	return &Moment{Tick: o.tick, World: []byte(strconv.FormatUint(o.tick, 10))}, nil
}

func (o *old) Stop(f func(*Moment) bool) error {
	m, _ := o.Moment(context.Background())
	f(m)
	return nil
}

func (o *old) Settle(time.Time) error { o.step(); return nil }
func (o *old) CloseFD(int)            {}

// An outcome is what became of both.
type outcome struct {
	old, new         *process
	oldGoes, newGoes bool
	fromDisk         bool
	result           Result
	err              error
	history          *history
}

// ends gives a channel's two ends.
func ends(t testing.TB) (a, b Channel) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out [2]Channel
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "end")
		c, err := net.FileConn(f)
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		out[i] = &conn{UnixConn: c.(*net.UnixConn)}
	}
	return out[0], out[1]
}

// play runs an upgrade of two processes.
func play(t testing.TB, a, b *process) *outcome {
	out := &outcome{old: a, new: b, history: &history{seen: map[uint64]string{}}}
	a.name, b.name = "old", "new"
	a.ch, b.ch = ends(t)
	var both sync.WaitGroup
	both.Go(func() { a.live(func() { out.runOld(t) }) })
	both.Go(func() { b.live(func() { out.runNew() }) })
	both.Wait()
	return out
}

func (out *outcome) runOld(t testing.TB) {
	o := &old{process: out.old, history: out.history}
	baton, fd, err := NewBaton()
	if err != nil {
		t.Error(err)
		return
	}
	out.result = Serve(context.Background(), &mortal{o.ch, o.process}, o,
		&mortalBaton{baton, o.process}, fd)
	if !out.result.Gone {
		out.oldGoes = true
		for range 3 {
			o.tick++
			out.history.compute("old", o.tick)
		}
	}
}

func (out *outcome) runNew() {
	p := out.new
	s, err := Ask(context.Background(), &mortal{p.ch, p}, Hello{Game: "test", Within: LeastWithin},
		func(fd int) (Baton, error) {
			b, err := HoldBaton(fd)
			return &mortalBaton{b, p}, err
		})
	var last *Moment
	if err == nil {
		last, err = s.Ready(context.Background())
	}
	if err == nil {
		p.step() // it loads the world
		_, err = s.Take()
	}
	if err != nil {
		out.err, out.fromDisk = err, errors.Is(err, ErrGone)
		return
	}
	s.Going()
	p.step()
	out.newGoes = true
	for i := range uint64(3) {
		out.history.compute("new", last.Tick+1+i)
	}
}

// check looks at what must be so in the end. After a refusal the upgrade is over; and a new one
// that hears no more starts as usual, if the old one is dead.
func (out *outcome) check() error {
	switch {
	case len(out.history.twice) > 0:
		return fmt.Errorf("computed twice: %s", strings.Join(out.history.twice, ", "))
	case !out.old.dead && !out.new.dead && out.oldGoes == out.newGoes:
		return fmt.Errorf("old goes on: %v, new goes on: %v", out.oldGoes, out.newGoes)
	case out.new.dead && !out.old.dead && !out.oldGoes && !out.new.said:
		return errors.New("the new one is dead and the old one gave up")
	case out.old.dead && !out.new.dead && !out.newGoes && !out.fromDisk && !refused(out.err):
		return fmt.Errorf("the old one is dead and the new one gave up: %v", out.err)
	}
	return nil
}

// TestEveryDeath: either program dies at each step of an upgrade. There are never two that compute,
// nor is there none while one lives.
func TestEveryDeath(t *testing.T) {
	good := play(t, &process{}, &process{})
	if err := good.check(); err != nil || !good.newGoes || good.result.Err != nil {
		t.Fatalf("%v: %+v", err, good)
	}
	moved, stayed := 0, 0
	for k := 1; k <= good.old.steps; k++ {
		out := play(t, &process{dies: k}, &process{})
		if err := out.check(); err != nil || !out.old.dead {
			t.Errorf("the old one dies at step %d of %d: %v", k, good.old.steps, err)
		}
		if out.newGoes {
			moved++
		}
	}
	for k := 1; k <= good.new.steps; k++ {
		out := play(t, &process{}, &process{dies: k})
		if err := out.check(); err != nil || !out.new.dead {
			t.Errorf("the new one dies at step %d of %d: %v", k, good.new.steps, err)
		}
		if out.oldGoes {
			stayed++
		}
	}
	if moved == 0 || stayed == 0 {
		t.Errorf("the new one went on %d times, and the old one %d times", moved, stayed)
	}
}

// TestEverySlowness: either program is slow at any of its steps, more than it may be, and may die
// after that; so may the other.
func TestEverySlowness(t *testing.T) {
	seeds := 60
	if n, err := strconv.Atoi(os.Getenv("COEVAL_SEEDS")); err == nil {
		seeds = n
	}
	first := uint64(time.Now().UnixNano())
	if text := os.Getenv("COEVAL_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, seeds = n, 1
	}
	var all sync.WaitGroup
	room := make(chan struct{}, 30)
	took := make([]string, seeds)
	for i := range seeds {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			seed := first + uint64(i)
			r := rand.New(rand.NewPCG(seed, 1))
			draw := func() *process {
				p := &process{}
				if r.IntN(3) > 0 {
					p.hangs = 1 + r.IntN(22)
					p.long = []time.Duration{LeastWithin / 2, 2 * LeastWithin,
						LeastWithin + sayTime + LeastWithin}[r.IntN(3)]
				}
				if r.IntN(3) == 0 {
					p.dies = p.hangs + r.IntN(12)
				}
				return p
			}
			out := play(t, draw(), draw())
			if err := out.check(); err != nil {
				t.Errorf("COEVAL_SEED=%d: %v (%v; %v)", seed, err, out.result.Err, out.err)
			}
			took[i] = fmt.Sprint(out.oldGoes, out.newGoes)
		})
	}
	all.Wait()
	slices.Sort(took)
	t.Log("old, new go on:", slices.Compact(took))
}

// TestRefusals: what is said to the other comes to it in words.
func TestRefusals(t *testing.T) {
	for _, x := range []struct {
		hello []byte
		says  string
	}{
		{[]byte(`{"version":1,"game":"chess"}`), "another game"},
		{[]byte(`{"version":7,"game":"test"}`), "version 7"},
		{[]byte(`{`), "not what an upgrade says"},
	} {
		a, b := ends(t)
		o := &old{process: &process{}, history: &history{seen: map[uint64]string{}}}
		baton, fd, err := NewBaton()
		if err != nil {
			t.Fatal(err)
		}
		over := make(chan Result)
		go func() { over <- Serve(t.Context(), a, o, baton, fd) }()
		s := talk{b}
		if err := s.send(kindHello, x.hello, time.Time{}); err != nil {
			t.Fatal(err)
		}
		_, err = s.receive(t.Context(), kindTrial, time.Time{})
		if !refused(err) || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v", x.hello, err)
		}
		if r := <-over; r.Gone || r.Err == nil {
			t.Errorf("%+v", r)
		}
		_ = b.Close()
	}
	// A program that is told to end while the other tries the game says so.
	a, b := ends(t)
	ctx, cancel := context.WithCancel(t.Context())
	o := &old{process: &process{}, history: &history{seen: map[uint64]string{}}}
	baton, fd, err := NewBaton()
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan Result)
	go func() { over <- Serve(ctx, a, o, baton, fd) }()
	s, err := Ask(t.Context(), b, Hello{Game: "test"}, HoldBaton)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if r := <-over; r.Gone || !errors.Is(r.Err, ErrEnding) {
		t.Errorf("%+v", r)
	}
	if _, err := s.Ready(t.Context()); !refused(err) && !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	s.close()
}

// TestSocket: programs find each other by a folder, also by one with a long name, and descriptors
// come along.
func TestSocket(t *testing.T) {
	for _, dir := range []string{t.TempDir(), t.TempDir() + "/" + strings.Repeat("long", 30)} {
		if _, err := Dial(dir); !errors.Is(err, ErrNobody) {
			t.Errorf("nobody is there: %v", err)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		var l *Listener
		for range 2 { // the second finds what the first has left
			var err error
			if l, err = Listen(dir); err != nil {
				t.Fatal(err)
			}
			defer l.Close(true)
		}
		if info, err := os.Stat(dir + "/" + Name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		a, err := Dial(dir)
		if err != nil {
			t.Fatal(err)
		}
		b, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		mine, fd, err := NewBaton()
		if err != nil {
			t.Fatal(err)
		}
		if err := a.WriteWith([]byte("x"), []int{fd}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		got := b.Came()
		if len(got) != 1 {
			t.Fatalf("%d descriptors came", len(got))
		}
		its, err := HoldBaton(got[0])
		if err != nil || !its.Take() || mine.Take() || its.Take() {
			t.Errorf("a baton was not there, or there twice: %v", err)
		}
		mine.Close()
		its.Close()
		_, _ = a.Close(), b.Close()
	}
}
