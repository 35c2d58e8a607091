package serverlab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab/codeclab"
	"github.com/coeval-dev/coeval/world"
)

// The game of these tests: walkers who drop a pebble now and then.

type walker struct {
	Pos, Vel det.Vec2
	Steps    int
}

func (w *walker) Sync(s *bits.Sync) {
	s.Vec2(&w.Pos, 0, 1000, 1.0/64)
	s.Vec2(&w.Vel, -8, 8, 1.0/16)
	s.Int(&w.Steps, 0, 1<<20)
}

func (w *walker) Step(in *world.World, me world.ID) {
	c := world.Command[stride](in, me)
	w.Vel = det.Vec2{X: float64(c.X), Y: float64(c.Y)}.Mul(4)
	w.Pos = w.Pos.MulAdd(w.Vel, in.Seconds())
	w.Pos.X, w.Pos.Y = det.Clamp(w.Pos.X, 0, 1000), det.Clamp(w.Pos.Y, 0, 1000)
	if c.Drop {
		w.Steps++
		world.Spawn(in, pebble{Pos: w.Pos, Left: 30})
		world.Emit(in, me, dropped{})
	}
}

type pebble struct {
	Pos  det.Vec2
	Left int
}

func (p *pebble) Sync(s *bits.Sync) {
	s.Vec2(&p.Pos, 0, 1000, 1.0/8)
	s.Int(&p.Left, 0, 30)
}

func (p *pebble) Step(w *world.World, me world.ID) {
	if p.Left--; p.Left <= 0 {
		w.Remove(me)
	}
}

type stride struct {
	X, Y int8
	Drop bool `world:"edge"`
}

func (c *stride) Sync(s *bits.Sync) {
	s.Int8(&c.X, -1, 1)
	s.Int8(&c.Y, -1, 1)
	s.Bool(&c.Drop)
}

type dropped struct{}

func (*dropped) Sync(*bits.Sync) {}

var walkers = world.Define("walkers", world.Class[walker](), world.Class[pebble](),
	world.Commands[stride](), world.Event[dropped](),
	world.OnJoin(func(w *world.World, p world.Player) {
		w.SetOwner(world.Spawn(w,
			walker{Pos: det.Vec2{X: w.Rand().Range(0, 1000), Y: w.Rand().Range(0, 1000)}}), p)
	}))

// Hints have clients told of each only once.
func (p *pebble) Hints(h *game.Hints) { h.TakeOver() }

func walkersTitle() *game.Title {
	return &game.Title{
		Game: walkers, Bot: game.Bots(func(seed uint64) func(*world.World, world.Player) stride {
			r := det.At(seed, 1, 1)
			var c stride
			return func(*world.World, world.Player) stride {
				if r.Chance(0.05) {
					c.X, c.Y = int8(r.IntN(3)-1), int8(r.IntN(3)-1)
				}
				c.Drop = r.Chance(0.02)
				return c
			}
		})}
}

const workerVariable = "COEVAL_TEST_SERVER_WORKER"

// TestServerProcess is not a test, but what the processes of the others run.
func TestServerProcess(t *testing.T) {
	role := os.Getenv(workerVariable)
	if role == "" {
		return // nobody asked
	}
	if err := Work(context.Background(), walkersTitle(), role, os.Stdin, os.Stdout); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

func serverCommand(role string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerProcess$")
	cmd.Env = append(os.Environ(), workerVariable+"="+role)
	return cmd
}

func quickServer() Options {
	return Options{
		Title: walkersTitle(), Players: 6, Window: 600 * time.Millisecond, Command: serverCommand}
}

func TestServer(t *testing.T) {
	if testing.Short() {
		t.Skip("a server and its bots take their time")
	}
	t.Parallel()
	for _, x := range []struct {
		strategies []string
		procs      []int
	}{{[]string{"coeval", "doom3"}, []int{1}}, {[]string{"coeval"}, []int{1, 2}}} {
		o := quickServer()
		o.Strategies, o.Procs, o.Relay = x.strategies, x.procs, true
		results, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(results) != 2 {
			t.Fatalf("%d results", len(results))
		}
		checkServer(t, &o, results)
	}
}

func checkServer(t *testing.T, o *Options, results []Result) {
	for i, r := range results {
		name := fmt.Sprint(r.Strategy, " ", r.Procs)
		if want := fmt.Sprint(o.Strategies[i/len(o.Procs)], " ",
			o.Procs[i%len(o.Procs)]); name != want {
			t.Errorf("result %d is of %s, not %s", i, name, want)
		}
		// Whether commands come in time depends on the machine; everything else does not.
		r.Commands = 1
		if err := r.Check(); err != nil {
			t.Error(err)
		}
		if r.Players != 6 || r.Ticks == 0 || !(r.Tick > 0) || !(r.Share > 0) ||
			!(r.Tick99 >= r.TickMedian) || r.Budget < 16 || r.Budget > 17 {
			t.Errorf("%s: %+v", name, r)
		}
		sum := r.Spent.Receive + r.Spent.Step + r.Spent.Interest + r.Spent.Encode + r.Spent.Send
		if sum < 0.99*r.Tick || sum > 1.01*r.Tick {
			t.Errorf("%s: stages add up to %v of %v ms", name, sum, r.Tick)
		}
		if r.Others != 5 || r.Entities < 6 {
			t.Errorf("%s: %v others and %v things in view", name, r.Others, r.Entities)
		}
		if !(r.Down > 0 && r.Up > 0 && r.Snapshots > 0 && r.Mean > 0 && r.Sizes.Median > 0) ||
			r.Inside["walker"] == 0 || r.Inside["others' commands"] == 0 {
			t.Errorf("%s: bytes %+v", name, r)
		}
		if (r.Speedup > 0) != (r.Procs == 2) || (r.DownRatio > 0) != (r.Strategy == "doom3") {
			t.Errorf("%s: compared with the wrong ones: %v, %v", name, r.Speedup, r.DownRatio)
		}
	}
}

func TestServerNames(t *testing.T) {
	b, err := json.Marshal(Result{Time: Time{EncodeAlone: 1, Speedup: 1},
		Traffic: Traffic{DownRatio: 1}, Limit: &Limit{}})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(`strategy procs players rate ms_per_tick ms_per_tick_by_stage share_of_core share_commands_and_encoding us_per_player_and_tick
		ms_tick_p99 ms_budget ms_encode_alone encode_speedup allocs_per_tick down_bytes_per_client_second up_bytes_per_client_second down_by_purpose down_booked
		snapshots_by_purpose down_against_coeval snapshot_bytes snapshot_sizes others_in_view commands_in_time most_players limited_by tried`) {
		if _, ok := fields[name]; !ok {
			t.Errorf("there is no %s in %s", name, b)
		}
	}
}

func TestServerRefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Players = -1 }, "players is -1"},
		{func(o *Options) { o.Players = 1 << 30 }, "choose 1 to"},
		{func(o *Options) { o.Snapshots = 61 }, "snapshots is 61"},
		{func(o *Options) { o.Window = time.Millisecond }, "seconds is 0.001"},
		{func(o *Options) { o.Procs = []int{0} }, "procs has 0"},
		{func(o *Options) { o.Strategies = []string{"quake4"} }, `"quake4"`},
		{func(o *Options) { o.Title = nil }, "no title"},
		{func(o *Options) { o.Command = nil }, "no way to start processes"},
		{func(o *Options) {
			o.Command = func(string) *exec.Cmd { return exec.Command("/nonexistent/program") }
		}, "starting the host"},
		{func(o *Options) {
			o.Command = func(string) *exec.Cmd { return exec.Command(os.Args[0], "-test.run=^$") }
		}, "the host"},
	} {
		o := quickServer()
		x.change(&o)
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v does not say %q", err, x.want)
		}
	}
	for _, orders := range []string{
		`{"Do":"open"}`, `{"Do":"open","Spec":{"Players":3,"Procs":1}}`, `{"Do":"measure"}`,
		`{"Do":"open","Spec":{"Players":1,"Procs":1,"Key":"x"}}`} {
		var out bytes.Buffer
		role := roleHost
		if strings.Contains(orders, `"Players":3`) {
			role = roleBots
		}
		if err := Work(t.Context(), walkersTitle(), role, strings.NewReader(orders),
			&out); err != nil {
			t.Error(err)
		}
	}
	if err := Work(t.Context(), walkersTitle(), "referee", strings.NewReader(""),
		new(bytes.Buffer)); err == nil {
		t.Error("a role that there is not")
	}
}

// TestFindLimit finds limits of servers that are as fast as we say.
func TestFindLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		real := rapid.IntRange(0, 2*MostPlayers).Draw(t, "limit")
		first := rapid.IntRange(1, MostPlayers).Draw(t, "first")
		tries := 0
		r, err := findLimit(context.Background(), first, func(n int) (*Result, error) {
			if tries++; n < 1 || n > MostPlayers || tries > 60 {
				t.Fatalf("try %d is of %d players", tries, n)
			}
			r := &Result{
				Setting: Setting{Players: n}, Health: Health{Commands: 1}, Time: Time{
					Budget: 10, Tick99: 5}}
			if n > real {
				r.Tick99 = 11
			}
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		l := r.Limit
		switch {
		case real >= MostPlayers:
			if l.Most != MostPlayers || l.By != "bots" {
				t.Fatalf("%+v", l)
			}
		case l.Most > real || l.Above <= real || real > 0 &&
			float64(l.Above-l.Most) > limitFine*float64(l.Above)+1:
			t.Fatalf("a limit of %d was found to be from %d to %d", real, l.Most, l.Above)
		case len(l.Tried) != tries:
			t.Fatalf("%d tries are told of, there were %d", len(l.Tried), tries)
		}
	})
	slow := &Result{Health: Health{Commands: 0.5}, Time: Time{Budget: 10, Tick99: 5}}
	if _, err := findLimit(t.Context(), 10,
		func(int) (*Result, error) { return slow, nil }); err == nil {
		t.Error("bots that cannot keep up make a limit")
	}
	n := 0
	r, err := findLimit(t.Context(), 10, func(int) (*Result, error) {
		if n++; n > 2 {
			return nil, errors.New("not all bots could join")
		}
		return &Result{Health: Health{Commands: 1}, Time: Time{Budget: 10, Tick99: 5}}, nil
	})
	if err != nil || r.By != "bots" || r.Most != 16 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestGameTables: the same play makes the same tables, and they fit.
func TestGameTables(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	o := codeclab.GameTablesOptions{Title: walkersTitle(), Players: 8, Seconds: 6}
	said := 0
	o.Progress = func(done float64, what string) {
		if done < 0 || done > 1 || what == "" {
			t.Errorf("progress %v, %q", done, what)
		}
		said++
	}
	m, err := codeclab.GameTables(o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := codeclab.GameTables(o)
	if err != nil {
		t.Fatal(err)
	}
	tables := m.AppendTables(nil)
	if !bytes.Equal(tables, again.AppendTables(nil)) || said == 0 {
		t.Error("the same play makes other tables")
	}
	trained := walkersTitle()
	trained.Tables = tables
	if err := trained.Check(); err != nil {
		t.Error(err)
	}
	o.Title = trained // what it learned before makes no difference
	if again, err = codeclab.GameTables(o); err != nil ||
		!bytes.Equal(tables, again.AppendTables(nil)) {
		t.Errorf("a title that has tables already learns others: %v", err)
	}
	for _, bad := range []codeclab.GameTablesOptions{
		{Players: -1}, {Seconds: -1}, {Players: 1 << 20}} {
		bad.Title = walkersTitle()
		if _, err := codeclab.GameTables(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if _, err := codeclab.GameTables(codeclab.GameTablesOptions{}); err == nil {
		t.Error("no game was played")
	}
}
