package paths

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/member"
)

// Real processes on machines of their own as far as the kernel is concerned, behind routers that
// translate addresses by the kernel's own means:
//
//	machine 1 -- router 1 --+
//	                        +-- carrier
//	machine 2 -- router 2 --+
//
// Both machines have the address 192.168.1.2, as happens in homes.

// What is set for the processes: carrier, or the member's number; and the address of a machine.
const (
	asMachine = "COEVAL_TEST_PATHS_AS"
	machineAt = "COEVAL_TEST_PATHS_AT"

	carrierAt = "203.0.113.1:7000"
)

func TestMain(m *testing.M) {
	switch as := os.Getenv(asMachine); as {
	case "":
		os.Exit(m.Run())
	case "carrier":
		runCarrier()
	default:
		runMachine(member.ID(as[0] - '0'))
	}
}

// endWithInput ends the process when its standard input does, which is with the test.
func endWithInput() {
	go func() {
		bufio.NewScanner(os.Stdin).Scan()
		os.Exit(0)
	}()
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runCarrier is the relay: it carries, and tells each where it sees the others.
func runCarrier() {
	endWithInput()
	l, err := udp.Listen(carrierAt, udp.Options{})
	must(err)
	fmt.Println("ready")
	at := make(map[member.ID]netip.AddrPort)
	batch := make([]link.Datagram, 64)
	for {
		_, err := l.Wait(-1)
		must(err)
		n, err := l.Receive(batch)
		must(err)
		for _, d := range batch[:n] {
			id := member.ID(binary.BigEndian.Uint16(d.Data[1:]))
			at[id] = d.Addr
			if d.Data[0] == simHello {
				for other, seen := range at {
					if other != id {
						send(l, d.Addr, appendSeen(other, seen))
					}
				}
				continue
			}
			if c, err := ReadCarried(d.Data[3:]); err == nil && at[c.Member].IsValid() {
				to := at[c.Member]
				c.Member = id
				send(l, to, c.Append([]byte{simCarry}))
			}
		}
	}
}

func appendSeen(id member.ID, at netip.AddrPort) []byte {
	text, err := at.MarshalBinary()
	must(err)
	return append(binary.BigEndian.AppendUint16([]byte{simSeen}, uint16(id)), text...)
}

func send(l link.Link, to netip.AddrPort, data []byte) {
	_, err := link.SendAll(l, []link.Datagram{{Addr: to, Data: data}})
	must(err)
}

// status is what a machine prints of the way to the other.
type status struct {
	Kind    string
	Addr    string
	Asks    uint64 // probes that we made
	Got     int    // datagrams that came
	Carried int    // of them by the carrier
}

// player is a machine over a socket.
type player struct {
	id    member.ID
	other member.ID
	link  link.Link
	relay netip.AddrPort
	paths *Paths
	now   time.Duration
	status
}

func runMachine(id member.ID) {
	endWithInput()
	l, err := udp.Listen(os.Getenv(machineAt), udp.Options{})
	must(err)
	m := &player{
		id: id, other: 3 - id, link: l, relay: netip.MustParseAddrPort(carrierAt),
		paths: New(Options{Self: id, Seed: [32]byte{byte(id)}})}
	m.paths.SetRelay(0, true)
	// Its own address is told as well; here that leads to ourselves, and does no harm.
	m.paths.Add(0, m.other, pairKey(1, 2), []netip.AddrPort{l.LocalAddr()})
	began := time.Now()
	batch := make([]link.Datagram, 64)
	for frame := 0; ; {
		due := time.Duration(frame) * time.Second / 60
		_, err := l.Wait(max(due-time.Since(began), 0))
		must(err)
		m.now = time.Since(began)
		n, err := l.Receive(batch)
		must(err)
		for _, d := range m.paths.Receive(m.now, batch[:n]) {
			m.take(d)
		}
		out := m.paths.Tick(m.now, nil)
		if m.now >= due {
			out = m.frame(frame, out)
			frame++
		}
		m.flush(out)
	}
}

// frame sends as a player does, and says how things are now and then.
func (m *player) frame(n int, out []link.Datagram) []link.Datagram {
	if n%6 == 0 {
		x, _ := m.paths.To(m.other)
		m.Kind, m.Addr, m.Asks = x.Kind.String(), x.Addr.String(), m.paths.Stats().Asks
		must(json.NewEncoder(os.Stdout).Encode(m.status))
	}
	if n%20 == 0 {
		hello := binary.BigEndian.AppendUint16([]byte{simHello}, uint16(m.id))
		out = append(out, link.Datagram{Addr: m.relay, Data: hello})
	}
	return append(out, link.Datagram{Addr: Addr(m.other), Data: []byte{simData, 1, 2, 3}})
}

func (m *player) take(d link.Datagram) {
	switch {
	case d.Addr == Addr(m.other):
		m.Got++
	case d.Addr != m.relay:
	case d.Data[0] == simSeen:
		var at netip.AddrPort
		must(at.UnmarshalBinary(d.Data[3:]))
		m.paths.Add(m.now, m.other, pairKey(1, 2), []netip.AddrPort{at})
	case d.Data[0] == simCarry:
		c, err := ReadCarried(d.Data[1:])
		must(err)
		if _, ok := m.paths.Carried(m.now, c); ok {
			m.Got++
			m.Carried++
		}
	}
}

func (m *player) flush(out []link.Datagram) {
	out = m.paths.Send(m.now, out)
	head := binary.BigEndian.AppendUint16([]byte{simCarry}, uint16(m.id))
	for _, c := range m.paths.Carry() {
		out = append(out, link.Datagram{Addr: m.relay, Data: c.Append(bytes.Clone(head))})
	}
	_, err := link.SendAll(m.link, out)
	must(err)
}

// needRouters ends the test where no routers can be made.
func needRouters(t *testing.T) {
	t.Helper()
	why := ""
	if _, err := exec.LookPath("ip"); err != nil {
		why = "ip is not here; install the package iproute2"
	} else if _, err := exec.LookPath("nft"); err != nil {
		why = "nft is not here; install the package nftables"
	} else if os.Geteuid() != 0 {
		why = "network namespaces need root"
	}
	switch {
	case why != "" && os.Getenv("CI") == "true":
		t.Fatal(why)
	case why != "":
		t.Skip(why)
	}
}

// told runs a tool, with text on its standard input.
func told(t *testing.T, input string, line ...string) {
	t.Helper()
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s\n%s", strings.Join(line, " "), err, out, input)
	}
}

// town is the machines, routers and the carrier, as namespaces.
type town struct{ carrier, router1, router2, machine1, machine2 string }

func build(t *testing.T) *town {
	name := func(s string) string { return fmt.Sprintf("paths%d-%s", os.Getpid()%100000, s) }
	w := &town{name("c"), name("r1"), name("r2"), name("m1"), name("m2")}
	all := []string{w.carrier, w.router1, w.router2, w.machine1, w.machine2}
	for _, n := range all {
		told(t, "", "ip", "netns", "add", n)
		t.Cleanup(func() { exec.Command("ip", "netns", "del", n).Run() })
	}
	told(t, "link add br0 type bridge\nlink set br0 up\naddr add 203.0.113.1/24 dev br0\n",
		"ip", "-n", w.carrier, "-batch", "-")
	for i, r := range []string{w.router1, w.router2} {
		m := []string{w.machine1, w.machine2}[i]
		port := fmt.Sprint("port", i)
		told(t, fmt.Sprintf("link add out netns %s type veth peer name %s netns %s\n"+
			"link add in netns %s type veth peer name eth netns %s\n", r, port, w.carrier, r, m),
			"ip", "-batch", "-")
		told(t, fmt.Sprintf("link set %s master br0\nlink set %s up\n", port, port),
			"ip", "-n", w.carrier, "-batch", "-")
		told(t, fmt.Sprintf("addr add 203.0.113.%d/24 dev out\nlink set out up\n"+
			"addr add 192.168.1.1/24 dev in\nlink set in up\n", 11+i), "ip", "-n", r, "-batch", "-")
		told(t, "addr add 192.168.1.2/24 dev eth\nlink set eth up\nlink set lo up\n"+
			"route add default via 192.168.1.1\n", "ip", "-n", m, "-batch", "-")
		told(t, "", "ip", "netns", "exec", r, "sh", "-c",
			"echo 1 > /proc/sys/net/ipv4/ip_forward")
	}
	return w
}

// translate has a router masquerade, and lets nobody in who was not asked, as routers in homes do.
func translate(t *testing.T, router, how string) {
	t.Helper()
	told(t, "flush ruleset\ntable ip home {\n"+
		"chain out { type nat hook postrouting priority srcnat; oifname out masquerade "+how+
		"; }\n"+
		"chain in { type filter hook input priority 0; iifname out ct state new drop; }\n"+
		"chain through { type filter hook forward priority 0; iifname out ct state new drop; }\n"+
		"}\n",
		"ip", "netns", "exec", router, "nft", "-f", "-")
}

// process is one that was started in a namespace.
type process struct {
	lines  *bufio.Scanner
	errors bytes.Buffer
}

func begin(t *testing.T, space, as, at string) *process {
	t.Helper()
	p := &process{}
	cmd := exec.CommandContext(t.Context(), "ip", "netns", "exec", space, os.Args[0])
	cmd.Env = append(os.Environ(), asMachine+"="+as, machineAt+"="+at)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines, cmd.Stderr, cmd.WaitDelay = bufio.NewScanner(out), &p.errors, 10*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return p
}

// until reads what a machine says until it is as wanted, or for so many lines that it never will.
func (p *process) until(t *testing.T, so func(status) bool) (last status) {
	t.Helper()
	for range 300 {
		if !p.lines.Scan() {
			t.Fatalf("it ended: %s", p.errors.String())
		}
		if err := json.Unmarshal(p.lines.Bytes(), &last); err != nil {
			t.Fatalf("%v: %s", err, p.lines.Text())
		}
		if so(last) {
			return last
		}
	}
	t.Fatalf("not so: %+v", last)
	return last
}

// block has a router drop what its machine sends to the other router, or lets it pass again.
func block(t *testing.T, router string, on bool) {
	t.Helper()
	rule := "flush chain ip home block\n"
	if on {
		rule = "add chain ip home block { type filter hook forward priority 1; }\n" +
			"add rule ip home block oifname out ip daddr 203.0.113.12 drop\n"
	}
	told(t, rule, "ip", "netns", "exec", router, "nft", "-f", "-")
}

// TestRealRouters: two machines behind two routers that masquerade find a direct path. When one
// direction of it is cut both go over the carrier, and back when it is mended. Where both routers
// choose ports at random they stay with the carrier, and hear each other all the same.
func TestRealRouters(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it starts processes")
	}
	needRouters(t)
	w := build(t)
	carrier := begin(t, w.carrier, "carrier", "")
	if carrier.lines.Scan(); carrier.lines.Text() != "ready" {
		t.Fatalf("no carrier: %s", carrier.errors.String())
	}
	begins := func(t *testing.T, how, at string) (one, two *process) {
		translate(t, w.router1, how)
		translate(t, w.router2, how)
		return begin(t, w.machine1, "1", at), begin(t, w.machine2, "2", at)
	}
	t.Run("masquerade", func(t *testing.T) {
		one, two := begins(t, "", "192.168.1.2:4000")
		for _, kind := range []string{"direct", "relay", "direct"} {
			if kind == "relay" {
				block(t, w.router1, true)
			}
			a, b := one.become(t, kind), two.become(t, kind)
			t.Logf("%+v, %+v", a, b)
			if kind == "direct" && (!strings.HasPrefix(a.Addr, "203.0.113.12:") ||
				!strings.HasPrefix(b.Addr, "203.0.113.11:")) {
				t.Errorf("direct, but at %s and %s", a.Addr, b.Addr)
			}
			if kind == "relay" {
				block(t, w.router1, false)
			}
		}
	})
	t.Run("random ports on both", func(t *testing.T) {
		// The kernel remembers what was at the other port.
		one, two := begins(t, "fully-random", "192.168.1.2:4001")
		never := func(s status) bool {
			if s.Kind == "direct" {
				t.Errorf("a direct path: %+v", s)
			}
			// When so many asks were made, what could have answered has.
			return s.Kind == "relay" && s.Asks > 20 && s.Got > 30 && s.Carried == s.Got
		}
		a, b := one.until(t, never), two.until(t, never)
		t.Logf("%+v, %+v", a, b)
	})
}

// become waits until a machine reaches the other by a kind of path, and hears it for a while then.
func (p *process) become(t *testing.T, kind string) status {
	t.Helper()
	since := p.until(t, func(s status) bool { return s.Kind == kind })
	return p.until(t, func(s status) bool { return s.Kind == kind && s.Got > since.Got+10 })
}
