package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/join"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/knob"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/linktest"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/link/webtransport"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

var bundled = hosttest.NewProgram(arena.Title, crowd.Title, pong.Title, stack.Title)

func demoCommands() []*cobra.Command { return []*cobra.Command{Command(&bundled.Program)} }

func TestDemoCommandLine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	wrong := filepath.Join(t.TempDir(), "wrong.txt")
	if err := os.WriteFile(wrong, []byte("name x\ntitle X\nby me\n\nmap\n#####\n#s?s#\n#####\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args   []string
		code   int
		stderr []string
	}{
		{[]string{"--port", fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)}, cli.ExitFailure,
			[]string{"is taken", "--port"}},
		{[]string{"--port", "70000"}, cli.ExitUsage, []string{"from 0 to 65535"}},
		{[]string{"--bots", "-1"}, cli.ExitUsage, []string{"from 0 to 200"}},
		{[]string{"--preset", "tincan"}, cli.ExitUsage, []string{"tincan", "satellite"}},
		{[]string{"--style", "pong"}, cli.ExitUsage, []string{"doom3, quake3, halflife"}},
		{[]string{"--map", "nowhere"}, cli.ExitUsage, []string{"nowhere", "duel"}},
		{[]string{"--map", wrong}, cli.ExitFailure, []string{"mistakes", "7:3"}},
		{[]string{"extra"}, cli.ExitUsage, []string{"extra"}},
	} {
		t.Run(strings.Join(x.args, " "), func(t *testing.T) {
			var out, errs bytes.Buffer
			code := bundled.Run(t.Context(), append([]string{"demo", "--no-open"}, x.args...), &out,
				&errs, demoCommands())
			if code != x.code {
				t.Errorf("exit code %d, want %d", code, x.code)
			}
			for _, want := range x.stderr {
				if !strings.Contains(errs.String(), want) {
					t.Errorf("stderr is %q, want it to contain %q", errs.String(), want)
				}
			}
		})
	}
}

// TestDemoEnds starts the command and interrupts it: it must say where it is, and end without an
// error.
func TestDemoEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &meeting{want: "the game is at http://127.0.0.1:", then: cancel}
	var errs bytes.Buffer
	code := bundled.Run(ctx, []string{"demo", "--port", "0", "--no-open", "--bots", "3"}, out,
		&errs, demoCommands())
	if code != cli.ExitOK {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

// A meeting calls a function when it has read something.
type meeting struct {
	bytes.Buffer
	want string
	then func()
}

func (m *meeting) Write(b []byte) (int, error) {
	n, err := m.Buffer.Write(b)
	if strings.Contains(m.String(), m.want) {
		m.then()
	}
	return n, err
}

// guest plays by a session over some link until the test ends.
type guest struct {
	*session.Session
	keys arena.Command
	view session.View
}

// admitted asks the demo for a token.
func admitted(t *testing.T, s *site) (entry.Admission, token.Token) {
	t.Helper()
	r, err := http.Post("http://"+s.listener.Addr().String()+"/token", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var a entry.Admission
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		t.Fatal(err)
	}
	tk, err := token.ParseText(a.Token)
	if err != nil {
		t.Fatal(err)
	}
	return a, tk
}

func (s *site) addr(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
}

// TestEveryCarrierAtOnce lets players in by UDP, WebSocket and WebTransport, on one server with
// bots, over a network that loses some.
func TestEveryCarrierAtOnce(t *testing.T) {
	s := startDemo(t, func(d *flags) { d.bots, d.preset = 2, "wifi" })
	links := map[string]func(a entry.Admission) (link.Link, netip.AddrPort, error){
		"udp": func(a entry.Admission) (link.Link, netip.AddrPort, error) {
			l, err := udp.Listen("127.0.0.1:0", udp.Options{})
			return l, s.addr(a.UDP), err
		},
		"websocket": func(a entry.Admission) (link.Link, netip.AddrPort, error) {
			l, err := websocket.Dial(t.Context(), "ws://"+s.listener.Addr().String()+a.WebSocket,
				websocket.Options{})
			if err != nil {
				return nil, netip.AddrPort{}, err
			}
			return l, l.Peer(), nil
		},
		"webtransport": func(a entry.Admission) (link.Link, netip.AddrPort, error) {
			var o webtransport.DialOptions
			for _, c := range a.Certificates {
				b, err := hex.DecodeString(c)
				if err != nil {
					return nil, netip.AddrPort{}, err
				}
				o.Hashes = append(o.Hashes, webtransport.Hash(b))
			}
			l, err := webtransport.Dial(t.Context(),
				fmt.Sprintf("https://127.0.0.1:%d/coeval", a.WebTransport), o)
			if err != nil {
				return nil, netip.AddrPort{}, err
			}
			return l, l.Peer(), nil
		},
	}
	guests := map[string]*guest{}
	for name, dial := range links {
		a, tk := admitted(t, s)
		l, at, err := dial(a)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		g := &guest{Session: session.New(session.Options{Name: name})}
		g.Enter(session.Entry{Link: l, Token: tk, Servers: []netip.AddrPort{at}})
		defer g.Close()
		guests[name] = g
	}
	began := time.Now()
	frame := func() {
		for _, g := range guests {
			g.Frame(time.Since(began), func(*arena.Fighter) arena.Command { return g.keys })
			g.view = g.View()
		}
	}
	hosttest.WaitUntil(t, "all play", func() bool {
		frame()
		for _, g := range guests {
			if !g.Playing() {
				return false
			}
		}
		return true
	})
	if p := ask(t, s,
		func(srv *server.Server) server.Population { return srv.Population() }); p.Players != 5 {
		t.Errorf("%+v", p)
	}
	hosttest.WaitUntil(t, "all have the names that they asked for", func() bool {
		frame()
		for name, g := range guests {
			if g.view.World == nil {
				return false
			}
			found := false
			for _, sh := range ask(t, s,
				func(srv *server.Server) []string { return namesOn(srv) }) {
				found = found || sh == name
			}
			if !found {
				return false
			}
		}
		return true
	})

	// What the panel shows adds up, with all of them on.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	l, err := oneServer(s).live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, r := range l.Rows {
		sum += r.Bytes
	}
	if l.Sent == 0 || math.Abs(sum-float64(l.Sent)) > 0.01 {
		t.Errorf("rows add up to %v, and %d bytes were sent: %+v", sum, l.Sent, l.Rows)
	}
}

// TestDemoTakesGarbage sends nonsense by every way there is; players who behave notice nothing.
func TestDemoTakesGarbage(t *testing.T) {
	s := startDemo(t, func(d *flags) { d.bots = 1 })
	a, tk := admitted(t, s)
	l, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{Session: session.New(session.Options{Name: "honest"})}
	g.Enter(session.Entry{Link: l, Token: tk, Servers: []netip.AddrPort{s.addr(a.UDP)}})
	defer g.Close()
	began := time.Now()
	frame := func() {
		g.Frame(time.Since(began), func(*arena.Fighter) arena.Command { return arena.Command{} })
	}
	hosttest.WaitUntil(t, "plays", func() bool { frame(); return g.Playing() })

	r := rand.New(rand.NewPCG(1, 2))
	noise := func() []byte {
		b := make([]byte, r.IntN(1150))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	ws, err := websocket.Dial(t.Context(), "ws://"+s.listener.Addr().String()+"/coeval",
		websocket.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	raw, err := net.Dial("udp", s.addr(a.UDP).String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	quic, err := net.Dial("udp", s.addr(a.WebTransport).String())
	if err != nil {
		t.Fatal(err)
	}
	defer quic.Close()
	before := g.Numbers().Snapshots
	for i := 0; i < 500 || g.Numbers().Snapshots < before+10; i++ {
		b := noise()
		_, _ = link.SendAll(ws, []link.Datagram{{Addr: ws.Peer(), Data: b}})
		_, _ = raw.Write(b)
		_, _ = quic.Write(b)
		frame()
		if !g.Playing() {
			t.Fatalf("the honest player is out: %q", g.View().Status)
		}
		if i > 1e6 {
			t.Fatal("nothing comes any more")
		}
	}
}

// TestDemoAPI asks the panel's interface for what it should refuse, and reads its stream.
func TestDemoAPI(t *testing.T) {
	s := startDemo(t, func(d *flags) {
		d.values = knob.Values{"commands": "6", "snapshots": "9", "guard": "2"}
	})
	base := "http://" + s.listener.Addr().String()
	told, err := http.Post(base+"/token", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var admission entry.Admission
	err = json.NewDecoder(told.Body).Decode(&admission)
	told.Body.Close()
	var o client.Options
	if err != nil || admission.Play(&o, false) != nil || admission.Knobs != "commands=6 guard=2" ||
		o.Redundancy.Most != 6 || o.Predict.Clock.Guard != 2 {
		t.Errorf("clients are told %q: %v", admission.Knobs, err)
	}
	for _, bad := range []string{"commands", "commands=99"} {
		if (&entry.Admission{Knobs: bad}).Play(&o, false) == nil {
			t.Errorf("%q is believed", bad)
		}
	}
	if (&entry.Admission{Knobs: "hope=1"}).Play(&o, false) != nil {
		t.Error("a knob of another version is refused")
	}
	for _, x := range []struct {
		body string
		code int
	}{
		{`{"preset":"lte"}`, 200},
		{`{"preset":"tincan"}`, 400},
		{`{"latency":80,"jitter":3,"loss":2.5}`, 200},
		{`{"latency":-1}`, 400},
		{`{"loss":101}`, 400},
		{`{"jitter":1e99}`, 400},
		{`{"cut":31}`, 400},
		{`{"cut":-1}`, 400},
		{`{"unknown":1}`, 400},
		{`{`, 400},
		{`{"preset":"` + strings.Repeat("x", 10000) + `"}`, 400},
	} {
		r, err := http.Post(base+"/api/network", "application/json", strings.NewReader(x.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != x.code {
			t.Errorf("%.60s: %s", x.body, r.Status)
		}
	}
	if n := oneServer(s).network.state(); n.Latency != 80 || n.Jitter != 3 || n.Loss != 2.5 ||
		n.Preset != "" {
		t.Errorf("the network is %+v", n)
	}
	for _, p := range oneServer(s).network.proxies {
		if said, err := p.Command("show"); err != nil || !strings.Contains(said, "80ms") ||
			!strings.Contains(said, "loss=0.025") && !strings.Contains(said, "loss=2.5%") {
			t.Errorf("the proxy has %q, %v", said, err)
		}
	}
	r, err := http.NewRequest("POST", base+"/api/network", strings.NewReader(`{"preset":"awful"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", "https://evil.example")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("a stranger's page may change the network: %s", answer.Status)
	}
	strangersPages(t, s)

	stream, err := http.Get(base + "/api/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	seen := map[string]bool{}
	for in := bufio.NewScanner(stream.Body); !(seen["build"] && seen["live"]) && in.Scan(); {
		if name, ok := strings.CutPrefix(in.Text(), "event: "); ok {
			seen[name] = true
		}
	}
	if !seen["build"] || !seen["live"] {
		t.Errorf("the stream told only of %v", seen)
	}
}

// strangersPages: a page of somebody else gets no token, by any method, and no socket; the demo's
// own page does.
func strangersPages(t *testing.T, s *site) {
	t.Helper()
	base := strings.TrimSuffix(s.url(), "/")
	own := strings.TrimPrefix(base, "http://")
	for _, x := range []struct {
		path, origin string
		code         int
	}{
		{"/token", "https://evil.example", 403}, {"/token", "http://localhost:1", 403},
		{"/coeval", "https://evil.example", 403}, {"/status", "https://evil.example", 403},
		{"/token", "http://" + own, 200}, {"/token", "", 200},
	} {
		for _, method := range []string{"GET", "POST"} {
			if method == "POST" && x.path != "/token" {
				continue
			}
			r, err := http.NewRequest(method, base+x.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if x.origin != "" {
				r.Header.Set("Origin", x.origin)
			}
			if x.path == "/coeval" {
				for k, v := range map[string]string{
					"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
					"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
				} {
					r.Header.Set(k, v)
				}
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != x.code {
				t.Errorf("%s %s of %q: %s", method, x.path, x.origin, answer.Status)
			}
			if h := answer.Header.Get("Access-Control-Allow-Origin"); h != "" {
				t.Errorf("%s %s: any page may read it: %s", method, x.path, h)
			}
		}
	}
	askTooOften(t, s.web.Handler)
	told, err := http.Get(base + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer told.Body.Close()
	numbers, err := io.ReadAll(told.Body)
	for _, why := range []string{"other_pages", "tokens_of_one_address"} {
		if !strings.Contains(string(numbers), `coeval_http_refused_total{reason="`+why+`"} `) {
			t.Errorf("%s: what was refused is not told: %v, %.300s", why, err, numbers)
		}
	}
}

// askTooOften asks for tokens from one address of another machine until there are no more.
func askTooOften(t *testing.T, h http.Handler) {
	t.Helper()
	for range 500 {
		r := httptest.NewRequest(http.MethodPost, "/token?home=1", http.NoBody)
		r.RemoteAddr, r.Host = "192.0.2.9:5", "127.0.0.1:1"
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("one address gets as many tokens as it wants")
}

// TestMirrorsCountRefusals: the door of a demo with mirrors counts as that of one server does.
func TestMirrorsCountRefusals(t *testing.T) {
	mux, refused := http.NewServeMux(), new(serve.Refusals)
	new(fleet).mount(mux, refused) // without mirrors there is no home, which the door does not know
	askTooOften(t, mux)
	if n := refused.All()["tokens_of_one_address"]; n != 1 {
		t.Errorf("%d refusals are counted of 1: %v", n, refused.All())
	}
}

func namesOn(srv *server.Server) (list []string) {
	for _, sh := range world.All[arena.Sheet](srv.World()) {
		list = append(list, sh.Name)
	}
	return list
}

// TestStreamLink holds the link to what links promise. The network is a perfect one, as with any
// other what was sent goes out only when the server next asks.
func TestStreamLink(t *testing.T) {
	linktest.Run(t, linktest.Carrier{Open: func(t testing.TB) (link.Link, func() linktest.Client) {
		inner := websocket.NewServer(websocket.Options{})
		web := httptest.NewServer(inner)
		t.Cleanup(web.Close)
		return newStream(inner, netsim.Perfect, 1), func() linktest.Client {
			l, err := websocket.Dial(t.Context(), strings.Replace(web.URL, "http", "ws", 1),
				websocket.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return linktest.Client{Link: l, Server: l.Peer()}
		}
	}})
}

// TestStreamsNeverReorder offers messages to the path of a stream: all arrive, in order, and those
// that the network lost arrive later.
func TestStreamsNeverReorder(t *testing.T) {
	p := netsim.NewPath(netsim.Awful.Up, 3)
	var last, now time.Duration
	late := 0
	for i := range 2000 {
		now += 16 * time.Millisecond
		at := due(p, netsim.Awful.Down, now, last, 100)
		if at < last || at < now {
			t.Fatalf("message %d arrives at %v, sent at %v, after one at %v", i, at, now, last)
		}
		if at-now > 2*netsim.Awful.Up.Latency+netsim.Awful.Down.Latency {
			late++
		}
		last = at
	}
	if late < 100 {
		t.Errorf("only %d of 2000 were held up, at 14 %% loss", late)
	}
}

// TestEveryTitleInADemo: every bundled title that can be drawn has a page with its server and bots.
// The client is not compiled.
func TestEveryTitleInADemo(t *testing.T) {
	for _, title := range bundled.List {
		t.Run(title.Name(), func(t *testing.T) {
			t.Parallel() // most of it is waiting
			d := &flags{title: title, preset: "lan", style: "doom3", seed: 7, bots: 1, noOpen: true}
			level, err := d.check()
			if !title.Screen.Drawn() {
				want := title.Name() + " cannot be shown in a browser"
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.open(level)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- s.shown.run(ctx) }()
			defer func() {
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			}()
			go func() { _ = s.web.Serve(s.listener) }()
			at := s.listener.Addr().String()
			r, err := http.Get("http://" + at + "/")
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			text, err := io.ReadAll(r.Body)
			if want := "<span>" + title.Name() + "</span>"; err != nil ||
				r.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(want)) {
				t.Errorf("%d, %v: %s", r.StatusCode, err, text)
			}
			_, stdout, stderr := bundled.Try([]*cobra.Command{join.Command(&bundled.Program)},
				"join", at, "--headless", "--seconds", "0.3", "--json")
			var j join.Joined
			if err := json.Unmarshal([]byte(stdout), &j); err != nil || j.Game != title.Name() ||
				j.Snapshots == 0 {
				t.Errorf("%+v, %v: %s", j, err, stderr)
			}
		})
	}
}
