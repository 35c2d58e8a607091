package demo

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/newgame"
)

// An author is someone with a game of their own, in a folder outside of the repository.
type author struct {
	t   *testing.T
	dir string
}

// newAuthor makes a module from a template, which uses this checkout.
func newAuthor(t *testing.T, name, template string) *author {
	t.Helper()
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("it compiles programs, and interrupts them")
	}
	a := &author{t, filepath.Join(t.TempDir(), name)}
	m, err := newgame.Make(t.Context(), newgame.Options{
		Dir: a.dir, Template: template, Local: filepath.Join("..", "..", ".."),
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.Lines > 150 {
		t.Errorf("%s has %d lines", template, m.Lines)
	}
	return a
}

func (a *author) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(a.t.Context(), name, args...)
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOFLAGS=-buildvcs=false")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

func (a *author) try(name string, args ...string) {
	a.t.Helper()
	if text, err := a.command(name, args...).CombinedOutput(); err != nil {
		a.t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, text)
	}
}

// edit changes a text in a file.
func (a *author) edit(file, from, to string) {
	a.t.Helper()
	name := filepath.Join(a.dir, file)
	text, err := os.ReadFile(name)
	if err != nil {
		a.t.Fatal(err)
	}
	if !strings.Contains(string(text), from) {
		a.t.Fatalf("%s has no %q", file, from)
	}
	changed := strings.Replace(string(text), from, to, 1)
	if err := os.WriteFile(name, []byte(changed), 0o666); err != nil {
		a.t.Fatal(err)
	}
}

// said is what a program prints, line by line.
type said struct {
	mu    sync.Mutex
	lines []string
	more  chan struct{}
}

func listen(from io.Reader) *said {
	s := &said{more: make(chan struct{}, 1)}
	go func() {
		for in := bufio.NewScanner(from); in.Scan(); {
			s.mu.Lock()
			s.lines = append(s.lines, in.Text())
			s.mu.Unlock()
			select {
			case s.more <- struct{}{}:
			default:
			}
		}
	}()
	return s
}

func (s *said) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// await gives the rest of the nth line that begins so.
func (s *said) await(t *testing.T, begin string, n int) string {
	t.Helper()
	for end := time.After(2 * patience); ; {
		s.mu.Lock()
		left := n
		for _, l := range s.lines {
			if rest, ok := strings.CutPrefix(l, begin); ok {
				if left--; left < 0 {
					s.mu.Unlock()
					return rest
				}
			}
		}
		s.mu.Unlock()
		select {
		case <-s.more:
		case <-end:
			t.Fatalf("it never said %q:\n%s", begin, s.all())
		}
	}
}

// frame is a page's game, and heard what it has written on the screen.
const (
	frame = "document.getElementById('game').contentWindow"
	heard = "(" + frame + ".written ?? '')"
	hears = "{ const w = " + frame + `, p = w.CanvasRenderingContext2D.prototype, f = p.fillText;
		w.written = '';
		w.coevalScreen.replayer.texts.clear(); // what is kept as a bitmap is not written again
		p.fillText = function(t, ...rest) { w.written += t + '|'; f.call(this, t, ...rest); } }`
	sits = frame + ".coeval?.stats().playing && " + frame + ".coeval.stats().player"
)

// framed presses a key in the game.
func (b *tab) framed(kind, code string) {
	b.t.Helper()
	b.run(fmt.Sprintf(`{ const w = %s; w.document.querySelector('canvas').dispatchEvent(`+
		`new w.KeyboardEvent(%q, {code: %q, bubbles: true, cancelable: true})) }`, frame, kind,
		code))
}

// finger puts a finger on the game, or takes it away.
func (b *tab) finger(kind string) {
	b.t.Helper()
	b.run(fmt.Sprintf(`{ const w = %s, c = w.document.querySelector('canvas'); c.dispatchEvent(`+
		`new w.PointerEvent(%q, {pointerId: 7, pointerType: 'touch', isPrimary: true, buttons: 1, `+
		`clientX: w.innerWidth * 0.8, clientY: w.innerHeight * 0.6, bubbles: true, `+
		`cancelable: true})) }`, frame, kind))
}

// starts starts a program. End ends it, and sees that it ends well.
func starts(t *testing.T, cmd *exec.Cmd) (says *said, end func()) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	says = listen(out)
	return says, func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, says.all())
		}
	}
}

// serves runs the game for others with a page, and plays it in a browser by the link that it
// prints, as a phone does, and by one with a token of a backend.
func (a *author) serves(program string, cache []string) {
	t := a.t
	t.Helper()
	key := filepath.Join(t.TempDir(), "server.key")
	a.try(program, "token", "key", "--out", key)
	token, err := a.command(program, "token", "issue", "--key", key, "--game", "meadow",
		"--client", "42").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := a.command(program, "serve", "--page", "--listen", "127.0.0.1:0", "--key", key, "--open")
	cmd.Env = append(cmd.Env, cache...)
	says, end := starts(t, cmd)
	defer end()
	at := says.await(t, "play in a browser at ", 0)
	b := openTab(t, 360, 640)
	b.do(chromedp.Navigate(at + "?mute")) // before the game is there
	b.until("it plays by WebTransport", plays+" && coeval.stats().carrier === 'WebTransport'")
	says.await(t, "browsers can play after ", 0)
	b.run("document.querySelector('[data-do=say]').click()")
	b.run(`{ const l = document.getElementById('line'); l.value = 'good day';
		l.form.requestSubmit(); }`)
	b.run(`{ const p = CanvasRenderingContext2D.prototype, f = p.fillText; window.written = '';
		p.fillText = function(t, ...rest) { written += t + '|'; f.call(this, t, ...rest); } }`)
	b.until("what is said is seen", "written.includes('good day')")
	b.shot("served")
	b.do(chromedp.Navigate(at + "?mute&wrong#token=coeval"))
	b.until("a token that is none is told", "document.getElementById('step').textContent"+
		".includes('no whole token')")
	b.do(chromedp.Navigate(at + "?mute&notransport#token=" + strings.TrimSpace(string(token))))
	b.until("it plays by WebSocket", plays+" && coeval.stats().carrier === 'WebSocket'")
}

// TestANewGameIsPlayedWhileItIsMade: a module that was just made passes its tests and is played in
// a browser, by keys and by touch. Its drawing is changed while it runs, then it does not compile,
// and at last its fields are others: the player keeps the seat, and the world goes on as long as it
// can.
func TestANewGameIsPlayedWhileItIsMade(t *testing.T) {
	t.Parallel() // it mostly waits
	a := newAuthor(t, "meadow", "hello")
	b := openTab(t, 1280, 720)
	program := filepath.Join(t.TempDir(), "meadow")
	a.try("go", "build", "-o", program, ".")
	cmd := a.command(program, "demo", "--watch", "--port", "0", "--no-open", "--bots", "2")
	cache := hosttest.OwnCache(t)
	cmd.Env = append(cmd.Env, cache...)
	says, end := starts(t, cmd)
	defer end()
	at := strings.Fields(says.await(t, "the game is at ", 0))[0]
	var tested sync.WaitGroup // meanwhile
	tested.Go(func() { a.try("go", "vet", "./...") })
	tested.Go(func() { a.try("go", "test", "./...") })
	defer tested.Wait()

	// It is played by keys, and by touch.
	b.do(chromedp.Navigate(at))
	b.until("it plays", sits)
	me := b.number(frame + ".coeval.stats().player")
	b.run(hears)
	b.framed("keydown", "Space")
	b.until("a key says hello", heard+".includes('hello!')")
	b.framed("keyup", "Space")
	b.shot("hello")
	says.await(t, "what you change", 0)
	a.serves(program, cache)
	tick := b.number(frame + ".coeval.stats().tick")

	// Another drawing is there, with the same player in the same world.
	a.edit("main.go", `"hello!"`, `"ahoy!"`)
	b.run(frame + ".old = true")
	says.await(t, "the game was replaced ", 0)
	b.until("another program plays", "!"+frame+".old && "+sits)
	if again := b.number(frame + ".coeval.stats().player"); again != me {
		t.Errorf("was player %v, and is %v", me, again)
	}
	if now := b.number(frame + ".coeval.stats().tick"); now < tick {
		t.Errorf("the world was at tick %v, and is at %v", tick, now)
	}
	b.run(hears)
	b.finger("pointerdown")
	b.until("a finger says something else", heard+".includes('ahoy!')")
	b.finger("pointerup")

	// What does not compile is said, and what was there goes on.
	a.edit("main.go", `"ahoy!"`, `ahoy`)
	mistake := "document.getElementById('mistake')"
	b.until("the page says where", "!"+mistake+".hidden && "+mistake+
		`.textContent.includes("undefined: ahoy") && /main\.go:\d+/.test(`+mistake+".textContent)")
	b.shot("mistake")
	if at := says.await(t, "./main.go:", 0); !strings.Contains(at, "undefined: ahoy") {
		t.Errorf("the terminal says %q", at)
	}
	before := b.number(frame + ".coeval.stats().tick")
	b.until("the game goes on", fmt.Sprintf("%s.coeval.stats().tick > %v", frame, before))
	a.edit("main.go", `ahoy`, `"ahoy!"`)
	b.until("the page says so no more", mistake+".hidden")

	// With another field the world cannot be kept, and the player still is who they were.
	a.edit("game.go", "s.Int(&f.Flowers, 0, 9999)", "s.Int(&f.Flowers, 0, 99999)")
	b.run(frame + ".old = true")
	says.await(t, "the world begins anew", 0)
	b.until("another world is played", "!"+frame+".old && "+sits)
	if again := b.number(frame + ".coeval.stats().player"); again != me {
		t.Errorf("was player %v, and is %v", me, again)
	}
	tested.Wait()
	t.Log("\n" + says.all()) // with how long it took
}
