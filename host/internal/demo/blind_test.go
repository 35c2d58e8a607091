package demo

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"io"
	"math"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/lab/blind"
	"github.com/coeval-dev/coeval/lab/blind/sitting"
	_ "github.com/coeval-dev/coeval/lab/tunnel/all"
)

// startBlind runs a demo with a blind test, and gives the sheet. Who reads that waits for the test
// to end.
func startBlind(t *testing.T, title *game.Title, pair string, p blind.Plan) (*site, *blind.Sheet) {
	t.Helper()
	sides, asked, err := sitting.ParseSides(pair)
	if err != nil {
		t.Fatal(err)
	}
	p.Game, p.Sides, p.Network, p.Players = title.Name(), sides.Names(), "cable", 2
	if p.Question == "" {
		p.Question = asked
	}
	sheet, err := blind.NewSheet(p, "ann", 5)
	if err != nil {
		t.Fatal(err)
	}
	test, err := sitting.New(sitting.Options{Title: title, Sides: sides, Sheet: sheet,
		File: "ann.json", Save: func(*blind.Sheet) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return startDemo(t, func(d *flags) {
		d.title, d.level, d.blind = title, "", &blindFlags{pair: pair, test: test}
	}), sheet
}

// order asks the demo for something.
func orderBlind(t *testing.T, s *site, body string) (int, string) {
	t.Helper()
	r, err := http.Post("http://"+s.listener.Addr().String()+"/api/blind", "application/json",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(text)
}

// askFrame is what a page asks for.
func askFrame() []byte {
	b := make([]byte, requestHead+requestEach)
	put := func(at int, v uint32) { binary.LittleEndian.PutUint32(b[4*at:], v) }
	put(0, 1)
	put(1+entry.HandWords, 1)
	put(2+entry.HandWords, 1)
	put(3+entry.HandWords, math.Float32bits(640))
	put(4+entry.HandWords, math.Float32bits(400))
	return b
}

// A guest of a test keeps all that it is told until the end.
type listener struct {
	mu   sync.Mutex
	told bytes.Buffer
}

func (l *listener) add(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told.Write(b)
}

// TestBlindTellsNothing: a program in place of a page takes a test, and nothing that it gets before
// the end says what is played: no page, no state, no frame, no number.
func TestBlindTellsNothing(t *testing.T) {
	t.Parallel() // it mostly waits
	s, sheet := startBlind(t, pong.Title, "lockstep,quake3", blind.Plan{Trials: 1, Interval: 1000})
	at := s.listener.Addr().String()
	var l listener
	for _, path := range []string{"/", "/status", "/metrics", "/token", "/play", "/api/invite",
		"/api/keys", "/api/network", "/api/peers", "/assets/blind.js", "/assets/blind.css"} {
		_, text := fetch(t, s, path)
		l.add([]byte(text))
	}
	events, err := http.Get("http://" + at + "/api/events")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	go func() {
		for lines := bufio.NewScanner(events.Body); lines.Scan(); {
			if strings.Contains(lines.Text(), `"finished"`) {
				return
			}
			l.add(lines.Bytes())
		}
	}()
	ws, _, err := websocket.Dial(t.Context(), "ws://"+at+"/api/screens", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	ws.SetReadLimit(8 << 20)
	if code, text := orderBlind(t, s, `{"begin": true}`); code != http.StatusOK {
		t.Fatal(code, text)
	}
	phase := func() blind.Moment {
		b := s.shown.(*blindPage)
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.test.Tell().(sitting.State).Moment
	}
	frames, largest := 0, 0
	hosttest.WaitUntil(t, "both were played", func() bool {
		time.Sleep(10 * time.Millisecond) // as a browser would
		if err := ws.Write(t.Context(), websocket.MessageBinary, askFrame()); err != nil {
			t.Fatal(err)
		}
		_, answer, err := ws.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		l.add(answer)
		frames, largest = frames+1, max(largest, len(answer))
		return phase().Phase == blind.Asking
	})
	if largest < 200 {
		t.Errorf("the largest of %d frames has %d bytes", frames, largest)
	}
	l.mu.Lock()
	told := strings.ToLower(l.told.String())
	l.mu.Unlock()
	for _, word := range []string{"lockstep", "lock step", "quake", "rollback", `"sides"`,
		`"seed"`, "cable", "round_trip"} {
		if i := strings.Index(told, word); i >= 0 {
			t.Errorf("%q was told: %.120q", word, told[max(0, i-60):])
		}
	}
	hosttest.WaitUntil(t, "an answer is taken", func() bool {
		_ = ws.Write(t.Context(), websocket.MessageBinary, askFrame())
		_, _, _ = ws.Read(t.Context())
		code, _ := orderBlind(t, s, `{"trial": 1, "answer": 1}`)
		return code == http.StatusOK
	})
	_, text := orderBlind(t, s, `{"begin": true}`)
	for _, word := range []string{"lockstep", "quake3", `"seed"`, "was preferred", "own_ms"} {
		if !strings.Contains(text, word) {
			t.Errorf("at the end %q is missing: %s", word, text)
		}
	}
	if !sheet.Full() {
		t.Error("there is no answer")
	}
}

// TestBlindRefuses: what makes no sense is refused with words, and a second page takes the test
// over from the first.
func TestBlindRefuses(t *testing.T) {
	t.Parallel() // it mostly waits
	s, _ := startBlind(t, pong.Title, "rollback=0,1", blind.Plan{Trials: 1, Interval: 1000})
	for body, want := range map[string]string{
		`{}`: "nothing to do", `{"answer": 0, "trial": 1}`: "is not asked about now",
		`{"dance": 1}`: "no order for a blind test", `[`: "no order for a blind test",
		`{"answer": "A"}`: "no order",
	} {
		if code, text := orderBlind(t, s, body); code != http.StatusBadRequest ||
			!strings.Contains(text, want) {
			t.Errorf("%s: %d %s, want %q", body, code, text, want)
		}
	}
	dial := func() *websocket.Conn {
		ws, _, err := websocket.Dial(t.Context(),
			"ws://"+s.listener.Addr().String()+"/api/screens", nil)
		if err != nil {
			t.Fatal(err)
		}
		return ws
	}
	try := func(ws *websocket.Conn, data []byte) error {
		if err := ws.Write(t.Context(), websocket.MessageBinary, data); err != nil {
			return err
		}
		_, _, err := ws.Read(t.Context())
		return err
	}
	first := dial()
	defer first.CloseNow()
	if err := try(first, askFrame()); err != nil {
		t.Fatal(err)
	}
	second := dial()
	defer second.CloseNow()
	if err := try(second, askFrame()); err != nil {
		t.Fatal(err)
	}
	if err := try(first, askFrame()); err == nil || !strings.Contains(err.Error(), "another page") {
		t.Errorf("two pages take one test: %v", err)
	}
	if err := try(second, askFrame()[:40]); err == nil {
		t.Error("half a request was answered")
	}
}

func TestBlindCommandLine(t *testing.T) {
	for _, x := range []struct{ args, want string }{
		{"--blind quake3,coeval --peers 2", "--peers says what --blind hides"},
		{"--blind=quake3,coeval --architecture quake", "--architecture says"},
		{"--blind quake3,coeval --seed 3", "--seed"},
		{"--blind quake3,coeval --knob view=1", "--knob says"},
		{"--blind quake3,coeval nosuchgame", "nosuchgame"},
		{"--blind --mirrors 3", "compares styles of prediction on one server"},
		{"--blind --trials 3", "--trials goes with"},
		{"--answers x.json", "--answers goes with"},
		{"pong --blind quake3,coeval", "has no wind tunnel"},
	} {
		var out, errs bytes.Buffer
		code := bundled.Run(t.Context(),
			append([]string{"demo", "--no-open"}, strings.Fields(x.args)...), &out, &errs,
			demoCommands())
		if code != cli.ExitUsage || !strings.Contains(errs.String(), x.want) {
			t.Errorf("%s: code %d, %s", x.args, code, errs.String())
		}
	}
	d := &flags{title: pong.Title, preset: "lan", style: "doom3", noOpen: true,
		blind: &blindFlags{pair: styles}}
	level, err := d.check()
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.open(level)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if u := s.url(); !strings.HasSuffix(u, "/?blind") {
		t.Errorf("--blind alone opens %s", u)
	}
}

// words is all that the page says.
const words = "document.title + document.body.innerText + document.documentElement.innerHTML"

// TestBrowserBlind: somebody takes a test by clicks and keys. The game is drawn while it is played;
// nothing on the page says what it is until the end, and then all of it does.
func TestBrowserBlind(t *testing.T) {
	browse(t)
	s, sheet := startBlind(t, arena.Title, "lockstep,quake3",
		blind.Plan{Trials: 1, Interval: 1000, Question: blind.ABX})
	b := openPlain(t, 1000, 700)
	b.do(chromedp.Navigate("http://" + s.listener.Addr().String() + "/?mute"))
	quiet := func() {
		t.Helper()
		if b.text("String(/lockstep|lock step|quake/i.test("+words+"))") != "false" {
			t.Error("the page says what is tested")
		}
	}
	b.until("it waits", "window.coevalBlind?.live()?.test.phase === 'waiting' && "+
		"document.querySelector('.go')")
	b.click(".go")
	for _, label := range []string{"A", "B", "X"} {
		b.until(label+" is played", "coevalBlind.live().test.phase === 'playing' && "+
			"coevalBlind.live().test.label === '"+label+"' && "+
			"document.querySelector('#labels .now').textContent === '"+label+"'")
		b.until("it is drawn", `(() => { const { canvas, context } = coevalBlind, seen = new Set();
			const d = context.getImageData(0, 0, canvas.width, canvas.height).data;
			for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i+1] << 8 | d[i+2]);
			return seen.size > 2 || coevalBlind.live().test.phase !== 'playing'; })()`)
		quiet()
	}
	b.until("it is asked", "document.querySelectorAll('.choices button').length === 2")
	quiet()
	b.key("keydown", "Digit1")
	b.until("it is chosen", "document.querySelector('.choices .on')?.textContent === 'X was A'")
	b.click(".choices button:nth-child(2)")
	b.until("it is changed", "document.querySelector('.choices .on')?.textContent === 'X was B'")
	b.again("it is taken", "coevalBlind.live().test.phase === 'finished'",
		func() { b.key("keydown", "Enter") })
	b.until("it says what came of it", "/of 1 answers were right/.test(document.body.innerText) && "+
		"/lockstep/.test(document.body.innerText) && /quake3/.test(document.body.innerText)")
	p := s.shown.(*blindPage)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(sheet.Answers) != 1 || sheet.Answers[0] != 1 {
		t.Errorf("the answers are %v", sheet.Answers)
	}
	if b.number("coevalBlind.drawn()") < 10 {
		t.Error("hardly anything was drawn")
	}
}

// again does something until an expression is true in the page: it may come too early.
func (b *tab) again(what, expression string, do func()) {
	b.t.Helper()
	hosttest.WaitUntil(b.t, what, func() bool {
		if b.text("String("+expression+")") == "true" {
			return true
		}
		do()
		time.Sleep(100 * time.Millisecond)
		return false
	})
}

var blindPicture = flag.String("blind-picture", "",
	"take pictures of a blind test into this folder: its question and its result")

// TestBlindPicture makes the pictures in docs/demo.md:
//
//	go test -run TestBlindPicture -blind-picture "$PWD/docs" ./host/internal/demo
func TestBlindPicture(t *testing.T) {
	if *blindPicture == "" {
		return // asked for by -blind-picture
	}
	s, sheet := startBlind(t, arena.Title, "rollback=0,4", blind.Plan{Trials: 10, Interval: 1500})
	b := openTab(t, 1000, 640)
	b.do(chromedp.Navigate("http://" + s.listener.Addr().String() + "/?mute"))
	shoot := func(name string) {
		data, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err == nil {
			data, err = slimmer(data, 2)
		}
		if err == nil {
			err = os.WriteFile(*blindPicture+"/"+name, data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b.until("it waits", "document.querySelector('.go')")
	b.shot("start")
	b.click(".go")
	for trial := range 10 {
		b.until("X is played", "coevalBlind.live().test.label === 'X' && "+
			"coevalBlind.live().test.phase === 'playing'")
		if trial == 0 {
			time.Sleep(time.Second)
			b.shot("playing")
		}
		b.until("it is asked", "document.querySelectorAll('.choices button').length === 2")
		right := 0
		if o := sheet.Order(trial); o[1] == o[2] {
			right = 1
		}
		if trial%5 == 1 { // eight of ten
			right = 1 - right
		}
		b.key("keydown", []string{"Digit1", "Digit2"}[right])
		if trial == 3 {
			shoot("demo-blind.png")
		}
		b.again("it is taken", "coevalBlind.live().test.phase !== 'asking'",
			func() { b.key("keydown", "Enter") })
	}
	b.until("it says what came of it", "/answers were right/.test(document.body.innerText)")
	shoot("demo-blind-result.png")
	b.do(chromedp.EmulateViewport(420, 800))
	time.Sleep(300 * time.Millisecond)
	b.shot("narrow")
	var out bytes.Buffer
	s.shown.(*blindPage).summary(&out)
	data, _ := json.Marshal(sheet)
	t.Logf("%s\n%s", out.String(), data)
}
