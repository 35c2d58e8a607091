package host

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/mirrors"
)

// TestMirrorProcesses: three mirrors with bots on each, of which first one and then the überserver
// is killed without a word, and started again; then one leaves in good order. All bots play on.
func TestMirrorProcesses(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it takes its time")
	}
	c := &crew{t: t, key: groupKeyFor(t)}
	for range 3 {
		c.mirror("", "127.0.0.1")
	}
	const each = 2
	for _, m := range c.mirrors {
		c.join("", m, each)
	}
	c.wait("three mirrors, six bots", 3*each)
	c.acquainted()

	c.mirrors[2].end(syscall.SIGKILL)
	c.wait("the bots of a mirror that was killed play at the others", 3*each)
	c.mirrors[2].start()
	c.wait("it is back", 3*each)
	c.acquainted()

	c.mirrors[0].end(syscall.SIGKILL)
	c.wait("another is überserver, and all play", 3*each)
	c.mirrors[0].start()
	c.wait("the old überserver is back", 3*each)
	c.acquainted()

	if code := c.mirrors[1].end(os.Interrupt); code != cli.ExitOK {
		t.Errorf("exit code %d\n%s", code, c.mirrors[1].log)
	}
	c.wait("the bots of a mirror that left play at the others", 3*each)
	c.finish(each)
}

// TestMirrorsWithAWitness: of two mirrors and a witness either mirror may die, the überserver as
// well, and the game goes on.
func TestMirrorsWithAWitness(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it takes its time")
	}
	c := &crew{t: t, key: groupKeyFor(t)}
	c.mirror("", "127.0.0.1")
	c.mirror("", "127.0.0.1")
	cmd, log, _ := c.witness("127.0.0.1:0")
	c.join("", c.mirrors[0], 1)
	c.join("", c.mirrors[1], 1)
	c.wait("two mirrors, two bots", 2)
	c.acquainted()
	c.mirrors[0].end(syscall.SIGKILL)
	c.wait("the other mirror leads, and both bots play there", 2)
	c.finish(1)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the witness: %v\n%s", err, log)
	}
}

// witness starts a witness of the mirrors, at an address, and waits until it is in the group.
func (c *crew) witness(addr string, more ...string) (cmd *exec.Cmd, log *logLines, at string) {
	c.t.Helper()
	var all []string
	for _, m := range c.mirrors {
		all = append(all, m.addr)
	}
	cmd = c.process("", append([]string{"mirror", "--witness", "--join", strings.Join(all, ","),
		"--mirrors", addr, "--key", c.key, "--json"}, more...)...)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	log = follow(pipe)
	line, _ := log.await("witness", 0)
	if line == nil {
		c.t.Fatalf("no witness: %v\n%s", cmd.Wait(), log)
	}
	return cmd, log, line["address"].(string)
}

// TestMirrorsToAnotherLevel: players go to another group that plays another level: one command
// sends them there, and they are the same people.
func TestMirrorsToAnotherLevel(t *testing.T) {
	t.Parallel() // it mostly waits
	dir := filepath.Join(t.TempDir(), "admin")
	ada := newToken(t, dir, "operate")
	one := &crew{t: t, key: groupKeyFor(t)}
	two := &crew{t: t, key: one.key}
	m := one.mirror("", "127.0.0.1", "--game", "arena", "--admin", "127.0.0.1:0", "--admin-dir",
		dir)
	n := two.mirror("", "127.0.0.1", "--game", "arena", "--level", "foundry")
	if line, _ := n.log.await("serving", 0); line["level"] != "foundry" {
		t.Errorf("%v", line)
	}
	one.join("", m, 1)
	one.wait("a bot plays", 1)
	joined, _ := m.log.await("joined", 0)
	answered, _ := m.log.await("operators are answered", 0)
	access := []string{"--server", "http://" + answered["admin"].(string), "--token-file", ada}
	if code, _, errs := hill(append([]string{"admin", "drain", n.udp}, access...)...); code != 0 {
		t.Error(errs)
	}
	two.wait("the bot plays there", 1)
	if came, _ := n.log.await("joined", 0); came["client"] != joined["client"] {
		t.Errorf("%v came, who was %v", came, joined)
	}
	one.finish(1)
	if code := n.end(os.Interrupt); code != cli.ExitOK {
		t.Errorf("exit code %d\n%s", code, n.log)
	}
}

// TestMirrorsAcrossNamespaces: three mirrors and their bots on machines of their own, as far as the
// kernel is concerned, on one bridge; a link is cut and mended.
func TestMirrorsAcrossNamespaces(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it takes its time")
	}
	hosttest.NeedNamespaces(t)
	name := func(i int) string { return fmt.Sprintf("mirror%d-%d", os.Getpid()%10000, i) }
	const bridge, outside = 9, 3 // bots are on the machine outside
	add := func(i int) {
		hosttest.IP(t, "netns", "add", name(i))
		t.Cleanup(func() { exec.Command("ip", "netns", "del", name(i)).Run() })
		hosttest.IP(t, "-n", name(i), "link", "set", "lo", "up")
	}
	add(bridge)
	hosttest.IP(t, "-n", name(bridge), "link", "add", "br0", "type", "bridge")
	hosttest.IP(t, "-n", name(bridge), "link", "set", "br0", "up")
	port := func(i int) string { return fmt.Sprint("port", i) }
	host := func(i int) string { return fmt.Sprintf("10.98.0.%d", i+1) }
	for i := range 4 {
		add(i)
		hosttest.IP(t, "link", "add", "eth9", "netns", name(i), "type", "veth", "peer", "name",
			port(i), "netns", name(bridge))
		hosttest.IP(t, "-n", name(bridge), "link", "set", port(i), "master", "br0")
		hosttest.IP(t, "-n", name(bridge), "link", "set", port(i), "up")
		hosttest.IP(t, "-n", name(i), "addr", "add", host(i)+"/24", "dev", "eth9")
		hosttest.IP(t, "-n", name(i), "link", "set", "eth9", "up")
		if i == outside {
			continue
		}
		if out, err := exec.Command("ip", "netns", "exec", name(i), "tc", "qdisc", "add", "dev",
			"eth9", "root", "netem", "delay", "20ms", "2ms").CombinedOutput(); err != nil {
			t.Logf("machine %d is not further away than it is, there is no netem here: %v: %s", i,
				err, out)
		}
	}
	c := &crew{t: t, key: groupKeyFor(t)}
	for i := range 3 {
		c.mirror(name(i), host(i))
	}
	for _, m := range c.mirrors {
		c.join(name(outside), m, 1)
	}
	c.join(name(2), c.mirrors[2], 1) // it is cut off together with its mirror
	c.wait("three mirrors, four bots", 4)
	c.acquainted()
	// which mirror, and how many bots can reach the others
	for _, cut := range []struct{ lone, reach int }{{2, 3}, {c.uber(), 4}} {
		lone := cut.lone
		hosttest.IP(t, "-n", name(bridge), "link", "set", port(lone), "down")
		c.until("the others go on without the one that is cut off, which stops, and all play "+
			"there who can", func(all []mirrors.Status) bool {
			playing := 0
			for i, st := range all {
				if i == lone && st.Phase == "serving" || i != lone &&
					(st.Phase != "serving" || len(st.Mirrors) != 2 || !slices.Contains(st.Mirrors,
						st.Uber)) {
					return false
				}
				if i != lone {
					playing += st.Players
				}
			}
			return playing == cut.reach
		})
		hosttest.IP(t, "-n", name(bridge), "link", "set", port(lone), "up")
		c.wait("the link is mended", 4)
		c.acquainted()
	}
	c.finish(1)
}

// TestMirrorOnAFullDisk: what cannot be recorded is said once, and the game goes on.
func TestMirrorOnAFullDisk(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it takes its time")
	}
	hosttest.NeedNamespaces(t) // it needs root as well
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Skipf("no disk can be made that is full: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	m := mirrorIn(t, "--uber", "--key", groupKeyFor(t), "--open", "--level", "foundry", "--record",
		filepath.Join(dir, "match.trace"))
	if err := os.WriteFile(filepath.Join(dir, "other"), make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	ctx, enough := context.WithCancel(t.Context())
	played := make(chan string, 1)
	go func() {
		_, stdout, stderr := tryMirror(ctx, "bots", "--server", m.HTTP, "--count", "24", "--spread",
			"0.1", "--json")
		played <- stdout + stderr
	}()
	line, next := m.log.await("not recording any more", 0)
	at := tickOf(t, m.HTTP)
	for tickOf(t, m.HTTP) <= at+30 { // the game goes on
		runtime.Gosched()
	}
	_, text := get(t, "http://"+m.HTTP+"/readyz")
	if text != "ready\n" {
		t.Errorf("the mirror says %q", text)
	}
	enough()
	if out := <-played; !strings.Contains(out, `"played":24`) || strings.Contains(out, `"ended"`) {
		t.Errorf("bots: %s", out)
	}
	if code := m.stop(); code != cli.ExitFailure {
		t.Errorf("exit code %d", code)
	}
	if line == nil || !strings.Contains(fmt.Sprint(line["error"]), "no space left") {
		t.Fatalf("%v\n%s", line, m.log)
	}
	if again, _ := m.log.await("not recording any more", next); again != nil {
		t.Errorf("it is said again: %v", again)
	}
	if !strings.Contains(m.log.String(), "the match is not recorded") {
		t.Errorf("it is not said in the end:\n%s", m.log)
	}
}
