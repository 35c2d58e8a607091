//go:build !js

package keeping

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/keep/keeptest"
	"github.com/coeval-dev/coeval/world"
)

// A match is pong with two who play, kept as it goes.
type match struct {
	t     testing.TB
	world *world.World
	in    *world.Inputs
	seats []keep.Seat
	k     *Keeper
	past  map[world.Tick]uint64
}

func begin(t testing.TB, o Options) *match {
	t.Helper()
	k, err := Open(pong.Game, o)
	if err != nil {
		t.Fatal(err)
	}
	m := &match{t: t, in: pong.Game.NewInputs(), k: k, past: map[world.Tick]uint64{}}
	if found := k.Kept(); found != nil {
		m.world, m.seats = found.World, found.Seats
	} else if m.world, err = pong.Game.New(world.Settings{Seed: 3}); err != nil {
		t.Fatal(err)
	}
	if err := k.Begin(m.world, game.Level{Name: "court", Seed: 3}, m.seats); err != nil {
		t.Fatal(err)
	}
	return m
}

// play plays so many ticks. Between them the other goroutine has its turn.
func (m *match) play(ticks int) {
	m.t.Helper()
	for range ticks {
		m.step()
		m.k.Tick(m.world, m.in, m.seats)
		runtime.Gosched()
	}
}

func (m *match) step() {
	m.in.Reset()
	if m.world.Tick() == 3 {
		for p := world.Player(1); p <= 2; p++ {
			m.in.Join(p)
			m.seats = append(m.seats, keep.Seat{Client: 70 + uint64(p), Player: p, Inside: true,
				Name: fmt.Sprint("player ", p)})
		}
	}
	if m.world.Tick() > 10 {
		if err := world.Give(m.in, 1, pong.Move{Y: 1}); err != nil {
			m.t.Fatal(err)
		}
	}
	if err := m.world.Host().Step(m.in); err != nil {
		m.t.Fatal(err)
	}
	m.past[m.world.Tick()] = m.world.Hash()
}

// until waits for something to be so, and plays meanwhile.
func (m *match) until(what string, so func(Numbers) bool) {
	m.t.Helper()
	for end := time.Now().Add(time.Minute); !so(m.k.Numbers()); {
		if time.Now().After(end) {
			m.t.Fatalf("never: %s: %v", what, m.k.Numbers())
		}
		m.play(1)
		time.Sleep(time.Millisecond)
	}
}

// log keeps what is logged.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

func (l *log) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// TestKeeps: what was played is there when the folder is opened again, and goes on, whichever way
// it is flushed.
func TestKeeps(t *testing.T) {
	for _, flush := range []string{"never", "tick", "5ms"} {
		f, err := ParseFlush(flush)
		if err != nil || f.String() != flush {
			t.Fatal(f, err)
		}
		o := Options{Dir: filepath.Join(t.TempDir(), "new"), Flush: f}
		m := begin(t, o)
		m.play(150)
		if flush != "never" {
			m.until("all is durable", func(n Numbers) bool { return n.Durable > 140 })
		}
		key, err := m.k.Key()
		if err != nil {
			t.Fatal(err)
		}
		tick := m.world.Tick()
		var last *world.World
		if flush == "tick" {
			last = m.world
		}
		if err := m.k.Close(last); err != nil {
			t.Fatal(err)
		}
		again := begin(t, o)
		if w := again.world; w.Tick() != tick || w.Hash() != m.past[tick] ||
			len(again.seats) != 2 || again.seats[1].Name != "player 2" {
			t.Errorf("%s: tick %d of %d, %+v", flush, w.Tick(), tick, again.seats)
		}
		if same, err := again.k.Key(); err != nil || same != key {
			t.Errorf("another key, %v", err)
		}
		again.play(10)
		if err := again.k.Close(again.world); err != nil {
			t.Error(err)
		}
	}
}

// TestBadDisk: a disk fails, is full or stands still for a while. The game plays on, it is said
// once what is at risk and once that it is not any more, and then everything is there.
func TestBadDisk(t *testing.T) {
	for _, bad := range []string{"fails", "full", "stands still"} {
		t.Run(bad, func(t *testing.T) {
			t.Parallel() // it mostly waits
			d := keeptest.New(1)
			var mu sync.Mutex
			var wrong error
			hold := make(chan struct{})
			var wait chan struct{}
			d.Faults.Before = func(op string) error {
				mu.Lock()
				err, w := wrong, wait
				mu.Unlock()
				if w != nil {
					<-w
				}
				if op == "write" || op == "create" {
					return err
				}
				return nil
			}
			var said log
			m := begin(t, Options{Dir: "disk", disk: d, Log: said.logger()})
			m.play(20)
			mu.Lock()
			switch bad {
			case "fails":
				wrong = keeptest.ErrFails
			case "full":
				wrong = keeptest.ErrFull
			default:
				wait = hold
			}
			mu.Unlock()
			m.until("it is at risk", func(n Numbers) bool { return n.AtRisk })
			before := m.world.Tick()
			m.play(3 * queued) // in memory that does not grow
			if got := len(m.k.free) + len(m.k.full); got > queued || m.world.Tick() <= before {
				t.Errorf("%d items", got)
			}
			mu.Lock()
			wrong, wait = nil, nil
			mu.Unlock()
			close(hold)
			m.until("it is safe", func(n Numbers) bool {
				return !n.AtRisk && n.Played == n.Durable
			})
			// Which tokens were used is a file of its own, with a line of its own.
			loud := said.count("would be lost in a crash")
			people := said.count("nobody new is let in")
			if n := m.k.Numbers(); loud != 1 || people > 1 ||
				loud+people != said.count("level=ERROR") || n.Errors == 0 || n.Missed == 0 {
				t.Errorf("said %d and %d times: %v\n%s", loud, people, n, said.text.String())
			}
			if said.count("kept again") == 0 {
				t.Errorf("not said that it is well again:\n%s", said.text.String())
			}
			tick := m.world.Tick()
			if err := m.k.Close(nil); err != nil {
				t.Error(err)
			}
			f, err := keep.Open(d.Crash(2), pong.Game, keep.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found, err := f.Recover()
			if err != nil || found.World.Tick() != tick || found.World.Hash() != m.past[tick] {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// TestBadFolders: what is not a folder for this game is refused in plain words, and not changed.
func TestBadFolders(t *testing.T) {
	good := t.TempDir()
	m := begin(t, Options{Dir: good})
	m.play(30)
	if _, err := Open(pong.Game, Options{Dir: good}); err == nil ||
		!strings.Contains(err.Error(), "another program keeps its game") {
		t.Errorf("two programs in one folder: %v", err)
	}
	if err := m.k.Close(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(crowd.Game, Options{Dir: good}); !errors.Is(err, keep.ErrOtherGame) {
		t.Errorf("another game: %v", err)
	}
	foreign := t.TempDir()
	letter := filepath.Join(foreign, "letter.txt")
	if err := os.WriteFile(letter, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(pong.Game, Options{Dir: foreign}); !errors.Is(err, keep.ErrForeign) {
		t.Errorf("a folder of something else: %v", err)
	}
	if list, _ := os.ReadDir(foreign); len(list) != 1 {
		t.Errorf("it was changed: %v", list)
	}
	if _, err := Open(pong.Game, Options{Dir: letter}); err == nil {
		t.Error("a file is taken for a folder")
	}
	if _, err := Open(pong.Game, Options{Dir: filepath.Join(letter, "inside")}); err == nil {
		t.Error("a folder inside a file")
	}
	if os.Getuid() > 0 { // root may write anywhere
		closed := t.TempDir()
		if err := os.Chmod(closed, 0o500); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(pong.Game, Options{Dir: closed}); err == nil ||
			!strings.Contains(err.Error(), "may not write") {
			t.Errorf("a folder without rights: %v", err)
		}
	}
	for _, text := range []string{"", "often", "0s", "-1s", "1us", "2h"} {
		if _, err := ParseFlush(text); err == nil {
			t.Errorf("--flush %q is taken", text)
		}
	}
}

// TestSeats: only what has changed is handed over.
func TestSeats(t *testing.T) {
	seat := func(p world.Player, name string) keep.Seat { return keep.Seat{Player: p, Name: name} }
	gone := func(p world.Player) keep.Seat { return keep.Seat{Player: p, Empty: true} }
	k := &Keeper{}
	for i, step := range []struct{ now, want []keep.Seat }{
		{nil, nil},
		{[]keep.Seat{seat(2, "b")}, []keep.Seat{seat(2, "b")}},
		{[]keep.Seat{seat(2, "b")}, nil},
		{[]keep.Seat{seat(1, "a"), seat(2, "b"), seat(4, "d")},
			[]keep.Seat{seat(1, "a"), seat(4, "d")}},
		{[]keep.Seat{seat(1, "x"), seat(4, "d")}, []keep.Seat{seat(1, "x"), gone(2)}},
		{[]keep.Seat{seat(3, "c")}, []keep.Seat{gone(1), seat(3, "c"), gone(4)}},
		{nil, []keep.Seat{gone(3)}},
		{nil, nil},
	} {
		if got := k.changed(nil, step.now); fmt.Sprint(got) != fmt.Sprint(step.want) {
			t.Errorf("step %d: %v, not %v", i, got, step.want)
		}
	}
}

// TestSave: a whole world is written when it is asked for, also of a world that stands still, no
// tick counts as missed by it, and the game comes back from it.
func TestSave(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	m := begin(t, Options{Dir: dir, Flush: Flush{Never: true}, Every: time.Hour})
	m.play(20)
	for range 2 {
		before := m.k.Numbers()
		for !m.k.Save(m.world, m.seats) {
			runtime.Gosched()
		}
		for n := m.k.Numbers(); n.Chapters == before.Chapters ||
			n.Durable < uint64(m.world.Tick()); n = m.k.Numbers() {
			runtime.Gosched()
		}
	}
	m.play(5)
	if n := m.k.Numbers(); n.Missed != 0 || n.Errors != 0 {
		t.Errorf("%+v", n)
	}
	if err := m.k.Close(m.world); err != nil {
		t.Fatal(err)
	}
	again := begin(t, Options{Dir: dir})
	if again.world.Tick() != m.world.Tick() || again.world.Hash() != m.world.Hash() ||
		len(again.seats) != 2 {
		t.Errorf("tick %d with %d seats", again.world.Tick(), len(again.seats))
	}
	if err := again.k.Close(nil); err != nil {
		t.Error(err)
	}
}

// TestHurry: what somebody waits for is durable without another tick, and without the time that
// flushes are apart.
func TestHurry(t *testing.T) {
	for _, f := range []Flush{{Never: true}, {Every: time.Hour}} {
		m := begin(t, Options{Dir: t.TempDir(), Flush: f})
		for range 20 {
			m.play(3)
			m.k.Hurry()
			for end := time.Now().Add(time.Minute); m.k.DurableTick() < m.world.Tick(); {
				if time.Now().After(end) {
					t.Fatalf("flush %v: never durable: %v", f, m.k.Numbers())
				}
				time.Sleep(100 * time.Microsecond)
			}
		}
		if err := m.k.Close(m.world); err != nil {
			t.Fatal(err)
		}
	}
}
