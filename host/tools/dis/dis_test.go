package dis_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools/dis"
	"github.com/coeval-dev/coeval/world"
)

var program = host.Program{Name: "coevald", Tools: []host.Command{dis.Command},
	Titles: []*game.Title{pong.Title}}

// buffer is one that several goroutines may write to: a program says that it stops from another.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// try runs a command line.
func try(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs buffer
	code = program.Run(ctx, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no capture ", 9)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args           string
		code           int
		stdout, stderr string // what each must contain; empty means empty
	}{
		{"dis", 0, "coevald dis listen", ""},
		{"dis listen --help", 0, "table that is kept up to date", ""},
		{"dis hear", 2, "", `there is no command "hear"`},
		{"dis listen --to nowhere", 1, "", "name one such as 239.1.2.3:3000"},
		{"dis listen --exercise 300", 2, "", "choose 0 to 255"},
		{"dis listen --every 1ns", 2, "", "choose 10ms or more"},
		{"dis record", 2, "", "accepts 1 arg"},
		{"dis record " + text + " --to 127.0.0.1:9 --listen 127.0.0.1:0", 1, "", "file exists"},
		{"dis play " + text, 1, "", "no capture in the format pcap"},
		{"dis play " + dir + "/none", 1, "", "no such file"},
		{"dis play " + text + " --speed 0", 2, "", "choose more than 0"},
		{"dis fly --at 95,0", 2, "", "is not on Earth"},
		{"dis fly --at here", 2, "", "is no place"},
		{"dis fly --entities 0", 2, "", "choose 1 to 10000"},
		{"dis fly --type x", 2, "", "no type of entity"},
		{"dis gateway", 2, "", "required flag"},
		{"dis gateway --key none --peer 127.0.0.1:9", 1, "", "there is no key file"},
		{"dis gateway --key none --peer 127.0.0.1:9 --near 1,2", 2, "", "is no area"},
		{"dis gateway --key none --peer 127.0.0.1:9 --types x", 2, "", "no type of entity"},
		{"dis show", 2, "", "accepts 1 arg"},
		{"dis show 127.0.0.1:1 --types none", 1, "", "none"},
		{"dis show 127.0.0.1:1 --types " + text, 1, "", "no JSON such as"},
		{"dis show 127.0.0.1:1 --at here", 2, "", "is no place"},
		{"dis measure --entities 0", 2, "", "choose 1 to 20000"},
		{"dis fly --version 5", 2, "", "choose 6 or 7"},
	} {
		code, stdout, stderr := try(t.Context(), strings.Fields(x.args)...)
		if code != x.code {
			t.Errorf("%q: exit code %d, want %d: %s", x.args, code, x.code, stderr)
		}
		for _, s := range []struct{ got, want string }{{stdout, x.stdout}, {stderr, x.stderr}} {
			if (s.want == "") != (s.got == "") || !strings.Contains(s.got, s.want) {
				t.Errorf("%q prints %q, want it to contain %q", x.args, s.got, s.want)
			}
		}
	}
}

// free is a UDP port of this machine that nobody uses.
func free(t *testing.T) string {
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().String()
}

// lines are what a command prints, one at a time as it prints them.
type lines struct{ c chan string }

func (l *lines) Write(b []byte) (int, error) {
	l.c <- string(b)
	return len(b), nil
}

// listens starts a listener and gives what it prints, until the test is over.
func listens(t *testing.T, args ...string) *lines {
	ctx, cancel := context.WithCancel(t.Context())
	out := &lines{make(chan string, 1000)}
	var errs buffer
	done := make(chan int)
	go func() { done <- program.Run(ctx, args, out, &errs) }()
	t.Cleanup(func() {
		cancel()
		for {
			select {
			case <-out.c: // somebody must read, or it never ends
			case <-done:
				return
			}
		}
	})
	return out
}

// until waits for a report that is as wanted.
func until(t *testing.T, l *lines, so func(dis.Seen) bool) (s dis.Seen) {
	t.Helper()
	end := time.After(2 * time.Minute)
	for {
		select {
		case text := <-l.c:
			s = dis.Seen{}
			if err := json.Unmarshal([]byte(text), &s); err != nil {
				t.Fatalf("%v: %q", err, text)
			}
			if so(s) {
				return s
			}
		case <-end:
			t.Fatalf("it never came to that: %+v", s)
		}
	}
}

// flies has aircraft fly until they are told to land, and gives what the command says then.
func flies(t *testing.T, to string, n int) (land func() string) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan string, 1)
	go func() {
		_, out, errs := try(ctx, "dis", "fly", "--to", to, "--listen", "127.0.0.1:0",
			"--entities", fmt.Sprint(n), "--version", "6")
		done <- out + errs
	}()
	land = sync.OnceValue(func() string {
		cancel()
		return <-done
	})
	t.Cleanup(func() { land() })
	return land
}

// Aircraft fly, a listener sees them and others being refused, a recorder keeps it, and a player
// brings them back.
func TestFlyListenRecordPlay(t *testing.T) {
	at, tape := free(t), filepath.Join(t.TempDir(), "tape.pcap")
	l := listens(t, "dis", "listen", "--to", at, "--listen", at, "--json", "--every", "50ms")
	until(t, l, func(dis.Seen) bool { return true }) // it is there
	land := flies(t, at, 3)
	until(t, l, func(s dis.Seen) bool { return len(s.Entities) == 3 })
	if out := land(); !strings.Contains(out, "updates of 3 aircraft") {
		t.Error(out)
	}
	s := until(t, l, func(s dis.Seen) bool { return len(s.Entities) == 0 })
	if s.Kinds["Entity State"] < 6 || s.Kinds["Remove Entity"] < 3 || len(s.Refused) != 0 {
		t.Errorf("%+v", s)
	}
	before := s.Kinds["Entity State"]

	// Recorded at another port, and played to the listener.
	other := free(t)
	ctx, cancel := context.WithCancel(t.Context())
	recorded := make(chan string)
	go func() {
		_, out, errs := try(ctx, "dis", "record", tape, "--to", other, "--listen", other)
		recorded <- out + errs
	}()
	land = flies(t, other, 3) // until it is there to hear it
	for size := int64(0); size <= 24; time.Sleep(10 * time.Millisecond) {
		if f, err := os.Stat(tape); err == nil {
			size = f.Size()
		}
	}
	land()
	cancel()
	if text := <-recorded; !strings.Contains(text, "datagrams") {
		t.Fatal(text)
	}
	code, out, errs := try(t.Context(), "dis", "play", tape, "--to", at, "--restamp",
		"--speed", "20")
	if code != 0 || !strings.Contains(out, "datagrams to") {
		t.Fatalf("%d, %s%s", code, out, errs)
	}
	until(t, l, func(s dis.Seen) bool { return s.Kinds["Entity State"] > before })

	// What is no PDU is counted for what it is.
	c, err := net.Dial("udp4", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	until(t, l, func(s dis.Seen) bool {
		_, _ = c.Write([]byte("no PDU at all")) // it may not be there yet, and is tried again
		return s.Refused["malformed"] > 0
	})
}

// The table and the map of people.
func TestTableAndMap(t *testing.T) {
	at := free(t)
	var text buffer
	done := make(chan int)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		done <- program.Run(ctx, strings.Fields("dis listen --map --every 20ms --rows 2 --to "+at+
			" --listen "+at), &text, &text)
	}()
	land := flies(t, at, 4)
	want := []string{"4 entities", "  1:1:1             coeval 1", "and 2 more",
		"friendly", "+" + strings.Repeat("-", 64) + "+"}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		missing := slices.DeleteFunc(slices.Clone(want),
			func(x string) bool { return strings.Contains(text.String(), x) })
		if len(missing) == 0 {
			break
		}
		if out := text.String(); time.Now().After(end) {
			t.Errorf("%q is not in what it prints:\n%s", missing, out[:min(len(out), 3000)])
			break
		}
	}
	land()
	cancel()
	<-done
	out := text.String()
	if strings.Contains(out, "\x1b") {
		t.Error("a terminal's codes where there is none")
	}
}

// Aircraft on one side of two gateways are seen on the other.
func TestGateway(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if code, _, errs := try(t.Context(), "token", "key", "--out", key); code != 0 {
		t.Fatal(errs)
	}
	left, right, screen, lineLeft, lineRight := free(t), free(t), free(t), free(t), free(t)
	one := listens(t, "dis", "gateway", "--key", key, "--line", lineLeft, "--peer", lineRight,
		"--to", "127.0.0.1:9", "--listen", left, "--json")
	two := listens(t, "dis", "gateway", "--key", key, "--line", lineRight, "--peer", lineLeft,
		"--to", screen, "--listen", right, "--json", "--quorum", "5")
	seen := listens(t, "dis", "listen", "--to", screen, "--listen", screen, "--json",
		"--every", "50ms")
	until(t, seen, func(dis.Seen) bool { return true }) // it is there
	for _, l := range []*lines{one, two} {
		<-l.c // each says something each second, and must be heard
		go func() {
			for range l.c {
			}
		}()
	}
	land := flies(t, left, 7)
	until(t, seen, func(s dis.Seen) bool { return len(s.Entities) == 7 })
	land()
	s := until(t, seen, func(s dis.Seen) bool { return len(s.Entities) == 0 })
	if len(s.Refused) != 0 {
		t.Errorf("%+v", s)
	}
}

// A game on a server is seen in an exercise.
func TestShow(t *testing.T) {
	screen := free(t)
	seen := listens(t, "dis", "listen", "--to", screen, "--listen", screen, "--json",
		"--every", "50ms")
	until(t, seen, func(dis.Seen) bool { return true }) // it is there
	types := filepath.Join(t.TempDir(), "types.json")
	text := `{"` + pong.Title.Game.Classes()[pongClass(t)].Name() +
		`": {"type": "1.1.225.7", "force": 3}}`
	if err := os.WriteFile(types, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server := serves(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan string)
	go func() {
		_, out, errs := try(ctx, "dis", "show", server, "--to", screen, "--types", types)
		done <- out + errs
	}()
	s := until(t, seen, func(s dis.Seen) bool { return len(s.Entities) > 0 })
	if e := s.Entities[0]; e.Type != "1.1.225.7.0.0.0" || e.Force != "neutral" ||
		e.Lat < 37.7 || e.Lat > 37.9 {
		t.Errorf("%+v", e)
	}
	cancel()
	if out := <-done; !strings.Contains(out, "entities told") {
		t.Error(out)
	}
	until(t, seen, func(s dis.Seen) bool { return len(s.Entities) == 0 })
}

func TestMeasure(t *testing.T) {
	code, out, errs := try(t.Context(), "dis", "measure", "--entities", "30", "--seconds", "12",
		"--json")
	if code != 0 {
		t.Fatal(errs)
	}
	var m struct {
		Lines []struct {
			Packets, Bytes uint64
			Wrong, Unheard int
		}
		Thresholds []struct {
			Metres      float64
			WorstMetres float64 `json:"worst_metres"`
			TimesFewer  float64 `json:"times_fewer_than_30"`
		}
	}
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Lines) != 6 || len(m.Thresholds) != 3 {
		t.Fatalf("%+v", m)
	}
	for _, l := range m.Lines {
		if l.Wrong+l.Unheard != 0 {
			t.Errorf("%+v", l)
		}
	}
	first, last := m.Lines[0], m.Lines[5]
	if last.Packets*2 > first.Packets || last.Bytes*2 > first.Bytes {
		t.Errorf("%+v of %+v", last, first)
	}
	for _, b := range m.Thresholds {
		if b.WorstMetres > b.Metres || b.TimesFewer < 8 {
			t.Errorf("%+v", b)
		}
	}
}

func ExampleCommand() {
	fmt.Println((&program).Tools[0](&program).Use)
	// Output: dis
}

// pongClass is a class of the game that has a place and is there.
func pongClass(t *testing.T) int {
	w, err := pong.Title.Game.New(world.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for id := range w.Entities() {
		if _, ok := pong.Title.At(w, id); ok {
			return id.Class()
		}
	}
	t.Fatal("nothing of pong has a place")
	return 0
}

// serves starts a server of pong, until the test is over.
func serves(t *testing.T) string {
	at := free(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan string, 1)
	go func() {
		_, out, errs := try(ctx, "serve", "pong", "--listen", at)
		done <- out + errs
		close(done)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", at) // where it gives tokens
		if err == nil {
			c.Close()
			return at
		}
		select {
		case text := <-done:
			t.Fatal(text)
		default:
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}
