package relaylab

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/netsim"
)

const workerVariable = "COEVAL_TEST_RELAY_WORKER"

// TestRelayProcess is not a test, but what the processes of the others run.
func TestRelayProcess(t *testing.T) {
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
	cmd := exec.Command(os.Args[0], "-test.run=^TestRelayProcess$")
	cmd.Env = append(os.Environ(), workerVariable+"="+role)
	return cmd
}

// A run that is over soon measures something, though its times mean little.
func TestRelay(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs a relay in real time")
	}
	t.Parallel()
	o := Options{Loads: []string{"3x20"}, Players: 3, Rate: 60, Window: 200 * time.Millisecond,
		Command: workerCommand}
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	r, err := o.play(t.Context(), o.loads[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Matches != 3 || r.Send != 20 || !(r.Share > 0 && r.PerPacket > 0 && r.Rows > 0) {
		t.Errorf("measured nothing: %+v", r)
	}
	results := Results{Loads: []Result{r}, Bytes: []Bytes{{}}}
	if len(results.Lines()) != 2 || results.most() == "" {
		t.Errorf("%d lines", len(results.Lines()))
	}
}

// The bytes of a match of eight are within what the project promises: 45 kB a second out and 30 in.
func TestBytes(t *testing.T) {
	b, err := countMatch(8, 60, 60, netsim.Cable)
	if err != nil {
		t.Fatal(err)
	}
	if b.Players != 8 || b.Send != 60 || b.Out > 45_000 || b.In > 30_000 || b.Out < 20_000 {
		t.Errorf("%+v", b)
	}
	random, size, empty := uint32(1), 0, 0
	const n = 100_000
	for range n {
		x := item(&random, make([]byte, 8))
		if size += len(x); len(x) == 0 {
			empty++
		}
	}
	if mean := float64(size) / float64(n-empty); mean < 2.25 || mean > 2.35 || empty < n/11 ||
		empty > n/9 {
		t.Errorf("items have %.2f bytes, and none in %d of %d", mean, empty, n)
	}
}

func TestRelayRefusesNonsense(t *testing.T) {
	for _, x := range []struct {
		o    Options
		want string
	}{
		{Options{Loads: []string{"many"}}, `"many" is no load`},
		{Options{Loads: []string{"0x60"}}, `"0x60" is no load`},
		{Options{Loads: []string{"10x90"}}, "more packets a second than the 60 rows"},
		{Options{Loads: []string{"9000x20"}}, "36000 members"},
		{Options{Players: 20}, "players is 20"},
		{Options{Pace: 2}, "pace is 2"},
		{Options{}, "set Options.Command"},
	} {
		if _, err := Run(t.Context(), x.o); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v", x.o, err)
		}
	}
}
