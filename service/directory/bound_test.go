package directory_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/service/directory"
)

// listenFrom listens as somebody at an address does, by a proxy that is named, and gives the
// status.
func listenFrom(t *testing.T, s *stage, query string) (int, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.http.URL+directory.Path+"events?"+
		query, nil)
	must(t, err)
	q.Header.Set("X-Forwarded-For", "203.0.113.9") // so it counts as another's
	a, err := http.DefaultClient.Do(q)
	must(t, err)
	if a.StatusCode == http.StatusOK { // it listens once it has begun
		if line, err := bufio.NewReader(a.Body).ReadString('\n'); err != nil {
			t.Fatal(line, err)
		}
	}
	return a.StatusCode, func() {
		cancel()
		_ = a.Body.Close()
	}
}

// TestListeners: one address listens so often and no more; whoever leaves makes room.
func TestListeners(t *testing.T) {
	s := open(t, t.TempDir()+"/d.db", nil)
	var ends []func()
	for i := range directory.ListenersOfEach {
		status, end := listenFrom(t, s, fmt.Sprintf("game=g%d", i))
		if ends = append(ends, end); status != 200 {
			t.Fatalf("listener %d: %d", i, status)
		}
	}
	status, end := listenFrom(t, s, "")
	if end(); status != 503 {
		t.Errorf("one too many: %d", status)
	}
	r, err := http.Get(s.http.URL + directory.Path + "events")
	if err != nil || r.StatusCode != 200 {
		t.Fatalf("another's: %v", err)
	}
	_ = r.Body.Close()
	ends[0]()
	for {
		status, end := listenFrom(t, s, "")
		if end(); status == 200 {
			break
		}
	}
	for _, end := range ends[1:] {
		end()
	}
}

// named takes what somebody brings for their number.
type named struct{}

func (named) Verify(_ context.Context, bearer string) (a directory.Account, err error) {
	_, err = fmt.Sscanf(bearer, "player-%d", &a.Client)
	a.Name = bearer
	return a, err
}

// TestBans: by account and by address, each refused with why, and all of it in the log; a ban that
// is lifted is no more.
func TestBans(t *testing.T) {
	s := open(t, t.TempDir()+"/d.db", nil)
	key, err := token.NewKey(rand.Reader)
	must(t, err)
	folder, err := admin.OpenFolder(t.TempDir() + "/admin")
	must(t, err)
	s.api.Issuer = &directory.Issuer{Keys: func() []token.Key { return []token.Key{key} },
		Folder: folder, Verifier: named{}}
	s.book.Issues(s.api.Issuer.Issues)
	x := newSpeaker(1)
	x.says.Keys = []string{directory.Fingerprint(key)}
	s.want(200)(x.register(s.http.URL))
	s.book.Publish()
	ask := func(who, from string) (int, string) {
		q := httptest.NewRequest(http.MethodPost, directory.Path+"entries/"+x.is.ID+"/token", nil)
		q.Header.Set("Authorization", "Bearer "+who)
		return s.from(from, q)
	}
	_, err = folder.AddSanctions(
		admin.Sanction{Kind: admin.Ban, By: "ann", Why: "cheats", Client: 7},
		admin.Sanction{Kind: admin.Ban, By: "ann", Why: "floods",
			Network: netip.MustParsePrefix("203.0.113.0/24")})
	must(t, err)
	for _, q := range []struct {
		who, from string
		status    int
		says      string
	}{
		{"player-8", "198.51.100.7", 200, "token"}, {"player-7", "198.51.100.7", 403, "cheats"},
		{"player-8", "203.0.113.5", 403, "floods"}, {"somebody", "198.51.100.7", 401, "account"},
		{"player-0", "198.51.100.7", 401, "no number"},
	} {
		if status, text := ask(q.who, q.from); status != q.status ||
			!strings.Contains(text, q.says) {
			t.Errorf("%s from %s: %d %s", q.who, q.from, status, text)
		}
	}
	log, err := folder.Logged(10)
	if must(t, err); len(log) != 3 {
		t.Errorf("%+v", log)
	}
	refused := 0
	for range 60 {
		if status, _ := ask("player-8", "198.51.100.8"); status == 429 {
			refused++
		}
	}
	if refused != 40 {
		t.Errorf("%d of 60 tokens were refused", refused)
	}
}

// TestNote: whoever asks for a version that nobody has is told which there are.
func TestNote(t *testing.T) {
	s := open(t, t.TempDir()+"/d.db", nil)
	s.want(200)(newSpeaker(1).register(s.http.URL))
	s.book.Publish()
	for query, says := range map[string]string{
		"game=tanks&version=ffffffffffffffff":       "0123456789abcdef",
		"game=chess&version=ffffffffffffffff":       "nobody plays this game",
		"game=tanks&version=0123456789abcdef":       `"entries":[{`,
		"game=tanks&version=latest":                 "16 hexadecimal",
		"game=tanks&region=mars":                    `{"entries":[]}`,
		"game=tanks&version=ffffffffffffffff&x=%zz": "none",
	} {
		_, text := s.from("203.0.113.9", httptest.NewRequest(http.MethodGet, directory.Path+
			"entries?"+query, nil))
		if !strings.Contains(text, says) {
			t.Errorf("%s: %s", query, text)
		}
	}
}

// FuzzRequests: whatever is asked, and whatever the body, there is an answer that says what is
// wrong, never that the directory has failed.
func FuzzRequests(f *testing.F) {
	s := open(f, f.TempDir()+"/d.db", nil)
	id := strings.Repeat("0", 32)
	for _, path := range []string{"entries", "entries/" + id + "/alive", "entries/" + id +
		"/goodbye", "entries/" + id + "/token", "events?x", "entries?game=a"} {
		f.Add(true, path, []byte(`{"lease":"x","seq":1,"place":"p","players":-1}`))
		f.Add(false, path, []byte(`[[[[{"key":1e999}]]]]`))
	}
	f.Fuzz(func(t *testing.T, post bool, path string, body []byte) {
		if strings.HasPrefix(path, "events") && path != "events?x" {
			return // it would go on for ever
		}
		q := httptest.NewRequest(http.MethodPost, directory.Path, strings.NewReader(string(body)))
		name, query, _ := strings.Cut(path, "?")
		q.URL.Path, q.URL.RawQuery = directory.Path+name, query
		if !post {
			q.Method = http.MethodGet
		}
		if status, text := s.from("127.0.0.1", q); status >= 500 && status != 503 ||
			status != 200 && !strings.Contains(text, `"error"`) {
			t.Fatalf("%d %s", status, text)
		}
	})
}
