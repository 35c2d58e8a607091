package demo

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/world"
)

func startPeers(t *testing.T, n int, change func(d *flags)) *site {
	t.Helper()
	return startDemo(t, func(d *flags) {
		d.title, d.level = pong.Title, ""
		d.peers = &peerFlags{count: n, style: peers.Rollback()}
		if change != nil {
			change(d)
		}
	})
}

func partyOf(s *site) *party { return s.shown.(*party) }

// want asks the demo for something, and gives what it answers.
func want(t *testing.T, s *site, wish any) (int, string) {
	t.Helper()
	b, err := json.Marshal(wish)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post("http://"+s.listener.Addr().String()+"/api/peers", "application/json",
		bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(text)
}

type orders map[string]any

func (o orders) must(t *testing.T, s *site) {
	t.Helper()
	if code, text := want(t, s, o); code != http.StatusOK {
		t.Fatalf("%v: %d %s", o, code, text)
	}
}

// settles waits until all who run play, or watch, and have settled some more ticks.
func settles(t *testing.T, s *site, what string, ticks world.Tick) {
	t.Helper()
	at := world.Tick(0)
	for _, p := range partyOf(s).tell(t.Context()).Peers {
		at = max(at, p.Tick)
	}
	hosttest.WaitUntil(t, what, func() bool {
		for _, p := range partyOf(s).tell(t.Context()).Peers {
			if p.Runs && (p.Settled < at+ticks || !p.Watch && p.Phase != "playing") {
				return false
			}
		}
		return true
	})
}

// TestDemoPeers does to peers what the page can: they are switched, one comes late, one watches,
// one is cut off and comes back, one crashes and returns to the same body. All the time they
// compute the same.
func TestDemoPeers(t *testing.T) {
	for name, relay := range map[string]bool{"mesh": false, "relay": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it mostly waits
			demoPeers(t, startPeers(t, 3, func(d *flags) { d.peers.relay = relay }))
		})
	}
}

func demoPeers(t *testing.T, s *site) {
	settles(t, s, "three play", 20)
	orders{"style": "lockstep"}.must(t, s)
	orders{"style": "rollback", "peer": 2}.must(t, s)
	orders{"preset": "cable"}.must(t, s)
	orders{"join": true}.must(t, s)
	orders{"watch": true}.must(t, s)
	settles(t, s, "four play, and one watches", 20)
	now := partyOf(s).tell(t.Context())
	if n := len(now.Peers); n != 5 || now.Peers[0].Style != "lockstep" ||
		now.Peers[1].Style != "rollback" || now.Preset != "cable" || !now.Peers[4].Watch {
		t.Errorf("%+v", now)
	}
	was := now.Peers[2].Player
	orders{"crash": 3}.must(t, s)
	hosttest.WaitUntil(t, "the others go on without it", func() bool {
		return len(partyOf(s).tell(t.Context()).Peers[0].Members) == 3
	})
	orders{"restart": 3}.must(t, s)
	settles(t, s, "it is back", 20)
	if p := partyOf(s).tell(t.Context()).Peers[2]; p.Player != was || was == world.Nobody {
		t.Errorf("it was player %d, and is %d", was, p.Player)
	}
	orders{"cut": 2}.must(t, s)
	hosttest.WaitUntil(t, "the others go on without who is cut off", func() bool {
		return len(partyOf(s).tell(t.Context()).Peers[0].Members) == 3
	})
	orders{"heal": 2}.must(t, s)
	settles(t, s, "all are together again", 80)
	for _, p := range partyOf(s).tell(t.Context()).Peers {
		if p.Differed != 0 {
			t.Errorf("%s has met another world", p.Name)
		}
	}
	if now = partyOf(s).tell(t.Context()); now.Peers[0].Compared == 0 {
		t.Error("nothing was compared")
	}
}

// TestDemoPeersRefuse: what a page, or a program, asks for that makes no sense is refused with
// words.
func TestDemoPeersRefuse(t *testing.T) {
	t.Parallel() // it mostly waits
	s := startPeers(t, 2, nil)
	settles(t, s, "two play", 1)
	for _, x := range []struct {
		wish any
		text string
	}{
		{orders{}, "nothing to do"},
		{orders{"crash": 9}, "there is no peer 9"},
		{orders{"restart": 1}, "is running"},
		{orders{"style": "waltz"}, "lockstep or rollback"},
		{orders{"preset": "tincan"}, "tincan"},
		{orders{"dance": true}, "no order for peers"},
		{"what", "no order for peers"},
	} {
		if code, text := want(t, s, x.wish); code != http.StatusBadRequest ||
			!strings.Contains(text, x.text) {
			t.Errorf("%v: %d %s, want %q", x.wish, code, text, x.text)
		}
	}
	request := func(n int, number uint32) []byte {
		b := make([]byte, requestHead+n*requestEach)
		binary.LittleEndian.PutUint32(b[4*(1+entry.HandWords):], uint32(n))
		for i := range n {
			binary.LittleEndian.PutUint32(b[requestHead+i*requestEach:], number)
		}
		return b
	}
	for _, x := range []struct {
		data []byte
		ok   bool
	}{{request(2, 1), true}, {request(0, 0), true}, {request(1, 9), false}, {nil, false},
		{request(2, 1)[:requestHead+5], false}, {append(request(1, 1), 0), false},
		{bytes.Repeat([]byte{255}, requestHead), false}} {
		ws, _, err := websocket.Dial(t.Context(),
			"ws://"+s.listener.Addr().String()+"/api/screens", nil)
		if err != nil {
			t.Fatal(err)
		}
		ws.SetReadLimit(8 << 20)
		if err := ws.Write(t.Context(), websocket.MessageBinary, x.data); err != nil {
			t.Fatal(err)
		}
		_, answer, err := ws.Read(t.Context())
		if (err == nil) != x.ok {
			t.Errorf("%d bytes: %v", len(x.data), err)
		}
		if x.ok && len(x.data) > requestHead && len(answer) < 2*36 {
			t.Errorf("an answer of %d bytes", len(answer))
		}
		_ = ws.CloseNow()
	}
	if code, _ := fetch(t, s, "/api/files/..%2fgo.mod"); code != http.StatusNotFound {
		t.Errorf("a file that is no asset: %d", code)
	}
}

// fetch asks for something of the site.
func fetch(t *testing.T, s *site, path string) (int, string) {
	t.Helper()
	r, err := http.Get("http://" + s.listener.Addr().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(text)
}

func TestDemoPeersCommandLine(t *testing.T) {
	for _, x := range []struct{ args, want string }{
		{"--peers 1", "from 2 to 8"},
		{"--peers 99", "from 2 to 8"},
		{"--peers 4 --mirrors 3", "peers"},
		{"--peers 4 --style quake3", "lockstep or rollback"},
		{"--peers 4 --preset tincan", "tincan"},
		{"--peers 4 --listen all", "leave it out"},
		{"--peers 4 --watch", "leave out --peers"},
		{"--relay", "--relay goes with --peers"},
	} {
		var out, errs bytes.Buffer
		code := bundled.Run(t.Context(),
			append([]string{"demo", "--no-open"}, strings.Fields(x.args)...), &out, &errs,
			demoCommands())
		if code != cli.ExitUsage || !strings.Contains(errs.String(), x.want) {
			t.Errorf("%s: code %d, %s", x.args, code, errs.String())
		}
	}
}

// center is a script that gives the middle of an element.
const center = `(q => { const r = document.querySelector(q).getBoundingClientRect(); ` +
	`return [r.left + r.width / 2, r.top + r.height / 2]; })`

// click clicks on an element, as a person does.
func (b *tab) click(query string) {
	b.t.Helper()
	x := b.number(center + "('" + query + "')[0]")
	y := b.number(center + "('" + query + "')[1]")
	b.do(chromedp.MouseClickXY(x, y))
}

// TestBrowserPeers: the page shows what each peer draws; who clicks into one plays it, with keys;
// buttons and plots do what they say.
func TestBrowserPeers(t *testing.T) {
	browse(t)
	s := startPeers(t, 3, nil)
	b := openPlain(t, 1200, 800)
	b.do(chromedp.Navigate("http://" + s.listener.Addr().String() + "/"))
	b.until("all are drawn", "window.coevalPeers?.seats.length === 3 && "+
		"coevalPeers.seats.every(s => s.drawn > 3)")
	b.until("each has something on it", `coevalPeers.seats.every(s => {
		const { width: w, height: h } = s.canvas, seen = new Set();
		const d = s.context.getImageData(0, 0, w, h).data;
		for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
		return seen.size > 2; })`)
	b.click(".seat:nth-child(2) canvas")
	second := partyOf(s).all()[1]
	hosttest.WaitUntil(t, "the second is the player's", func() bool { return !second.auto.Load() })
	b.until("the page says so", "document.querySelectorAll('.yours').length === 1 && "+
		"document.querySelector('.yours .who').textContent === 'you play'")
	b.key("keydown", "ArrowUp")
	hosttest.WaitUntil(t, "the key has come", func() bool {
		second.mu.Lock()
		defer second.mu.Unlock()
		return second.hands.Input().Up
	})
	b.key("keyup", "ArrowUp")
	b.click("#lockstep")
	b.until("all play in lock step", "coevalPeers.live().peers.every(p => p.style === 'lockstep') "+
		"&& document.querySelector('#lockstep.on')")
	b.click(".seat:nth-child(1) .style")
	b.until("but the first", "coevalPeers.live().peers[0].style === 'rollback'")
	b.key("keydown", "Escape")
	hosttest.WaitUntil(t, "a bot plays again", second.auto.Load)
	b.until("the plots go on",
		"coevalPeers.seats.every(s => s.plot.series.every(x => x.length > 3))")
	b.do(chromedp.EmulateViewport(420, 800))
	b.until("on a narrow page they are below one another, and nothing sticks out",
		`(() => { const [a, b] = [1, 2].map(i => document.querySelector('.seat:nth-child(' + i +
		')').getBoundingClientRect()); return b.top >= a.bottom && document.querySelector('main')
		.scrollWidth <= innerWidth; })()`)
}

var peersPicture = flag.String("peers-picture", "",
	"take a picture of the demo with peers, one of which was cut off, into this PNG")

// TestPeersPicture makes the picture in docs/demo.md:
//
//	go test -run TestPeersPicture -peers-picture "$PWD/docs/demo-peers.png" ./host/internal/demo
func TestPeersPicture(t *testing.T) {
	if *peersPicture == "" {
		return // asked for by -peers-picture
	}
	s := startPeers(t, 4, func(d *flags) { d.title, d.preset = arena.Title, "transatlantic" })
	b := openTab(t, 1280, 800)
	b.do(chromedp.Navigate("http://" + s.listener.Addr().String() + "/"))
	settles(t, s, "there is something to plot", 60*8)
	orders{"style": "lockstep", "peer": 2}.must(t, s)
	settles(t, s, "there is more", 60*8)
	orders{"cut": 4}.must(t, s)
	b.until("the others go on", "coevalPeers.live().peers.slice(0, 3).every("+
		"p => p.members.length === 3 && !p.waiting_ms) && coevalPeers.live().peers[3].waiting_ms")
	data, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if data, err = slimmer(data, 2); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*peersPicture, data, 0o666); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(420, 820))
	b.shot("narrow")
	t.Log(b.t.ArtifactDir())
}
