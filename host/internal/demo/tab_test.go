package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/host/internal/browsertest"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/page"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// This file is what the tests in a browser have in common: a demo, a tab, and how to look into
// both.

// patience is when a test gives up on something that should have happened long ago.
const patience = 90 * time.Second

// yard is a map with nothing in the way, for tests in which players must meet.
const yard = `name  yard
title The Yard
by    coeval

map
###############
#.............#
#.s.........s.#
#.............#
#......h......#
###############
`

func TestMain(m *testing.M) { os.Exit(hosttest.Main(m)) }

// built is the game for the browser, which is compiled once for all tests.
var built = sync.OnceValue(func() *page.Client {
	c := page.NewClient(arena.Title, nil)
	go func() { _ = c.Make(context.Background()) }()
	return c
})

// startDemo runs a demo until the test ends.
func startDemo(t *testing.T, change func(d *flags)) *site {
	t.Helper()
	d := &flags{
		title: arena.Title, level: "duel", preset: "lan", style: "doom3", seed: 7, noOpen: true}
	if change != nil {
		change(d)
	}
	if d.client == nil && d.peers == nil && !d.trials() { // whose pages need none
		d.client = built()
	}
	level, err := d.check()
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.open(level)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the demo ended with: %v", err)
		}
		s.close()
	})
	return s
}

// oneServer is the server of a demo that has one.
func oneServer(s *site) *demoServer { return s.shown.(*demoServer) }

// yardFile writes the yard's map.
func yardFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "yard.txt")
	if err := os.WriteFile(name, []byte(yard), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A tab is one browser with one page.
type tab struct {
	t   *testing.T
	ctx context.Context
	*browsertest.Tab
}

// openTab starts a browser of its own, so that no tab is in the background of another.
func openTab(t *testing.T, width, height int) *tab {
	t.Helper()
	return openPlain(t, width, height)
}

// openPlain is openTab for pages that draw on a plain canvas, as browsers do that have no graphics
// processor.
func openPlain(t *testing.T, width, height int) *tab {
	t.Helper()
	return openWith(t, width, height, map[string]any{"disable-gpu": true})
}

func openWith(t *testing.T, width, height int, flags map[string]any) *tab {
	t.Helper()
	b := browsertest.Open(t, width, height, flags)
	return &tab{t, b.Ctx, b}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	b.Do(steps...)
}

// play opens the game itself, without the panel.
func (b *tab) play(s *site, query string) {
	b.t.Helper()
	b.ready(s)
	b.do(chromedp.Navigate(fmt.Sprintf("http://%s/play?mute&frugal&%s", s.listener.Addr(), query)))
}

// ready waits until the game is built. That may take minutes where nothing was compiled before and
// other tests compile too, so it waits as long as the compiler gets on.
func (b *tab) ready(s *site) {
	b.t.Helper()
	for s.client.Bundle() == nil {
		before := s.client.Now().Part
		hosttest.WaitUntil(b.t, "the compiler gets on with the game", func() bool {
			now := s.client.Now()
			if now.Error != "" {
				b.t.Fatal(now.Error)
			}
			return s.client.Bundle() != nil || now.Part > before
		})
	}
}

// until waits until an expression is true in the page.
func (b *tab) until(what, expression string) {
	b.t.Helper()
	b.Until(what, expression)
}

func (b *tab) text(expression string) string { return b.Text(expression) }

func (b *tab) number(expression string) float64 {
	b.t.Helper()
	return b.Number(expression)
}

func (b *tab) run(script string) {
	b.t.Helper()
	b.Run(script)
}

// key presses or releases a key, as a keyboard does.
func (b *tab) key(kind, code string) {
	b.t.Helper()
	b.run(press(kind, code))
}

// press is the script that presses or releases a key.
func press(kind, code string) string {
	return fmt.Sprintf(`(document.querySelector('canvas') || window).dispatchEvent(`+
		`new KeyboardEvent(%q, {code: %q, key: %q, bubbles: true, cancelable: true}))`,
		kind, code, strings.TrimPrefix(code, "Key"))
}

// shot keeps a picture, with the test's other artifacts.
func (b *tab) shot(name string) {
	b.t.Helper()
	b.Shot(name)
}

const playing = "window.coeval && coeval.stats().playing && coeval.stats().health > 0"

// ask looks at the server.
func ask[T any](t *testing.T, s *site, f func(srv *server.Server) T) T {
	t.Helper()
	answer := make(chan T, 1)
	if err := oneServer(s).server.Do(t.Context(),
		func() { answer <- f(oneServer(s).server) }); err != nil {
		t.Fatal(err)
	}
	return <-answer
}

// whereIs is where a player's fighter is on the server.
func whereIs(t *testing.T, s *site, p int) det.Vec2 {
	t.Helper()
	return ask(t, s, func(srv *server.Server) det.Vec2 {
		at, _ := placeOf(srv.World(), world.Player(p))
		return at
	})
}

func post(t *testing.T, s *site, body any) *http.Response {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post("http://"+s.listener.Addr().String()+"/api/network", "application/json",
		bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return r
}

// screens are for browsers, which draw without a graphics processor: more of them at once are
// slower than one after the other.
var screens = make(chan struct{}, 2)

// browse is for a test with a browser: it runs beside others, but not beside too many.
func browse(t *testing.T) {
	t.Parallel()
	screens <- struct{}{}
	t.Cleanup(func() { <-screens })
}
