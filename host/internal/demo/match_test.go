package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/peer"
	"github.com/coeval-dev/coeval/host/internal/relays"
	"github.com/coeval-dev/coeval/topology/peers"
)

// program is what is compiled for the browser.
const program = "github.com/coeval-dev/coeval/cmd/coeval"

// A venue is a relay, and a page on which people play through it.
type venue struct {
	t     *testing.T
	relay *relays.Relay
	page  *peer.PageServer
}

// openVenue runs both until the test ends.
func openVenue(t *testing.T, title *game.Title) *venue {
	t.Helper()
	if testing.Short() {
		t.Skip("it drives browsers, in other processes")
	}
	v := &venue{t: t}
	var err error
	v.relay, err = relays.New(relays.Options{Listen: "127.0.0.1:0", WebSocket: true,
		WebTransport: "127.0.0.1:0", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { _ = v.relay.Run(ctx) })
	t.Cleanup(func() {
		stop()
		work.Wait()
		_ = v.relay.Close()
	})
	v.page, err = peer.NewPageServer(ctx, v.options(title), &peer.PageOptions{HTTP: "127.0.0.1:0",
		Program: program})
	if err != nil {
		t.Fatal(err)
	}
	work.Go(func() {
		if err := v.page.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return v
}

func (v *venue) options(title *game.Title) *peer.Options {
	return &peer.Options{Title: title, Relay: v.relay.HTTP(), Style: peers.Rollback(),
		Match: &peers.Match{Seats: 4, Start: 2, Grace: time.Minute},
		Fill:  func(text string) string { return strings.ReplaceAll(text, "{program}", "coeval") }}
}

// open opens the page in a browser, by what stands behind its #.
func (v *venue) open(b *tab, query, fragment string) {
	v.t.Helper()
	for v.page.Client().Bundle() == nil {
		before := v.page.Client().Now().Part
		hosttest.WaitUntil(v.t, "the compiler gets on with the game", func() bool {
			now := v.page.Client().Now()
			if now.Error != "" {
				v.t.Fatal(now.Error)
			}
			return v.page.Client().Bundle() != nil || now.Part > before
		})
	}
	at, _, _ := strings.Cut(v.page.Link(), "#")
	b.do(chromedp.Navigate(at + "?mute&frugal&" + query + "#" + fragment))
}

// A terminal is somebody who plays without a browser, by a bot.
type terminalPlayer struct {
	mu    sync.Mutex
	marks map[string]string
}

// join has one join by a code until the test ends.
func (v *venue) join(title *game.Title, code string) *terminalPlayer {
	v.t.Helper()
	x := &terminalPlayer{marks: map[string]string{}}
	o := v.options(title)
	r, w := io.Pipe()
	o.Match, o.Invitation, o.Name, o.Desyncs = nil, code, "cleo", "none"
	o.Headless, o.JSON, o.Lines = true, true, w
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		if err := peer.Play(ctx, *o); err != nil {
			v.t.Error(err)
		}
		_ = w.Close()
	})
	work.Go(func() {
		for s := bufio.NewScanner(r); s.Scan(); {
			var l struct {
				Mark *struct {
					Tick int
					Hash string
				}
			}
			if json.Unmarshal(s.Bytes(), &l) == nil && l.Mark != nil {
				x.mu.Lock()
				x.marks[fmt.Sprint(l.Mark.Tick)] = l.Mark.Hash
				x.mu.Unlock()
			}
		}
	})
	v.t.Cleanup(func() {
		stop()
		work.Wait()
	})
	return x
}

// settled are the hashes that a page has settled lately, by tick.
func settled(b *tab) map[string]string {
	list := map[string]string{}
	for _, m := range strings.Fields(b.text("coeval.stats().marks")) {
		tick, hash, _ := strings.Cut(m, ":")
		list[tick] = hash
	}
	return list
}

// agree waits until two have settled some of the same ticks, and says if one of them differs.
func agree(t *testing.T, what string, a, b func() map[string]string) {
	t.Helper()
	hosttest.WaitUntil(t, what+" have settled the same ticks", func() bool {
		same, theirs := 0, b()
		for tick, hash := range a() {
			if other, ok := theirs[tick]; ok && other != hash {
				t.Fatalf("%s: tick %s is %s and %s", what, tick, hash, other)
			} else if ok {
				same++
			}
		}
		return same >= 1
	})
}

const inMatch = "window.coeval && coeval.stats().playing && coeval.stats().status === ''"

// TestBrowserMatch plays one match in two browsers and a terminal, through a relay: one of the
// browsers by WebTransport, the other by WebSocket. One is loaded anew and returns to its body, is
// put to sleep while the others go on, and catches up. All settle the same worlds. Before that, it
// is told what is wrong with the codes that it tries.
func TestBrowserMatch(t *testing.T) {
	browse(t)
	v := openVenue(t, pong.Title)
	ann, bob := openTab(t, 800, 450), openTab(t, 360, 640)
	v.open(ann, "name=Ann&autopilot", "new")
	ann.until("the page shows a code", "!document.getElementById('share').hidden && "+
		"document.getElementById('code').textContent.length === 19 && "+
		"document.getElementById('link').value.includes('code=')")
	ann.until("it waits for somebody", "coeval.stats().status.includes('now 1')")
	ann.shot("waits")
	code := ann.text("document.getElementById('code').textContent")
	if got, want := ann.text("document.getElementById('command').value"),
		"coeval peer join pong "+code+" --relay "+v.relay.HTTP(); got != want {
		t.Errorf("the page says %q, want %q", got, want)
	}
	v.refused(bob)
	v.open(bob, "name=Bob&autopilot&notransport", "code="+code)
	ann.until("Ann plays", inMatch+" && document.getElementById('share').hidden")
	bob.until("Bob plays", inMatch)
	cleo := v.join(pong.Title, code)
	of := func(b *tab) func() map[string]string {
		return func() map[string]string { return settled(b) }
	}
	cleos := func() map[string]string {
		cleo.mu.Lock()
		defer cleo.mu.Unlock()
		list := map[string]string{}
		for k, h := range cleo.marks {
			list[k] = h
		}
		return list
	}
	agree(t, "Ann and Bob", of(ann), of(bob))
	agree(t, "Ann and Cleo", of(ann), cleos)
	if a, b := ann.text("coeval.stats().carrier"), bob.text("coeval.stats().carrier"); a !=
		"WebTransport" || b != "WebSocket" {
		t.Errorf("they play by %s and %s", a, b)
	}
	ann.until("everybody is named", "coeval.stats().line.includes('you, Bob, cleo')")
	ann.run("coeval.set('graph', '')")
	ann.shot("plays")
	ann.run("coeval.set('help', '')")
	ann.shot("help")
	ann.run("coeval.set('help', ''); coeval.set('graph', '')")
	bob.shot("plays-narrow")

	ann.run("document.querySelector('[data-do=style]').click()")
	ann.until("the style changes", "coeval.stats().style === 'lockstep' && "+
		"coeval.stats().line.includes('lock step')")

	me := bob.number("coeval.stats().player")
	bob.run("window.old = true")
	bob.do(chromedp.Reload())
	bob.until("Bob plays again", "!window.old && "+inMatch)
	if now := bob.number("coeval.stats().player"); now != me {
		t.Errorf("player %v came back as %v", me, now)
	}
	agree(t, "Ann and Bob, who was loaded anew,", of(ann), of(bob))

	// No frames are drawn of a page that is hidden: it plays on by what comes.
	bob.run("window.frame = requestAnimationFrame; requestAnimationFrame = f => { later = f };" +
		"window.before = coeval.stats()")
	bob.until("Bob plays on unseen", "coeval.stats().frames <= window.before.frames + 1 && "+
		"coeval.stats().tick > window.before.tick + 60 && "+inMatch)
	ann.until("Bob is there all the while", "coeval.stats().line.includes('you, Bob, cleo')")
	bob.run("requestAnimationFrame = window.frame; requestAnimationFrame(later)")

	freeze(bob, true)
	ann.until("Bob is away, and the others go on", "coeval.stats().line.includes('Bob (away)')")
	freeze(bob, false)
	bob.until("Bob is awake", inMatch)
	if now := bob.number("coeval.stats().player"); now != me {
		t.Errorf("player %v woke up as %v", me, now)
	}
	ann.until("Bob is back", "coeval.stats().line.includes('you, Bob, cleo')")
	agree(t, "Ann and Bob, who slept,", of(ann), of(bob))
	for _, b := range []*tab{ann, bob} {
		if n := b.number("coeval.stats().differed"); n != 0 {
			t.Errorf("%v worlds differed", n)
		}
	}
}

// refused tries what does not work, on a page that is nothing but files and of another server than
// the relay: it says what is wrong in plain words, with a form to do better.
func (v *venue) refused(b *tab) {
	t := v.t
	t.Helper()
	dir := filepath.Join(t.TempDir(), "page")
	if err := peer.ServePage(t.Context(), v.options(pong.Title), &peer.PageOptions{Out: dir,
		Program: program}, io.Discard); err != nil {
		t.Fatal(err)
	}
	files := httptest.NewServer(http.StripPrefix("/games/pong/", http.FileServer(http.Dir(dir))))
	t.Cleanup(files.Close)
	says := func(what, words string) {
		t.Helper()
		b.until(what, fmt.Sprintf("!document.getElementById('lobby').hidden && "+
			"document.getElementById('why').textContent.includes(%q)", words))
	}
	b.do(chromedp.Navigate(files.URL + "/games/pong/?mute&frugal"))
	says("the form is there at once", "")
	b.shot("form")
	b.run("document.getElementById('join').click()")
	says("a code is missing", "Type the code")
	b.run("document.getElementById('typed').value = 'abc'; document.getElementById('join').click()")
	says("it is no code", "four groups of four")
	b.run("document.getElementById('typed').value = '2222-2222-3333-3333';" +
		"document.getElementById('join').click()")
	says("the relay has no such match", "no match with this code")
	b.shot("refused")
	b.run("document.getElementById('new').click()")
	b.until("a match is founded in its place", "coeval.stats().code.length === 19 && "+
		"document.getElementById('lobby').hidden && !document.getElementById('share').hidden")
	b.until("it says for whom it waits",
		"document.getElementById('waits').textContent.includes('now 1')")
	b.shot("share")
	b.run("document.getElementById('leave').click()")
	says("the form is there again", "You have left")
}
