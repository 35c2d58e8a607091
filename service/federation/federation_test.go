package federation_test

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	core "github.com/coeval-dev/coeval/federation"
	"github.com/coeval-dev/coeval/service/federation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const roads = `{"dimensions": [{"name": "x", "upper": 1000}],
 "classes": [{"name": "vehicle", "attributes": [
  {"name": "place", "order": "time", "dimensions": ["x"]}, {"name": "fuel", "kept": true}]}],
 "interactions": [{"name": "crash", "parameters": ["speed"]}]}`

// patience is for what another goroutine does.
const patience = time.Minute

type stage struct {
	t   *testing.T
	ctx context.Context
	url string
}

func open(t *testing.T, o federation.Options) *stage {
	t.Helper()
	s, err := federation.New(o)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); web.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	return &stage{t, ctx, "ws" + strings.TrimPrefix(web.URL, "http")}
}

func (s *stage) dial(token string) *federation.Client {
	s.t.Helper()
	c, err := federation.Dial(s.ctx, s.url, token)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *stage) call(c *federation.Client, call federation.Call) federation.Reply {
	s.t.Helper()
	r, err := c.Call(s.ctx, call)
	if err != nil {
		s.t.Fatalf("%s: %v", call.Call, err)
	}
	return r
}

func (s *stage) join(name string) *federation.Client {
	s.t.Helper()
	m, err := core.ReadModel([]byte(roads))
	if err != nil {
		s.t.Fatal(err)
	}
	c := s.dial("")
	s.call(c, federation.Call{Call: "join", Federation: "roads", Name: name, Model: m})
	return c
}

// hears waits for a notice of a kind, whatever comes before.
func (s *stage) hears(c *federation.Client, kind string) federation.Notice {
	s.t.Helper()
	for {
		select {
		case n, ok := <-c.Notices():
			if !ok {
				s.t.Fatalf("the connection has ended before %q", kind)
			}
			if n.Notice == kind {
				return n
			}
		case <-s.ctx.Done():
			s.t.Fatalf("nothing is told of %q", kind)
		}
	}
}

func at(t int64) *int64 { return &t }

// Two federates over real connections share an object and time; one is lost and the other told.
func TestTwo(t *testing.T) {
	s := open(t, federation.Options{})
	a, b := s.join("a"), s.join("b")
	s.call(b, federation.Call{Call: "subscribe", Class: "vehicle",
		Attributes: []string{"place", "fuel"}})
	s.call(b, federation.Call{Call: "constrain"})
	s.call(a, federation.Call{Call: "regulate", Lookahead: 5})
	s.call(a, federation.Call{Call: "publish", Class: "vehicle",
		Attributes: []string{"place", "fuel"}})
	o := s.call(a, federation.Call{Call: "register", Class: "vehicle", Name: "v"}).Object
	if n := s.hears(b, "discovered"); n.Object != o || n.Class != "vehicle" || n.Name != "v" {
		t.Fatalf("%+v", n)
	}
	s.call(a, federation.Call{Call: "update", Object: o, Time: at(7),
		Values: map[string][]byte{"place": []byte("here"), "fuel": []byte("full")}})
	if n := s.hears(b, "reflected"); string(n.Values["fuel"]) != "full" || len(n.Values) != 1 {
		t.Fatalf("%+v", n)
	}
	s.call(b, federation.Call{Call: "advance", Time: at(10)})
	s.call(a, federation.Call{Call: "advance", Time: at(6)})
	if n := s.hears(b, "reflected"); string(n.Values["place"]) != "here" || *n.Time != 7 ||
		n.Order != "time" {
		t.Fatalf("%+v", n)
	}
	if n := s.hears(b, "granted"); *n.Time != 10 {
		t.Fatalf("%+v", n)
	}
	if r := s.call(b, federation.Call{Call: "time"}); *r.Time != 10 || *r.Limit != 11 {
		t.Fatalf("%+v", r)
	}
	r := s.call(b, federation.Call{Call: "createRegion",
		Ranges: map[string][2]int64{"x": {0, 10}}}).Region
	s.call(b, federation.Call{Call: "subscribe", Class: "vehicle", Regions: []uint32{r},
		Attributes: []string{"place"}})
	if _, err := b.Call(s.ctx, federation.Call{Call: "update", Object: o,
		Values: map[string][]byte{"fuel": nil}}); err == nil ||
		!strings.Contains(err.Error(), "not the owner") {
		t.Fatalf("another's attribute is updated: %v", err)
	}
	_ = a.Close()
	s.hears(b, "removed")
	if n := s.hears(b, "left"); n.Name != "a" || !strings.Contains(n.Why, "connection") {
		t.Fatalf("%+v", n)
	}
}

// What is wrong is said, and hurts nobody.
func TestRefuses(t *testing.T) {
	s := open(t, federation.Options{Token: "secret"})
	if _, err := federation.Dial(s.ctx, s.url, "wrong"); err == nil ||
		!strings.Contains(err.Error(), "token") {
		t.Fatalf("a wrong token: %v", err)
	}
	c := s.dial("secret")
	m, _ := core.ReadModel([]byte(roads))
	for _, bad := range []struct {
		call federation.Call
		says string
	}{
		{federation.Call{Call: "advance", Time: at(1)}, "join a federation first"},
		{federation.Call{Call: "join", Name: "a"}, "which federation"},
		{federation.Call{Call: "join", Name: "a", Federation: "roads"}, "brings its model"},
		{federation.Call{Call: "join", Name: "", Federation: "roads", Model: m}, "needs a name"},
	} {
		_, err := c.Call(s.ctx, bad.call)
		if err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%+v: %v", bad.call, err)
		}
	}
	s.call(c, federation.Call{Call: "join", Name: "a", Federation: "roads", Model: m})
	for _, bad := range []struct {
		call federation.Call
		says string
	}{
		{federation.Call{Call: "fly"}, `no call "fly"`},
		{federation.Call{Call: "publish", Class: "plane"}, `no class "plane"`},
		{federation.Call{Call: "update", Object: 9}, "not known"},
		{federation.Call{Call: "advance"}, "which time"},
		{federation.Call{Call: "resign", How: []string{"explode"}}, "resign by"},
		{federation.Call{Call: "extend", Model: &core.ModelFile{Classes: []core.ClassFile{
			{Name: "vehicle", Parent: "nothing"}}}}, `no class "nothing"`},
	} {
		_, err := c.Call(s.ctx, bad.call)
		if err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%+v: %v", bad.call, err)
		}
	}
	s.call(c, federation.Call{Call: "resign"})
	for range c.Notices() { // the server ends the connection
	}
}

// A page of code in another language speaks the same: lines of JSON, several in one message.
func TestPlainly(t *testing.T) {
	s := open(t, federation.Options{Token: "secret"})
	ws, _, err := websocket.Dial(s.ctx, s.url+"/federation/v1/ws?token=secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow() //nolint:errcheck // it may be closed
	err = ws.Write(s.ctx, websocket.MessageText, []byte(
		`{"id": 1, "call": "join", "federation": "f", "name": "p", "model": {}}`+"\n"+
			`{"id": 2, "call": "regulate", "lookahead": 3}`+"\nnonsense\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for !strings.Contains(got, "this is no call") || !strings.Contains(got, "regulating") {
		_, data, err := ws.Read(s.ctx)
		if err != nil {
			t.Fatalf("after %q: %v", got, err)
		}
		got += string(data)
	}
	if !strings.Contains(got, `{"reply":1,"federate":1}`) {
		t.Fatal(got)
	}
}

// What was saved is in a folder, and another server goes on from there.
func TestSavesOnDisk(t *testing.T) {
	dir := t.TempDir()
	s := open(t, federation.Options{Dir: dir})
	a := s.join("a")
	s.call(a, federation.Call{Call: "publish", Class: "vehicle", Attributes: []string{"fuel"}})
	o := s.call(a, federation.Call{Call: "register", Class: "vehicle", Name: "v"}).Object
	s.call(a, federation.Call{Call: "save", Name: "noon"})
	s.hears(a, "saveBegins")
	s.call(a, federation.Call{Call: "saved"})
	if n := s.hears(a, "saveEnded"); !n.OK {
		t.Fatalf("%+v", n)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.save"))
	if len(files) != 1 {
		t.Fatalf("in the folder: %v", files)
	}
	u := open(t, federation.Options{Dir: dir})
	b := u.join("a")
	u.call(b, federation.Call{Call: "restore", Name: "noon"})
	u.hears(b, "restoreBegins")
	u.call(b, federation.Call{Call: "saved"})
	if n := u.hears(b, "restoreEnded"); !n.OK {
		t.Fatalf("%+v", n)
	}
	u.call(b, federation.Call{Call: "update", Object: o,
		Values: map[string][]byte{"fuel": []byte("half")}})
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	v := open(t, federation.Options{Dir: dir})
	c := v.join("a")
	if _, err := c.Call(v.ctx, federation.Call{Call: "restore", Name: "noon"}); err == nil {
		t.Fatal("a damaged save is restored")
	}
}
