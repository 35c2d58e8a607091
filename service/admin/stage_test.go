package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/drive"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A park has a ball that falls, knobs of every type, and content.
type ball struct{ Y float64 }

func (b *ball) Sync(s *bits.Sync) { s.Float(&b.Y, -1e6, 1e6, 1.0/16) }

func (b *ball) Step(w *world.World, _ world.ID) {
	g := world.StateOf[gravity](w)
	if g.Seats == 13 {
		panic("thirteen at a table")
	}
	b.Y -= g.Pull
}

type gravity struct {
	Pull  float64
	On    bool
	Seats int
	Sign  string
	At    [2]struct{ X uint16 }
	Inner int `world:"server"`
}

func (g *gravity) Sync(s *bits.Sync) {
	s.Float(&g.Pull, 0, 8, 1.0/16)
	s.Bool(&g.On)
	s.Int(&g.Seats, 0, 100)
	s.String(&g.Sign, 12)
	for i := range g.At {
		s.Uint16(&g.At[i].X, 0, 500)
	}
}

type motto struct{ Text string }

func (m *motto) Sync(s *bits.Sync) { s.String(&m.Text, 64) }

var park = &game.Title{
	Game: world.Define("park", world.Class[ball](), world.Knob[gravity](), world.State[motto](),
		world.OnContent(func(w *world.World, data []byte) {
			switch text, ok := bytes.CutPrefix(data, []byte("motto ")); {
			case bytes.Equal(data, []byte("bomb")):
				panic("boom")
			case ok:
				world.StateOf[motto](w).Text = string(text)
			}
		}),
		world.OnStart(func(w *world.World) {
			if g := world.StateOf[gravity](w); g.Pull == 0 {
				g.Pull = 1
			}
			world.Spawn(w, ball{})
		})),
	Levels: game.Levels{
		Names: []string{"lawn", "pond"},
		Settings: func(l game.Level) (world.Settings, error) {
			switch string(l.Data) {
			case "map bomb":
				panic("it was a bomb")
			case "map thirteen":
				return world.Settings{States: []bits.Syncer{&gravity{Seats: 13}}}, nil
			}
			if l.Name != "lawn" && l.Name != "pond" && len(l.Data) == 0 {
				return world.Settings{}, errors.New("no such place")
			}
			return world.Settings{}, nil
		},
		Read: func(data []byte) (string, error) {
			if !bytes.HasPrefix(data, []byte("map ")) {
				return "", errors.New("it does not begin with map")
			}
			return string(data[4:]), nil
		},
		Most: 1 << 12,
	},
}

// A stage is a server that runs, with its API, and players who come by memory.
type stage struct {
	*testing.T
	folder  *Folder
	server  *server.Server
	api     *API
	site    *httptest.Server
	hub     *mem.Hub
	at      netip.AddrPort
	recs    *trace.Writer
	record  bytes.Buffer
	secrets map[Role]string
	stopped chan string
	unready atomic.Bool
	running sync.WaitGroup
	end     context.CancelFunc
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newStage begins; the folder may be of an earlier one.
func newStage(t *testing.T, dir string) *stage {
	t.Helper()
	s := &stage{T: t, secrets: map[Role]string{}, stopped: make(chan string, 1)}
	var err error
	s.folder, err = OpenFolder(dir)
	must(t, err)
	for r := Watch; r <= Operate; r++ {
		s.secrets[r], _, err = s.folder.MakeToken(r, "the "+r.String(), time.Hour)
		must(t, err)
	}
	s.hub = mem.NewHub(mem.Options{})
	inside, err := s.hub.Open(netip.AddrPort{})
	must(t, err)
	s.at = inside.LocalAddr()
	o := server.Options{Title: park, Links: []link.Link{inside}, Workers: 1}
	o.Begun = func(w *world.World, _ server.Level) {
		s.record.Reset()
		s.recs, _ = trace.NewWriter(&s.record, w, trace.Options{})
	}
	o.After = func(w *world.World, in *world.Inputs) { _ = s.recs.Tick(in, w) }
	s.folder.Enforce(&o.Rules)
	s.server, err = server.New(o)
	must(t, err)
	g := Game{
		Title: park, Do: s.server.Do, Server: func() *server.Server { return s.server },
		Status:  func() any { return map[string]any{"tick": s.server.World().Tick()} },
		Metrics: func() []byte { return []byte("coeval_people 0\n") },
		Save:    func(context.Context) (world.Tick, error) { return 7, nil },
		Unready: func(on bool) { s.unready.Store(on) },
		Stop: func(d time.Duration, why string) error {
			s.stopped <- fmt.Sprint(d, why)
			return nil
		},
		Settings: []Setting{{"players", "64"}, {"tls-key", "hush"}},
		Log:      &Tail{},
	}
	s.api = New(s.folder, g, g.Log.Wrap(discard))
	s.site = httptest.NewServer(s.api)
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	s.running.Go(func() { _ = s.server.Run(ctx) })
	t.Cleanup(func() {
		s.site.Close()
		end()
		s.running.Wait()
		must(t, s.server.Close())
	})
	return s
}

// ask asks the API, and gives the status and the answer.
func (s *stage) ask(role Role, method, name string, body any) (int, map[string]any) {
	s.Helper()
	data, raw := body.([]byte)
	if !raw && body != nil {
		var err error
		data, err = json.Marshal(body)
		must(s, err)
	}
	r, err := http.NewRequest(method, s.site.URL+Path+name, bytes.NewReader(data))
	must(s, err)
	r.Header.Set("Authorization", "Bearer "+s.secrets[role])
	a, err := s.site.Client().Do(r)
	must(s, err)
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	must(s, err)
	out := map[string]any{}
	if json.Unmarshal(text, &out) != nil {
		out["raw"] = text
	}
	return a.StatusCode, out
}

// do asks as an operator, and expects a status.
func (s *stage) do(want int, name string, body any) map[string]any {
	s.Helper()
	got, out := s.ask(Operate, http.MethodPost, name, body)
	if got != want {
		s.Fatalf("%s %v: %d %v, want %d", name, body, got, out, want)
	}
	return out
}

// with looks at the server.
func (s *stage) with(f func(*server.Server)) {
	s.Helper()
	must(s, s.server.Do(s.Context(), func() { f(s.server) }))
}

// A guest is a player at a stage, in a goroutine of its own.
type guest struct {
	client *client.Client
	words  chan client.Word
	ended  chan error
	says   chan string
	here   chan struct{} // closed when it is shown the world
}

// join lets a guest come, who stays until the test is over or they are thrown out.
func (s *stage) join(id uint64, name string) *guest {
	s.Helper()
	l, err := s.hub.Open(netip.AddrPort{})
	must(s, err)
	g := &guest{words: make(chan client.Word, 100), ended: make(chan error, 1),
		says: make(chan string, 1), here: make(chan struct{})}
	s.with(func(x *server.Server) {
		tok, err := x.Token(id, nil, time.Minute)
		must(s, err)
		g.client, err = client.New(client.Options{Title: park, Link: l, Token: tok,
			Servers: []netip.AddrPort{s.at}, Name: name, Return: -1})
		must(s, err)
	})
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		shown := false
		err := drive.Loop{Step: park.Game.TickLength(), Tick: func(now time.Duration) error {
			select {
			case line := <-g.says:
				g.client.Say(line)
			default:
			}
			v := g.client.Frame(now, nil)
			for _, w := range v.Words {
				g.words <- w
			}
			if !shown && v.World != nil {
				shown = true
				close(g.here)
			}
			return v.Err
		}}.Run(ctx)
		g.ended <- err
	}()
	s.Cleanup(func() {
		stop()
		<-over
		_ = g.client.Close()
	})
	return g
}

// arrives waits until the guest is shown the world.
func (g *guest) arrives(t *testing.T) *guest {
	t.Helper()
	select {
	case <-g.here:
	case err := <-g.ended:
		t.Fatalf("the guest was not let in: %v", err)
	}
	return g
}

func newDir(t *testing.T) string { return filepath.Join(t.TempDir(), "admin") }
