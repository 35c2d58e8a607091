package directory_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/directory/records"
)

// listenHTTP answers at a port of this machine, and gives its address.
func listenHTTP(h http.Handler) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	go func() { _ = http.Serve(l, h) }() // until the process is killed
	return l.Addr().String()
}

// TestKill kills a directory again and again while servers register and leave. What was
// acknowledged is so in the database; what was not may be either.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes and kills them")
	}
	rounds := 4
	if os.Getenv("COEVAL_SOAK") != "" {
		rounds = 60
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	onEach(t, func(t *testing.T, url string) {
		r := rand.New(rand.NewPCG(seed, 2))
		var servers [6]*speaker
		there := [len(servers)]int{} // 1 it is, -1 it is not, 0 nobody was told
		for i := range servers {
			servers[i], there[i] = newSpeaker(i), -1
		}
		for range rounds {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childURL+"="+url)
			in, err := cmd.StdinPipe()
			must(t, err)
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			base, err := bufio.NewReader(out).ReadString('\n')
			if base = strings.TrimSpace(base); err != nil || !strings.HasPrefix(base, "http") {
				t.Fatalf("%s %v", base, err)
			}
			stop := time.AfterFunc(time.Duration(50+r.IntN(200))*time.Millisecond,
				func() { _ = cmd.Process.Kill() })
			var all sync.WaitGroup
			for i, x := range servers {
				all.Go(func() { there[i] = x.comeAndGo(base) })
			}
			all.Wait()
			stop.Stop()
			_ = cmd.Wait() // it was killed
			_ = in.Close()
			check(t, url, servers[:], there[:])
		}
	})
}

// comeAndGo registers and leaves until nobody answers, and says what was acknowledged last.
func (x *speaker) comeAndGo(base string) (there int) {
	for {
		status, _, err := x.register(base)
		if err != nil || status != 200 {
			return 0
		}
		if status, _, err = x.goodbye(base); err != nil || status != 200 {
			return 0
		}
		there = -1
		if x.seq%3 == 0 {
			if status, _, err = x.register(base); err != nil || status != 200 {
				return 0
			}
			there = 1
			if status, _, err := x.alive(base); err != nil || status != 200 {
				return there
			}
		}
	}
}

// check compares what is in the database with what servers were told.
func check(t *testing.T, url string, servers []*speaker, there []int) {
	t.Helper()
	k, err := records.Open(t.Context(), url)
	must(t, err)
	list, err := k.Load(t.Context())
	must(t, err)
	must(t, k.Close())
	found := map[string]string{}
	for _, r := range list {
		found[r.ID] = r.Lease
	}
	for i, x := range servers {
		lease, is := found[x.is.ID]
		if there[i] == 1 && (!is || lease != x.is.Lease) || there[i] == -1 && is {
			t.Errorf("server %d was told %d, and is there: %v", i, there[i], is)
		}
	}
}
