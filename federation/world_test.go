package federation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/federation"
)

// roads is the model that most tests use.
const roads = `{
 "dimensions": [{"name": "x", "upper": 1000}, {"name": "y", "upper": 1000}],
 "classes": [
  {"name": "vehicle", "attributes": [
   {"name": "place", "order": "time", "dimensions": ["x", "y"]},
   {"name": "fuel"},
   {"name": "plate", "kept": true}]},
  {"name": "truck", "parent": "vehicle", "attributes": [
   {"name": "load"}, {"name": "horn", "order": "priority", "priority": 3}]}],
 "interactions": [
  {"name": "call", "parameters": ["text"]},
  {"name": "crash", "parent": "call", "order": "time", "parameters": ["speed"],
   "dimensions": ["x", "y"]}]
}`

// A tester is an execution whose names are short.
type tester struct {
	t *testing.T
	x *federation.Execution
	m *federation.Model
}

func newTester(t *testing.T, o federation.Options) *tester {
	t.Helper()
	f, err := federation.ReadModel([]byte(roads))
	if err != nil {
		t.Fatal(err)
	}
	m, err := federation.NewModel(f)
	if err != nil {
		t.Fatal(err)
	}
	return &tester{t, federation.New(m, o), m}
}

func (w *tester) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *tester) join(name string) *federation.Federate {
	w.t.Helper()
	f, err := w.x.Join(name)
	w.ok(err)
	return f
}

func (w *tester) class(name string) federation.ClassID {
	c, ok := w.x.Model().Class(name)
	if !ok {
		w.t.Fatalf("no class %q", name)
	}
	return c
}

func (w *tester) attrs(class string, names ...string) (list []federation.AttributeID) {
	for _, n := range names {
		a, ok := w.x.Model().Attribute(w.class(class), n)
		if !ok {
			w.t.Fatalf("no attribute %q", n)
		}
		list = append(list, a)
	}
	return list
}

func (w *tester) publish(f *federation.Federate, class string, names ...string) {
	w.t.Helper()
	w.ok(f.Publish(w.class(class), w.attrs(class, names...)...))
}

func (w *tester) subscribe(f *federation.Federate, class string, names ...string) {
	w.t.Helper()
	w.ok(f.Subscribe(w.class(class), federation.Subscribing{}, w.attrs(class, names...)...))
}

func (w *tester) register(f *federation.Federate, class, name string) federation.ObjectID {
	w.t.Helper()
	id, err := f.Register(w.class(class), name)
	w.ok(err)
	return id
}

// set is an update of one attribute, at a time if that is not negative.
func (w *tester) set(f *federation.Federate, o federation.ObjectID, class, name, value string,
	t federation.Time) (federation.Retraction, error) {
	how := federation.Sending{Stamped: t >= 0, Time: t}
	return f.Update(o, []federation.Value{{Attribute: w.attrs(class, name)[0],
		Data: []byte(value)}}, how)
}

// heard takes all that a federate is told, as words.
func (w *tester) heard(f *federation.Federate) string {
	var out []string
	for {
		n, ok := f.Next()
		if !ok {
			return strings.Join(out, "; ")
		}
		out = append(out, w.word(n))
	}
}

func (w *tester) word(n federation.Notice) string {
	m := w.x.Model()
	s := n.Kind.String()
	switch n.Kind {
	case federation.Discovered:
		s += fmt.Sprintf(" %s %s", m.Classes[n.Class].Name, n.Name)
	case federation.Reflected:
		for _, v := range n.Values {
			s += fmt.Sprintf(" %s=%s", m.Attributes[v.Attribute].Name, v.Data)
		}
	case federation.Interacted:
		s += " " + m.Interactions[n.Interaction].Name
		for _, a := range n.Arguments {
			s += fmt.Sprintf(" %s=%s", m.Parameters[a.Parameter], a.Data)
		}
	}
	for _, a := range n.Attributes {
		s += " " + m.Attributes[a].Name
	}
	if n.Stamped {
		s += fmt.Sprintf(" @%d", n.Time)
	}
	if n.Stamped && n.Kind < federation.Retracted && n.Order != federation.ByTime {
		s += " as it came"
	}
	if n.Kind >= federation.PointAnnounced && n.Name != "" {
		s += " " + n.Name
	}
	if len(n.Tag) > 0 {
		s += fmt.Sprintf(" %q", n.Tag)
	}
	if len(n.Failed) > 0 {
		s += fmt.Sprintf(" without %v", n.Failed)
	}
	if n.Kind == federation.SaveEnded || n.Kind == federation.RestoreEnded {
		s += fmt.Sprintf(" %t", n.OK)
	}
	return s
}

func (w *tester) hears(f *federation.Federate, want string) {
	w.t.Helper()
	if got := w.heard(f); got != want {
		w.t.Fatalf("%s is told\n\t%s\nand not\n\t%s", f.Name(), got, want)
	}
}
