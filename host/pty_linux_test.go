package host

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host/internal/terminal"
	"github.com/coeval-dev/coeval/host/internal/terminal/terminaltest"
	"github.com/coeval-dev/coeval/world"
)

// A terminal of our own: what a person would sit at, and what the program sees.
type pty struct {
	person, program *os.File

	mu     sync.Mutex
	cond   *sync.Cond
	shown  bytes.Buffer // all that was written
	screen *terminaltest.Screen
}

func newPty(t *testing.T) *pty {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { person.Close() })
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	program, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { program.Close() })
	p := &pty{person: person, program: program, screen: terminaltest.New(100, 30)}
	size := unix.Winsize{Row: 30, Col: 100}
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &size); err != nil {
		t.Fatal(err)
	}
	p.cond = sync.NewCond(&p.mu)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			p.mu.Lock()
			p.shown.Write(buf[:n])
			p.screen.Write(buf[:n])
			p.cond.Broadcast()
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return p
}

// wait waits until the text is on the screen.
func (p *pty) wait(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !strings.Contains(p.screen.Text(), text) {
		p.cond.Wait()
	}
}

// written waits until something was written, which need not be seen.
func (p *pty) written(sequence string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !bytes.Contains(p.shown.Bytes(), []byte(sequence)) {
		p.cond.Wait()
	}
}

func (p *pty) mode(t *testing.T) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(p.program.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// grumpy is a game that panics.
type grumpy struct{ N int }

func (g *grumpy) Sync(s *bits.Sync) { s.Int(&g.N, 0, 999) }
func (g *grumpy) Step(w *world.World, me world.ID) {
	if w.Tick() == 5 {
		panic("grumpy")
	}
}

func TestTheTerminalIsAsItWas(t *testing.T) {
	t.Parallel() // it mostly waits
	bad := &game.Title{
		Game:   world.Define("grumpy", world.State[grumpy]()),
		Screen: game.Screen{Draw: func(*draw.Surface, *game.Frame) {}},
	}
	sloppy := &game.Title{
		Game: pong.Game, Control: pong.Title.Control,
		Screen: game.Screen{Draw: func(_ *draw.Surface, f *game.Frame) {
			_ = []int{1, 2}[f.World.Tick()] // it is at 1, and then at 2
		}},
	}
	for _, x := range []struct {
		name string
		game *game.Title
		play PlayOptions
		do   func(p *pty, cancel context.CancelFunc)
		want string
	}{
		{"q", pong.Title, PlayOptions{},
			func(p *pty, _ context.CancelFunc) { p.wait("tick"); fmt.Fprint(p.person, "\x1b[Aq") },
			"<nil>"},
		{"Ctrl-C", stack.Title, PlayOptions{},
			func(p *pty, _ context.CancelFunc) { p.wait("tick"); fmt.Fprint(p.person, "\x03") },
			"<nil>"},
		{"keys", pong.Title, PlayOptions{}, func(p *pty, _ context.CancelFunc) {
			p.wait("tick")
			fmt.Fprint(p.person, "p")
			p.wait("[ paused ]") // on the game itself
			p.wait("paused: p goes on, . steps")
			fmt.Fprint(p.person, "..+")
			p.wait("speed 2")
			fmt.Fprint(p.person, "-p")
			p.wait("p pauses")
			fmt.Fprint(p.person, "q")
		}, "<nil>"},
		{"bots", arena.Title, PlayOptions{Players: 4}, func(p *pty, _ context.CancelFunc) {
			p.wait("health 100") // oneself
			fmt.Fprint(p.person, "\x1b[C d")
			p.wait("rockets")
			p.wait("deaths")
			fmt.Fprint(p.person, "q")
		}, "<nil>"},
		{"the end", pong.Title, PlayOptions{Ticks: 10, Speed: 10},
			func(*pty, context.CancelFunc) {}, "<nil>"},
		{"a signal", pong.Title, PlayOptions{},
			func(p *pty, cancel context.CancelFunc) { p.wait("tick"); cancel() },
			"context canceled"},
		{"a panic", bad, PlayOptions{Speed: 10}, func(*pty, context.CancelFunc) {},
			"world: the game panicked at tick 5"},
		{"a panic while drawing", sloppy, PlayOptions{}, func(*pty, context.CancelFunc) {},
			"pong panicked while it drew a frame: runtime error: index out of range"},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := newPty(t)
			before := p.mode(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			x.play.In, x.play.Out = p.program, p.program
			done := make(chan error)
			go func() {
				defer func() {
					if r := recover(); r != nil {
						done <- fmt.Errorf("panic: %v", r)
					}
				}()
				done <- Play(ctx, x.game, x.play)
			}()
			p.written(terminal.EnterScreen)
			x.do(p, cancel)
			if err := <-done; !strings.HasPrefix(fmt.Sprint(err), x.want) {
				t.Errorf("%v, want %s", err, x.want)
			}
			if p.mode(t) != before {
				t.Error("the terminal was left in another mode")
			}
			p.written(terminal.LeaveScreen)
		})
	}
}
