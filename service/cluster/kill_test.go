package cluster_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/cluster"
	"github.com/coeval-dev/coeval/service/cluster/clustertest"
	"github.com/coeval-dev/coeval/topology/seamless"
)

// The environment of a child that embeds a node until it is killed.
const childEnv = "COEVAL_CLUSTER_CHILD"

// An order says what a child is to do.
type order struct {
	Dir, Node, ListenPeers string
	Peers                  []string
	Ping                   time.Duration
	Flush                  bool
	Write                  bool // to append all the time, and say what was acknowledged
	Secret                 string
	Zone                   string // to append to all the time, however long it takes
}

// joins has a child be a node.
func joins(o cluster.Options) order {
	return order{Dir: o.Dir, Node: o.Node, ListenPeers: o.ListenPeers, Peers: o.Peers, Ping: o.Ping}
}

func child() {
	if err := childRuns(); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

func childRuns() error {
	var o order
	if err := json.Unmarshal([]byte(os.Getenv(childEnv)), &o); err != nil {
		return err
	}
	ctx := context.Background()
	c, err := cluster.Embed(ctx, cluster.Options{Dir: o.Dir, Node: o.Node, Flush: o.Flush,
		ListenPeers: o.ListenPeers, Peers: o.Peers, Ping: o.Ping, Streams: 1, Secret: o.Secret})
	if err != nil {
		return err
	}
	fmt.Println("open")
	if o.Zone != "" {
		childGoesOn(ctx, c, o.Zone)
	}
	if !o.Write {
		select {} // until it is killed
	}
	var at [3]uint64
	for n := 0; ; n++ {
		var batch []seamless.Append
		for z := range at {
			batch = append(batch, seamless.Append{Zone: fmt.Sprint("zone", z), Expect: at[z],
				Data: fmt.Append(nil, "child: ", n)})
		}
		for z, out := range c.Journal().Append(ctx, batch) {
			if out.Err != nil {
				return out.Err
			}
			at[z] = out.Sequence
			fmt.Println("zone", z, n, out.Sequence)
		}
	}
}

// childGoesOn appends to a journal, each record until it is there.
func childGoesOn(ctx context.Context, c *cluster.Cluster, zone string) {
	at := uint64(0)
	for n := 0; ; n++ {
		for {
			once, cancel := context.WithTimeout(ctx, time.Second)
			seq, err := add(once, c, zone, at, fmt.Sprint("child: ", n))
			cancel()
			if err == nil {
				at = seq
				break
			}
			if errors.Is(err, seamless.ErrStale) {
				fmt.Println("error", n, err)
				os.Exit(1)
			}
		}
		fmt.Println("acked", n)
		time.Sleep(10 * time.Millisecond)
	}
}

// A process is a child.
type process struct {
	cmd  *exec.Cmd
	says *bufio.Scanner
}

func startChild(t testing.TB, o order) *process {
	t.Helper()
	return startIn(t, nil, o)
}

// startIn starts a child by a command that is given it.
func startIn(t testing.TB, within []string, o order) *process {
	t.Helper()
	b, err := json.Marshal(o)
	must(t, err)
	line := append(within, os.Args[0])
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), childEnv+"="+string(b))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	p := &process{cmd, bufio.NewScanner(out)}
	t.Cleanup(p.kill)
	return p
}

// kill ends it as nothing can prevent, and reads what it said before.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill() // it may have ended
		for p.says.Scan() {
		}
		_ = p.cmd.Wait() // it was killed
	}
}

func (p *process) hears(t testing.TB) string {
	t.Helper()
	if !p.says.Scan() || strings.HasPrefix(p.says.Text(), "error") {
		t.Fatalf("the child says %q, %v", p.says.Text(), p.says.Err())
	}
	return p.says.Text()
}

// What a killed process had been told as written is there when another one opens its folder.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, flush := range []bool{false, true} {
		t.Run(fmt.Sprint("flush ", flush), func(t *testing.T) {
			t.Parallel()
			o := cluster.Options{Dir: t.TempDir(), Flush: flush}
			p := startChild(t, order{Dir: o.Dir, Flush: flush, Write: true})
			if said := p.hears(t); said != "open" {
				t.Fatal(said)
			}
			told := [3]map[string]uint64{{}, {}, {}}
			for range 200 {
				var z, n int
				var at uint64
				_, err := fmt.Sscanf(p.hears(t), "zone %d %d %d", &z, &n, &at)
				must(t, err)
				told[z][fmt.Sprint("child: ", n)] = at
			}
			p.kill()
			c, err := cluster.Embed(t.Context(), o)
			must(t, err)
			defer func() { must(t, c.Close()) }()
			for z := range told {
				clustertest.CheckFenced(t, c, fmt.Sprint("zone", z), told[z])
			}
		})
	}
}

// rounds is how many nodes are killed, one after the other.
func rounds() int {
	if os.Getenv("COEVAL_SOAK") != "" {
		return 8
	}
	return 1
}

// A node is killed that leads the journals, while owners write and take zones from each other. What
// was acknowledged is there, once, and nothing of an owner stands behind another's fence.
func TestLeaderKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the election of a leader, which takes 4 to 9 s")
	}
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	n := clustertest.New(t, 3, cluster.Options{Replicas: 3, Streams: 1})
	p := startChild(t, joins(n.Options[2]))
	n.Resume(0, 1)
	l := newLoad(t, n.Open[:2], seed)
	for round := range rounds() {
		if round > 0 {
			p = startChild(t, joins(n.Options[2]))
		}
		p.hears(t)
		clustertest.Until(t, func() error {
			leader, err := n.Open[0].Leader(t.Context(), "zone0")
			if err == nil && leader != "n2" {
				err = errors.Join(fmt.Errorf("%q leads", leader),
					n.Open[0].Move(t.Context(), "zone0", "n2"))
			}
			return err
		})
		l.more(20)
		p.kill()
		l.more(20)
	}
	l.end()
	if rounds() > 1 {
		n.Resume(2)
	}
	for _, c := range n.Open {
		if c != nil {
			l.check(c)
			t.Logf("%+v", c.Counts())
		}
	}
}

// A load is owners that write several zones, and take them from each other.
type load struct {
	t     testing.TB
	open  []*cluster.Cluster
	stop  context.CancelFunc
	wg    sync.WaitGroup
	mu    sync.Mutex
	count int
	moved *sync.Cond
	told  [loadZones]map[string]uint64
	epoch int
}

const loadZones = 4

func newLoad(t testing.TB, open []*cluster.Cluster, seed uint64) *load {
	ctx, stop := context.WithCancel(t.Context())
	l := &load{t: t, open: open, stop: stop}
	l.moved = sync.NewCond(&l.mu)
	for z := range loadZones {
		l.told[z] = map[string]uint64{}
		for w, c := range open {
			r := rand.New(rand.NewPCG(seed, uint64(z*10+w)))
			l.wg.Go(func() {
				for ctx.Err() == nil {
					l.own(ctx, c, z, 1+r.IntN(30))
				}
			})
		}
	}
	t.Cleanup(l.end)
	return l
}

// own takes a zone from whoever has it, and writes until it is fenced off or has written enough. It
// goes on after an error as an owner does: the same record again.
func (l *load) own(ctx context.Context, c *cluster.Cluster, z, limit int) {
	l.mu.Lock()
	l.epoch++
	epoch := l.epoch
	l.mu.Unlock()
	zone := fmt.Sprint("zone", z)
	last, err := c.Journal().Last(ctx, zone)
	if err != nil && !errors.Is(err, seamless.ErrNone) {
		return
	}
	at := last.Sequence
	for n := 0; n < limit && ctx.Err() == nil; {
		data := fmt.Sprintf("epoch %d: %d", epoch, n)
		once, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		s, err := add(once, c, zone, at, data)
		cancel()
		switch {
		case err == nil:
			l.mu.Lock()
			l.told[z][data] = s
			l.count++
			l.moved.Broadcast()
			l.mu.Unlock()
			at = s
			n++
		case errors.Is(err, seamless.ErrStale):
			return
		case !errors.Is(err, seamless.ErrDoubt) && !errors.Is(err, seamless.ErrAway):
			l.t.Error(err)
			return
		}
	}
}

// more waits until so many more records were acknowledged.
func (l *load) more(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for until := l.count + n; l.count < until; {
		l.moved.Wait()
	}
}

func (l *load) end() {
	l.stop()
	l.wg.Wait()
}

func (l *load) check(c *cluster.Cluster) {
	for z := range l.told {
		clustertest.CheckFenced(l.t, c, fmt.Sprint("zone", z), l.told[z])
	}
}
