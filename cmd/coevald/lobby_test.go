package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/lobby"
	"github.com/coeval-dev/coeval/world"
)

// quick is pong with matches that are over each second while both sides are played, so that a test
// need not wait for goals.
func quick() *game.Title {
	t := pong.Title.Clone()
	t.Match = game.Match{Boards: []game.Board{{Name: "goals", How: "sum"},
		{Name: "rating", How: "rating"}},
		Over: func(w *world.World) ([]game.Score, bool) {
			list := pong.Title.Screen.Scores(w)
			return list, len(list) == 2 && w.Tick()%60 == 0
		}}
	return t
}

// A player is somebody with an account at a directory.
type player struct {
	*testing.T
	base string
	directory.AnonymousAccount
}

// ask asks the directory something, and fails unless it is answered well.
func (p *player) ask(method, path string, body, into any) {
	p.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.Fatal(err)
	}
	if body == nil {
		text = nil
	}
	q, err := http.NewRequest(method, p.base+directory.Path+path, bytes.NewReader(text))
	if err != nil {
		p.Fatal(err)
	}
	if p.Secret != "" {
		q.Header.Set("Authorization", "Bearer "+p.Secret)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		p.Fatal(err)
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(answer, into)
	}
	if err != nil || r.StatusCode != http.StatusOK {
		p.Fatalf("%s %s: %s %s %v", method, path, r.Status, answer, err)
	}
}

// matched waits for a match other than one.
func (p *player) matched(other string) *lobby.Start {
	p.Helper()
	for p.Context().Err() == nil {
		var m lobby.Mine
		if p.ask("GET", "me", nil, &m); m.Start != nil && m.Start.Match != other {
			return m.Start
		}
		if m.Room != nil && m.Room.Why != "" {
			p.Fatal(m.Room.Why)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// plays joins a match by its token as a process of its own, which a bot plays.
func (p *player) plays(m *lobby.Start) *exec.Cmd {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), os.Args[0], "join", m.UDP, "--game", "pong",
		"--token", m.Token, "--headless", "--seconds", "600", "--json")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if p.Failed() {
			p.Log(out.String())
		}
	})
	return cmd
}

// TestLobbyProcess: two people meet in a room of a directory, which has no server and starts one by
// a command; they come there by their tokens, play, and what the server reports is on the
// leaderboard. The next match, of a queue, is at the same server.
func TestLobbyProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	folder := t.TempDir()
	key := filepath.Join(folder, "servers.key")
	if code := program.Run(context.Background(), []string{"token", "key", "--out", key},
		io.Discard, os.Stderr); code != 0 {
		t.Fatal("no key")
	}
	line := fmt.Sprintf("exec '%s' serve $LOBBY_GAME --listen 127.0.0.1:0 --key '%s' --log json",
		os.Args[0], key)
	dir, said := start(t, "listing", "directory", "--json", "--store",
		filepath.Join(folder, "d.db"), "--listen", "127.0.0.1:0", "--key", key, "--queue", "pong=2",
		"--start-command", line)
	base := "http://" + said["http"].(string)
	var people [2]*player
	for i := range people {
		people[i] = &player{T: t, base: base}
		people[i].ask("POST", "accounts", nil, &people[i].AnonymousAccount)
	}
	ann, bob := people[0], people[1]
	var room lobby.Room
	ann.ask("POST", "rooms", directory.NewRoom{Room: lobby.Setup{Game: "pong"},
		Me: lobby.Profile{Name: "ann"}}, &room)
	bob.ask("POST", "rooms/"+room.Code+"/join", lobby.Profile{Name: "bob"}, nil)
	bob.ask("POST", "rooms/"+room.Code+"/me", map[string]bool{"ready": true}, nil)
	ann.ask("POST", "rooms/"+room.Code+"/start", nil, nil)
	var playing []*exec.Cmd
	var match *lobby.Start
	for _, p := range people {
		match = p.matched("")
		playing = append(playing, p.plays(match))
	}
	for rated := 0; rated < 2 && t.Context().Err() == nil; time.Sleep(20 * time.Millisecond) {
		var page directory.StandingsPage
		ann.ask("GET", "standings?game=pong&board=rating", nil, &page)
		rated = len(page.Standings)
		for _, s := range page.Standings {
			if s.Client != ann.Client && s.Client != bob.Client ||
				s.Name != "ann" && s.Name != "bob" {
				t.Errorf("%+v", s)
			}
		}
	}
	for _, p := range people {
		p.ask("POST", "rooms/"+room.Code+"/leave", nil, nil)
		p.ask("POST", "queue", directory.QueueUp{Game: "pong", Me: lobby.Profile{Name: "x"}}, nil)
	}
	if next := bob.matched(match.Match); next.Entry != match.Entry {
		t.Errorf("another server: %+v", next)
	}
	for _, cmd := range playing {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it says how it went, which is another test's
	}
	if err := dir.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := dir.Wait(); err != nil {
		t.Error(err)
	}
}
