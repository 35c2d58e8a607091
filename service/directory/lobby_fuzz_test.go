package directory_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/service/directory"
)

// FuzzLobby: two people ask anything of the lobby, a line each. It is done or refused with a
// reason, and nothing panics or fails.
func FuzzLobby(f *testing.F) {
	s := withLobby(f, f.TempDir()+"/d.db", directory.LobbyOptions{})
	x := s.gameServer(1)
	ann, bob := s.person(), s.person()
	var routes [][2]string
	for _, r := range directory.Routes() {
		if r[1] != "me/events" && r[1] != "events" { // which do not end
			routes = append(routes, r)
		}
	}
	room := ann.makes()
	for i, r := range routes {
		body := map[string]string{
			"rooms":             `{"room":{"game":"tanks","most":2,"teams":2},"me":{"name":"a"}}`,
			"rooms/{code}/join": `{"name":"b","trips":{"north":20},"skill":7,"data":"d"}`,
			"rooms/{code}/me":   `{"ready":true,"team":1}`,
			"rooms/{code}/chat": `{"text":"hello"}`, "rooms/{code}/kick": `{"member":"7"}`,
			"rooms/{code}/start": `{"anyway":true}`,
			"rooms/{code}/setup": `{"game":"tanks","level":"x","teams":3}`,
			"queue":              `{"game":"tanks","me":{"name":"a"}}`,
			"entries/{id}/results": `{"lease":"x","seq":9,"match":"m","players":[{"client":"1",` +
				`"receipt":"AQ==","score":1,"rank":1}],"boards":[{"name":"b","how":"sum"}]}`,
		}[r[1]]
		f.Add("\x01" + string(rune('A'+i)) + body + "\n\x02" + string(rune('A'+i)) + body)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for line := range strings.SplitSeq(text, "\n") {
			if len(line) < 2 {
				continue
			}
			who := []*person{ann, bob}[line[0]%2]
			r := routes[int(line[1])%len(routes)]
			path := strings.NewReplacer("{id}", x.is.ID, "{code}", room.Code).Replace(r[1])
			q := httptest.NewRequest(r[0], directory.Path+path, bytes.NewReader([]byte(line[2:])))
			q.RemoteAddr = "127.0.0.1:1"
			q.Header.Set("Authorization", "Bearer "+who.Secret)
			w := httptest.NewRecorder()
			s.api.ServeHTTP(w, q)
			if !json.Valid(w.Body.Bytes()) ||
				w.Code >= 500 && w.Code != http.StatusServiceUnavailable {
				t.Fatalf("%s %s %q: %d %s", r[0], path, line[2:], w.Code, w.Body)
			}
			var e directory.Error
			if w.Code != 200 && (json.Unmarshal(w.Body.Bytes(), &e) != nil || e.Code == "" ||
				e.Message == "") {
				t.Fatalf("%s %s %q: %d without a reason: %s", r[0], path, line[2:], w.Code, w.Body)
			}
		}
	})
}
