package arena

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/interest/rooms"
)

// mistakes lists the lines and columns that an error names.
func mistakes(err error) (out []string) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			var m *MapError
			if errors.As(e, &m) {
				out = append(out, fmt.Sprintf("%d:%d", m.Line, m.Column))
			}
		}
	}
	return out
}

func TestMapErrors(t *testing.T) {
	const good = "name x\nmap\n#####\n#s.s#\n#####\n"
	if _, err := Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name, text, at, says string
	}{
		{"empty", "", "1:1", "no grid"},
		{"no grid", "name x\n", "2:1", "no grid"},
		{"no name", "map\n###\n", "1:1", "no name"},
		{"bad name", "name My Map\nmap\n", "1:6", `"My Map"`},
		{"long name", "name " + strings.Repeat("x", 10000) + "\nmap\n", "1:6", "1 to 24"},
		{"unknown word", "name x\n  size 3\nmap\n", "2:3", `"size"`},
		{"unknown letter", "name x\nmap\n#####\n#s?s#\n#####\n", "4:3", `'?'`},
		{"not ASCII", "name x\nmap\n#######\n#sé.s#\n#######\n", "4:3", `'é'`},
		{"tab", "name x\nmap\n#####\n#s\ts#\n#####\n", "4:3", `'\t'`},
		{"no spawn", "name x\nmap\n#####\n#s..#\n#####\n", "3:1", "at least two"},
		{"open at the edge", "name x\nmap\n#####\n#s.s.\n#####\n", "4:5", "to the right"},
		{"open below", "name x\nmap\n#####\n#s.s#\n## ##\n", "4:3", "below"},
		{"void beside", "name x\nmap\n#######\n#s. .s#\n#######\n", "4:3 4:5", "to the right"},
		{"doorway in the open", "name x\nmap\n######\n#s.+.#\n#...s#\n######\n", "4:4",
			"stand in a wall"},
		{"doorway that bends", "name x\nmap\n#######\n#s.+.s#\n##.++##\n#######\n", "5:4 5:5",
			"stand in a wall"},
		{"doorway into a wall", "name x\nmap\n#######\n#s...s#\n##++###\n#..#..#\n#######\n", "5:4",
			"leads into a wall"},
		{"two doorways", "name x\nmap\n########\n#s.+:.s#\n########\n", "4:4 4:5", "touch"},
		{"the same room", "name x\nmap\n#######\n#s...s#\n#.#+#.#\n#.....#\n#######\n", "5:4",
			"same room"},
		{"out of reach", "name x\nmap\n#######\n#s.#.s#\n#######\n", "4:6",
			"first spawn, at line 4, column 2"},
		{"out of reach behind a pit", "name x\nmap\n#######\n#s.~hs#\n#######\n", "4:5 4:6",
			"no one can walk"},
		{"too wide", "name x\nmap\n" + strings.Repeat("#", 513) + "\n", "3:1", "513 columns"},
		{"too high", "name x\nmap\n" + strings.Repeat("#\n", 600), "3:1", "600 rows"},
		{"several", "name x\nmap\n#####\n#s?s#\n#..!#\n#####\n", "4:3 5:4", `'!'`},
	} {
		t.Run(x.name, func(t *testing.T) {
			m, err := Parse([]byte(x.text))
			if err == nil || m != nil {
				t.Fatal("no error")
			}
			if got := strings.Join(mistakes(err), " "); got != x.at ||
				!strings.Contains(err.Error(), x.says) {
				t.Errorf("at %s: %v\nwant it at %s and to say %s", got, err, x.at, x.says)
			}
			if len(err.Error()) > 2000 {
				t.Error("the error is as long as the mistake")
			}
		})
	}
	_, err := Parse([]byte("name x\nmap\n#####\n" + strings.Repeat("?\n", 100)))
	if got := len(mistakes(err)); got != maxReports ||
		!strings.Contains(err.Error(), "and 90 more") {
		t.Errorf("%d mistakes: %v", got, err)
	}
}

func TestParse(t *testing.T) {
	m := mapOf(t, "test-two", twoRooms)
	if m.Width != 20 || m.Height != 8 || len(m.Rooms) != 2 || len(m.Portals) != 1 ||
		len(m.Doors) != 1 || len(m.Spawns) != 2 || len(m.Items) != 1 {
		t.Fatalf("%+v", m)
	}
	o := m.Portals[0]
	if o.Rooms != [2]int{0, 1} || !o.Across || o.P != (det.Vec2{X: 9.5, Y: 3}) ||
		o.Q != (det.Vec2{X: 9.5, Y: 5}) || o.Door != 0 {
		t.Errorf("%+v", o)
	}
	for p, want := range map[det.Vec2]int{
		{X: 1, Y: 1}: 0, {X: 9.4, Y: 3.5}: 0, {X: 9.6, Y: 3.5}: 1, {X: 18, Y: 6}: 1, {
			X: 9.5, Y: 1.5}: -1, {X: -1, Y: 3}: -1, {X: 200, Y: 3}: -1, {X: det.NaN(), Y: 3}: -1} {
		if got := m.RoomAt(p); got != want {
			t.Errorf("%v is in room %d, want %d", p, got, want)
		}
	}
	if m.Rooms[0].Bounds != (Rect{det.Vec2{X: 1, Y: 1}, det.Vec2{X: 9, Y: 7}}) ||
		m.Rooms[0].Cells != 48 {
		t.Errorf("%+v", m.Rooms[0])
	}
	// The outline is closed: as many lines begin at a corner as end there, and all of it is as long
	// as the faces are.
	length := 0.0
	for _, w := range m.Walls {
		length += w.Q.Sub(w.P).Len()
	}
	faces := 0
	for y := range m.Height {
		for x := range m.Width {
			for _, d := range sides {
				if !m.Cell(x, y).opaque() && m.Cell(x+d.x, y+d.y).opaque() {
					faces++
				}
			}
		}
	}
	if length != float64(faces) || len(m.Walls) > 12 {
		t.Errorf("%v units of wall in %d lines, want %d", length, len(m.Walls), faces)
	}
	again, err := Parse([]byte(strings.ReplaceAll(string(m.Text()), "\n", "\r\n")))
	if err != nil || again.Hash() != m.Hash() {
		t.Error("another line end makes another map", err)
	}
	if other := mapOf(t, "test-hall", hall); other.Hash() == m.Hash() {
		t.Error("two maps have one hash")
	}
}

// comb is a room with so many doorways to rooms of a cell each, and cells of its own.
func comb(doors, cells int) string {
	row := func(c string) string {
		return "#" + strings.Repeat(c, cells) + strings.Repeat("#", max(0, 2*doors-cells)) + "#\n"
	}
	var b strings.Builder
	b.WriteString("name comb\nmap\n" + row("#"))
	for range 60 {
		b.WriteString(row("."))
	}
	b.WriteString("#ss" + strings.Repeat(".", cells-2) + "#\n")
	b.WriteString("#" + strings.Repeat(":#", doors) + strings.Repeat("#", cells-2*doors) + "#\n")
	b.WriteString("#" + strings.Repeat(".#", doors) + strings.Repeat("#", cells-2*doors) + "#\n")
	b.WriteString(row("#"))
	return b.String()
}

// TestAStrangersMap: what a map takes is in proportion to its text, and no map makes a tick long.
func TestAStrangersMap(t *testing.T) {
	for _, x := range []struct {
		name, text, says string
	}{
		{"16 MiB of line ends", strings.Repeat("\n", 16<<20), "bytes; at most"},
		{"1 MiB of line ends", strings.Repeat("\n", MaxText), "no grid"},
		{"a grid of line ends", "name x\nmap\n" + strings.Repeat("\n", MaxText-20), "to spawn"},
		{"a grid of short rows", "name x\nmap\n" + strings.Repeat("#\n", MaxText/2-20), "rows"},
		{"a room with very many doorways", comb(250, 500), "divide it"},
		{"a room with many doorways", comb(100, 500), ""},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := Parse([]byte(x.text))
		if err == nil {
			m.nav()
			_, err = m.Plan()
		}
		runtime.ReadMemStats(&after)
		taken := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d bytes take %d kB: %v", x.name, len(x.text), taken>>10, err)
		if x.says == "" && err != nil || x.says != "" &&
			(err == nil || !strings.Contains(err.Error(), x.says)) {
			t.Errorf("%s: %v, want %q", x.name, err, x.says)
		}
		if taken > 24<<20+4*uint64(len(x.text)) {
			t.Errorf("%s: %d bytes took %d of memory", x.name, len(x.text), taken)
		}
	}
}

// TestPlansAreMadeBeforeTicks: when a world begins, what is seen from where is known for all maps
// that it will go on to, and what bots need of them.
func TestPlansAreMadeBeforeTicks(t *testing.T) {
	plans, navs := 0, 0
	for _, name := range []string{"before-one", "before-two"} {
		m := mapOf(t, name, twoRooms)
		m.plan = sync.OnceValues(func() (*rooms.Plan, error) { plans++; return m.workOutPlan() })
		m.nav = sync.OnceValue(func() *nav { navs++; return m.survey() })
		Register(m)
	}
	s, err := Settings("before-one", Options{Rotation: []string{"before-two"}})
	if err != nil || navs != 2 {
		t.Fatal(navs, err)
	}
	w, err := Game.New(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Title.NewViews(w, game.Level{}); err != nil || plans != 2 {
		t.Error(plans, err)
	}
}

// FuzzParse holds what every map that is accepted promises, and that no text does harm.
func FuzzParse(f *testing.F) {
	f.Add([]byte("name x\nmap" + twoRooms))
	f.Add([]byte("name x\nmap\n#####\n#s~s#\n#+:+#\n#...#\n#####\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse(text)
		if err != nil {
			if len(mistakes(err)) == 0 {
				t.Fatalf("no line and column: %v", err)
			}
			return
		}
		if again, err := Parse(m.Text()); err != nil || again.Hash() != m.Hash() {
			t.Fatal("its own text does not give the map again", err)
		}
		for _, o := range m.Portals {
			if o.Rooms[0] == o.Rooms[1] || o.Rooms[0] < 0 || o.Rooms[1] < 0 {
				t.Fatalf("%+v", o)
			}
		}
		for _, s := range m.Spawns {
			if m.RoomAt(s.Pos) < 0 {
				t.Fatal("a spawn is in no room")
			}
		}
		if len(m.cells) > 4000 {
			return
		}
		n := m.nav()
		var r route
		var s Scene
		s.set(m)
		at := m.Spawns[0].Pos
		r.to(m, n, m.Spawns[len(m.Spawns)-1].Pos)
		for range 20 {
			next := r.next(&s, n, at)
			if m.RoomAt(next) < 0 {
				t.Fatalf("the way leads into a wall, at %v", next)
			}
			at = next
		}
		var e Eye
		e.See(&s, at, 10)
		if _, err := m.Plan(); err != nil {
			t.Fatal(err)
		}
	})
}
