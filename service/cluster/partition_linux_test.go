package cluster_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/cluster"
	"github.com/coeval-dev/coeval/service/cluster/clustertest"
)

// apart is three nodes, each a process on a machine of its own as far as the kernel is concerned,
// which write into a journal of their own all the time.
type apart struct {
	t     *testing.T
	nodes *clustertest.Nodes
	procs []*process

	mu    sync.Mutex
	acked [3]int // how many appends of each were acknowledged
}

func ip(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// Names are of this process, as others may do the same.
func space(i int) string { return fmt.Sprintf("coevalnats%d-%d", os.Getpid(), i) }
func wire(i int) string  { return fmt.Sprintf("cvn%d-%d", os.Getpid(), i) }

func newApart(t *testing.T) *apart {
	a := &apart{t: t, nodes: clustertest.New(t, 3, cluster.Options{Secret: "of the test"})}
	bridge := wire(9)
	ip(t, "link", "add", bridge, "type", "bridge")
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", bridge).Run() })
	ip(t, "link", "set", bridge, "up")
	var peers []string
	for i := range 3 {
		ip(t, "netns", "add", space(i))
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", space(i)).Run() })
		ip(t, "link", "add", wire(i), "type", "veth", "peer", "name", "eth0", "netns", space(i))
		ip(t, "link", "set", wire(i), "master", bridge, "up")
		ip(t, "-n", space(i), "addr", "add", fmt.Sprintf("10.213.77.%d/24", i+1), "dev", "eth0")
		ip(t, "-n", space(i), "link", "set", "eth0", "up")
		ip(t, "-n", space(i), "link", "set", "lo", "up")
		peers = append(peers, fmt.Sprintf("10.213.77.%d:6222", i+1))
	}
	for i, o := range a.nodes.Options {
		own := joins(o)
		own.ListenPeers, own.Peers, own.Secret, own.Ping = peers[i], peers, o.Secret, time.Second
		own.Zone = fmt.Sprint("zone", i)
		p := startIn(t, []string{"ip", "netns", "exec", space(i)}, own)
		a.procs = append(a.procs, p)
	}
	for i, p := range a.procs {
		p.hears(t) // that it is open
		go func() {
			for p.says.Scan() {
				if strings.HasPrefix(p.says.Text(), "acked") {
					a.mu.Lock()
					a.acked[i]++
					a.mu.Unlock()
				}
			}
		}()
	}
	return a
}

func (a *apart) counts() [3]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.acked
}

// goesOn waits until nodes have had more acknowledged.
func (a *apart) goesOn(what string, nodes ...int) {
	a.t.Helper()
	before, began := a.counts(), time.Now()
	clustertest.Until(a.t, func() error {
		now := a.counts()
		for _, i := range nodes {
			if now[i] < before[i]+20 {
				return fmt.Errorf("%s: node %d has had %d appends acknowledged since", what, i,
					now[i]-before[i])
			}
		}
		return nil
	})
	a.t.Logf("%s: nodes %v go on after %v", what, nodes, time.Since(began).Round(time.Millisecond))
}

// TestPartition cuts a node from the others, or with COEVAL_SOAK one after the other, and then all.
// Those who are two go on, one who is alone does not, and what was acknowledged is there in the
// end, once.
func TestPartition(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the election of leaders, which takes 4 to 9 s")
	}
	if err := exec.Command("ip", "netns", "list").Run(); os.Geteuid() != 0 || err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("it needs root, and iproute2")
		}
		t.Skip("it needs root, and iproute2, to make machines as far as the kernel is concerned")
	}
	t.Parallel()
	cuts := 1
	if os.Getenv("COEVAL_SOAK") != "" {
		cuts = 3
	}
	a := newApart(t)
	a.goesOn("at first", 0, 1, 2)
	for i := range cuts {
		ip(t, "link", "set", wire(i), "down")
		others := []int{(i + 1) % 3, (i + 2) % 3}
		a.goesOn(fmt.Sprintf("node %d is cut off", i), others...)
		before := a.counts()[i]
		a.goesOn(fmt.Sprintf("node %d is still cut off", i), others...)
		if now := a.counts()[i]; now > before {
			t.Errorf("%d appends of a node that is cut off were acknowledged", now-before)
		}
		ip(t, "link", "set", wire(i), "up")
		a.goesOn(fmt.Sprintf("node %d is back", i), 0, 1, 2)
	}
	for i := range 3 {
		ip(t, "link", "set", wire(i), "down")
	}
	time.Sleep(3 * time.Second) // so long that they give each other up
	for i := range 3 {
		ip(t, "link", "set", wire(i), "up")
	}
	a.goesOn("all were cut from each other", 0, 1, 2)
	acked := a.counts()
	for _, p := range a.procs {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // it was killed
	}
	a.nodes.Resume()
	for i, n := range acked {
		list := read(t, a.nodes.Open[0], fmt.Sprint("zone", i))
		for k, r := range list {
			if string(r.Data) != fmt.Sprintf("child: %d", k) {
				t.Fatalf("record %d of zone %d is %q", k, i, r.Data)
			}
		}
		if len(list) < n {
			t.Errorf("zone %d has %d records, and %d were acknowledged", i, len(list), n)
		}
		t.Logf("zone %d: %d records, at least %d acknowledged", i, len(list), n)
	}
}
