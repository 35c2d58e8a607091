package demo

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
)

// builtAny is the client of the titles that have none of their own.
var builtAny = sync.OnceValue(func() *clientBuild {
	t := pong.Title.Clone()
	t.Client = "github.com/coeval-dev/coeval/cmd/coeval"
	c := newClientBuild(t)
	go c.run(context.Background())
	return c
})

// playing says that a page plays.
const plays = "window.coeval && coeval.stats().playing"

// TestFrames prints how many frames a second each title reaches at 1280 by 720, drawn without a
// graphics processor, and how long program and page work on one:
//
//	COEVAL_SOAK=1 go test -run TestFrames -v ./host/internal/demo
func TestFrames(t *testing.T) {
	if !hosttest.Soak() {
		t.Skip("it measures, and takes a machine that does nothing else; set COEVAL_SOAK")
	}
	for _, c := range []struct {
		title *game.Title
		bots  int
	}{{pong.Title, 2}, {stack.Title, 2}, {crowd.Title, 200}} {
		s := startDemo(t, func(d *flags) {
			d.title, d.level, d.bots, d.client = c.title, "", c.bots, builtAny()
		})
		for _, mode := range []string{"", "fine", "frugal"} {
			b := openTab(t, 1280, 720)
			b.ready(s)
			b.do(chromedp.Navigate(fmt.Sprintf("http://%s/play?mute&autopilot&%s",
				s.listener.Addr(), mode)))
			b.until("it plays", plays)
			b.run("window.before = coeval.stats().frames, window.begun = performance.now()")
			b.until("frames are drawn", "performance.now() > window.begun + 5000")
			t.Logf("%-6s %-6s %5.1f frames a second, program %4.1f ms, page %4.1f ms, ratio %.2f",
				c.title.Name(), mode,
				b.number("(coeval.stats().frames - before) / (performance.now() - begun) * 1000"),
				b.number("coeval.stats().program"), b.number("coeval.stats().replay"),
				b.number("coeval.stats().ratio"))
			b.shot(c.title.Name() + mode)
			b.do(chromedp.Navigate("about:blank"))
		}
	}
}
