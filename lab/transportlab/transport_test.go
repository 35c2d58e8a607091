package transportlab

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

	"github.com/coeval-dev/coeval/lab"
)

const workerVariable = "COEVAL_TEST_TRANSPORT_WORKER"

// TestTransportProcess is not a test, but what the processes of the others run.
func TestTransportProcess(t *testing.T) {
	role := os.Getenv(workerVariable)
	if role == "" {
		return // nobody asked
	}
	if err := Work(context.Background(), role, os.Stdin, os.Stdout); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

func workerCommand(role string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestTransportProcess$")
	cmd.Env = append(os.Environ(), workerVariable+"="+role)
	return cmd
}

// quick is a run that is over soon, and too short for its times to mean much.
func quick() Options {
	return Options{
		Clients: 12, Rate: 50, Size: 80, Rounds: 2, Window: 100 * time.Millisecond,
		Command: workerCommand}
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
		results, err := Run(t.Context(), o)
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
			if r.Clients != 12 || r.Rate != 50 || r.Size != 80 || len(r.Rounds) != 2 ||
				len(r.FloorRounds) != 2 {
				t.Errorf("%s: not what was asked for: %+v", r.Kind, r)
			}
			if r.Offered == 0 || r.Delivered > r.Offered {
				t.Errorf("%s: %d offered, %d delivered", r.Kind, r.Offered, r.Delivered)
			}
			if !(r.PerMessage > 0 && r.FloorPerMessage > 0) ||
				math.Abs(r.Ratio-r.PerMessage/r.FloorPerMessage) > 1e-9 {
				t.Errorf("%s: times do not fit: %+v", r.Kind, r)
			}
			// A packet cannot have less than its header, tag and one frame, and a message
			// cannot take more than a packet and an acknowledgement of its own.
			if r.HeaderBytes < 0 || r.Packets <= 0 || r.Packets > 2.5 {
				t.Errorf("%s: %v bytes of headers, %v packets a message", r.Kind, r.HeaderBytes,
					r.Packets)
			}
			if (r.Saturation != nil) != saturate || saturate &&
				!(r.EchoedPerSecond > 0 && r.Busy > 0 && r.MostPerSecond > 0) {
				t.Errorf("%s: saturation %+v", r.Kind, r.Saturation)
			}
		}
	}
}

// What scripts read must be there under these names.
func TestTransportNames(t *testing.T) {
	b, err := json.Marshal(Result{Saturation: &Saturation{}})
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
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Clients = -1 }, "clients is -1: choose 1 to 8192"},
		{func(o *Options) { o.Clients = 1 << 40 }, "choose 1 to"},
		{func(o *Options) { o.Rate = 100000 }, "rate is 100000"},
		{func(o *Options) { o.Size = 3 }, "size is 3"},
		{func(o *Options) { o.Size = 4000 }, "size is 4000"},
		{func(o *Options) { o.Rounds = -3 }, "rounds is -3"},
		{func(o *Options) { o.Window = time.Millisecond }, "seconds is 0.001"},
		{func(o *Options) { o.Listen = "192.0.2.1:4000" }, "loopback"},
		{func(o *Options) { o.Listen = "nonsense" }, "loopback"},
		{func(o *Options) { o.Kinds = []string{"ordered"} }, `no "ordered"`},
		{func(o *Options) { o.Command = nil }, "Command"},
		{func(o *Options) {
			o.Command = func(string) *exec.Cmd { return exec.Command("/nowhere/at/all") }
		}, "starting the server"},
		{func(o *Options) { o.Profile = "/nowhere/at/all" }, "profile"},
	} {
		o := quick()
		x.change(&o)
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("got %v, want something with %q", err, x.want)
		}
	}
}

func TestTransportWithoutDescriptors(t *testing.T) {
	o := quick()
	o.Clients = mostClients
	if lab.CheckDescriptors(o.Clients) == nil {
		// There are enough for as many as are allowed, so ask the check itself.
		if err := lab.CheckDescriptors(1 << 50); err == nil ||
			!strings.Contains(err.Error(), "ulimit -n") {
			t.Errorf("got %v", err)
		}
		return
	}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "ulimit -n") {
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
	if _, err := Run(t.Context(), o); err == nil ||
		!strings.Contains(err.Error(), "is in use on 127.0.0.1") {
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
		cmd := workerCommand(role)
		started = append(started, cmd)
		return cmd
	}
	var steps atomic.Int32
	o.Progress = func(float64, string) {
		if steps.Add(1) == 2 {
			cancel()
		}
	}
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
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
func TestWorkerEndsWithItsParent(t *testing.T) {
	t.Parallel()
	cmd := workerCommand(roleServer)
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
	data, err := json.Marshal(spec{Clients: 1, Rate: 60, Size: 100, Listen: "127.0.0.1:0",
		Meeting: lab.Meeting{Key: testTransportKey}})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(in).Encode(lab.Order{Do: lab.Open, Spec: data}); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil ||
		!strings.Contains(line, "Floor") {
		t.Fatalf("%v %q", err, line)
	}
	in.Close()
	if err := cmd.Wait(); err != nil { // does not return if it does not end
		t.Error(err)
	}
}

const testTransportKey = "coeval-key-1:808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"

func TestWorkerAnswersNonsense(t *testing.T) {
	for orders, want := range map[string]string{
		`{"Do":"measure"}`: "while nothing is open",
		`{"Do":"open"}`:    "without what to do",
		`{"Do":"open","Spec":{"Clients":3,"Rate":60,"Size":100}}`: "0 tokens for 3 clients",
		`nonsense`: "",
	} {
		// Whoever gives the orders stays until the answer has come.
		in, give := io.Pipe()
		hear, out := io.Pipe()
		done := make(chan error)
		go func() {
			err := Work(t.Context(), roleClients, in, out)
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
	if err := Work(t.Context(), "spectator", strings.NewReader(""), io.Discard); err == nil {
		t.Error("an unknown role was taken")
	}
}
