package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/world"
)

// asked is a title that answers more than every server does.
func asked() *game.Title {
	t := pong.Title.Clone()
	t.Queries = []game.Query{
		{Name: "tick", Answer: func(w *world.World, to []byte) []byte {
			return fmt.Append(to, "tick ", w.Tick())
		}, Every: time.Millisecond},
		{Name: "broken", Answer: func(*world.World, []byte) []byte { panic("no") }},
	}
	return t
}

// startAsked runs a server of that title.
func startAsked(t *testing.T, answers string) (*Server, *heard) {
	t.Helper()
	log := &heard{}
	s, err := NewServer(asked(), ServeOptions{Listen: "127.0.0.1:0", Players: 4,
		Web: WebOptions{Queries: answers}, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ran sync.WaitGroup
	ran.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		ran.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, log
}

// ask runs the command, and reads what it says as JSON.
func ask(t *testing.T, args ...string) map[string]any {
	t.Helper()
	code, out, errs := try(append([]string{"ask", "--json"}, args...)...)
	got := map[string]any{}
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("%v: exit code %d: %s%s", args, code, out, errs)
	}
	return got
}

// TestQueries: a server answers those who have not joined over UDP and HTTP alike, while somebody
// plays, and every byte of it is booked.
func TestQueries(t *testing.T) {
	t.Parallel() // it mostly waits
	s, log := startAsked(t, "all")
	at := s.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	var playing sync.WaitGroup
	playing.Go(func() {
		run(ctx, []string{"bots", "--server", s.HTTP(), "--count", "2", "--spread", "0"},
			io.Discard, io.Discard, commands())
	})
	defer playing.Wait()
	defer stop()
	hosttest.WaitUntil(t, "both are told of", func() bool {
		return ask(t, at, "who")["total"] == 2.0
	})
	info := ask(t, at)
	for name, want := range map[string]any{"game": "pong", "mode": "server", "name": "pong",
		"players": 2.0, "capacity": 4.0, "open": true, "places": 1.0,
		"version": fmt.Sprintf("%016x", pong.Title.Game.Hash())} {
		if info[name] != want {
			t.Errorf("%s is %v, want %v", name, info[name], want)
		}
	}
	if p := ask(t, at, "ping", "--count", "3"); p["answered"].(float64) < 1 {
		t.Errorf("ping: %v", p)
	}
	if text, _ := ask(t, at, "tick")["text"].(string); !strings.HasPrefix(text, "tick ") {
		t.Errorf("the game says %q", text)
	}
	if text := ask(t, at, "broken")["text"]; text != "" ||
		!strings.Contains(log.String(), "panicked over a query") {
		t.Errorf("a game that panics says %q", text)
	}
	if ask(t, at, "message", "no", "exit")["told"] != true ||
		!strings.Contains(log.String(), `text="no exit"`) {
		t.Errorf("the operator is not told: %s", log)
	}
	base := "http://" + s.HTTP() + "/query/"
	for name, want := range map[string]string{"info": `"game":"pong"`, "who": `"total":2`,
		"tick": "tick ", "nothing": "has no query"} {
		if _, text := get(t, base+name); !strings.Contains(text, want) {
			t.Errorf("%s over HTTP: %s", name, text)
		}
	}
	if code, _ := get(t, base+"ping"); code != http.StatusNoContent {
		t.Errorf("ping over HTTP: %d", code)
	}
	stop()
	playing.Wait()
	_, text := get(t, "http://"+s.HTTP()+"/metrics")
	booked, sent := traffic(text)
	if booked != sent || sent == 0 ||
		strings.Contains(text, `coeval_sent_bytes_total{purpose="answer"} 0`) {
		t.Errorf("%.0f bytes are booked, %.0f were sent\n%s", booked, sent, text)
	}
}

// What an operator turns off is off, over UDP and over HTTP; with none, nothing is answered.
func TestQueriesOff(t *testing.T) {
	t.Parallel()
	s, _ := startAsked(t, "ping,info")
	at := s.Addr().String()
	for _, args := range [][]string{{"who"}, {"message", "hello"}, {"tick"}} {
		code, _, errs := try(append([]string{"ask", at}, args...)...)
		if code != 1 || !strings.Contains(errs, "turned") {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
	if code, text := get(t, "http://"+s.HTTP()+"/query/who"); code != http.StatusNotFound {
		t.Errorf("who over HTTP: %d %s", code, text)
	}
	none, _ := startAsked(t, "none")
	code, _, errs := try("ask", none.Addr().String(), "--timeout", "300ms")
	if code != 1 || !strings.Contains(errs, "nobody answers") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, _ := get(t, "http://"+none.HTTP()+"/query/ping"); code != http.StatusNotFound {
		t.Errorf("ping over HTTP: %d", code)
	}
}

// Mistakes on the command line say what to do.
func TestQueryMistakes(t *testing.T) {
	for want, args := range map[string][]string{
		"such as localhost:4000":        {"ask"},
		"--count is 65":                 {"ask", "localhost", "ping", "--count", "65"},
		"--timeout is":                  {"ask", "localhost", "--timeout", "-1s"},
		"a message is a line":           {"ask", "localhost", "message"},
		"one thing can be asked":        {"ask", "localhost", "info", "who"},
		"cannot be the name":            {"ask", "localhost", "\x1b[2J"},
		`"pong" is no query: give some`: {"serve", "pong", "--queries", "pong"},
		`"b" is no query: give some`:    {"relay", "--queries", "b"},
	} {
		if code, _, errs := try(args...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%q: exit code %d: %s", args, code, errs)
		}
	}
}

// Relays and mirrors answer too.
func TestQueriesOfOthers(t *testing.T) {
	t.Parallel()
	r, err := NewRelayHost(RelayOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	if i := ask(t, r.Addr().String()); i["mode"] != "relay" || i["capacity"].(float64) == 0 {
		t.Errorf("a relay says %v", i)
	}
	if code, _, errs := try("ask", r.Addr().String(), "who"); code != 1 ||
		!strings.Contains(errs, "turned") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	m := mirrorIn(t, "--uber", "--game", "pong", "--key", groupKeyFor(t), "--open", "--group",
		"Friday", "--region", "eu")
	i := ask(t, m.UDP)
	if i["mode"] != "mirror" || i["name"] != "Friday" || i["region"] != "eu" ||
		i["places"] != 1.0 || i["open"] != true {
		t.Errorf("a mirror says %v", i)
	}
	if _, text := get(t, "http://"+m.HTTP+"/query/info"); !strings.Contains(text, `"Friday"`) {
		t.Errorf("over HTTP it says %s", text)
	}
}
