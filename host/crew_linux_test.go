package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/load"
	"github.com/coeval-dev/coeval/host/internal/mirrors"
)

// A crew is mirrors and bots that run as processes of their own, each on a machine of its own as
// far as the kernel is concerned if it has a namespace.
type crew struct {
	t       *testing.T
	key     string
	mirrors []*mirrorProcess
	bots    []*botsProcess
}

// A mirrorProcess is a place for a mirror, which may be killed and started again.
type mirrorProcess struct {
	*crew
	space string // its network namespace, or none
	args  []string
	udp   string
	http  string
	addr  string
	cmd   *exec.Cmd
	log   *logLines
}

// process starts the program, in a namespace if there is one.
func (c *crew) process(space string, args ...string) *exec.Cmd {
	line := append([]string{os.Args[0]}, args...)
	if space != "" {
		line = append([]string{"ip", "netns", "exec", space}, line...)
	}
	cmd := exec.CommandContext(c.t.Context(), line[0], line[1:]...)
	cmd.Env = append(os.Environ(), asMirror+"=1")
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// mirror starts a mirror at an address: the first founds the game, the others join it.
func (c *crew) mirror(space, host string, args ...string) *mirrorProcess {
	m := &mirrorProcess{
		crew: c, space: space, udp: net.JoinHostPort(host, "0"), addr: net.JoinHostPort(host, "0"),
		args: args}
	c.mirrors = append(c.mirrors, m)
	m.start()
	return m
}

// start begins a life of the mirror, at the addresses that it had in the one before.
func (m *mirrorProcess) start() {
	m.t.Helper()
	m.launch()
	m.serves()
}

// launch starts the mirror's process.
func (m *mirrorProcess) launch() {
	t := m.t
	t.Helper()
	args := append([]string{"mirror", "--listen", m.udp, "--mirrors", m.addr, "--key", m.key,
		"--open", "--json", "--metrics-from", "all", "--patience", "30s"}, m.args...)
	var others []string
	for _, x := range m.mirrors {
		if x != m {
			others = append(others, x.addr)
		}
	}
	if len(others) == 0 {
		args = append(args[:len(args)-len(m.args)-2], append(m.args, "--uber")...)
	} else {
		args = append(args, "--join", strings.Join(others, ","))
	}
	m.cmd = m.process(m.space, args...)
	pipe, err := m.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m.log = follow(pipe)
}

// serves waits until the mirror does.
func (m *mirrorProcess) serves() {
	m.t.Helper()
	line, _ := m.log.await("serving", 0)
	if line == nil {
		m.t.Fatalf("a mirror does not serve: %v\n%s", m.cmd.Wait(), m.log)
	}
	m.udp, m.http, m.addr = line["udp"].(string), line["http"].(string), line["address"].(string)
}

// end ends the mirror by a signal and gives the exit code.
func (m *mirrorProcess) end(s os.Signal) int {
	if err := m.cmd.Process.Signal(s); err != nil {
		m.t.Error(err)
	}
	_ = m.cmd.Wait() // the code says it
	code := m.cmd.ProcessState.ExitCode()
	m.cmd = nil
	return code
}

// status asks how a mirror is. One that does not answer is in no phase.
func (m *mirrorProcess) status() (st mirrors.Status) {
	if m.cmd == nil {
		return st
	}
	client := http.Client{
		Timeout: 3 * time.Second, Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				return dialIn(ctx, m.space, network, addr)
			}}}
	resp, err := client.Get("http://" + m.http + "/status")
	if err != nil {
		return st
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && json.Unmarshal(b, &st) != nil {
		st = mirrors.Status{}
	}
	return st
}

// dialIn connects from inside a network namespace.
func dialIn(ctx context.Context, space, network, addr string) (net.Conn, error) {
	var d net.Dialer
	if space == "" {
		return d.DialContext(ctx, network, addr)
	}
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	defer home.Close()
	away, err := os.Open(filepath.Join("/run/netns", space))
	if err != nil {
		return nil, err
	}
	defer away.Close()
	if err := unix.Setns(int(away.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	c, err := d.DialContext(ctx, network, addr)
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return nil, back // the thread stays locked, and ends with the goroutine
	}
	runtime.UnlockOSThread()
	return c, err
}

// A botsProcess is bots that came to one mirror.
type botsProcess struct {
	cmd *exec.Cmd
	out strings.Builder
	err strings.Builder
}

// join lets bots come to a mirror.
func (c *crew) join(space string, m *mirrorProcess, count int) {
	c.t.Helper()
	b := &botsProcess{
		cmd: c.process(space, "bots", "--server", m.http, "--count", fmt.Sprint(count), "--spread",
			"0.1", "--json")}
	b.cmd.Stdout, b.cmd.Stderr = &b.out, &b.err
	if err := b.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.bots = append(c.bots, b)
}

// wait waits until the crew is as it should be: all mirrors that run serve, in one group, with so
// many players among them.
func (c *crew) wait(what string, players int) {
	c.t.Helper()
	c.until(what, func(all []mirrors.Status) bool {
		playing := 0
		for _, st := range all {
			if st.Phase != "serving" || len(st.Mirrors) != len(all) || st.Uber != all[0].Uber ||
				st.Uber == 0 {
				return false
			}
			playing += st.Players
		}
		return playing == players
	})
}

// until waits for something to be so of the mirrors that run.
func (c *crew) until(what string, so func([]mirrors.Status) bool) {
	c.t.Helper()
	// Nothing is measured by it: who does not get there at all is not waited for forever.
	patience := time.NewTimer(45 * time.Second)
	defer patience.Stop()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		var all []mirrors.Status
		for _, m := range c.mirrors {
			if m.cmd != nil {
				all = append(all, m.status())
			}
		}
		if so(all) {
			return
		}
		select {
		case <-look.C:
		case <-patience.C:
			for i, m := range c.mirrors {
				if m.cmd != nil {
					c.t.Logf("mirror %d: %+v\n%s", i+1, m.status(), m.log)
				}
			}
			c.t.Fatalf("%s: not so", what)
		}
	}
}

// acquainted lets a second and a half of the game pass everywhere: mirrors tell each other once a
// second where players find them, and who does not know of another cannot go there.
func (c *crew) acquainted() {
	c.t.Helper()
	goal := uint64(0)
	c.until("time passes", func(all []mirrors.Status) bool {
		least := all[0].Tick
		for _, st := range all {
			least = min(least, st.Tick)
		}
		if goal == 0 {
			goal = all[0].Tick + 90
		}
		return least > goal
	})
}

// finish ends the bots and looks at what they say: none of them was thrown out.
func (c *crew) finish(count int) {
	c.t.Helper()
	for i, b := range c.bots {
		if err := b.cmd.Process.Signal(os.Interrupt); err != nil {
			c.t.Error(err)
		}
		err := b.cmd.Wait()
		var r load.Report
		if e := json.Unmarshal([]byte(b.out.String()), &r); e != nil || err != nil ||
			r.Played != count || len(r.Ended) != 0 {
			c.t.Errorf("bots %d: %v, %v\n%s\n%s", i, err, e, b.out.String(), b.err.String())
		}
	}
	for i, m := range c.mirrors {
		if m.cmd == nil {
			continue
		}
		if code := m.end(os.Interrupt); code != cli.ExitOK {
			c.t.Errorf("mirror %d: exit code %d\n%s", i+1, code, m.log)
		}
		if line, _ := m.log.await("settled worlds differ", 0); line != nil {
			c.t.Errorf("mirror %d: %v", i+1, line)
		}
	}
}

// uber is which of the mirrors is überserver.
func (c *crew) uber() int {
	for i, m := range c.mirrors {
		if st := m.status(); st.Uber != 0 && st.Uber == st.Mirror {
			return i
		}
	}
	c.t.Fatal("there is no überserver")
	return 0
}

// tickOf is the tick that a mirror shows.
func tickOf(t *testing.T, at string) uint64 {
	t.Helper()
	_, text := get(t, "http://"+at+"/status")
	var st mirrors.Status
	if err := json.Unmarshal([]byte(text), &st); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return st.Tick
}
