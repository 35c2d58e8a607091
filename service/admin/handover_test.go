package admin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/topology/server"
)

// newGroup is a stage with a mirror that runs in place of a server.
func newGroup(t *testing.T, o mirror.Options) *stage {
	t.Helper()
	s := &stage{T: t, secrets: map[Role]string{}}
	var err error
	s.folder, err = OpenFolder(newDir(t))
	must(t, err)
	for r := Watch; r <= Operate; r++ {
		s.secrets[r], _, err = s.folder.MakeToken(r, "the "+r.String(), time.Hour)
		must(t, err)
	}
	hub := mem.NewHub(mem.Options{})
	between, err := hub.Open(netip.AddrPort{})
	must(t, err)
	players, err := hub.Open(netip.AddrPort{})
	must(t, err)
	o.Server.Title, o.Server.Links, o.Server.Workers = park, []link.Link{players}, 1
	o.Link, o.Address, o.Public = between, between.LocalAddr(), players.LocalAddr()
	o.Keys, o.Found, o.LeaveTime = []token.Key{{7}}, true, time.Millisecond
	m, err := mirror.New(o)
	must(t, err)
	g := Game{Title: park, Do: m.Do, Server: func() *server.Server { return m.Server() },
		Mirrored: true, Group: &Group{Mirror: m, Key: []byte{1}, Build: "old", Upgrades: 3}}
	s.api = New(s.folder, g, discard)
	s.site = httptest.NewServer(s.api)
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = m.Run(ctx) })
	t.Cleanup(func() {
		s.site.Close()
		end()
		running.Wait()
		must(t, m.Close())
	})
	for { // until it serves
		if got, _ := s.ask(Operate, http.MethodPost, "world", nil); got == http.StatusOK {
			return s
		}
		time.Sleep(time.Millisecond)
	}
}

// TestHandover: a group halts, shows its last world, goes on, halts again and gives its game away.
// Whoever has an older world does not get it, and only operators do any of it.
func TestHandover(t *testing.T) {
	s := newGroup(t, mirror.Options{})
	for _, name := range []string{"halt", "world", "cede", "goon", "used"} {
		if got, out := s.ask(Moderate, http.MethodPost, name, nil); got != http.StatusForbidden {
			t.Errorf("%s: %d %v", name, got, out)
		}
	}
	s.do(http.StatusBadRequest, "halt", HaltRequest{Within: "1h"})
	s.do(http.StatusBadRequest, "halt", HaltRequest{Within: "soon"})
	s.do(http.StatusBadRequest, "cede", CedeRequest{Tick: 1, To: []string{"here"}})
	s.do(http.StatusConflict, "world", WorldRequest{Final: true})
	to := []string{"203.0.113.7:4000"}
	if out := s.do(http.StatusConflict, "cede", CedeRequest{Tick: 5, To: to}); out["code"] !=
		"goes_on" {
		t.Errorf("%v", out)
	}

	first := s.do(http.StatusOK, "halt", HaltRequest{Within: "30s"})
	if first["tick"] == 0.0 || first["final"] != true || first["ceded"] != false {
		t.Fatalf("%v", first)
	}
	last := s.do(http.StatusOK, "world", WorldRequest{Final: true})
	if last["tick"] != first["tick"] || last["build"] != "old" || last["upgrades"] != 3.0 {
		t.Errorf("%v after %v", last, first)
	}
	s.do(http.StatusOK, "goon", nil)
	for { // the überserver decides it
		if _, out := s.ask(Watch, http.MethodGet, "handover", nil); out["tick"] == 0.0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	second := s.do(http.StatusOK, "halt", HaltRequest{Within: "30s"})
	if second["tick"].(float64) <= first["tick"].(float64) {
		t.Fatalf("%v after %v", second, first)
	}
	if out := s.do(http.StatusConflict, "cede",
		CedeRequest{Tick: uint64(first["tick"].(float64)), To: to}); out["code"] != "goes_on" {
		t.Errorf("the world of an older tick: %v", out)
	}
	s.do(http.StatusConflict, "cede", CedeRequest{Tick: uint64(second["tick"].(float64))})
	ceded := s.do(http.StatusOK, "cede",
		CedeRequest{Tick: uint64(second["tick"].(float64)), To: to})
	if ceded["ceded"] != true || !slices.Equal(ceded["to"].([]any), []any{to[0]}) {
		t.Errorf("%v", ceded)
	}
	list, err := s.folder.Logged(100)
	must(t, err)
	if e := list[len(list)-1]; e.What != "POST cede" || e.Result != "ok" {
		t.Errorf("%+v", e)
	}
}

// TestNoHandover: what cannot be given away says so.
func TestNoHandover(t *testing.T) {
	s := newStage(t, newDir(t))
	if out := s.do(http.StatusConflict, "halt", nil); out["code"] != "no_mirrors" {
		t.Errorf("%v", out)
	}
	s = newGroup(t, mirror.Options{Timeline: "lockstep"})
	if out := s.do(http.StatusConflict, "halt", nil); out["code"] != "cannot_halt" {
		t.Errorf("%v", out)
	}
}

// TestPauseGroup: operators pause a game on mirrors and have it go on; a group that is paused does
// not halt.
func TestPauseGroup(t *testing.T) {
	s := newGroup(t, mirror.Options{})
	if got, out := s.ask(Moderate, http.MethodPost, "pause", nil); got != http.StatusForbidden {
		t.Errorf("%d %v", got, out)
	}
	first := s.do(http.StatusOK, "pause", PauseRequest{Why: "tea"})
	if again := s.do(http.StatusOK, "pause", nil); again["tick"] != first["tick"] ||
		again["paused"] != true {
		t.Errorf("%v after %v", again, first)
	}
	if out := s.do(http.StatusConflict, "halt", nil); out["code"] != "not_now" {
		t.Errorf("%v", out)
	}
	if out := s.do(http.StatusOK, "resume", nil); out["paused"] != false {
		t.Errorf("%v", out)
	}
	s.do(http.StatusOK, "halt", HaltRequest{Within: "30s"})
	if out := s.do(http.StatusConflict, "pause", nil); out["code"] != "not_now" {
		t.Errorf("%v", out)
	}
}

// TestLevelOfGroup: mirrors begin a level when they are asked to; what cannot begin is refused and
// changes nothing.
func TestLevelOfGroup(t *testing.T) {
	s := newGroup(t, mirror.Options{})
	s.do(http.StatusUnprocessableEntity, "level", LevelRequest{Name: "atlantis"})
	out := s.do(http.StatusUnprocessableEntity, "level", LevelRequest{Data: []byte("map thirteen")})
	if out["code"] != "level" {
		t.Errorf("%v", out)
	}
	_, was := s.ask(Watch, http.MethodGet, "levels", nil)
	out = s.do(http.StatusOK, "level", LevelRequest{Name: "pond", Seed: 4})
	if out["level"] != "pond" || out["seed"] != "4" || out["kept"] != nil {
		t.Errorf("%v", out)
	}
	if _, now := s.ask(Watch, http.MethodGet, "levels", nil); now["now"] != "pond" ||
		was["now"] == "pond" {
		t.Errorf("%v after %v", now, was)
	}
	s.do(http.StatusOK, "pause", PauseRequest{})
	out = s.do(http.StatusConflict, "level", LevelRequest{Name: "pond"})
	if out["code"] != "not_now" {
		t.Errorf("%v", out)
	}
	s.do(http.StatusOK, "resume", PauseRequest{})
	first := s.do(http.StatusOK, "halt", HaltRequest{Within: "30s"})
	last := s.do(http.StatusOK, "world", WorldRequest{Final: true})
	if first["tick"] == 0.0 || last["tick"] != first["tick"] {
		t.Errorf("%v after %v", last, first)
	}
	ceded := s.do(http.StatusOK, "cede", CedeRequest{Tick: uint64(first["tick"].(float64)),
		To: []string{"203.0.113.7:4000"}})
	if ceded["ceded"] != true {
		t.Errorf("%v", ceded)
	}
}
