package game_test

import (
	"embed"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/world"
)

func TestLevels(t *testing.T) {
	for _, x := range []struct {
		title        *game.Title
		first, sized string
	}{{pong.Title, "", ""}, {arena.Title, arena.DefaultMap, "foundry"}, {
		crowd.Title, "200", "64"}} {
		if l := &x.title.Levels; l.First() != x.first || l.Sized(64) != x.sized {
			t.Errorf("%s begins with %q, and 64 play on %q", x.title.Name(), l.First(), l.Sized(64))
		}
	}
	if !slices.Contains(arena.Title.Levels.Names, "foundry") {
		t.Errorf("the arena has the levels %v", arena.Title.Levels.Names)
	}
}

// TestSettings: the seed and the secret are the level's, whatever the title says, and the world is
// whole.
func TestSettings(t *testing.T) {
	odd := &game.Title{
		Game: rules(), Levels: game.Levels{Settings: func(game.Level) (world.Settings, error) {
			return world.Settings{Seed: 1, Secret: 2, Partial: true, Develop: true}, nil
		}}}
	for _, title := range []*game.Title{odd, pong.Title, arena.Title, crowd.Title} {
		s, err := title.Settings(game.Level{Name: title.Levels.First(), Seed: 7, Secret: 8})
		if err != nil || s.Seed != 7 || s.Secret != 8 || s.Partial || s.Develop != (title == odd) {
			t.Errorf("%s: %+v, %v", title.Name(), s, err)
		}
	}
	_, err := arena.Title.Settings(game.Level{Name: "moon"})
	for _, says := range []string{`level "moon"`, "there are duel,"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
}

// TestEndless: matches of the arena never end if they are told not to.
func TestEndless(t *testing.T) {
	s, err := arena.Title.Settings(game.Level{Name: "duel"})
	if err != nil {
		t.Fatal(err)
	}
	arena.Title.Levels.Endless(&s)
	w, err := arena.Game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	if m := world.StateOf[arena.Match](w); m.Kills != 0 || m.Time != 0 {
		t.Errorf("it ends after %d kills or %d", m.Kills, m.Time)
	}
}

// TestBring: a level that someone brings has the name and the data that the title finds in it.
func TestBring(t *testing.T) {
	text, err := os.ReadFile("../games/arena/maps/foundry.txt")
	if err != nil {
		t.Fatal(err)
	}
	foundry, err := arena.Title.Bring(text)
	if err != nil || foundry.Name != "foundry" {
		t.Fatalf("%q, %v", foundry.Name, err)
	}
	if s, err := arena.Title.Settings(foundry); err != nil || len(s.States) == 0 {
		t.Errorf("a map that was brought cannot be played: %v", err)
	}
	broken := errors.New("no walls")
	title := &game.Title{
		Game: rules(), Levels: game.Levels{Read: func(data []byte) (string, error) {
			if len(data) == 0 {
				return "", broken
			}
			return string(data), nil
		}}}
	l, err := title.Bring([]byte("hill"))
	if err != nil || l.Name != "hill" || string(l.Data) != "hill" ||
		l.Hash() == (game.LevelHash{}) {
		t.Errorf("%+v, %v", l, err)
	}
	if none := (game.Level{Name: "hill"}); none.Hash() != (game.LevelHash{}) {
		t.Error("a level without data has a hash")
	}
	if _, err := title.Bring(nil); !errors.Is(err, broken) {
		t.Error(err)
	}
	for _, name := range []string{"a\x00b", strings.Repeat("x", 129), "\xff"} {
		if _, err := title.Bring([]byte(name)); err == nil ||
			!strings.Contains(err.Error(), "level name") || len(err.Error()) > 200 {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := pong.Title.Bring([]byte("court")); err == nil ||
		!strings.Contains(err.Error(), "leave the file out") {
		t.Error(err)
	}
	if _, err := arena.Title.Bring([]byte("not a map")); err == nil {
		t.Error("that is no map")
	}
	title.Levels.Most = 4
	if _, err := title.Bring([]byte("hills")); err == nil ||
		!strings.Contains(err.Error(), "at most 4") {
		t.Error(err)
	}
	if _, err := title.Settings(game.Level{Data: []byte("hills")}); err == nil {
		t.Error("a world of a level that is too large")
	}
	if _, err := title.Bring([]byte("hill")); err != nil {
		t.Error(err)
	}
	huge := game.Level{Name: "huge", Data: make([]byte, 64<<20+1)}
	if err := huge.Check(); err == nil ||
		!strings.Contains(err.Error(), "at most 67108864 can be sent") {
		t.Error(err)
	}
}

// TestClone: a copy has all that the title has, and may be changed without changing it.
func TestClone(t *testing.T) {
	full := &game.Title{}
	v := reflect.ValueOf(full).Elem()
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Field(i).CanSet() {
					fill(v.Field(i))
				}
			}
		case reflect.Func:
			v.Set(reflect.MakeFunc(v.Type(), nil))
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
		case reflect.Interface:
			v.Set(reflect.ValueOf(embed.FS{}))
		case reflect.Uint8:
			v.SetUint(1)
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Float64:
			v.SetFloat(1)
		default:
			v.SetInt(1)
		}
	}
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			fill(v.Field(i))
		}
	}
	c := reflect.ValueOf(full.Clone()).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() &&
			(c.Field(i).IsZero() || f.Type.Kind() == reflect.Pointer &&
				c.Field(i).Pointer() != v.Field(i).Pointer()) {
			t.Errorf("a copy has no %s", f.Name)
		}
	}
	if err := crowd.Title.Check(); err != nil {
		t.Fatal(err)
	}
	changed := crowd.Title.Clone()
	changed.Sight = game.Sight{Reach: -1}
	if changed.Check() == nil || crowd.Title.Check() != nil {
		t.Error("a copy is not checked by itself")
	}
}
