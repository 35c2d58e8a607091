package kept

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/world"
)

// The same class in three releases.

type purse1 struct {
	Mark  `world:"server"`
	Coins uint8
	Luck  float64
	Old   bool
	Title string
}

func (p *purse1) Sync(s *bits.Sync) {
	s.Uint8(&p.Coins, 0, 200)
	s.Float(&p.Luck, -1, 1, 1.0/256)
	s.Bool(&p.Old)
	s.String(&p.Title, 20)
}

func (p *purse1) Kept(k *Fields) {
	k.Account()
	k.All()
}

type purse2 struct {
	Mark  `world:"server"`
	Gold  int     // was Coins, and is wider
	Luck  float64 // as before
	Gems  [2]int  // new
	Title string  // shorter
}

func (p *purse2) Sync(s *bits.Sync) {
	s.Int(&p.Gold, 0, 100_000)
	s.Float(&p.Luck, -1, 1, 1.0/256)
	s.Int(&p.Gems[0], 0, 9)
	s.Int(&p.Gems[1], 0, 9)
	s.String(&p.Title, 5)
}

func (p *purse2) Kept(k *Fields) {
	k.Account()
	k.All()
	k.Was(&p.Gold, "Coins")
}

type purse3 struct{ purse2 }

func (p *purse3) Kept(k *Fields) {
	p.purse2.Kept(k)
	k.Convert(func(old Values, now *purse3) error {
		if title, ok := old.Text("Title"); ok && len(title) > 5 {
			now.Title = title[:5]
		}
		return nil
	})
}

func (p *purse3) Sync(s *bits.Sync) { p.purse2.Sync(s) }

func classIn(t testing.TB, d world.Declaration) (*world.Game, *class) {
	t.Helper()
	g := world.Define("purses", d, Declare())
	p, err := planOf(g)
	if err != nil {
		t.Fatal(err)
	}
	return g, p.classes[0]
}

func TestOldRowsLoad(t *testing.T) {
	name := world.ClassOptions{Name: "Purse"}
	_, first := classIn(t, world.Class[purse1](name))
	g2, second := classIn(t, world.Class[purse2](name))
	_, same := classIn(t, world.Class[purse2](name))
	if first.hash == second.hash || second.hash != same.hash {
		t.Fatal("versions are not told apart")
	}
	old, err := ParseSchema(first.Text())
	if err != nil {
		t.Fatal(err)
	}
	row := func(p purse1) []byte { return old.leavesOf(first, &p) }
	patch, err := second.load(old, row(purse1{Coins: 77, Luck: 0.5, Old: true, Title: "Duke"}))
	if err != nil {
		t.Fatal(err)
	}
	now := purse2{Gold: 10, Gems: [2]int{3, 4}}
	if err := second.patch(unsafe.Pointer(&now), patch); err != nil {
		t.Fatal(err)
	}
	if now.Gold != 77 || now.Luck != 0.5 || now.Gems != [2]int{3, 4} || now.Title != "Duke" {
		t.Errorf("%+v", now)
	}
	long := row(purse1{Title: "Archduke"})
	if _, err := second.load(old, long); err == nil || !strings.Contains(err.Error(), "Title") {
		t.Errorf("a text that is too long: %v", err)
	}
	g3 := world.Define("purses", world.Class[purse3](name), Declare())
	if _, err := planOf(g3); err == nil { // the Mark is within another struct
		t.Error("a mark that cannot be found")
	}
	findings, err := Check(g2,
		map[uint64]string{first.hash: first.Text(), second.hash: second.Text()})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, f := range findings {
		if text += f.String() + "\n"; f.Fatal {
			t.Errorf("%v", f)
		}
	}
	for _, want := range []string{"field Gems[0]: the rows do not have it",
		"field Old: the class " +
			"does not have it", "field Title: it was within 0..20 and is within 0..5"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "Gold") {
		t.Error(text)
	}
	if _, err := Check(g2, map[uint64]string{1: first.Text()}); err == nil {
		t.Error("a text that is not that of the number")
	}
}

// leavesOf writes a row.
func (s *Schema) leavesOf(c *class, p *purse1) []byte { return c.append(nil, unsafe.Pointer(p)) }

type purse4 struct {
	Mark  `world:"server"`
	Gold  int
	Title string
}

func (p *purse4) Sync(s *bits.Sync) {
	s.Int(&p.Gold, 0, 50)
	s.String(&p.Title, 5)
}

func (p *purse4) Kept(k *Fields) {
	k.Account()
	k.Keep(&p.Gold, &p.Title)
	k.Convert(func(old Values, now *purse4) error {
		if n, ok := old.Int("Coins"); ok {
			now.Gold = int(min(n, 50))
		}
		if title, ok := old.Text("Title"); ok {
			now.Title = title[:min(len(title), 5)]
		}
		return nil
	})
}

func TestConvertCompletesTheRules(t *testing.T) {
	name := world.ClassOptions{Name: "Purse"}
	_, first := classIn(t, world.Class[purse1](name))
	_, last := classIn(t, world.Class[purse4](name))
	row := purse1{Coins: 200, Title: "Archduke"}
	patch, err := last.load(&first.Schema, first.append(nil, unsafe.Pointer(&row)))
	if err != nil {
		t.Fatal(err)
	}
	var now purse4
	if err := last.patch(unsafe.Pointer(&now), patch); err != nil || now.Gold != 50 ||
		now.Title != "Archd" {
		t.Errorf("%+v %v", now, err)
	}
}

func FuzzSchema(f *testing.F) {
	_, c := classIn(f, world.Class[purse1]())
	f.Add(c.Text(), c.append(nil, unsafe.Pointer(&purse1{Coins: 3, Title: "x"})))
	f.Fuzz(func(t *testing.T, text string, row []byte) {
		s, err := ParseSchema(text)
		if err != nil {
			return
		}
		if s.Text() != text {
			t.Error("a schema has two texts")
		}
		if patch, err := c.load(s, row); err == nil {
			var p purse1
			if err := c.patch(unsafe.Pointer(&p), patch); err != nil {
				t.Errorf("what was loaded cannot be set: %v", err)
			}
		}
	})
}

func FuzzOutcome(f *testing.F) {
	o := outcome{refused: "no", question: 7, answer: []byte("yes"),
		changes: []change{{1, 2, []byte{0}}}}
	f.Add(o.append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := readOutcome(data)
		if err != nil {
			return
		}
		if again, err := readOutcome(o.append(nil)); err != nil ||
			len(again.changes) != len(o.changes) {
			t.Error(err)
		}
	})
}

func FuzzPatch(f *testing.F) {
	_, c := classIn(f, world.Class[purse1]())
	f.Add(appendPatch(nil, 0, value{kind: kindUint, u: 9}))
	f.Fuzz(func(t *testing.T, patch []byte) {
		p, before := purse1{Coins: 1}, purse1{Coins: 1}
		if c.patch(unsafe.Pointer(&p), patch) != nil && p != before {
			t.Error("a patch that is refused has changed something")
		}
	})
}
