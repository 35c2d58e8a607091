package demo

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/hosttest/toy"
	"github.com/coeval-dev/coeval/host/internal/page"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// builtToy is the client of the toy, and builtAny that of bundled titles that have none of their
// own.
var (
	builtToy = sync.OnceValue(func() *page.Client {
		return buildOnce("github.com/coeval-dev/coeval/host/internal/hosttest/toy/play")
	})
	builtAny = sync.OnceValue(func() *page.Client {
		return buildOnce("github.com/coeval-dev/coeval/cmd/coeval")
	})
)

// buildOnce compiles a program for the browser.
func buildOnce(program string) *page.Client {
	t := toy.Title.Clone()
	t.Client = program
	c := page.NewClient(t, nil)
	go func() { _ = c.Make(context.Background()) }()
	return c
}

// plays says that a page does.
const plays = "window.coeval && coeval.stats().playing"

// startTitle runs a demo of a title with a client.
func startTitle(t *testing.T, title *game.Title, client *page.Client, bots int) *site {
	return startDemo(t, func(d *flags) {
		d.title, d.level, d.bots, d.client = title, "", bots, client
	})
}

// pawn is what the server knows of a player of the toy.
func pawn(t *testing.T, s *site, p int) toy.Pawn {
	t.Helper()
	return ask(t, s, func(srv *server.Server) (out toy.Pawn) {
		for id, x := range world.All[toy.Pawn](srv.World()) {
			if int(srv.World().Owner(id)) == p {
				out = *x
			}
		}
		return out
	})
}

// TestScreen is a page to which everything happens that a player can do, and that a title's
// drawing and sound can ask for.
func TestScreen(t *testing.T) {
	browse(t)
	s := startTitle(t, toy.Title, builtToy(), 1)
	b := openPlain(t, 640, 360)
	b.ready(s)
	b.do(chromedp.Navigate(fmt.Sprintf("http://%s/play?name=Ann", s.listener.Addr())))
	b.until("it plays", plays)
	b.run(listens)
	me := int(b.number("coeval.stats().player"))
	b.draws()
	b.hears()
	b.types(s, me)
	b.points(s, me)
	b.talks(s)
	b.touches(s, me)
	b.pads(s, me)
	b.shows()
	b.breaks(s, "KeyX", "the drawing is broken")
	b.do(chromedp.Navigate(fmt.Sprintf("http://%s/play?name=Ann", s.listener.Addr())))
	b.until("it plays again", plays)
	b.breaks(s, "KeyC", "the controls are broken")
}

// listens has the page note what its audio graph is asked to play: of each source that is started
// what it is, and what it goes through on its way to the loudspeaker.
const listens = `
	window.heard = [];
	const to = new Map(), values = new Map();
	const wrap = (object, name, before) => {
		const old = object[name];
		object[name] = function (...args) { before(this, ...args); return old.apply(this, args); };
	};
	wrap(AudioNode.prototype, 'connect', (node, next) => to.set(node, next));
	wrap(AudioParam.prototype, 'setValueAtTime', (param, value) => {
		if (!values.has(param)) values.set(param, value);
	});
	const note = node => {
		const way = [];
		for (let n = to.get(node); n; n = to.get(n)) way.push(n);
		const found = kind => way.find(n => n instanceof kind);
		heard.push({
			wave: node.type ?? '', pitch: values.get(node.frequency ??
				found(BiquadFilterNode)?.frequency) ?? 0,
			seconds: node.buffer?.duration ?? 0, loop: !!node.loop,
			volume: values.get(found(GainNode)?.gain) ?? 0,
			pan: found(StereoPannerNode)?.pan.value ?? 0,
			arrives: way.at(-1) === node.context.destination, state: node.context.state,
		});
	};
	wrap(OscillatorNode.prototype, 'start', note);
	wrap(AudioBufferSourceNode.prototype, 'start', note);
	undefined`

// hears taps a key at which the toy plays a tone, noise, samples and a file: the browser is asked
// for each, as loud and as far to the side as the calls say.
func (b *tab) hears() {
	b.do(chromedp.MouseClickXY(320, 300)) // browsers are silent until someone does something
	b.until("sound is on", "coevalScreen.sound.context?.state === 'running'")
	want := map[string]string{
		"a tone":  "h.wave === 'sine' && h.pitch === 440 && h.pan === -0.5 && h.volume === 0.5",
		"noise":   "h.loop && h.pitch === 900 && h.pan === 0.5 && Math.abs(h.volume - 0.2) < 1e-6",
		"samples": "Math.abs(h.seconds - 0.1) < 1e-3 && !h.loop && h.volume === 0.5 && !h.pan",
		"a file":  "Math.abs(h.seconds - 0.05) < 1e-3 && !h.loop && h.volume === 0.5",
	}
	for what, is := range want {
		// A file is read at the first call, and may come too late to be heard with it.
		b.until("the toy plays "+what, fmt.Sprintf(`heard.some(h => %s && h.arrives) || (() => {
			%s; setTimeout(() => { %s }, 60);
			return false;
		})()`, is, press("keydown", "KeyE"), press("keyup", "KeyE")))
	}
	if n := b.number("heard.filter(h => !h.arrives || h.state !== 'running').length"); n > 0 {
		b.t.Errorf("%v of %s are not heard", n, b.text("JSON.stringify(heard)"))
	}
}

// pixel is the color of a place of the toy's world on the canvas.
func (b *tab) pixel(x, y float64) string {
	return b.text(fmt.Sprintf(`(() => {
		const c = document.getElementById('screen'), k = Math.min(c.width, c.height) / %d;
		const x = c.width / 2 + (%f - %d / 2) * k, y = c.height / 2 - (%f - %d / 2) * k;
		const one = c.getContext('2d').getImageData(Math.round(x), Math.round(y), 1, 1);
		return [...one.data].slice(0, 3).join(' ');
	})()`, toy.Side, x, toy.Side, y, toy.Side))
}

// draws looks at what every call has drawn.
func (b *tab) draws() {
	b.until("what is missing is said", "document.getElementById('warnings').innerText.includes"+
		"('none.png')")
	text := b.text("document.getElementById('warnings').innerText")
	if !strings.Contains(text, `"none.png" was not found in the title's Screen.Assets`) ||
		!strings.Contains(text, "mark.svg") {
		b.t.Errorf("it says %q", text)
	}
	b.shot("toy")
	for what, c := range map[string]struct {
		x, y float64
		want string
	}{
		"rectangle": {3.5, 35.5, "208 64 64"}, "box": {8, 35.5, "64 208 64"},
		"circle": {13, 35.5, "64 96 208"}, "ring": {19.5, 35.5, "208 208 64"},
		"line": {28, 35.5, "64 208 208"}, "polygon": {33.5, 35, "208 64 208"},
		"image": {5, 28, "255 255 255"}, "tinted image": {11, 28, "255 128 128"},
		"clip": {37, 27, "240 240 240"}, "image in a picture": {4, 36, "208 64 64"},
	} {
		if got := b.pixel(c.x, c.y); !alike(got, c.want) {
			b.t.Errorf("%s is %s, want %s", what, got, c.want)
		}
	}
	outside := b.pixel(38.8, 29.5) // of the clip
	if outside == "240 240 240" {
		b.t.Error("nothing was cut")
	}
	hosttest.WaitUntil(b.t, "two lights make more than each", func() bool {
		var light [3]int
		fmt.Sscan(b.pixel(25, 28), &light[0], &light[1], &light[2])
		return light[0] >= 128+20 && light[2] >= 128+20
	})
}

// alike says whether no one sees the difference between two colors.
func alike(a, b string) bool {
	var x, y [3]int
	fmt.Sscan(a, &x[0], &x[1], &x[2])
	fmt.Sscan(b, &y[0], &y[1], &y[2])
	for i := range x {
		if d := x[i] - y[i]; d > 3 || d < -3 {
			return false
		}
	}
	return true
}

// types presses keys: some held, some shorter than any tick.
func (b *tab) types(s *site, me int) {
	from := pawn(b.t, s, me)
	b.key("keydown", "KeyD")
	hosttest.WaitUntil(b.t, "a key moves the pawn",
		func() bool { return pawn(b.t, s, me).Pos.X > from.Pos.X+1 })
	b.run("window.dispatchEvent(new Event('blur'))")
	b.until("leaving the page lets go", "coeval.stats().frames > 0")
	x, same := math.NaN(), 0
	hosttest.WaitUntil(b.t, "it stands", func() bool {
		now := pawn(b.t, s, me).Pos.X
		if same++; now != x {
			x, same = now, 0
		}
		return same >= 20
	})
	b.until("frames are counted", "coeval.stats().rate > 0 && coeval.stats().rate < 1000")
	taps := pawn(b.t, s, me).Taps
	for range 3 {
		b.run(press("keydown", "KeyE") + ";" + press("keyup", "KeyE"))
		b.run("window.before = coeval.stats().tick")
		b.until("some ticks pass", "coeval.stats().tick > window.before + 3")
	}
	hosttest.WaitUntil(b.t, "each tap counts once",
		func() bool { return pawn(b.t, s, me).Taps >= taps+3 })
	if got := pawn(b.t, s, me).Taps - taps; got != 3 {
		b.t.Errorf("3 taps count as %d", got)
	}
	b.until("a sound that is missing is said",
		"document.getElementById('warnings').innerText.includes('none.mp3')")
}

// points moves the pointer, and clicks.
func (b *tab) points(s *site, me int) {
	at := pawn(b.t, s, me)
	// 360 pixels are 40 units: this is 10 to the right and 5 up from the middle.
	event := func(name string, buttons int) string {
		return fmt.Sprintf(`document.getElementById('screen').dispatchEvent(new PointerEvent(%q, `+
			`{clientX: 410, clientY: 135, pointerId: 1, pointerType: 'mouse', buttons: %d, `+
			`bubbles: true}))`, name, buttons)
	}
	b.run(event("pointermove", 0))
	hosttest.WaitUntil(b.t, "the pointer is somewhere in the game", func() bool {
		return pawn(b.t, s, me).At.Sub(det.Vec2{X: 30, Y: 25}).Len() < 0.3
	})
	b.run(event("pointerdown", 1) + ";" + event("pointerup", 0))
	hosttest.WaitUntil(b.t, "a click fires", func() bool {
		return pawn(b.t, s, me).Fires > at.Fires
	})
	if got := pawn(b.t, s, me).Fires - at.Fires; got != 1 {
		b.t.Errorf("a click counts for %d ticks", got)
	}
}

// talks opens the chat by a key, types into it, and reads what others say and are called.
func (b *tab) talks(s *site) {
	b.key("keydown", "Enter")
	b.key("keyup", "Enter")
	b.until("there is a line to type in", "document.activeElement.id === 'line'")
	from := pawn(b.t, s, int(b.number("coeval.stats().player")))
	b.run(`document.getElementById('line').dispatchEvent(
		new KeyboardEvent('keydown', {code: 'KeyE', key: 'e', bubbles: true}));
		document.getElementById('line').value = 'hello there';
		document.getElementById('chat').requestSubmit()`)
	b.until("the line is heard", "coeval.stats().chat.includes('Ann: hello there')")
	b.until("the page has the keys again", "document.getElementById('chat').hidden")
	if now := pawn(b.t, s, int(b.number("coeval.stats().player"))); now.Taps != from.Taps {
		b.t.Error("what was typed played")
	}
	b.until("everyone has a name", "coeval.stats().names.includes('Ann')")
}

// touches puts two thumbs on the glass.
func (b *tab) touches(s *site, me int) {
	from := pawn(b.t, s, me)
	finger := func(name string, id, x, y int) string {
		return fmt.Sprintf(`document.getElementById('screen').dispatchEvent(new PointerEvent(%q, `+
			`{clientX: %d, clientY: %d, pointerId: %d, pointerType: 'touch', bubbles: true}));`,
			name, x, y, id)
	}
	b.run(finger("pointerdown", 7, 100, 250) + finger("pointermove", 7, 40, 250))
	hosttest.WaitUntil(b.t, "the left thumb walks",
		func() bool { return pawn(b.t, s, me).Pos.X < from.Pos.X-1 })
	b.run(finger("pointerdown", 8, 500, 250))
	hosttest.WaitUntil(b.t, "the right thumb fires",
		func() bool { return pawn(b.t, s, me).Fires > from.Fires+1 })
	b.shot("thumbs")
	b.run(finger("pointerup", 7, 40, 250) + finger("pointerup", 8, 500, 250))
}

// pads plays with a gamepad.
func (b *tab) pads(s *site, me int) {
	from := pawn(b.t, s, me)
	b.run(`window.pad = {connected: true, axes: [0, -1, 0, 0],
			buttons: Array.from({length: 17}, () => ({pressed: false}))};
		navigator.getGamepads = () => [window.pad];
		window.dispatchEvent(new Event('gamepadconnected'))`)
	hosttest.WaitUntil(b.t, "the stick walks up",
		func() bool { return pawn(b.t, s, me).Pos.Y > from.Pos.Y+1 })
	b.run("pad.axes = [0, 0, 0, 0]; pad.buttons[0].pressed = true")
	hosttest.WaitUntil(b.t, "the first button fires",
		func() bool { return pawn(b.t, s, me).Fires > from.Fires+1 })
	b.run("pad.buttons[0].pressed = false; navigator.getGamepads = () => []")
}

// shows looks at all that is drawn over the game.
func (b *tab) shows() {
	tap := func(code string) {
		b.key("keydown", code)
		b.key("keyup", code)
	}
	for code, name := range map[string]string{
		"KeyN": "graph", "KeyO": "ghosts", "KeyB": "blind", "KeyH": "help",
	} {
		tap(code)
		b.until(name+" is on", "coeval.stats()."+name)
	}
	b.key("keydown", "Tab")
	b.until("the board is shown", "coeval.stats().board")
	b.shot("board")
	b.key("keyup", "Tab")
	tap("KeyB")
	tap("KeyH")
	b.until("and off again", "!coeval.stats().blind && !coeval.stats().help")
	b.run("coeval.set('style', 'doom3')")
	tap("KeyP")
	b.until("another style", "coeval.stats().style === 'quake3'")
	tap("KeyM")
	b.until("no sound", "coevalScreen.mute")
	b.run("window.before = coeval.stats().frames")
	b.until("frames are counted",
		"coeval.stats().rate > 1 && coeval.stats().work > 0 && coeval.stats().frames > before + 3")
	b.shot("graph")
}

// breaks has the game panic while it draws, or makes commands.
func (b *tab) breaks(s *site, key, words string) {
	b.key("keydown", key)
	b.until("the player is told",
		fmt.Sprintf("coeval.stats().failed === 'toy panicked: %s'", words))
	hosttest.WaitUntil(b.t, "the server knows that the player has gone", func() bool {
		return ask(b.t, s, func(srv *server.Server) int {
			p := srv.Population()
			return p.Players + p.Away
		}) == 1
	})
	b.shot("broken " + key)
}

// TestFrames prints how many frames a second each title reaches at 1280 by 720, drawn without a
// graphics processor, and how long program and page work on one, on the clock; and what the page
// takes of a processor for one, which a busy machine changes little:
//
//	COEVAL_SOAK=1 go test -run TestFrames -v ./host/internal/demo
func TestFrames(t *testing.T) {
	if !hosttest.Soak() {
		return // it measures, and takes a machine that does nothing else: set COEVAL_SOAK
	}
	for _, c := range []struct {
		title *game.Title
		level string
		bots  int
		build *page.Client
	}{
		{arena.Title, "foundry", 12, built()}, {pong.Title, "", 2, builtAny()},
		{stack.Title, "", 2, builtAny()}, {crowd.Title, "", 200, builtAny()},
	} {
		s := startDemo(t, func(d *flags) {
			d.title, d.level, d.bots, d.client = c.title, c.level, c.bots, c.build
		})
		for _, mode := range []string{"", "fine", "frugal"} {
			b := openPlain(t, 1280, 720)
			b.ready(s)
			b.do(chromedp.Navigate(fmt.Sprintf("http://%s/play?mute&autopilot&%s",
				s.listener.Addr(), mode)))
			b.until("it plays", plays)
			used := renderers(b)
			b.run("window.before = coeval.stats().frames, window.begun = performance.now()")
			b.until("frames are drawn", "performance.now() > window.begun + 5000")
			drawn := b.number("coeval.stats().frames - before")
			load, _ := os.ReadFile("/proc/loadavg")
			t.Logf("%-6s %-6s %5.1f frames a second, program %4.1f ms, page %4.1f ms, "+
				"all %4.1f ms of a processor, ratio %.2f, ahead %.0f ticks, load %.4s",
				c.title.Name(), mode, drawn/b.number("(performance.now() - begun) / 1000"),
				b.number("coeval.stats().program"), b.number("coeval.stats().replay"),
				(renderers(b)-used).Seconds()*1000/drawn, b.number("coeval.stats().ratio"),
				b.number("coeval.stats().ahead"), load)
			b.shot(c.title.Name() + mode)
			b.do(chromedp.Navigate("about:blank"))
		}
	}
}

// renderers is what the browser's processes that draw pages have used of a processor, where /proc
// tells.
func renderers(b *tab) (sum time.Duration) {
	browser := chromedp.FromContext(b.ctx).Browser.Process().Pid
	list, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	parent, used := map[int]int{}, map[int]time.Duration{}
	for _, f := range list {
		pid, err := strconv.Atoi(f.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join("/proc", f.Name(), "stat"))
		line, _ := os.ReadFile(filepath.Join("/proc", f.Name(), "cmdline"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 13 {
			parent[pid], _ = strconv.Atoi(fields[1])
			user, _ := strconv.Atoi(fields[11])
			system, _ := strconv.Atoi(fields[12])
			if strings.Contains(string(line), "--type=renderer") {
				used[pid] = time.Duration(user+system) * 10 * time.Millisecond
			}
		}
	}
	for pid, d := range used {
		for up := pid; up > 1; up = parent[up] {
			if up == browser {
				sum += d
			}
		}
	}
	return sum
}

// TestMirrorFrames prints the same for the arena on the page of mirrors, which shows three games at
// once.
func TestMirrorFrames(t *testing.T) {
	if !hosttest.Soak() {
		return // it measures, and takes a machine that does nothing else: set COEVAL_SOAK
	}
	s := startDemo(t, func(d *flags) {
		d.mirrors = &mirrorFlags{count: 3, timeline: "auto"}
		d.preset, d.level, d.bots = "transatlantic", "foundry", 12
	})
	b := openTab(t, 1280, 720)
	b.ready(s)
	b.do(chromedp.Navigate("http://" + s.listener.Addr().String() + "/?mute"))
	all := "[...document.querySelectorAll('iframe[src]')].map(f => f.contentWindow.coeval)"
	b.until("everyone plays", all+".length === 3 && "+all+".every(c => c && c.stats().playing)")
	b.run("window.before = " + all + ".map(c => c.stats().frames)")
	b.run("window.begun = performance.now()")
	b.until("frames are drawn", "performance.now() > window.begun + 8000")
	t.Logf("%s frames a second in each game, program %s ms, page %s ms",
		b.text(all+".map((c, i) => ((c.stats().frames - before[i]) / "+
			"(performance.now() - begun) * 1000).toFixed(1))"),
		b.text(all+".map(c => c.stats().program.toFixed(1))"),
		b.text(all+".map(c => c.stats().replay.toFixed(1))"))
	b.shot("mirrors")
}
