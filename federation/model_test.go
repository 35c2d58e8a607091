package federation_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/federation"
)

// What clashes is refused, and said.
func TestModelClashes(t *testing.T) {
	for _, c := range []struct{ file, says string }{
		{`{"classes": [{"name": ""}]}`, "needs a name"},
		{`{"classes": [{"name": "a b"}]}`, "without spaces"},
		{`{"classes": [{"name": "a", "parent": "b"}]}`, `no class "b"`},
		{`{"classes": [{"name": "a"}, {"name": "b"}, {"name": "a", "parent": "b"}]}`,
			`"a" is a kind of "object" already`},
		{`{"classes": [{"name": "object", "parent": "object"}]}`, "is a kind of"},
		{`{"classes": [{"name": "a", "attributes": [{"name": "p"}]},
			{"name": "b", "parent": "a", "attributes": [{"name": "q"}]},
			{"name": "a", "attributes": [{"name": "q"}]}]}`, `class "b" below has one`},
		{`{"classes": [{"name": "a", "attributes": [{"name": "p"}]},
			{"name": "b", "parent": "a", "attributes": [{"name": "p", "order": "time"}]}]}`,
			"declared otherwise"},
		{`{"classes": [{"name": "a", "attributes": [{"name": "p", "order": "fast"}]}]}`,
			"an order is"},
		{`{"classes": [{"name": "a", "attributes": [{"name": "p", "priority": 1}]}]}`,
			"needs the order"},
		{`{"classes": [{"name": "a", "attributes": [{"name": "p", "dimensions": ["x"]}]}]}`,
			"no dimension"},
		{`{"dimensions": [{"name": "x"}]}`, "above 0"},
		{`{"dimensions": [{"name": "x", "upper": 1}, {"name": "x", "upper": 2}]}`, "goes to 1"},
		{`{"interactions": [{"name": "i"}, {"name": "i", "order": "time"}]}`, "otherwise"},
		{`{"interactions": [{"name": "i", "parent": "j"}]}`, `no interaction "j"`},
		{`{"klasses": []}`, "unknown field"},
		{`{} {}`, "after its end"},
	} {
		f, err := federation.ReadModel([]byte(c.file))
		if err == nil {
			_, err = federation.NewModel(f)
		}
		if !errors.Is(err, federation.ErrModel) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.file, err)
		}
	}
}

// A model has its limits, whatever a file says.
func TestModelLimits(t *testing.T) {
	many := &federation.ModelFile{}
	for i := range federation.MaxClasses {
		many.Classes = append(many.Classes, federation.ClassFile{Name: fmt.Sprintf("c%d", i)})
	}
	if _, err := federation.NewModel(many); !errors.Is(err, federation.ErrModel) {
		t.Fatalf("%v", err)
	}
	deep := &federation.ModelFile{Classes: []federation.ClassFile{{Name: "c0"}}}
	for i := range 70 {
		deep.Classes = append(deep.Classes, federation.ClassFile{
			Name: fmt.Sprintf("c%d", i+1), Parent: fmt.Sprintf("c%d", i)})
	}
	if _, err := federation.NewModel(deep); !errors.Is(err, federation.ErrModel) {
		t.Fatalf("%v", err)
	}
	wide := &federation.ModelFile{Classes: []federation.ClassFile{{Name: "c"}}}
	for i := range federation.MaxAttributes {
		wide.Classes[0].Attributes = append(wide.Classes[0].Attributes,
			federation.AttributeFile{Name: fmt.Sprintf("a%d", i)})
	}
	if _, err := federation.NewModel(wide); !errors.Is(err, federation.ErrModel) {
		t.Fatalf("%v", err)
	}
}

// Whatever a file says, a model is made of it or refused, and what is made agrees with itself.
func FuzzModel(f *testing.F) {
	f.Add([]byte(roads), []byte(`{"classes": [{"name": "bus", "parent": "vehicle"}]}`))
	f.Add([]byte(`{"interactions": [{"name": "i", "parameters": ["p"]}]}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		file, err := federation.ReadModel(first)
		if err != nil {
			return
		}
		m, err := federation.NewModel(file)
		if err != nil {
			return
		}
		if again, err := m.Extended(file); err != nil || len(again.Classes) != len(m.Classes) {
			t.Fatalf("a file clashes with itself: %v", err)
		}
		if file, err = federation.ReadModel(second); err != nil {
			return
		}
		n, err := m.Extended(file)
		if err != nil {
			return
		}
		for c := range n.Classes {
			class := &n.Classes[c]
			if c < len(m.Classes) && (class.Name != m.Classes[c].Name ||
				!n.Is(federation.ClassID(c), class.Parent)) {
				t.Fatalf("class %d is another now", c)
			}
			for _, a := range class.Attributes {
				got, ok := n.Attribute(federation.ClassID(c), n.Attributes[a].Name)
				if !ok || got != a {
					t.Fatalf("attribute %d of %q is not found by its name", a, class.Name)
				}
			}
		}
	})
}
