package crimp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/tools/crimp"
	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
)

// process is the program running in a process of its own.
type process struct {
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	last   string
	stderr bytes.Buffer
}

// begin starts the program; prefix is what to start it with, such as ip netns exec.
func begin(t *testing.T, prefix []string, args ...string) *process {
	t.Helper()
	line := append(append(prefix[:len(prefix):len(prefix)], os.Args[0]), args...)
	p := &process{cmd: exec.CommandContext(t.Context(), line[0], line[1:]...)}
	p.cmd.Env = append(os.Environ(), "COEVAL_TEST_AS_PROGRAM=1")
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines, p.cmd.Stderr = bufio.NewScanner(out), &p.stderr
	p.cmd.WaitDelay = 10 * time.Second
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// until reads reports up to one that is as wanted.
func (p *process) until(t *testing.T, so func(crimp.Report) bool) (r crimp.Report) {
	t.Helper()
	for p.lines.Scan() {
		p.last = p.lines.Text()
		if err := json.Unmarshal([]byte(p.last), &r); err != nil {
			t.Fatalf("%v: %s", err, p.last)
		}
		if so(r) {
			return r
		}
	}
	err := p.cmd.Wait()
	t.Fatalf("%v: ended with %v before it got there\n%s\n%s", p.cmd.Args[1:], err, p.last,
		p.stderr.String())
	return r
}

// end waits for the program and gives what it reported last.
func (p *process) end(t *testing.T) crimp.Report {
	t.Helper()
	r := p.until(t, func(r crimp.Report) bool { return r.End })
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s\n%s", p.cmd.Args[1:], err, p.last, p.stderr.String())
	}
	return r
}

func groupKey(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "group.key")
	if code, _, stderr := toolstest.Try("token", "key", "--out", file); code != 0 {
		t.Fatal(stderr)
	}
	return file
}

// crimpParty runs two that listen and two that send, and checks that all was delivered.
func crimpParty(t *testing.T, where func(i int) (prefix, args []string), founder string) {
	t.Helper()
	const packets = 300
	key := groupKey(t)
	common := []string{"--key", key, "--json", "--history", "5s", "--lose", "0.05"}
	start := func(i int, args ...string) *process {
		prefix, own := where(i)
		return begin(t, prefix,
			append(append(append([]string{"crimp"}, args...), common...), own...)...)
	}
	all := fmt.Sprint(2 * packets)
	var listeners, senders []*process
	// The founder stays to the end, to be delivered all.
	first := start(0, "listen")
	listener := start(1, "listen", "--to", founder, "--until", all)
	listener.until(t, func(r crimp.Report) bool { return r.Begun })
	listeners = append(listeners, listener)
	for i := range 2 {
		senders = append(senders,
			start(2+i, "send", "--to", founder, "--packets", fmt.Sprint(packets), "--period", "4ms",
				"--wait", "4"))
	}
	for i, p := range senders {
		if r := p.end(t); r.Sent != packets {
			t.Errorf("sender %d sent %d of %d: %+v", i, r.Sent, packets, r)
		}
	}
	for i, p := range append(listeners, first) {
		if p == first {
			if err := first.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
		r := p.end(t)
		if r.Delivered != 2*packets || r.GivenUp != 0 {
			t.Errorf("listener %d was delivered %d of %d: %+v", i, r.Delivered, 2*packets, r)
		}
		t.Logf("listener %d: %+v", i, r)
	}
}

func TestCrimpMesh(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	const founder = "127.0.0.1:47311"
	crimpParty(t, func(i int) (prefix, args []string) {
		return nil, []string{"--mesh", "--listen", fmt.Sprint("127.0.0.1:", 47311+i)}
	}, founder)
}

// TestCrimpAcrossNamespaces: four machines, as far as the kernel is concerned, on one
// bridge, with real IP multicast, of which each throws away a twentieth.
func TestCrimpAcrossNamespaces(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	hosttest.NeedNamespaces(t)
	name := func(i int) string { return fmt.Sprintf("coeval%d-%d", os.Getpid()%10000, i) }
	const bridge = 9
	add := func(i int) {
		hosttest.IP(t, "netns", "add", name(i))
		t.Cleanup(func() { exec.Command("ip", "netns", "del", name(i)).Run() })
		hosttest.IP(t, "-n", name(i), "link", "set", "lo", "up")
	}
	add(bridge)
	hosttest.IP(t, "-n", name(bridge), "link", "add", "br0", "type", "bridge", "mcast_snooping",
		"0")
	hosttest.IP(t, "-n", name(bridge), "link", "set", "br0", "up")
	for i := range 4 {
		add(i)
		port := fmt.Sprint("port", i)
		hosttest.IP(t, "link", "add", "eth9", "netns", name(i), "type", "veth", "peer", "name",
			port, "netns", name(bridge))
		hosttest.IP(t, "-n", name(bridge), "link", "set", port, "master", "br0")
		hosttest.IP(t, "-n", name(bridge), "link", "set", port, "up")
		hosttest.IP(t, "-n", name(i), "addr", "add", fmt.Sprintf("10.99.0.%d/24", i+1), "dev",
			"eth9")
		hosttest.IP(t, "-n", name(i), "link", "set", "eth9", "up")
	}
	where := func(i int) (prefix, args []string) {
		return []string{"ip", "netns", "exec", name(i)},
			[]string{"--group", "239.99.0.1:4000", "--interface", "eth9", "--listen",
				fmt.Sprintf("10.99.0.%d:4001", i+1)}
	}
	crimpParty(t, where, "10.99.0.1:4001")

	t.Run("no route", func(t *testing.T) {
		hosttest.IP(t, "-n", name(3), "link", "set", "eth9", "down")
		p := begin(t, []string{"ip", "netns", "exec", name(3)}, "crimp", "listen", "--key",
			groupKey(t), "--group", "239.99.0.1:4000")
		if err := p.cmd.Wait(); err == nil || !strings.Contains(p.stderr.String(), "--mesh") ||
			!strings.Contains(p.stderr.String(), "no route") {
			t.Errorf("%v: %s", err, p.stderr.String())
		}
		p = begin(t, []string{"ip", "netns", "exec", name(3)}, "crimp", "listen", "--key",
			groupKey(t), "--group", "239.99.0.1:4000", "--interface", "eth9")
		if err := p.cmd.Wait(); err == nil || !strings.Contains(p.stderr.String(), "is down") {
			t.Errorf("%v: %s", err, p.stderr.String())
		}
	})
}

func TestCrimpSaysWhatIsWrong(t *testing.T) {
	key := groupKey(t)
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no carrier", []string{"listen", "--key", key}, toolstest.ExitUsage, "--mesh"},
		{"no founder", []string{"send", "--key", key, "--mesh"}, toolstest.ExitUsage, "--to"},
		{"no key", []string{"listen", "--key", key + "x", "--mesh"}, toolstest.ExitFailure,
			"coeval token key"},
		{"no such interface",
			[]string{"listen", "--key", key, "--group", "239.1.2.3:4000", "--interface", "nosuch0"},
			toolstest.ExitFailure, "this machine has"},
		{"no multicast address", []string{"listen", "--key", key, "--group", "10.1.2.3:4000"},
			toolstest.ExitFailure, "239.0.0.0/8"},
		{"no reachable address", []string{"listen", "--key", key, "--mesh"}, toolstest.ExitUsage,
			"--listen"},
		{"odd fec", []string{"listen", "--key", key, "--mesh", "--fec", "lots"},
			toolstest.ExitUsage, "parity"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, _, stderr := toolstest.Try(append([]string{"crimp"}, c.args...)...)
			if code != c.code || !strings.Contains(stderr, c.says) {
				t.Errorf("code %d, want %d with %q: %s", code, c.code, c.says, stderr)
			}
		})
	}
	t.Run("wrong key", func(t *testing.T) {
		founder := begin(t, nil, "crimp", "listen", "--key", key, "--mesh", "--listen",
			"127.0.0.1:47331", "--json")
		defer func() {
			founder.cmd.Process.Signal(os.Interrupt)
			founder.cmd.Wait()
		}()
		code, _, stderr := toolstest.Try("crimp", "send", "--key", groupKey(t), "--mesh",
			"--listen", "127.0.0.1:47332", "--to", "127.0.0.1:47331")
		if code != toolstest.ExitFailure ||
			!strings.Contains(stderr, "use a token, or key, that the group knows") {
			t.Errorf("code %d: %s", code, stderr)
		}
	})
}
