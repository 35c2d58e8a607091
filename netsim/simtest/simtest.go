package simtest

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/coeval-dev/coeval/netsim"
)

// Run calls run with so many seeds and fails the test with a reduced script when
// one of them returns an error. See [netsim.Explore] for what run may do.
func Run(t testing.TB, seeds int, run func(*netsim.Net) error) {
	t.Helper()
	if testing.Short() { // as under the race detector, where each takes ten times as long
		seeds = (seeds + 3) / 4
	}
	if err := explore(t, os.Getenv, seeds, run); err != nil {
		t.Fatal(err)
	}
}

// Alone is Run for long runs that start no goroutine. With -short they are passed over: the race
// detector would see nothing in them. All their seeds are for a soak, which sets COEVAL_SOAK; of
// many, half are tried otherwise.
func Alone(t testing.TB, seeds int, run func(*netsim.Net) error) {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs in one goroutine")
	}
	if seeds > 2 && os.Getenv("COEVAL_SOAK") == "" {
		seeds = (seeds + 1) / 2
	}
	Run(t, seeds, run)
}

func explore(t testing.TB, env func(string) string, seeds int, run func(*netsim.Net) error) error {
	trace := func(e netsim.Event) {
		t.Logf("%12v %-9s %s > %s %d, %d bytes", e.At, e.What, e.From, e.To, e.Number, len(e.Data))
	}
	if file := env("NETSIM_SCRIPT"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("NETSIM_SCRIPT: %w", err)
		}
		s, err := netsim.Parse(string(text))
		if err != nil {
			return fmt.Errorf("NETSIM_SCRIPT: %s: %w", file, err)
		}
		return netsim.Replay(s, func(n *netsim.Net) error {
			n.SetTrace(trace)
			return run(n)
		})
	}
	search := netsim.Search{Seeds: seeds}
	for _, name := range []string{"COEVAL_SEEDS", "NETSIM_SEEDS"} {
		if s := env(name); s != "" {
			n, err := strconv.Atoi(s)
			if err != nil || n < 1 {
				return fmt.Errorf("%s is %q, set it to a number above 0", name, s)
			}
			search.Seeds = n
		}
	}
	if s := env("NETSIM_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return fmt.Errorf("NETSIM_SEED is %q, set it to the seed that a failure printed", s)
		}
		search = netsim.Search{First: seed, Seeds: 1, Trace: trace}
	}
	return netsim.Explore(search, run)
}
