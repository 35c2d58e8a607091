package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// FuzzFiles reads files of a folder that may be anything: what is taken is written again alike.
func FuzzFiles(f *testing.F) {
	f.Add([]byte(`{"version":1,"tokens":[{"id":"a1","name":"ada","role":"operate","sha256":"` +
		strings.Repeat("0f", 32) + `","made":"2026-01-01T00:00:00Z"}]}`))
	f.Add([]byte(`{"version":1,"next":3,"sanctions":[{"id":2,"kind":"ban","network":"10.0.0.0/8",` +
		`"by":"ada","made":"2026-01-01T00:00:00Z"},{"id":1,"kind":"mute","client":"7","by":"",` +
		`"made":"2026-01-01T00:00:00Z"}]}`))
	f.Add([]byte(`{"at":"2026-01-01T00:00:00Z","who":"a","what":"POST kick","result":"ok"}` +
		"\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if list, err := parseTokens(data); err == nil {
			text, err := json.Marshal(tokenFile{tokenVersion, list})
			must(t, err)
			again, err := parseTokens(text)
			if err != nil || len(again) != len(list) {
				t.Errorf("%s: %v", text, err)
			}
		}
		if file, err := parseSanctions(data); err == nil {
			text, err := json.Marshal(file)
			must(t, err)
			if again, err := parseSanctions(text); err != nil ||
				len(again.Sanctions) != len(file.Sanctions) {
				t.Errorf("%s: %v", text, err)
			}
		}
		for _, e := range lastEntries(data, 10) {
			if e.What == "" {
				t.Error("an entry of nothing")
			}
		}
	})
}

// FuzzKnobs sets knobs by names and values that may be anything: what is taken, the world takes.
func FuzzKnobs(f *testing.F) {
	for _, x := range []string{"gravity.pull=3", "gravity.on=yes", "gravity.seats=-1",
		"gravity.At[1].X=500", "gravity.sign=äöü", "gravity.pull=1e400", "=", "gravity.pull=inf"} {
		f.Add(x)
	}
	w, err := park.Game.New(world.Settings{})
	must(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSetting(text)
		if err != nil {
			return
		}
		is := func(c *world.ClassInfo) (bits.Syncer, error) { return knobValue(w, c) }
		changed, set, err := changeKnobs(park.Game, is, []Setting{s})
		if err != nil {
			return
		}
		in := park.Game.NewInputs()
		for _, k := range changed {
			must(t, world.SetKnobTo(in, k.value))
		}
		copied := w.Host().Clone()
		var p *world.Panic
		if err := copied.Host().TryStep(in); err != nil && !asPanic(err, &p) {
			t.Errorf("%q: %v", text, err)
		}
		if now, err := ListKnobs(copied); p == nil && (err != nil || len(now) != len(set)) {
			t.Errorf("%q: %v, %v", text, now, err)
		}
	})
}

// FuzzRequests sends the API what may be anything, as someone who may do all: it answers in JSON,
// or with what was asked for.
func FuzzRequests(f *testing.F) {
	folder, err := OpenFolder(f.TempDir() + "/admin")
	must(f, err)
	secret, _, err := folder.MakeToken(Operate, "fuzz", 0)
	must(f, err)
	// There is no game: what is read of a request is what counts.
	api := New(folder, Game{Title: park, Do: noGame, Metrics: func() []byte { return nil },
		Server: func() *server.Server { return nil }, Status: func() any { return nil }}, nil)
	f.Add("kick", []byte(`{"who":"3"}`))
	f.Add("ban", []byte(`{"who":"client:3","for":"7d"}`))
	f.Add("ban", []byte(`{"network":"::ffff:10.0.0.1/120"}`))
	f.Add("level", []byte(`{"name":"pond","seed":"7","data":"bWFwIGE="}`))
	f.Add("drain", []byte(`{"to":["127.0.0.1:1"]}`))
	f.Add("shutdown", []byte(`{"drain":"1s"}`))
	f.Add("knobs", []byte(`{"set":[{"name":"a","value":"b"}]}`))
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := httptest.NewRequest(method, "/", bytes.NewReader(body))
			r.URL.Path, r.RemoteAddr = Path+name, "127.0.0.1:9"
			r.Header.Set("Authorization", "Bearer "+secret)
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			if kind := w.Header().Get("Content-Type"); w.Code != http.StatusOK &&
				(kind != "application/json" || !json.Valid(w.Body.Bytes())) || w.Code == 500 {
				t.Errorf("%s %q %q: %d %s: %s", method, name, body, w.Code, kind, w.Body)
			}
		}
	})
}

// noGame is a game that nobody drives any more.
func noGame(context.Context, func()) error { return server.ErrStopped }

func asPanic(err error, p **world.Panic) bool { return errors.As(err, p) }
