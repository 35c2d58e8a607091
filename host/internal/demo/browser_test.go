package demo

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/web"
	"github.com/coeval-dev/coeval/world"
)

// These tests play the demo in a real browser: what a person would see. They wait for things to
// happen and never for a time to pass; what they measure of time they print.

// TestBrowserGoesOn is one page to which everything happens: the network changes, its port does, it
// is cut, and the page is put to sleep.
func TestBrowserGoesOn(t *testing.T) {
	browse(t)
	s := startDemo(t, func(d *flags) { d.level = yardFile(t) })
	b := openTab(t, 320, 180)
	b.play(s, "name=Ann")
	b.until("plays by WebTransport", playing+" && coeval.stats().carrier === 'WebTransport'")
	b.answers(s)
	b.rebinds(s)
	b.sleeps(s)
}

// TestBrowserMirrors plays with three mirrors side by side in one page: a key in one frame moves
// the player in the world of another mirror, and when a mirror dies its player goes on elsewhere,
// in the same body, until it is back.
func TestBrowserMirrors(t *testing.T) {
	browse(t)
	s := startDemo(t, func(d *flags) {
		d.mirrors, d.preset, d.level = &mirrorFlags{count: 3, timeline: "auto"}, "transatlantic",
			yardFile(t)
	})
	f := fleetOf(s)
	b := openTab(t, 1000, 560)
	b.ready(s)
	hosttest.WaitUntil(t, "three mirrors serve", serves(f, 3))
	b.do(chromedp.Navigate("http://" + s.listener.Addr().String() + "/?mute&frugal"))
	b.until("there are three frames", "document.querySelectorAll('iframe[src]').length === 3")
	frame := func(n int) string {
		return fmt.Sprintf("document.querySelectorAll('iframe')[%d].contentWindow", n-1)
	}
	stat := func(n int, name string) string {
		return fmt.Sprintf("%s.coeval.stats().%s", frame(n), name)
	}
	plays := func(n int, at ...int) string {
		places := ""
		for _, i := range at {
			places += mirrorPublic(i-1).String() + " "
		}
		return fmt.Sprintf("%s.coeval && %s && %q.includes(%s) && %s > 0", frame(n),
			stat(n, "playing"), places, stat(n, "server"), stat(n, "health"))
	}
	calm := func() { // no bot is to shoot at who walks
		for n := 1; n <= 3; n++ {
			b.run(frame(n) + ".coeval.set('autopilot', 'off')")
		}
	}
	player := map[int]int{}
	for n := 1; n <= 3; n++ {
		b.until(fmt.Sprintf("the player of mirror %d plays there", n), plays(n, n))
		player[n] = int(b.number(stat(n, "player")))
	}
	calm()
	b.until("the plots have something to show",
		"window.coevalFleet && coevalFleet.traffic > 1000 && coevalFleet.settled[2] > 100 && "+
			"coevalFleet.rollbacks.every(n => n > 3)")

	press := func(n int, kind, code string) {
		t.Helper()
		b.run(fmt.Sprintf(
			`%s.document.querySelector('canvas').dispatchEvent(new (%[1]s.KeyboardEvent)(%q, {code: %q, key: %q, bubbles: true, cancelable: true}))`, frame(n), kind, code, strings.TrimPrefix(code, "Key")))
	}
	walk := func(n, seen int) {
		t.Helper()
		b.until("the player is alive", stat(n, "health")+" > 0")
		from := whereAt(t, f, seen-1, player[n])
		way := "KeyD"
		if from.X > 7 {
			way = "KeyA"
		}
		press(n, "keydown", way)
		calm()
		hosttest.WaitUntil(t,
			fmt.Sprintf("a key in frame %d moves the player at mirror %d", n, seen), func() bool {
				return whereAt(t, f, seen-1, player[n]).Sub(from).Len() > 0.5
			})
		press(n, "keyup", way)
		b.until("the frame is the person's",
			fmt.Sprintf("document.querySelectorAll('.mirror')[%d].classList.contains('yours')",
				n-1))
	}
	walk(1, 3)
	b.shot("mirrors")

	b.run("document.querySelectorAll('.mirror button')[1].click()")
	b.until("mirror 2 is dead",
		"document.querySelectorAll('.mirror .pill')[2].textContent === 'dead'")
	b.until("its player plays elsewhere", plays(2, 1, 3))
	if now := int(b.number(stat(2, "player"))); now != player[2] {
		t.Errorf("player %d of mirror 2 became %d", player[2], now)
	}
	t.Logf("%v moves, %v worlds", b.number(stat(2, "moves")), b.number(stat(2, "worlds")))
	hosttest.WaitUntil(t, "two mirrors serve", serves(f, 2))
	walk(2, 3)
	b.shot("killed")

	b.run("document.querySelectorAll('.mirror button')[1].click()")
	hosttest.WaitUntil(t, "three mirrors serve again", serves(f, 3))
	b.until("its player is home again", plays(2, 2))
	if now := int(b.number(stat(2, "player"))); now != player[2] {
		t.Errorf("player %d came home as %d", player[2], now)
	}
	t.Logf("%v moves, %v worlds", b.number(stat(2, "moves")), b.number(stat(2, "worlds")))

	b.run("document.querySelectorAll('.way')[0].dispatchEvent(new MouseEvent('click'))")
	hosttest.WaitUntil(t, "the way between 1 and 2 is cut",
		func() bool { return f.all().Ways[0].Cut })
	b.until("the page shows it", "document.querySelectorAll('.way.cut').length === 1")
	b.shot("cut")
	b.run("document.querySelector('.way.cut').dispatchEvent(new MouseEvent('click'))")
	b.until("it is healed", "document.querySelectorAll('.way.cut').length === 0")
	hosttest.WaitUntil(t, "three mirrors serve after the cut", serves(f, 3))
	for n := 1; n <= 3; n++ {
		b.until("everyone plays",
			fmt.Sprintf("%s && %s === ''", stat(n, "playing"), stat(n, "status")))
	}
}

// TestBrowserPage looks at the whole page: the game in its frame, the panel beside it.
func TestBrowserPage(t *testing.T) {
	browse(t)
	s := startDemo(t, func(d *flags) { d.bots = 4 })
	b := openTab(t, 1000, 560)
	b.do(chromedp.Navigate("http://" + s.listener.Addr().String() + "/?mute&frugal"))
	b.until("the page says that the game is being made, or shows it",
		"document.getElementById('step').textContent.length > 0")
	game := "document.getElementById('game').contentWindow.coeval"
	b.until("the game connects by WebTransport",
		fmt.Sprintf(
			"%s && %s.stats().playing && document.getElementById('carrier').textContent === "+
				"'WebTransport'", game, game))
	b.until("everyone is counted",
		"document.getElementById('people').textContent.includes('5 playing')")
	_, gz, zst := s.client.Bundle().Sizes()
	t.Logf("the client has %d bytes with zstd, %d with gzip, the page %d", zst, gz, web.PageSize())
	// Compressed in a hurry, for a browser on this machine; a release has a tenth less.
	if zst+web.PageSize() > 3_500_000 {
		t.Errorf("page and client have more than 3.5 MB")
	}
	b.until("the bytes are booked", "window.coevalPanel && coevalPanel.rate > 100")
	for range 3 {
		// at once, as the next figures may come in between
		if off := b.number("coevalPanel.sum - coevalPanel.sent"); off > 0.01 || off < -0.01 {
			t.Errorf("the rows add up to %v bytes more than the links have sent", off)
		}
	}
	if text := b.text("document.getElementById('check').textContent"); !strings.Contains(text,
		"adds up") {
		t.Errorf("the panel says %q", text)
	}

	// A slider makes the network worse, the game goes on, and a preset makes it better again.
	b.run(`{const e = document.getElementById('latency'); e.value = 150; e.dispatchEvent(new Event('input'))}`)
	// before the round trip, which a busy machine makes long as well
	hosttest.WaitUntil(t, "the slider changes the network", func() bool {
		n := oneServer(s).network.state()
		return n.Latency == 150 && n.Preset == ""
	})
	b.until("the round trip grows", game+".stats().roundTrip > 250")
	b.run(fmt.Sprintf("window.before = %s.stats().snapshots, window.far = %s.stats().roundTrip",
		game, game))
	b.until("the game goes on",
		fmt.Sprintf("%s.stats().playing && %s.stats().snapshots > window.before + 20", game, game))
	b.shot("page")
	b.run(`{const e = document.getElementById('preset'); e.value = 'lan'; e.dispatchEvent(new Event('change'))}`)
	b.until("the round trip falls", game+".stats().roundTrip < window.far - 150")
	b.until("the panel shows the preset",
		"document.getElementById('preset').value === 'lan' && "+
			"document.getElementById('latency').value === '0'")
	b.run(`document.querySelector('[data-style=quake3]').click()`)
	b.until("the style changes", game+".stats().style === 'quake3'")
}

// TestBrowserDuel plays with two browsers: keys move a player on the server, the other browser sees
// it, a rocket kills, and the score shows.
func TestBrowserDuel(t *testing.T) {
	browse(t)
	s := startDemo(t, func(d *flags) { d.level = yardFile(t) })
	ann, bob := openTab(t, 320, 180), openTab(t, 320, 180)
	ann.play(s, "name=Ann")
	bob.play(s, "name="+strings.Repeat("Bob", 4000)) // a name of 12,000 characters
	ann.until("Ann plays", playing)
	bob.until("Bob plays", playing)
	ann.until("names are cut", "coeval.stats().name === 'Ann'")
	bob.until("names are cut", "coeval.stats().name.length === 16")

	me := int(ann.number("coeval.stats().player"))
	from := whereIs(t, s, me)
	way := "KeyD"
	if from.X > 7 {
		way = "KeyA"
	}
	ann.key("keydown", way)
	hosttest.WaitUntil(t, "the key moves the player on the server",
		func() bool { return whereIs(t, s, me).Sub(from).Len() > 0.5 })
	ann.key("keyup", way)
	bob.until("Bob sees Ann", "coeval.stats().sights.includes('Ann')")
	ann.until("Ann sees Bob", "coeval.stats().sights.includes('Bob')")

	// Chat reaches the other; of a flood only some of it does.
	for i := range 40 {
		ann.run(fmt.Sprintf("coeval.set('say', 'line %d')", i))
	}
	// A line goes with one command, and one that comes too late is not taken: on a busy machine it
	// may have to be said again.
	ann.run("window.saying = setInterval(() => coeval.set('say', 'line again'), 3000)")
	bob.until("chat arrives", "coeval.stats().chat.includes('Ann: line')")
	ann.run("clearInterval(window.saying)")
	if n := strings.Count(bob.text("coeval.stats().chat"), "Ann:"); n > 10 {
		t.Errorf("a flood of %d lines came through", n)
	}

	// Ann takes the launcher, points at Bob and fires until he is gone. The page tells where Bob is
	// on the screen.
	ann.key("keydown", "Digit2")
	ann.key("keyup", "Digit2")
	ann.until("Ann has the launcher in hand",
		"coeval.stats().weapon.includes('launcher') || coeval.stats().weapon.includes('rocket')")
	ann.run(`window.hunt = setInterval(() => {
		const at = coeval.stats().places.split(' ');
		const c = document.querySelector('canvas');
		const e = {clientX: Number(at[0]), clientY: Number(at[1]), bubbles: true, button: 0, buttons: at.length > 2 ? 1 : 0, pointerType: 'mouse', pointerId: 1};
		if (at.length > 2) { c.dispatchEvent(new PointerEvent('pointermove', e)); c.dispatchEvent(new PointerEvent('pointerdown', e)); }
		else c.dispatchEvent(new PointerEvent('pointerup', e));
	}, 30)`)
	ann.until("a rocket is on its way", "coeval.stats().rockets < 3")
	ann.shot("rocket")
	ann.until("the kill counts", "coeval.stats().kills > 0")
	bob.until("so does the death", "coeval.stats().deaths > 0")
	ann.run("clearInterval(window.hunt)")
	ann.shot("kill")
	if got := ask(t, s, func(srv *server.Server) int {
		for id, sh := range world.All[arena.Sheet](srv.World()) {
			if srv.World().Owner(id) == world.Player(me) {
				return sh.Kills
			}
		}
		return -1
	}); got < 1 {
		t.Errorf("the server's score of Ann is %d", got)
	}
}

// TestBrowserSocket blocks QUIC: the player gets in by WebSocket all the same, and moves over when
// the way is free.
func TestBrowserSocket(t *testing.T) {
	browse(t)
	s := startDemo(t, func(d *flags) { d.level = yardFile(t) })
	if _, err := oneServer(s).quic.Command("partition"); err != nil {
		t.Fatal(err)
	}
	b := openTab(t, 320, 180)
	b.play(s, "name=Ann&blind")
	b.until("plays by WebSocket", playing+" && coeval.stats().carrier === 'WebSocket'")
	b.until("a blind test of styles is under way, as --blind asks for", "coeval.stats().blind")
	me := int(b.number("coeval.stats().player"))
	from := whereIs(t, s, me)
	way := "KeyD"
	if from.X > 7 {
		way = "KeyA"
	}
	b.key("keydown", way)
	hosttest.WaitUntil(t, "the key moves the player on the server",
		func() bool { return whereIs(t, s, me).Sub(from).Len() > 0.5 })
	b.key("keyup", way)
	b.shot("websocket")
	if _, err := oneServer(s).quic.Command("heal"); err != nil {
		t.Fatal(err)
	}
	from = whereIs(t, s, me)
	way = map[string]string{"KeyD": "KeyA", "KeyA": "KeyD"}[way]
	b.key("keydown", way)
	hosttest.WaitUntil(t, "the game goes on by either carrier",
		func() bool { return whereIs(t, s, me).Sub(from).Len() > 2 })
	b.key("keyup", way)
	b.until("the name has arrived", "coeval.stats().name === 'Ann'")
	if now := int(b.number("coeval.stats().player")); now != me {
		t.Errorf("player %d became %d", me, now)
	}
	t.Logf("in the end by %s, %v returns", b.text("coeval.stats().carrier"),
		b.number("coeval.stats().returns"))
}

// TestBrowserFarAway joins over a satellite: WebTransport takes so long to open that WebSocket
// comes first, and is used as soon as it is there.
func TestBrowserFarAway(t *testing.T) {
	browse(t)
	s := startDemo(t, func(d *flags) { d.level, d.preset = yardFile(t), "satellite" })
	b := openTab(t, 320, 180)
	b.play(s, "name=Ann")
	b.until("plays by WebTransport", playing+" && coeval.stats().carrier === 'WebTransport'")
	t.Logf("carrier opened %v times", b.number("coeval.stats().changes"))
}

// answers measures, on one preset after the other, how long it takes from a key to the first frame
// that shows it.
func (b *tab) answers(s *site) {
	t := b.t
	presets := []string{"satellite", "awful", "lan"} // far, bad, and good
	if hosttest.Soak() {
		presets = cli.Presets()
	}
	for _, preset := range presets {
		if r := post(t, s, map[string]any{"preset": preset}); r.StatusCode != http.StatusOK {
			t.Fatal(preset, r.Status)
		}
		b.run("window.before = coeval.stats().snapshots")
		b.until("the game goes on over "+preset,
			"coeval.stats().playing && coeval.stats().snapshots > window.before + 2")
		if far := 2 * oneServer(s).network.state().Latency; hosttest.Soak() && far > 0 {
			b.until("the round trip is that of "+preset,
				fmt.Sprintf("coeval.stats().roundTrip > %f", 0.9*far))
		}
		ticks, frames := math.Inf(1), math.Inf(1)
		// A frame may come between key and tick. And a key is measured only if the fighter rests
		// when a frame first sees it: a late correction may have moved it again.
		for try, measured := 0, 0; try < 12 && (measured < 2 || measured < 6 && ticks > 0); try++ {
			way := "KeyA" // away from the nearer wall
			if b.number("coeval.stats().x") < 7 {
				way = "KeyD"
			}
			b.until("the fighter is at rest", fmt.Sprintf(`coeval.stats().rests && (() => {
				window.before = coeval.stats().answers;
				window.pressed = coeval.stats().frames;
				%s;
				return true;
			})()`, press("keydown", way)))
			b.until("frames are drawn over "+preset, "coeval.stats().answers > window.before || "+
				"coeval.stats().frames > window.pressed + 30")
			if b.number("coeval.stats().answers - window.before") > 0 {
				measured++
				ticks = min(ticks, b.number("coeval.stats().answerTicks"))
				frames = min(frames, b.number("coeval.stats().answerFrames"))
			}
			b.key("keyup", way)
		}
		t.Logf("%-14s round trip %5.0f ms: answered after %v ticks without movement, %v frames",
			preset, b.number("coeval.stats().roundTrip"), ticks, frames)
		if ticks > 0 {
			t.Errorf("%s: the first tick after the key did not move the fighter", preset)
		}
	}
}

// rebinds gives the browser another port towards the server in the middle of the game, as routers
// do, and cuts the network for a moment.
func (b *tab) rebinds(s *site) {
	t := b.t
	me := b.number("coeval.stats().player")
	goesOn := func(what string) {
		t.Helper()
		b.run("window.before = coeval.stats().snapshots")
		b.until("the game goes on "+what,
			"coeval.stats().snapshots > window.before + 40 && coeval.stats().playing")
		if now := b.number("coeval.stats().player"); now != me {
			t.Errorf("%s player %v became %v", what, me, now)
		}
	}
	b.run("coeval.set('autopilot', 'on')") // where nothing moves there is little to tell
	defer b.run("coeval.set('autopilot', 'off')")
	goesOn("at first")
	for range 2 {
		if r := post(t, s, map[string]any{"rebind": true}); r.StatusCode != http.StatusOK {
			t.Fatal(r.Status)
		}
		goesOn("after rebinding")
	}
	if r := post(t, s, map[string]any{"cut": 1}); r.StatusCode != http.StatusOK {
		t.Fatal(r.Status)
	}
	hosttest.WaitUntil(t, "the cut is over",
		func() bool { return !oneServer(s).network.state().Cut })
	goesOn("after a cut")
	t.Logf("carrier opened %v times, %v returns", b.number("coeval.stats().changes"),
		b.number("coeval.stats().returns"))
}

// sleeps freezes the page until the server has given up its connection, and wakes it.
func (b *tab) sleeps(s *site) {
	t := b.t
	me := b.number("coeval.stats().player")
	freeze(b, true)
	hosttest.WaitUntil(t, "the server notices", func() bool {
		return ask(t, s, func(srv *server.Server) int { return srv.Population().Away }) == 1
	})
	freeze(b, false)
	b.run("window.before = coeval.stats().snapshots")
	b.until("plays again",
		"coeval.stats().playing && coeval.stats().snapshots > 40 && coeval.stats().status === ''")
	if now := b.number("coeval.stats().player"); now != me {
		t.Errorf("player %v came back as %v", me, now)
	}
	b.shot("awake")
}

func placeOf(w *world.World, p world.Player) (det.Vec2, bool) {
	for id, f := range world.All[arena.Fighter](w) {
		if w.Owner(id) == p {
			return f.Pos, true
		}
	}
	return det.Vec2{}, false
}
