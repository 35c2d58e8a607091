package admin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

var discard = slog.New(slog.DiscardHandler)

// TestRoles asks everything that can be asked by every role, and by nobody: what a role may not do
// is refused, and done by none.
func TestRoles(t *testing.T) {
	s := newStage(t, newDir(t))
	s.secrets[0] = tokenPrefix + strings.Repeat("A", 43)
	bodies := map[string]any{
		"kick": KickRequest{Who: "nobody"}, "ban": SanctionRequest{Network: "203.0.113.0/24"},
		"unban": LiftRequest{"203.0.113.0/24"}, "mute": SanctionRequest{Who: "client:9"},
		"unmute": LiftRequest{"client:9"}, "message": MessageRequest{Text: "hello"},
		"level":   LevelRequest{Name: "pond"},
		"content": []byte("motto be kind"),
		"knobs":   KnobsRequest{[]Setting{{"gravity.pull", "2"}}},
	}
	want := map[string]int{"kick": http.StatusNotFound}
	for _, name := range []string{"handover", "world", "halt", "used", "cede", "goon"} {
		want[name] = http.StatusConflict // it is no mirror; see TestHandover
	}
	for _, rt := range routes {
		for role := Role(0); role <= Operate; role++ {
			if role == 0 {
				s.api.failures = failures{} // which are tried elsewhere
			}
			_, err := s.folder.AddSanctions( // for each to lift
				Sanction{Kind: Ban, Network: netip.MustParsePrefix("203.0.113.0/24")},
				Sanction{Kind: Mute, Client: 9})
			must(t, err)
			var body any
			if rt.method == http.MethodPost {
				body = bodies[rt.name]
			}
			got, out := s.ask(role, rt.method, rt.name, body)
			expect := http.StatusOK
			switch {
			case role == 0:
				expect = http.StatusUnauthorized
			case role < rt.role:
				expect = http.StatusForbidden
			case want[rt.name] != 0:
				expect = want[rt.name]
			}
			if got != expect || got != http.StatusOK && (out["error"] == nil ||
				out["code"] == nil) {
				t.Errorf("%s %q by %v: %d, want %d: %v", rt.method, rt.name, role, got, expect, out)
			}
			if rt.name == "content" && got == http.StatusOK {
				bodies["content"] = []byte("motto " + role.String())
			}
			if other := map[string]string{"GET": "PUT",
				"POST": "DELETE"}[rt.method]; role == Operate {
				if got, _ := s.ask(role, other, rt.name, nil); got != http.StatusMethodNotAllowed {
					t.Errorf("%s %q: %d", other, rt.name, got)
				}
			}
		}
	}
	if got, out := s.ask(Operate, "GET", "nothing", nil); got != 404 || out["code"] != "not_found" {
		t.Errorf("%d %v", got, out)
	}
	if text := <-s.stopped; text != "-1ns" {
		t.Errorf("stopped by %q", text)
	}
}

// TestHostile sends what nobody should: it is refused in JSON, and the server goes on.
func TestHostile(t *testing.T) {
	s := newStage(t, newDir(t))
	long := strings.Repeat("x", 1000)
	for _, x := range []struct {
		name string
		body any
		want int
	}{
		{"kick", []byte("{"), 400},
		{"kick", []byte(`{"who":"a","what":1}`), 400},
		{"kick", []byte(`{"who":"a"} {"who":"b"}`), 400},
		{"kick", []byte(`[1]`), 400},
		{"kick", nil, 400},
		{"kick", bytes.Repeat([]byte(" "), 70<<10), 413},
		{"kick", KickRequest{Who: "a", Why: long}, 400},
		{"kick", KickRequest{Who: "a", Why: "two\nlines"}, 400},
		{"kick", KickRequest{Who: "player:99999999999999999999"}, 404},
		{"ban", SanctionRequest{}, 400},
		{"ban", SanctionRequest{Who: "a", Network: "10.0.0.1"}, 400},
		{"ban", SanctionRequest{Network: "0.0.0.0/0"}, 400},
		{"ban", SanctionRequest{Network: "::/0"}, 400},
		{"ban", SanctionRequest{Network: "here"}, 400},
		{"ban", SanctionRequest{Who: "client:1", For: "-1h"}, 400},
		{"ban", SanctionRequest{Who: "client:1", For: "999999999d"}, 400},
		{"ban", SanctionRequest{Who: "client:1", WithAddress: true}, 409},
		{"ban", SanctionRequest{Who: "nobody"}, 404},
		{"unban", LiftRequest{"77"}, 404},
		{"message", MessageRequest{}, 400},
		{"message", MessageRequest{Text: "\x1b[2J"}, 400},
		{"message", MessageRequest{Text: long}, 400},
		{"message", MessageRequest{Text: "hello", Who: "nobody"}, 404},
		{"level", LevelRequest{}, 400},
		{"level", LevelRequest{Name: "atlantis"}, 422},
		{"level", LevelRequest{Data: []byte("garbage")}, 422},
		{"level", LevelRequest{Data: make([]byte, 5000)}, 422},
		{"level", LevelRequest{Data: make([]byte, 1<<20)}, 413},
		{"level", LevelRequest{Name: long}, 422},
		{"level", LevelRequest{Data: []byte("map bomb")}, 500},
		{"level", LevelRequest{Data: []byte("map thirteen")}, 422},
		{"content", nil, 400},
		{"content", make([]byte, 70<<10), 413},
		{"content", []byte("damaged"), 422},
		{"content", []byte("bomb"), 422},
		{"knobs", KnobsRequest{}, 400},
		{"knobs", KnobsRequest{[]Setting{{"gravity.pull", "9"}}}, 400},
		{"knobs", KnobsRequest{[]Setting{{"gravity.seats", "13"}}}, 422},
		{"drain", DrainRequest{To: []string{"here"}}, 400},
		{"drain", DrainRequest{To: make([]string, 100)}, 400},
		{"shutdown", ShutdownRequest{Drain: "99h"}, 400},
		{"shutdown", ShutdownRequest{Why: long}, 400},
	} {
		out := s.do(x.want, x.name, x.body)
		if out["error"] == "" || out["code"] == "" {
			t.Errorf("%s: %v", x.name, out)
		}
	}
	for name, want := range map[string]int{"audit?last=0": 400, "audit?last=x": 400, "audit": 200} {
		if got, out := s.ask(Operate, "GET", name, nil); got != want {
			t.Errorf("%s: %d %v", name, got, out)
		}
	}
	s.with(func(x *server.Server) {
		g := world.StateOf[gravity](x.World())
		if x.Level().Name != "lawn" || g.Pull != 1 || g.Seats != 0 || x.Draining() ||
			world.StateOf[motto](x.World()).Text != "" {
			t.Errorf("something was changed: %+v, %s", g, x.Level().Name)
		}
	})
	if len(s.folder.Sanctions()) != 0 {
		t.Error(s.folder.Sanctions())
	}
}

// TestTokens: one that was revoked or has expired is refused at once, and who tries many is not
// looked at for a while.
func TestTokens(t *testing.T) {
	s := newStage(t, newDir(t))
	now := time.Now()
	s.folder.now = func() time.Time { return now }
	get := func(secret string) int {
		s.secrets[0] = secret
		got, _ := s.ask(0, "GET", "status", nil)
		return got
	}
	short, _, err := s.folder.MakeToken(Watch, "brief", time.Minute)
	must(t, err)
	gone, kept, err := s.folder.MakeToken(Watch, "gone", 0)
	must(t, err)
	if get(short) != 200 || get(gone) != 200 {
		t.Fatal("a good token was refused")
	}
	now = now.Add(time.Minute)
	other, err := OpenFolder(s.folder.dir) // as another program does
	must(t, err)
	if list, err := other.RevokeTokens(kept.ID); err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if get(short) != 401 || get(gone) != 401 {
		t.Error("a token that is good no more was taken")
	}
	data, err := os.ReadFile(s.folder.at(tokensName))
	must(t, err)
	for _, secret := range s.secrets {
		if strings.Contains(string(data), strings.TrimPrefix(secret, tokenPrefix)) {
			t.Error("a secret is in the file")
		}
	}
	for i := range failuresAtOnce - 2 {
		if got := get("wrong"); got != 401 {
			t.Fatalf("try %d: %d", i, got)
		}
	}
	if got := get(s.secrets[Operate]); got != 429 {
		t.Errorf("after too many tries: %d", got)
	}
	now = now.Add(failureAgain)
	if got := get(s.secrets[Operate]); got != 200 {
		t.Errorf("later: %d", got)
	}
	must(t, os.WriteFile(s.folder.at(tokensName), []byte("{"), 0o600))
	if got := get(s.secrets[Operate]); got != 503 {
		t.Errorf("with a damaged file: %d", got)
	}
}

// TestPeople: a guest is told, muted, kicked, banned by account and by address, and turned away by
// the server that comes after.
func TestPeople(t *testing.T) {
	t.Parallel() // it mostly waits
	dir := newDir(t)
	s := newStage(t, dir)
	ada, bob := s.join(1, "ada").arrives(t), s.join(2, "bob").arrives(t)
	_, list := s.ask(Watch, "GET", "players", nil)
	if text, _ := json.Marshal(list); !strings.Contains(string(text), `"client":"1"`) ||
		strings.Contains(string(text), `"address"`) {
		t.Errorf("%s", text)
	}
	if _, list := s.ask(Moderate, "GET", "players", nil); !strings.Contains(
		list["people"].([]any)[0].(map[string]any)["address"].(string), ":") {
		t.Errorf("%v", list)
	}
	hears := func(g *guest, text string) {
		t.Helper()
		for {
			select {
			case w := <-g.words:
				if strings.Contains(w.Text, text) {
					return
				}
			case err := <-g.ended:
				t.Fatalf("ended by %v before %q was heard", err, text)
			}
		}
	}
	if out := s.do(200, "message", MessageRequest{Text: "to all"}); out["told"] != 2.0 {
		t.Error(out)
	}
	s.do(200, "message", MessageRequest{Text: "to ada", Who: "ADA"})
	hears(ada, "to all")
	hears(ada, "to ada")
	s.do(200, "mute", SanctionRequest{Who: "ada", Why: "too loud"})
	hears(ada, "you are muted: too loud")
	ada.says <- "psst"
	hears(ada, "you are muted: too loud")
	s.do(200, "unmute", LiftRequest{"ada"})
	ada.says <- "thanks"
	hears(bob, "thanks") // and not what she said before
	for len(bob.words) > 0 {
		if w := <-bob.words; w.Text == "psst" {
			t.Error("what someone said who was muted was heard")
		}
	}
	ends := func(g *guest, text string) {
		t.Helper()
		var end *client.EndError
		if err := <-g.ended; !errors.As(err, &end) || !strings.Contains(err.Error(), text) {
			t.Errorf("ended by %v, want %q", err, text)
		}
	}
	s.do(200, "kick", KickRequest{Who: "player:2", Why: "go home"})
	ends(bob, "go home")
	bob = s.join(2, "bob").arrives(t) // he may come back
	s.do(200, "ban", SanctionRequest{Who: "bob", For: "1h", Why: "stay away"})
	ends(bob, "stay away")
	ends(s.join(2, "bob"), "stay away")
	if out := s.do(200, "ban", SanctionRequest{Who: "ada", WithAddress: true}); len(
		out["sanctions"].([]any)) != 2 || len(out["people"].([]any)) != 1 {
		t.Error(out)
	}
	ends(ada, "you are banned")
	ends(s.join(3, "eve"), "you are banned") // from the same address

	again := newStage(t, dir)
	ends(again.join(2, "bob"), "stay away")
	again.do(200, "unban", LiftRequest{"client:2"})
	_, bans := again.ask(Moderate, "GET", "bans", nil)
	for _, x := range bans["sanctions"].([]any) {
		if n, ok := x.(map[string]any)["network"].(string); ok {
			again.do(200, "unban", LiftRequest{n})
		}
	}
	again.join(2, "bob").arrives(t)
	now := time.Now().Add(2 * time.Hour)
	later, err := OpenFolder(dir)
	must(t, err)
	_, err = later.AddSanctions(Sanction{Kind: Ban, Client: 2, Until: now.Add(-time.Hour)})
	must(t, err)
	later.now = func() time.Time { return now }
	if later.Sanctioned(Ban, 2, netip.Addr{}) != nil {
		t.Error("a ban that is over counts")
	}
}

// TestChanges: knobs and content come in as inputs, several at once in one tick, are told to
// clients, and a recording repeats them.
func TestChanges(t *testing.T) {
	s := newStage(t, newDir(t))
	_, list := s.ask(Watch, "GET", "knobs", nil)
	text, _ := json.Marshal(list["knobs"])
	for _, part := range []string{
		`{"least":0,"most":8,"name":"gravity.Pull","step":0.0625,"type":"float","value":"1"}`,
		`{"name":"gravity.On","type":"bool","value":"false"}`,
		`{"least":0,"most":500,"name":"gravity.At[1].X","step":1,"type":"int","value":"0"}`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s: no %s", text, part)
		}
	}
	if strings.Contains(string(text), "Inner") {
		t.Errorf("what is not synced is listed: %s", text)
	}
	out := s.do(200, "knobs", KnobsRequest{[]Setting{{"gravity.pull", "3.01"}, {"Gravity.On", "on"},
		{"gravity.AT[1].x", "7"}, {"gravity.sign", "mind"}}})
	if out["in_force"] != true {
		t.Errorf("%v", out)
	}
	// of two that come before the next tick, the second goes on from the first
	s.do(200, "pause", nil)
	for _, set := range []Setting{{"gravity.seats", "5"}, {"gravity.pull", "2"}} {
		if out := s.do(200, "knobs", KnobsRequest{[]Setting{set}}); out["in_force"] != false {
			t.Errorf("%v", out)
		}
	}
	s.do(200, "resume", nil)
	s.do(200, "content", []byte("motto be kind"))
	s.do(422, "content", []byte("motto be kind"))
	s.with(func(x *server.Server) {
		g := world.StateOf[gravity](x.World())
		if *g != (gravity{Pull: 2, On: true, Seats: 5, Sign: "mind",
			At: [2]struct{ X uint16 }{1: {7}}}) ||
			world.StateOf[motto](x.World()).Text != "be kind" {
			t.Errorf("%+v", g)
		}
		must(t, s.recs.Close())
	})
	for _, x := range []struct{ name, value, want string }{
		{"gravity.mass", "1", "there are gravity.Pull, gravity.On"},
		{"gravity.pull", "heavy", "it is a number, from 0 to 8"},
		{"gravity.pull", "NaN", "it is a number"},
		{"gravity.seats", "1.5", "it is a whole number, from 0 to 100"},
		{"gravity.seats", "101", "from 0 to 100"},
		{"gravity.on", "maybe", "on or off"},
		{"gravity.at[0].x", "-1", "not below zero"},
		{"gravity.sign", "longer than twelve", "Sign"},
	} {
		out := s.do(400, "knobs", KnobsRequest{[]Setting{{"gravity.pull", "1"}, {x.name, x.value}}})
		if !strings.Contains(out["error"].(string), x.want) {
			t.Errorf("%s=%s: %v", x.name, x.value, out)
		}
	}
	r, err := trace.Open(bytes.NewReader(s.record.Bytes()))
	must(t, err)
	res, err := trace.Replay(park.Game, r, trace.ReplayOptions{})
	must(t, err)
	if res.Mismatch != nil || r.Counts().Told < 3 {
		t.Errorf("%+v, %+v", res, r.Counts())
	}
}

// TestLevels: one begins by name and by file, while who is there stays.
func TestLevels(t *testing.T) {
	t.Parallel() // it mostly waits
	s := newStage(t, newDir(t))
	s.join(1, "ada").arrives(t)
	s.do(200, "level", LevelRequest{Name: "pond", Seed: 4})
	s.do(200, "level", LevelRequest{Data: []byte("map hill")})
	s.with(func(x *server.Server) {
		if l := x.Level(); l.Name != "hill" || string(l.Data) != "map hill" || l.Seed == 0 ||
			x.Population().Players != 1 {
			t.Errorf("%+v", l)
		}
	})
	s.do(200, "drain", nil)
	if !s.unready.Load() {
		t.Error("players are still sent here")
	}
	var end *client.EndError
	if err := <-s.join(2, "late").ended; !errors.As(err, &end) {
		t.Errorf("someone was let in: %v", err)
	}
	if out := s.do(200, "welcome", nil); out["players"] != 1.0 || s.unready.Load() {
		t.Errorf("%v", out)
	}
	s.join(2, "late").arrives(t)
}

// TestBundle: what is fetched for a diagnosis is whole, its trace is replayed, and no secret is in
// it.
func TestBundle(t *testing.T) {
	s := newStage(t, newDir(t))
	s.do(200, "knobs", KnobsRequest{[]Setting{{"gravity.pull", "3"}}})
	data := s.do(200, "bundle", nil)["raw"].([]byte)
	zip, err := gzip.NewReader(bytes.NewReader(data))
	must(t, err)
	files := map[string]string{}
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		must(t, err)
		text, err := io.ReadAll(r)
		must(t, err)
		files[filepath.Base(h.Name)] = string(text)
	}
	for name, part := range map[string]string{
		"build.txt": "go", "status.json": "tick", "metrics.txt": "coeval_people",
		"settings.txt": "players = 64\ntls-key = (not told)\n", "goroutines.txt": "goroutine",
		"log.txt": "POST knobs", "knobs.json": "gravity.Pull", "players.json": "people",
	} {
		if !strings.Contains(files[name], part) {
			t.Errorf("%s has no %q: %.200s", name, part, files[name])
		}
	}
	if files["missing.txt"] != "" {
		t.Error(files["missing.txt"])
	}
	r, err := trace.Open(strings.NewReader(files["flight.trace"]))
	must(t, err)
	res, err := trace.Replay(park.Game, r, trace.ReplayOptions{})
	if err != nil || res.Mismatch != nil || r.Counts().Told != 1 {
		t.Errorf("%+v, %+v, %v", res, r.Counts(), err)
	}
	for name, text := range files {
		for _, secret := range append([]string{"hush"}, s.secrets[Operate]) {
			if strings.Contains(text, secret) {
				t.Errorf("%s has the secret %s", name, secret)
			}
		}
	}
}
