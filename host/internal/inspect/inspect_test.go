package inspect_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/inspect"
	"github.com/coeval-dev/coeval/host/internal/load"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/service/admin"
)

// A running server is one with bots, that can be looked at.
type running struct {
	t   testing.TB
	url string
	// where players come to, and Prometheus
	players string
	token   string
	client  http.Client
}

// private is a folder that nobody else can get at.
func private(t testing.TB) string {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run serves the arena to some bots until the test is over.
func run(t testing.TB, bots int, o serve.Options) *running {
	t.Helper()
	dir := private(t)
	folder, err := admin.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := folder.MakeToken(admin.Operate, "tester", 0)
	if err != nil {
		t.Fatal(err)
	}
	o.Server.Title, o.Listen, o.HTTP = arena.Title, "127.0.0.1:0", "127.0.0.1:0"
	o.Server.Players, o.Server.Limits.PerAddress = max(bots, 8), -1
	o.Admin.Dir, o.Open = dir, true
	if o.Admin.Inspect == "" {
		o.Admin.Inspect = "127.0.0.1:0"
	}
	s, err := serve.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- s.Run(ctx) }()
	scheme := "http"
	if s.Secure() {
		scheme = "https"
	}
	r := &running{t: t, url: scheme + "://" + s.Inspect(), token: secret,
		players: scheme + "://" + s.HTTP(), client: http.Client{
			Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
	r.wait("the server answers", func() bool {
		a, err := r.client.Get(r.url + "/")
		if err == nil {
			_ = a.Body.Close()
		}
		return err == nil
	})
	p := &cli.Program{List: []*game.Title{arena.Title}, Name: "coeval"}
	herd := load.Command(p)
	address := []string{"--server", s.HTTP()}
	if s.Secure() {
		address = append(address, "--https", "--trust", s.Fingerprint())
	}
	herd.SetArgs(append(address, "--count", fmt.Sprint(bots), "--seconds", "100000", "--spread",
		"0.1", "--json"))
	herd.SetOut(io.Discard)
	herd.SetErr(io.Discard)
	go func() { ended <- herd.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		<-ended
		r.client.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// wait polls until something is so.
func (r *running) wait(what string, is func() bool) {
	r.t.Helper()
	patience := 2 * time.Minute
	if os.Getenv("COEVAL_SOAK") != "" {
		patience = 8 * time.Minute
	}
	for end := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("never happened: %s", what)
		}
	}
}

// get asks, with the token, and gives the status and the answer.
func (r *running) get(path, token string) (int, []byte) {
	r.t.Helper()
	q, err := http.NewRequest(http.MethodGet, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	a, err := r.client.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return a.StatusCode, data
}

func (r *running) json(path string, v any) {
	r.t.Helper()
	code, data := r.get(inspect.Path+path, "")
	if err := json.Unmarshal(data, v); code != http.StatusOK || err != nil {
		r.t.Fatalf("%s: %d %v %.300s", path, code, err, data)
	}
}

// full waits until all bots play, and some bytes have passed.
func (r *running) full(bots int) (st inspect.State) {
	r.t.Helper()
	r.wait("all bots play", func() bool {
		r.json("state", &st)
		return st.Players == bots && st.Traffic.Sent > 20_000 && st.Tick > 60
	})
	return st
}

// fits says how an answer is not as a schema has it.
func fits(schemas, schema map[string]any, v any, at string) error {
	if ref, ok := schema["$ref"].(string); ok {
		schema, ok = schemas[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)
		if !ok {
			return fmt.Errorf("%s: there is no %s", at, ref)
		}
	}
	bad := fmt.Errorf("%s is %v, in place of %v", at, v, schema["type"])
	switch schema["type"] {
	case "object":
		o, ok := v.(map[string]any)
		if !ok {
			return bad
		}
		fields := schema["properties"].(map[string]any)
		for name, x := range o {
			f, ok := fields[name].(map[string]any)
			if !ok {
				return fmt.Errorf("%s.%s is not described", at, name)
			}
			if err := fits(schemas, f, x, at+"."+name); err != nil {
				return err
			}
		}
		for _, name := range schema["required"].([]any) {
			if _, ok := o[name.(string)]; !ok {
				return fmt.Errorf("%s.%v is missing", at, name)
			}
		}
	case "array":
		list, ok := v.([]any)
		if !ok {
			return bad
		}
		for i, x := range list {
			if err := fits(schemas, schema["items"].(map[string]any), x,
				fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case "string":
		if _, ok := v.(string); !ok {
			return bad
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			return bad
		}
	case "integer", "number":
		x, ok := v.(float64)
		if !ok || schema["type"] == "integer" && x != math.Trunc(x) {
			return bad
		}
	default:
		return fmt.Errorf("%s: a schema of the type %v", at, schema["type"])
	}
	return nil
}

// Every path that is described answers as it is described, and what is not asked for well is
// refused with a reason.
func TestDescribed(t *testing.T) {
	r := run(t, 3, serve.Options{})
	r.full(3)
	var d map[string]any
	r.json("openapi.json", &d)
	schemas := d["components"].(map[string]any)["schemas"].(map[string]any)
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() { // someone watches, so that there are ticks
		defer close(ended)
		a, err := r.client.Get(r.url + inspect.Path + "events")
		if err != nil {
			t.Error(err)
			return
		}
		defer a.Body.Close()
		<-stop
	}()
	defer func() { close(stop); <-ended }()
	var ticks inspect.Ticks
	r.wait("ticks are kept", func() bool { r.json("ticks", &ticks); return len(ticks.Last) > 30 })
	if len(ticks.Slowest) == 0 || ticks.Slowest[0].MS.Elapsed <= 0 ||
		ticks.Slowest[0].MS.Elapsed < ticks.Slowest[len(ticks.Slowest)-1].MS.Elapsed {
		t.Errorf("%+v", ticks.Slowest)
	}
	var w inspect.Things
	r.json("world", &w)
	ask := map[string]string{"view": "?player=1", "entity": "?id=" + w.Things[0].ID,
		"profile": "?seconds=1", "traffic": "?player=2"}
	paths := d["paths"].(map[string]any)
	if len(paths) < 10 {
		t.Errorf("%d paths", len(paths))
	}
	for path, x := range paths {
		name := strings.TrimPrefix(path, inspect.Path)
		if name == "events" {
			continue
		}
		code, data := r.get(path+ask[name], "")
		if code != http.StatusOK || len(data) == 0 {
			t.Errorf("%s: %d %.200s", path, code, data)
			continue
		}
		get := x.(map[string]any)["get"].(map[string]any)
		ok := get["responses"].(map[string]any)["200"].(map[string]any)
		content, _ := ok["content"].(map[string]any)["application/json"].(map[string]any)
		schema, _ := content["schema"].(map[string]any)
		if schema == nil {
			continue
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Errorf("%s: %v", path, err)
		} else if err := fits(schemas, schema, v, name); err != nil {
			t.Error(err)
		}
	}
	for path, want := range map[string]int{
		"view": 400, "view?player=77": 404, "view?player=x": 404, "entity": 400, "entity?id=x": 400,
		"traffic?client=3": 404, "profile?seconds=99": 400, "profile?seconds=x": 400,
	} {
		if code, data := r.get(inspect.Path+path, ""); code != want ||
			!strings.Contains(string(data), `"error"`) {
			t.Errorf("%s: %d %s", path, code, data)
		}
	}
	var gone inspect.Entity
	if r.json("entity?id=7ffffffffff", &gone); gone.There || len(gone.Fields) != 0 {
		t.Errorf("%+v", gone)
	}
}

// sum adds up what has no parts.
func sum(list []inspect.Part) (n float64) {
	for _, p := range list {
		if len(p.Parts) > 0 {
			n += sum(p.Parts)
		} else {
			n += p.Bytes
		}
	}
	return n
}

// The leaves of the tree are what the sockets say, to the byte, for all and for each.
func TestAddsUp(t *testing.T) {
	r := run(t, 4, serve.Options{})
	r.full(4)
	for range 20 {
		var all inspect.Traffic
		r.json("traffic", &all)
		if n := math.Round(sum(all.Out)); n != float64(all.Sent) || all.Difference != 0 {
			t.Errorf("%v bytes are booked, %d were sent, %d off", n, all.Sent, all.Difference)
		}
		if n := sum(all.In); n != float64(all.Received) {
			t.Errorf("%v bytes are booked, %d have come", n, all.Received)
		}
	}
	for p := 1; p <= 4; p++ {
		var one inspect.Traffic
		r.json(fmt.Sprintf("traffic?player=%d", p), &one)
		if n := math.Round(sum(one.Out)); n != float64(one.Sent) || one.Sent == 0 {
			t.Errorf("player %d: %v bytes are booked, %d were sent", p, n, one.Sent)
		}
		fighters := 0.0
		for _, u := range one.Updates {
			fighters += u.Bytes
		}
		if fighters == 0 {
			t.Errorf("player %d was told of nothing: %+v", p, one.Updates)
		}
	}
	var people inspect.People
	r.json("people", &people)
	if len(people.People) != 4 || people.People[0].Player != 1 || people.People[0].Taken == 0 ||
		people.People[0].Sent == 0 {
		t.Errorf("%+v", people.People)
	}
	var view, world inspect.Things
	r.json("view?player=1", &view)
	r.json("world", &world)
	if len(view.Things) == 0 || len(world.Things) < 4 || view.Things[0].View == nil ||
		view.Things[0].View.Why == "" {
		t.Errorf("%d shown of %d: %+v", len(view.Things), len(world.Things), view.Things[:1])
	}
}

// While nobody looks, nobody asks the game for anything.
func TestNobodyLooks(t *testing.T) {
	r := run(t, 2, serve.Options{})
	before := r.full(2)
	var after inspect.State
	r.wait("a second of the game has passed", func() bool {
		r.json("state", &after)
		return after.Tick > before.Tick+60
	})
	if after.Looking.Watchers != 0 {
		t.Errorf("%+v", after.Looking)
	}
	var ticks inspect.Ticks
	if r.json("ticks", &ticks); len(ticks.Last) != 0 {
		t.Errorf("%d ticks were kept", len(ticks.Last))
	}
	a, err := r.client.Get(r.url + inspect.Path + "events")
	if err != nil {
		t.Fatal(err)
	}
	lines, events := bufio.NewScanner(a.Body), 0
	for events < 3 && lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var st inspect.State
			if err := json.Unmarshal([]byte(data), &st); err != nil || st.Players != 2 ||
				st.Looking.Watchers != 1 {
				t.Errorf("%v: %s", err, data)
			}
			events++
		}
	}
	_ = a.Body.Close()
	if events < 3 {
		t.Errorf("the stream ended after %d events: %v", events, lines.Err())
	}
	var last inspect.State
	r.wait("nobody watches any more", func() bool {
		r.json("state", &last)
		return last.Looking.Watchers == 0
	})
	var then inspect.State
	own := uint64(0)
	r.wait("another second has passed", func() bool {
		time.Sleep(200 * time.Millisecond)
		own++
		r.json("state", &then)
		return then.Tick > last.Tick+60
	})
	// Each of these questions is a look, and one more may have been on its way.
	if n := then.Looking.Looks - last.Looking.Looks; n > own+1 {
		t.Errorf("the game was asked %d times, and %d by the test, while nobody watches", n, own)
	}
}

// From other machines it is seen over TLS by those who have a token, and not otherwise.
func TestFromElsewhere(t *testing.T) {
	for _, o := range []serve.Options{
		{Admin: serve.AdminOptions{Inspect: "0.0.0.0:0"}},
		{Admin: serve.AdminOptions{Inspect: "0.0.0.0:0"}, Web: serve.WebOptions{SelfSigned: true}},
		{Admin: serve.AdminOptions{Inspect: "0.0.0.0:0", Dir: private(t)}},
	} {
		o.Server.Title, o.Listen, o.HTTP = arena.Title, "127.0.0.1:0", "127.0.0.1:0"
		if _, err := serve.New(t.Context(), o); err == nil ||
			!strings.Contains(err.Error(), "is reached from other machines") {
			t.Errorf("%+v: %v", o.Admin, err)
		}
	}
	r := run(t, 1, serve.Options{Admin: serve.AdminOptions{Inspect: "0.0.0.0:0"},
		Web: serve.WebOptions{SelfSigned: true}})
	r.url = strings.Replace(r.url, "[::]", "127.0.0.1", 1)
	for token, want := range map[string]int{"": 401, "wrong": 401, r.token: 200} {
		if code, data := r.get(inspect.Path+"state", token); code != want {
			t.Errorf("with %q: %d %s", token, code, data)
		}
	}
	if code, _ := r.get("/", ""); code != http.StatusOK {
		t.Errorf("the page itself: %d", code)
	}
}
