package directory_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/lobby"
)

// serverKey is the key of all servers of these tests.
var serverKey = token.Key{1, 2, 3}

func issuer() *directory.Issuer {
	return &directory.Issuer{Keys: func() []token.Key { return []token.Key{serverKey} }}
}

// withLobby is a directory with a lobby, whose queues of tanks are of two.
func withLobby(t testing.TB, url string, o directory.LobbyOptions) *stage {
	t.Helper()
	s := open(t, url, nil)
	s.api.Issuer = issuer()
	s.book.Issues(s.api.Issuer.Issues)
	o.Scorer = s.keeper
	o.Rule = func(game string) lobby.Matcher {
		if game == "tanks" {
			return lobby.Sized{Size: 2}
		}
		return nil
	}
	_, err := s.api.AddLobby(t.Context(), o)
	must(t, err)
	return s
}

// gameServer registers a server that has the directory's key.
func (s *stage) gameServer(n int) *speaker {
	s.Helper()
	x := newSpeaker(n)
	x.says.Keys = []string{directory.Fingerprint(serverKey)}
	s.want(200)(x.register(s.http.URL))
	s.book.Publish()
	return x
}

// A person is somebody in the lobby.
type person struct {
	*stage
	directory.AnonymousAccount
}

func (s *stage) person() *person {
	s.Helper()
	p := &person{stage: s}
	s.want(200)(p.ask("POST", "accounts", nil, &p.AnonymousAccount))
	return p
}

// ask asks something, by the account if there is one.
func (p *person) ask(method, path string, body, into any) (int, string, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return 0, "", err
		}
	}
	q, err := http.NewRequest(method, p.http.URL+directory.Path+path, bytes.NewReader(text))
	if err != nil {
		return 0, "", err
	}
	if p.Secret != "" {
		q.Header.Set("Authorization", "Bearer "+p.Secret)
	}
	return do(q, into)
}

func (p *person) makes() (r lobby.Room) {
	p.Helper()
	p.want(200)(p.ask("POST", "rooms", directory.NewRoom{Room: lobby.Setup{Game: "tanks",
		Public: true}, Me: lobby.Profile{Name: "ann"}}, &r))
	return r
}

// TestRooms: people meet in a room by its code, talk, are ready, and are sent to a server with
// room, each with a token of their own.
func TestRooms(t *testing.T) {
	s := withLobby(t, t.TempDir()+"/d.db", directory.LobbyOptions{})
	ann, bob, eve := s.person(), s.person(), s.person()
	room := ann.makes()
	heard := ann.listens()
	var seen lobby.Room
	s.want(200)((&person{stage: s}).ask("GET", "rooms/"+strings.ToLower(room.Code), nil, &seen))
	if seen.Size != 1 || seen.Members != nil || seen.Game != "tanks" {
		t.Errorf("%+v", seen)
	}
	at := "rooms/" + room.Code
	me := lobby.Profile{Name: "bob", Trips: map[string]int{"north": 20}}
	s.want(401)((&person{stage: s}).ask("POST", at+"/join", me, nil))
	eve.Secret += "x"
	s.want(401)(eve.ask("POST", at+"/join", me, nil))
	s.want(200)(bob.ask("POST", at+"/join", me, nil))
	heard.await(t, "room", `"name":"bob"`)
	s.want(200)(bob.ask("POST", at+"/chat", directory.ChatLine{Text: "hello"}, nil))
	heard.await(t, "chat", `"text":"hello"`)
	s.want(403)(bob.ask("POST", at+"/start", nil, nil))
	s.want(409)(ann.ask("POST", at+"/start", nil, nil)) // bob is not ready
	s.want(200)(bob.ask("POST", at+"/me", map[string]any{"ready": true}, nil))
	status, text, err := ann.ask("POST", at+"/start", nil, nil)
	if must(t, err); status != 503 || !strings.Contains(text, "no_server") {
		t.Fatalf("without servers: %d %s", status, text)
	}
	x := s.gameServer(1)
	var mine lobby.Mine
	s.want(200)(ann.ask("POST", at+"/start", nil, &mine))
	heard.await(t, "start", mine.Start.Token)
	starts := []*lobby.Start{mine.Start}
	var his lobby.Mine
	s.want(200)(bob.ask("GET", "me", nil, &his))
	starts = append(starts, his.Start)
	for i, who := range []*person{ann, bob} {
		tok, err := token.ParseText(starts[i].Token)
		must(t, err)
		g, err := token.Open(serverKey, tok.Sealed)
		if err != nil || g.Client != who.Client || starts[i].UDP != x.says.Addresses.UDP ||
			!bytes.HasSuffix(g.UserData, []byte([]string{"ann", "bob"}[i])) {
			t.Errorf("%+v %+v %v", starts[i], g, err)
		}
	}
	s.want(200)(ann.ask("POST", at+"/kick", directory.Kick{Member: bob.Client}, nil))
	s.want(403)(bob.ask("POST", at+"/join", me, nil))
	s.want(200)(ann.ask("POST", at+"/leave", nil, nil))
	heard.await(t, "out", `"why":"left"`)
	status, text, err = ann.ask("GET", at, nil, nil)
	if must(t, err); status != 404 || !strings.Contains(text, "check the letters") {
		t.Errorf("a room that has gone: %d %s", status, text)
	}
	s.stop()
	s.api.Lobby.Stop()
	heard.end(t)
}

// A hearing is a stream of events.
type hearing struct {
	io.Closer
	lines *bufio.Scanner
}

func (p *person) listens() *hearing {
	p.Helper()
	q, err := http.NewRequest("GET", p.http.URL+directory.Path+"me/events", nil)
	must(p, err)
	q.Header.Set("Authorization", "Bearer "+p.Secret)
	r, err := http.DefaultClient.Do(q)
	must(p, err)
	p.Cleanup(func() { _ = r.Body.Close() }) // it may have ended
	h := &hearing{r.Body, bufio.NewScanner(r.Body)}
	h.await(p, "begin", "{")
	return h
}

// await waits for an event.
func (h *hearing) await(t testing.TB, event, contains string) {
	t.Helper()
	for name := ""; h.lines.Scan(); {
		if after, ok := strings.CutPrefix(h.lines.Text(), "event: "); ok {
			name = after
		}
		if strings.HasPrefix(h.lines.Text(), "data: ") && name == event &&
			strings.Contains(h.lines.Text(), contains) {
			return
		}
	}
	t.Fatalf("no %s with %s: %v", event, contains, h.lines.Err())
}

// end waits for the end.
func (h *hearing) end(t testing.TB) {
	for h.lines.Scan() {
	}
	must(t, h.lines.Err())
}

// TestQueues: those who wait are grouped and sent to a server; one that is full is not filled
// twice; those for whom there is none wait on.
func TestQueues(t *testing.T) {
	s := withLobby(t, t.TempDir()+"/d.db", directory.LobbyOptions{})
	x := newSpeaker(1)
	x.says.Keys, x.says.Capacity = []string{directory.Fingerprint(serverKey)}, 3
	s.want(200)(x.register(s.http.URL))
	s.book.Publish()
	var all []*person
	up := directory.QueueUp{Game: "tanks", Me: lobby.Profile{Name: "p"}}
	for range 4 {
		p := s.person()
		s.want(200)(p.ask("POST", "queue", up, nil))
		all = append(all, p)
	}
	up.Game = "chess"
	status, text, err := s.person().ask("POST", "queue", up, nil)
	if must(t, err); status != 404 || !strings.Contains(text, "--queue") {
		t.Errorf("%d %s", status, text)
	}
	s.api.Lobby.Tick()
	playing := func() (n int) {
		for _, p := range all {
			var m lobby.Mine
			s.want(200)(p.ask("GET", "me", nil, &m))
			if m.Start != nil {
				n++
			} else if m.Queue == nil {
				t.Fatalf("%+v is lost", m)
			}
		}
		return n
	}
	if n := playing(); n != 2 {
		t.Fatalf("%d play where 3 have room", n)
	}
	x.says.Capacity = 4
	s.want(200)(x.alive(s.http.URL))
	s.book.Publish()
	for range 6 {
		s.clock.Add(int64(time.Second))
		s.api.Lobby.Tick()
	}
	if n := playing(); n != 4 {
		t.Fatalf("%d play where 4 have room", n)
	}
}

// TestDoors: without keys players are sent to a server's own door, and to nothing without one.
func TestDoors(t *testing.T) {
	s := withLobby(t, t.TempDir()+"/d.db", directory.LobbyOptions{})
	s.api.Issuer = nil
	x, y := newSpeaker(1), newSpeaker(2)
	y.says.Door = "http://10.0.2.1:4000/token"
	s.want(200)(x.register(s.http.URL))
	s.want(200)(y.register(s.http.URL))
	s.book.Publish()
	ann := s.person()
	room := ann.makes()
	var m lobby.Mine
	s.want(200)(ann.ask("POST", "rooms/"+room.Code+"/start", nil, &m))
	if m.Start.Entry != y.is.ID || m.Start.Door != y.says.Door || m.Start.Token != "" {
		t.Errorf("%+v", m.Start)
	}
}

// TestBannedInLobby: whoever is banned makes no room, and whoever is muted says nothing.
func TestBannedInLobby(t *testing.T) {
	s := withLobby(t, t.TempDir()+"/d.db", directory.LobbyOptions{})
	folder, err := admin.OpenFolder(t.TempDir() + "/admin")
	must(t, err)
	s.api.Issuer.Folder = folder
	ann, bob := s.person(), s.person()
	room := ann.makes()
	s.want(200)(bob.ask("POST", "rooms/"+room.Code+"/join", lobby.Profile{Name: "bob"}, nil))
	for kind, who := range map[string]*person{admin.Mute: ann, admin.Ban: bob} {
		_, err := folder.AddSanctions(admin.Sanction{Kind: kind, By: "op", Client: who.Client})
		must(t, err)
	}
	s.want(403)(ann.ask("POST", "rooms/"+room.Code+"/chat", directory.ChatLine{Text: "x"}, nil))
	s.want(200)(ann.ask("GET", "me", nil, nil))
	s.want(403)(bob.ask("GET", "me", nil, nil))
}

// TestGuessing: whoever names many rooms that there are not has to wait, and learns nothing more
// meanwhile.
func TestGuessing(t *testing.T) {
	s := withLobby(t, t.TempDir()+"/d.db", directory.LobbyOptions{})
	room := s.person().makes()
	look := func(from, code string) int {
		q := httptest.NewRequest("GET", directory.Path+"rooms/"+code, nil)
		q.RemoteAddr = from + ":1"
		w := httptest.NewRecorder()
		s.api.ServeHTTP(w, q)
		return w.Code
	}
	statuses := map[int]int{}
	for i := range 30 {
		statuses[look("203.0.113.7", fmt.Sprintf("QQQQ%c%c", 'A'+i%4, 'A'+i/4))]++
	}
	if statuses[404] != 10 || statuses[429] != 20 {
		t.Errorf("%v", statuses)
	}
	if got := look("203.0.113.7", room.Code); got != 429 {
		t.Errorf("a right guess after many wrong: %d", got)
	}
	if got := look("203.0.113.8", room.Code); got != 200 {
		t.Errorf("somebody else: %d", got)
	}
	s.clock.Add(int64(10 * time.Second))
	if got := look("203.0.113.7", room.Code); got != 200 {
		t.Errorf("after a while: %d", got)
	}
}

// TestLobbyDescribed: the description has the lobby's types as they are.
func TestLobbyDescribed(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Required   []string                  `json:"required"`
				Properties map[string]map[string]any `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	must(t, json.Unmarshal(directory.OpenAPI(), &doc))
	for _, v := range []any{lobby.Profile{}, lobby.Setup{}, lobby.Me{}, lobby.Member{},
		lobby.Line{}, lobby.Room{}, lobby.Queued{}, lobby.Start{}, lobby.Out{}, lobby.Mine{},
		directory.NewRoom{}, directory.AnonymousAccount{}, directory.ChatLine{}, directory.Kick{},
		directory.StartRoom{}, directory.QueueUp{}, directory.Result{}, directory.ResultPlayer{},
		directory.Board{}, directory.Counted{}, directory.Standing{},
		directory.StandingsPage{}} {
		name := reflect.TypeOf(v).Name()
		schema := doc.Components.Schemas[name]
		n := 0
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			tag := f.Tag.Get("json")
			if f.Anonymous || tag == "-" {
				continue
			}
			n++
			key, option, _ := strings.Cut(tag, ",")
			always := !strings.Contains(option, "omitempty")
			if schema.Properties[key] == nil || always != slices.Contains(schema.Required, key) {
				t.Errorf("%s.%s is not described, or whether it is always there is wrong", name, key)
				continue
			}
			kinds := map[reflect.Kind]string{reflect.String: "string", reflect.Int: "integer",
				reflect.Int64: "integer", reflect.Slice: "array", reflect.Bool: "boolean",
				reflect.Map: "object", reflect.Uint64: "string"}
			kind := f.Type.Kind()
			if kind == reflect.Pointer {
				kind = f.Type.Elem().Kind()
			}
			if want := kinds[kind]; want != "" && schema.Properties[key]["type"] != want {
				t.Errorf("%s.%s is %v, and described as %v", name, key, want,
					schema.Properties[key]["type"])
			}
		}
		if n != len(schema.Properties) {
			t.Errorf("%s has %d fields, and %d are described", name, n, len(schema.Properties))
		}
	}
}
