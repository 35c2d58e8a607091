package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/convert"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/world"
)

// Three versions of a game with a ferry that goes one step in each tick: with more room and cargo
// in the second, and with a place that no number becomes in the third.

type ferry struct{ At int }

func (f *ferry) Sync(s *bits.Sync)                { s.Int(&f.At, 0, 1<<20) }
func (f *ferry) Step(w *world.World, _ world.ID)  { f.At++ }
func (f *loaded) Step(w *world.World, _ world.ID) { f.Place++ }

type loaded struct{ Place, Cargo int }

func (f *loaded) Sync(s *bits.Sync) {
	s.Int(&f.Cargo, 0, 50)
	s.Int(&f.Place, 0, 1<<24)
}

func (f *loaded) Convert(r *convert.Rules) {
	r.Renamed("At", &f.Place)
	convert.Then(r, func(f *loaded, old convert.Values) error {
		if !old.Has("Cargo") {
			f.Cargo = 7
		}
		return nil
	})
}

type named struct{ At string }

func (f *named) Sync(s *bits.Sync) { s.String(&f.At, 12) }

func ferryTitle[T any, P world.Synced[T]](begin T) *game.Title {
	return &game.Title{Game: world.Define("ferry",
		world.Class[T, P](world.ClassOptions{Name: "Ferry"}),
		world.OnStart(func(w *world.World) { world.Spawn(w, begin) }))}
}

// crossing runs a mirror in this process, and gives what it logs, and how it ends.
func crossing(t *testing.T, title *game.Title, o MirrorOptions) (*logLines, func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	over := make(chan error, 1)
	o.Listen, o.Mirrors, o.HTTP = "127.0.0.1:0", "127.0.0.1:0", "none"
	o.Log = slog.New(slog.NewJSONHandler(w, nil))
	go func() {
		err := Mirror(ctx, title, o)
		w.Close()
		over <- err
	}()
	log := follow(r)
	return log, func() error {
		cancel()
		return <-over
	}
}

// TestUpgradeMirrorsToAnotherVersion: a new version of a game takes over the world of the one
// before, converted, and goes on at the next tick. A version that cannot load it says why, and the
// mirrors play on.
func TestUpgradeMirrorsToAnotherVersion(t *testing.T) {
	t.Parallel() // it mostly waits
	dir := t.TempDir()
	people := filepath.Join(dir, "admin")
	file := newToken(t, people, "operate")
	operators := WebOptions{Admin: AdminOptions{Listen: "127.0.0.1:0", Dir: people}}
	key := token.Key{1, 2, 3}
	old, _ := crossing(t, ferryTitle(ferry{}), MirrorOptions{Found: true, Key: key, Web: operators})
	line, _ := old.await("operators are answered", 0)
	at := "http://" + line["admin"].(string)
	take := MirrorUpgrade{Servers: []string{at}, TokenFile: file}

	err := Mirror(t.Context(), ferryTitle(named{}), MirrorOptions{Key: key,
		Keep: MirrorKeep{Upgrade: take}, Listen: "127.0.0.1:0", Mirrors: "127.0.0.1:0"})
	if err == nil || !strings.Contains(err.Error(), "Ferry.At") ||
		!strings.Contains(err.Error(), "play on") {
		t.Fatalf("a version that cannot load it: %v", err)
	}
	err = Mirror(t.Context(), ferryTitle(loaded{}), MirrorOptions{Key: token.Key{9},
		Keep: MirrorKeep{Upgrade: take}, Listen: "127.0.0.1:0", Mirrors: "127.0.0.1:0"})
	if err == nil || !strings.Contains(err.Error(), "another key") {
		t.Fatalf("another key: %v", err)
	}
	before := crossed[ferry](t, ferryTitle(ferry{}), at, file)

	kept := filepath.Join(dir, "new")
	o := MirrorOptions{Key: key, Web: operators, Keep: MirrorKeep{Upgrade: take,
		KeepOptions: KeepOptions{Dir: kept, UpgradeWithin: upgradeMost}}}
	next, end := crossing(t, ferryTitle(loaded{}), o)
	moved, _ := next.await("the world moves again", 0)
	if moved == nil {
		t.Fatalf("%v\n%s\n%s", end(), next, old)
	}
	if !strings.Contains(next.String(), "Ferry.Cargo") {
		t.Errorf("it is not said what was converted:\n%s", next)
	}
	line, _ = next.await("operators are answered", 0)
	now := crossed[loaded](t, ferryTitle(loaded{}), "http://"+line["admin"].(string), file)
	for w, f := range map[*world.World][2]int{
		before.world: {before.ferry.At, 7}, now.world: {now.ferry.Place, now.ferry.Cargo},
	} {
		if f != [2]int{int(w.Tick()), 7} {
			t.Errorf("at tick %d the ferry is %v: a tick was lost or computed twice", w.Tick(), f)
		}
	}
	if now.world.Tick() <= before.world.Tick() {
		t.Errorf("tick %d after %d", now.world.Tick(), before.world.Tick())
	}
	old.end() // it ends by itself
	if err := end(); err != nil {
		t.Error(err)
	}
	// Started once more by the same options it goes on with its own game.
	again, end := crossing(t, ferryTitle(loaded{}), o)
	if line, _ := again.await("serving", 0); line == nil {
		t.Fatalf("%v\n%s", end(), again)
	}
	if !strings.Contains(again.String(), "nothing is taken over") {
		t.Errorf("it has taken something over:\n%s", again)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	var entries []string
	text, err := os.ReadFile(filepath.Join(people, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(text)) {
		var e admin.Entry
		if json.Unmarshal([]byte(l), &e) == nil && e.Result == "ok" {
			entries = append(entries, e.What)
		}
	}
	const want = "POST halt POST used POST world POST cede"
	if got := fmt.Sprint(entries); !strings.Contains(got, want) {
		t.Errorf("the audit log has %v, want %s in it", got, want)
	}
}

// upgradeMost is for how long a world may stand still where nothing is measured.
const upgradeMost = 20e9

// A ferryAt is where the ferry was at a tick.
type ferryAt[T any] struct {
	world *world.World
	ferry T
}

// crossed fetches what is settled.
func crossed[T any](t *testing.T, title *game.Title, at, token string) (out ferryAt[T]) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "world.json")
	if code, _, errs := try("admin", "world", "--server", at, "--token-file", token, "--out",
		file); code != 0 {
		t.Fatal(errs)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got admin.World
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if out.world, err = title.Game.Load(got.World); err != nil {
		t.Fatal(err)
	}
	for _, f := range world.All[T](out.world) {
		out.ferry = *f
	}
	return out
}
