package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const partVariable = "COEVAL_TEST_TRANSPORT_PART"

// TestTransportProcess is not a test, but what the processes of the others run.
func TestTransportProcess(t *testing.T) {
	role := os.Getenv(partVariable)
	if role == "" {
		return // nobody asked
	}
	if err := TransportPart(context.Background(), role, os.Stdin, os.Stdout); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

func partCommand(role string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestTransportProcess$")
	cmd.Env = append(os.Environ(), partVariable+"="+role)
	return cmd
}

// quick is a run that is over soon, and too short for its times to mean much.
func quick() TransportOptions {
	return TransportOptions{Clients: 12, Rate: 50, Size: 80, Rounds: 2, Window: 100 * time.Millisecond, Command: partCommand}
}

func TestTransport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	t.Parallel()
	for _, saturate := range []bool{false, true} {
		o := quick()
		o.Saturate = saturate
		steps := 0
		o.Progress = func(float64, string) { steps++ }
		results, err := Transport(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(results) != 2 || results[0].Kind != "unreliable" || results[1].Kind != "reliable" {
			t.Fatalf("results are %+v", results)
		}
		if steps != 2*3 {
			t.Errorf("progress was told %d times", steps)
		}
		for _, r := range results {
			if err := r.Check(); err != nil {
				t.Error(err)
			}
			if r.Clients != 12 || r.Rate != 50 || r.Size != 80 || len(r.Rounds) != 2 || len(r.FloorRounds) != 2 {
				t.Errorf("%s: not what was asked for: %+v", r.Kind, r)
			}
			if r.Offered == 0 || r.Delivered > r.Offered {
				t.Errorf("%s: %d offered, %d delivered", r.Kind, r.Offered, r.Delivered)
			}
			if !(r.PerMessage > 0 && r.FloorPerMessage > 0) || math.Abs(r.Ratio-r.PerMessage/r.FloorPerMessage) > 1e-9 {
				t.Errorf("%s: times do not fit: %+v", r.Kind, r)
			}
			// A packet cannot have less than its header, tag and one frame, and a message
			// cannot take more than a packet and an acknowledgement of its own.
			if r.HeaderBytes < 0 || r.Packets <= 0 || r.Packets > 2.5 {
				t.Errorf("%s: %v bytes of headers, %v packets a message", r.Kind, r.HeaderBytes, r.Packets)
			}
			if (r.Saturation != nil) != saturate || saturate && !(r.EchoedPerSecond > 0 && r.Busy > 0 && r.MostPerSecond > 0) {
				t.Errorf("%s: saturation %+v", r.Kind, r.Saturation)
			}
		}
	}
}

// What scripts read must be there under these names.
func TestTransportNames(t *testing.T) {
	b, err := json.Marshal(TransportResult{Saturation: &Saturation{}})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(`kind clients rate size us_per_message floor_us_per_message ratio_to_floor allocs_per_message
		header_bytes packets_per_message offered delivered us_rounds floor_us_rounds most_per_second server_busy`) {
		if _, ok := fields[name]; !ok {
			t.Errorf("there is no %s in %s", name, b)
		}
	}
}

func TestTransportRefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		change func(*TransportOptions)
		want   string
	}{
		{func(o *TransportOptions) { o.Clients = -1 }, "-1 clients"},
		{func(o *TransportOptions) { o.Clients = 1 << 40 }, "there can be 1 to"},
		{func(o *TransportOptions) { o.Rate = 100000 }, "a rate of 100000"},
		{func(o *TransportOptions) { o.Size = 3 }, "messages of 3 bytes"},
		{func(o *TransportOptions) { o.Size = 4000 }, "messages of 4000 bytes"},
		{func(o *TransportOptions) { o.Rounds = -3 }, "-3 rounds"},
		{func(o *TransportOptions) { o.Window = time.Millisecond }, "measuring for 1ms"},
		{func(o *TransportOptions) { o.Listen = "192.0.2.1:4000" }, "loopback"},
		{func(o *TransportOptions) { o.Listen = "nonsense" }, "loopback"},
		{func(o *TransportOptions) { o.Kinds = []string{"ordered"} }, `called "ordered"`},
		{func(o *TransportOptions) { o.Command = nil }, "Command"},
		{func(o *TransportOptions) {
			o.Command = func(string) *exec.Cmd { return exec.Command("/nowhere/at/all") }
		}, "starting the server"},
		{func(o *TransportOptions) { o.Profile = "/nowhere/at/all" }, "profile"},
	} {
		o := quick()
		x.change(&o)
		if _, err := Transport(t.Context(), o); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("got %v, want something with %q", err, x.want)
		}
	}
}

func TestTransportWithoutDescriptors(t *testing.T) {
	most := mostDescriptors()
	if most > MostTransportClients*descriptorsEach {
		if most == math.MaxUint64 || most > 1<<40 {
			t.Skip("there is no limit here")
		}
		// Too high to be reached by as many clients as are allowed, so ask the check itself.
		if err := checkDescriptors(int(most)); err == nil || !strings.Contains(err.Error(), "ulimit -n") {
			t.Errorf("got %v", err)
		}
		return
	}
	o := quick()
	o.Clients = MostTransportClients
	if _, err := Transport(t.Context(), o); err == nil || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("got %v", err)
	}
}

func TestTransportPortInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	o := quick()
	o.Listen = taken.LocalAddr().String()
	if _, err := Transport(t.Context(), o); err == nil || !strings.Contains(err.Error(), "is in use on 127.0.0.1") {
		t.Errorf("got %v", err)
	}
}

// When a run is stopped, its processes have ended by the time it returns.
func TestTransportStops(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := quick()
	o.Window, o.Rounds = time.Minute, 100
	var started []*exec.Cmd
	o.Command = func(role string) *exec.Cmd {
		cmd := partCommand(role)
		started = append(started, cmd)
		return cmd
	}
	var steps atomic.Int32
	o.Progress = func(float64, string) {
		if steps.Add(1) == 2 {
			cancel()
		}
	}
	if _, err := Transport(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if len(started) != 2 {
		t.Fatalf("%d processes were started", len(started))
	}
	for _, cmd := range started {
		if cmd.ProcessState == nil {
			t.Error("a process was left behind")
		}
	}
}

// A process whose parent is gone ends by itself, in the middle of its work.
func TestTransportPartEndsWithItsParent(t *testing.T) {
	t.Parallel()
	cmd := partCommand(roleServer)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	spec := partSpec{Clients: 1, Rate: 60, Size: 100, Listen: "127.0.0.1:0", Key: testTransportKey}
	if err := json.NewEncoder(in).Encode(order{Do: doOpen, Spec: &spec}); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "Floor") {
		t.Fatalf("%v %q", err, line)
	}
	in.Close()
	if err := cmd.Wait(); err != nil { // does not return if it does not end
		t.Error(err)
	}
}

const testTransportKey = "coeval-key-1:808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"

func TestTransportPartAnswersNonsense(t *testing.T) {
	for orders, want := range map[string]string{
		`{"Do":"measure"}`: "while nothing is open",
		`{"Do":"open"}`:    "without the traffic",
		`{"Do":"open","Spec":{"Clients":3,"Rate":60,"Size":100}}`: "0 tokens for 3 clients",
		`nonsense`: "",
	} {
		// Whoever gives the orders stays until the answer has come.
		in, give := io.Pipe()
		hear, out := io.Pipe()
		done := make(chan error)
		go func() {
			err := TransportPart(t.Context(), roleClients, in, out)
			out.Close()
			done <- err
		}()
		if _, err := io.WriteString(give, orders+"\n"); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(hear).ReadString('\n')
		give.Close()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", orders, err)
		}
		if !strings.Contains(line, want) {
			t.Errorf("%s: %s", orders, line)
		}
	}
	if err := TransportPart(t.Context(), "spectator", strings.NewReader(""), io.Discard); err == nil {
		t.Error("an unknown role was taken")
	}
}

// A beat never rests for longer than a tick, stays in phase, and does not hurry after what it missed.
func TestBeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := time.Duration(rapid.IntRange(1, 1e9).Draw(t, "every"))
		b := beat{every: every}
		now := time.Duration(0)
		for range 50 {
			now += time.Duration(rapid.Int64Range(0, int64(5*every)).Draw(t, "took"))
			rest := b.next(now)
			if rest < 0 || rest > every {
				t.Fatalf("rests for %v of %v", rest, every)
			}
			now += rest
			if b.due%every != 0 || b.due > now || b.due <= now-every {
				t.Fatalf("at %v it is due at %v, every %v", now, b.due, every)
			}
		}
	})
}

// Every client has one turn in each tick, in order, and none near the tick's ends.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := &partSpec{Rate: rapid.IntRange(1, MostTransportRate).Draw(t, "rate")}
		c := &crowd{spec: spec, players: make([]*player, rapid.IntRange(1, 600).Draw(t, "clients"))}
		tick := rapid.IntRange(0, 1e6).Draw(t, "tick")
		last := time.Duration(-1)
		for i := range c.players {
			at := c.due(tick*len(c.players)+i) - time.Duration(tick)*spec.every()
			if at < spec.every()/10 || at > spec.every()*9/10 || at < last {
				t.Fatalf("turn %d of %d comes at %v of %v, after %v", i, len(c.players), at, spec.every(), last)
			}
			last = at
		}
	})
}
