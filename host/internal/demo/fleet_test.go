package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/linktest"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/timeline/kinds"
	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/world"
)

func TestMesh(t *testing.T) {
	linktest.Run(t, linktest.Carrier{
		Fills: true, Reliable: true,
		Open: func(t testing.TB) (link.Link, func() linktest.Client) {
			s := newMesh(2, netsim.Perfect, 1)
			at := mirrorPublic(0)
			server := s.open(at, 0)
			n := byte(0)
			return server, func() linktest.Client {
				n++
				return linktest.Client{
					Link: s.open(netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, 0, n}), 5000),
						1), Server: at}
			}
		},
	})
}

// TestMeshIsCut sends over a way that is cut, and over one that is healed again.
func TestMeshIsCut(t *testing.T) {
	s := newMesh(3, netsim.Perfect, 1)
	var ends []*end
	for i := range 3 {
		ends = append(ends, s.open(mirrorAddress(i), i))
	}
	batch := make([]link.Datagram, 4)
	send := func(from, to int) bool {
		t.Helper()
		if _, err := ends[from].Send([]link.Datagram{
			{Addr: mirrorAddress(to), Data: []byte("hello")}}); err != nil {
			t.Fatal(err)
		}
		n, err := ends[to].Receive(batch)
		if err != nil {
			t.Fatal(err)
		}
		return n == 1 && batch[0].Addr == mirrorAddress(from)
	}
	s.cut(0, 1, true)
	for _, x := range []struct {
		from, to int
		want     bool
	}{{0, 1, false}, {1, 0, false}, {0, 2, true}, {2, 1, true}} {
		if send(x.from, x.to) != x.want {
			t.Errorf("from %d to %d arrives: %v", x.from, x.to, !x.want)
		}
	}
	s.cut(0, 1, false)
	if !send(0, 1) || !send(1, 0) {
		t.Error("nothing arrives on a way that was healed")
	}
}

func TestDemoMirrorsCommandLine(t *testing.T) {
	for _, x := range []struct {
		args   []string
		stderr []string
	}{
		{[]string{"--mirrors", "1"}, []string{"--mirrors is 1", "from 2 to 5"}},
		{[]string{"--mirrors", "99"}, []string{"--mirrors is 99", "from 2 to 5"}},
		{[]string{"--mirrors", "0"}, []string{"from 2 to 5"}},
		{[]string{"--mirrors", "3", "--timeline", "sundial"}, []string{"sundial", "trailing"}},
		{[]string{"--mirrors", "3", "--delays", "soon"}, []string{"soon", "100ms"}},
		{[]string{"--mirrors", "3", "--delays", "0,-1s"}, []string{"-1s"}},
		{[]string{"--mirrors", "3", "--delays", "100ms,50ms,1s"}, []string{"impossible"}},
		{[]string{"--mirrors", "3", "--delays", "100ms"}, []string{"delay"}},
		{[]string{"--delays", "0,1s"}, []string{"--delays goes with --mirrors"}},
		{[]string{"--timeline", "trailing"}, []string{"--timeline goes with --mirrors"}},
		{[]string{"--mirrors", "3", "--preset", "tincan"}, []string{"tincan", "satellite"}},
	} {
		t.Run(strings.Join(x.args, " "), func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := bundled.Run(t.Context(), append([]string{"demo", "--no-open"}, x.args...),
				&out, &errs, demoCommands()); code != cli.ExitUsage {
				t.Errorf("exit code %d, want %d", code, cli.ExitUsage)
			}
			for _, want := range x.stderr {
				if !strings.Contains(errs.String(), want) {
					t.Errorf("stderr is %q, want it to contain %q", errs.String(), want)
				}
			}
			if out.Len() > 0 {
				t.Errorf("something was started: %s", out.String())
			}
		})
	}
}

// startMirrors runs a demo with mirrors until the test ends.
func startMirrors(t *testing.T, mirrors, bots int) *site {
	t.Helper()
	return startDemo(t, func(d *flags) {
		d.mirrors, d.bots, d.preset = &mirrorFlags{count: mirrors, timeline: "auto"}, bots,
			"transatlantic"
	})
}

// fleetOf is the mirrors of a demo that has some.
func fleetOf(s *site) *fleet { return s.shown.(*fleet) }

// serves says whether so many mirrors serve as one group.
func serves(f *fleet, n int) func() bool {
	return func() bool {
		good, ubers := 0, 0
		for _, m := range f.all().Mirrors {
			if m.Phase == mirror.Serving.String() && m.Members == n {
				good++
			}
			if m.Uber && m.Phase == mirror.Serving.String() {
				ubers++
			}
		}
		return good == n && ubers == 1
	}
}

// command orders something, as the page does.
func command(t *testing.T, s *site, wish map[string]any) int {
	t.Helper()
	b, err := json.Marshal(wish)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post("http://"+s.listener.Addr().String()+"/api/mirrors", "application/json",
		bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return r.StatusCode
}

func must(t *testing.T, s *site, wish map[string]any) {
	t.Helper()
	if code := command(t, s, wish); code != http.StatusOK {
		t.Fatalf("%v: status %d", wish, code)
	}
}

// acquainted waits until mirrors have told their players of each other, which they do once a
// second.
func acquainted(t *testing.T, f *fleet) {
	t.Helper()
	begin := f.all()
	hosttest.WaitUntil(t, "mirrors know each other", func() bool {
		for i, m := range f.all().Mirrors {
			if m.Tick < begin.Mirrors[i].Tick+150 {
				return false
			}
		}
		return true
	})
}

// residents lists how many play at each mirror.
func residents(f *fleet) (list []int) {
	for _, m := range f.all().Mirrors {
		list = append(list, m.Players)
	}
	return list
}

// whereAt is where a player is in a mirror's leading world.
func whereAt(t *testing.T, f *fleet, i, player int) (at det.Vec2) {
	t.Helper()
	l := f.machines[i].alive()
	if l == nil {
		t.Fatalf("mirror %d is dead", i+1)
	}
	if err := l.do(t.Context(), func(m *mirror.Mirror) {
		if m.Server() != nil {
			at, _ = placeOf(m.Server().World(), world.Player(player))
		}
	}); err != nil {
		t.Fatal(err)
	}
	return at
}

// TestDemoMirrors lets bots play on three mirrors: one is killed and its bots flee to the others,
// it is revived and they come home, a way is cut and healed.
func TestDemoMirrors(t *testing.T) {
	t.Parallel() // most of it is waiting
	if testing.Short() {
		t.Skip("waits for a mirror to be missed")
	}
	s := startMirrors(t, 3, 6)
	f := fleetOf(s)
	spread := func(want ...int) func() bool {
		return func() bool { return fmt.Sprint(residents(f)) == fmt.Sprint(want) }
	}
	hosttest.WaitUntil(t, "three mirrors serve", serves(f, 3))
	hosttest.WaitUntil(t, "the bots are spread over them", spread(2, 2, 2))
	acquainted(t, f)
	bodies := func() (n int) {
		if l := f.machines[0].alive(); l != nil {
			_ = l.do(t.Context(), func(m *mirror.Mirror) {
				for range m.Server().World().Players {
					n++
				}
			})
		}
		return n
	}
	must(t, s, map[string]any{"kill": 2})
	if code := command(t, s, map[string]any{"kill": 2}); code != http.StatusBadRequest {
		t.Errorf("killed twice: %d", code)
	}
	hosttest.WaitUntil(t, "two mirrors serve", serves(f, 2))
	hosttest.WaitUntil(t, "its bots flee", func() bool { r := residents(f); return r[0]+r[2] == 6 })
	if n := bodies(); n != 6 {
		t.Errorf("there are %d bodies after the flight", n)
	}
	must(t, s, map[string]any{"revive": 2})
	hosttest.WaitUntil(t, "three mirrors serve again", serves(f, 3))
	hosttest.WaitUntil(t, "its bots come home", spread(2, 2, 2))

	// What two that do not hear each other have for each other goes over the third: nobody is left
	// out, the world goes on, and the page says how.
	must(t, s, map[string]any{"cut": []int{1, 2}})
	hosttest.WaitUntil(t, "the way is cut", func() bool { return f.all().Ways[0].Cut })
	hosttest.WaitUntil(t, "the page says that they reach each other over the third", func() bool {
		return slices.ContainsFunc(f.all().News, func(l newsLine) bool {
			return strings.Contains(l.Text, "reached over mirror")
		})
	})
	acquainted(t, f)
	hosttest.WaitUntil(t, "everyone plays at those who serve", func() bool {
		n := 0
		for _, m := range f.all().Mirrors {
			if m.Phase == mirror.Serving.String() {
				n += m.Players
			}
		}
		return n == 6 && serves(f, 3)()
	})
	must(t, s, map[string]any{"heal": []int{2, 1}})
	must(t, s, map[string]any{"preset": "lan"})
	hosttest.WaitUntil(t, "three mirrors serve after the cut", serves(f, 3))
	hosttest.WaitUntil(t, "the bots are home again", spread(2, 2, 2))
	if st := f.all(); st.Preset != "lan" || st.Ways[0].Cut || st.Ways[0].Latency > 1 {
		t.Errorf("the network is %+v", st.Ways[0])
	}
	// Most of them die, one of which has been revived: the page says which are missed, by the
	// numbers that it shows them with.
	must(t, s, map[string]any{"kill": 2})
	must(t, s, map[string]any{"kill": 3})
	hosttest.WaitUntil(t, "the one that is left stops", func() bool {
		m := f.all().Mirrors[0]
		return m.Phase == mirror.Suspended.String() && fmt.Sprint(m.Absent) == "[2 3]"
	})
	if st := f.all(); !st.Stuck || !slices.ContainsFunc(st.News, func(l newsLine) bool {
		return strings.HasSuffix(l.Text, "it does not hear mirror 2 and mirror 3")
	}) {
		t.Errorf("the page is told %v", st.News)
	}
	for _, wrong := range []map[string]any{
		{}, {"kill": 4}, {"kill": -1}, {"revive": 1}, {"cut": []int{1}}, {"cut": []int{1, 1}}, {
			"cut": []int{1, 9}}, {"preset": "tincan"}, {"nuke": 1}} {
		if code := command(t, s, wrong); code != http.StatusBadRequest {
			t.Errorf("%v: status %d", wrong, code)
		}
	}
	sum := uint64(0)
	for _, n := range f.all().Mirrors[0].Sent {
		sum += n
	}
	if sum == 0 {
		t.Error("mirrors have sent each other nothing")
	}
}

// TestDemoMirrorsEnd starts the command with mirrors and interrupts it: it must say where it is,
// and end without an error.
func TestDemoMirrorsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &meeting{want: "the game is at http://127.0.0.1:", then: cancel}
	var errs bytes.Buffer
	args := []string{
		"demo", "--port", "0", "--no-open", "--bots", "2", "--mirrors", "2", "--preset", "lte",
		"--timeline", "trailing", "--delays", "50ms,500ms", "--map", "duel"}
	if code := bundled.Run(ctx, args, out, &errs, demoCommands()); code != cli.ExitOK {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

// TestDemoTwoMirrors kills one of two: with the witness the other goes on. When both are dead the
// one that is revived founds a new game.
func TestDemoTwoMirrors(t *testing.T) {
	t.Parallel() // most of it is waiting
	s := startMirrors(t, 2, 2)
	f := fleetOf(s)
	hosttest.WaitUntil(t, "two mirrors and a witness are a group",
		func() bool { return serves(f, 2)() && f.all().Witness == "there" })
	acquainted(t, f)
	must(t, s, map[string]any{"kill": 1})
	hosttest.WaitUntil(t, "the other goes on, with all players",
		func() bool { return serves(f, 1)() && residents(f)[1] == 2 })
	must(t, s, map[string]any{"kill": 2})
	must(t, s, map[string]any{"revive": 1})
	hosttest.WaitUntil(t, "a new game begins",
		func() bool { return f.all().Mirrors[0].Phase == mirror.Serving.String() })
	must(t, s, map[string]any{"anew": true})
	hosttest.WaitUntil(t, "both serve in another new game", serves(f, 2))
}

// TestDemoTimelines lets a few bots play on each timeline there is.
func TestDemoTimelines(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds.Names() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				t.Skip("one is enough")
			}
			s := startDemo(t,
				func(d *flags) {
					d.mirrors, d.bots, d.preset = &mirrorFlags{count: 2, timeline: kind}, 2, "cable"
				})
			hosttest.WaitUntil(t, "both serve, with a bot at each",
				func() bool {
					return serves(fleetOf(s), 2)() && fmt.Sprint(residents(fleetOf(s))) == "[1 1]"
				})
			begin := fleetOf(s).all()
			hosttest.WaitUntil(t, "both go on, and settle what happens", func() bool {
				for i, m := range fleetOf(s).all().Mirrors {
					if m.Phase != mirror.Serving.String() || m.Behind > 3000 ||
						m.Tick < begin.Mirrors[i].Tick+20 {
						return false
					}
				}
				return true
			})
		})
	}
}

// TestDemoMirrorsAdmit asks for tokens, well and badly.
func TestDemoMirrorsAdmit(t *testing.T) {
	s := startMirrors(t, 2, 0)
	hosttest.WaitUntil(t, "both serve", serves(fleetOf(s), 2))
	ask := func(query string) (a mirrorAdmission, code int) {
		t.Helper()
		r, err := http.Post("http://"+s.listener.Addr().String()+"/token"+query, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if r.StatusCode == http.StatusOK {
			if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
				t.Fatal(err)
			}
		}
		return a, r.StatusCode
	}
	open := func(a mirrorAdmission) uint64 {
		t.Helper()
		tk, err := token.ParseText(a.Token)
		if err != nil {
			t.Fatal(err)
		}
		g, err := token.Open(fleetOf(s).opt.Keys[0], tk.Sealed)
		if err != nil {
			t.Fatal(err)
		}
		return g.Client
	}
	a, _ := ask("?home=2")
	again, _ := ask("?home=2&seat=" + a.Seat)
	other, _ := ask("?home=2")
	if len(a.Ways) != 2 || a.Ways[a.Peer] != a.WebSocket || a.Peer != mirrorPublic(1).String() {
		t.Errorf("let in by %+v", a)
	}
	if one, two := open(a), open(again); one != two || homeOf(one) != 1 || isBot(one) ||
		open(other) == one {
		t.Errorf("%x comes back as %x, and another is %x", one, two, open(other))
	}
	for _, wrong := range []string{
		"", "?home=3", "?home=0", "?home=x", "?home=1&seat=x", "?home=1&seat=ffffffffffffffff"} {
		if _, code := ask(wrong); code != http.StatusBadRequest {
			t.Errorf("%q: status %d", wrong, code)
		}
	}
	for _, path := range []string{"/coeval/3/from/1", "/coeval/1/from/9"} {
		r, err := http.Get("http://" + s.listener.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}
