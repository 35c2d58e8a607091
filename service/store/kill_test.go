package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/service/store"
	"github.com/coeval-dev/coeval/world"
)

// The environment of a child that trades and writes until it is killed.
const (
	childURL  = "COEVAL_STORE_CHILD"
	childSeed = "COEVAL_STORE_CHILD_SEED" // and from which trade on
)

const (
	people = 8
	riches = 1000 // that everybody has at first
	things = 20   // that count
)

// deal is the nth trade of all. It depends on the number alone, so that whoever asks again asks for
// the same.
func deal(seed uint64, n int) (name kept.Name, from, to string, amount uint64) {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	name = kept.Name{World: seed, Tick: world.Tick(n / 3), By: 1, Ordinal: uint16(n % 3)}
	a := r.IntN(people)
	b := (a + 1 + r.IntN(people-1)) % people
	return name, "p" + strconv.Itoa(a), "p" + strconv.Itoa(b), 1 + r.Uint64N(300)
}

// child trades and writes behind a "game", and says on stdout what was acknowledged.
func child(url string) {
	if err := childRuns(url); err != nil {
		fmt.Printf("error %v\n", err)
		os.Exit(1)
	}
}

func childRuns(url string) error {
	ctx := context.Background()
	var seed uint64
	var n, count int
	if _, err := fmt.Sscan(os.Getenv(childSeed), &seed, &n, &count); err != nil {
		return err
	}
	s, err := store.Open(ctx, url, store.Options{Game: "market"})
	if err != nil {
		return err
	}
	fence, err := s.Claim(ctx, "game", fmt.Sprint("child ", os.Getpid()))
	if err != nil {
		return err
	}
	fences := []kept.Fence{fence}
	fmt.Println("ready")
	go func() { // the game, whose things count
		for i := count + 1; ; i++ {
			rows := make([]kept.Row, things)
			for j := range rows {
				rows[j] = kept.Row{Key: thing(j), Data: strconv.AppendInt(nil, int64(i), 10)}
			}
			if err := s.Write(ctx, fences, rows); err != nil {
				fmt.Println("fenced", errors.Is(err, kept.ErrFenced))
				return
			}
			fmt.Println("count", i)
		}
	}()
	for ; ; n++ {
		name, from, to, amount := deal(seed, n)
		answer, again, err := s.Do(ctx, name, fences, trade(from, to, amount))
		if errors.Is(err, kept.ErrFenced) {
			fmt.Println("fenced", true)
			select {}
		}
		if err != nil {
			return err
		}
		fmt.Printf("traded %d %v %s\n", n, again, answer)
	}
}

func thing(j int) kept.Key {
	return kept.Key{Class: "Counter", Scope: kept.Thing, Of: "t" + strconv.Itoa(j)}
}

// A life is what a child has said before it was killed.
type life struct {
	answers map[int]string
	last    int // trade
	count   int
	fenced  bool
	checked int               // trades before it were compared
	have    map[string]uint64 // that people have after them
}

// A running is a child.
type running struct {
	cmd   *exec.Cmd
	lines chan string
}

func startChild(t *testing.T, url string, seed uint64, from, count int) *running {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childURL+"="+url, fmt.Sprintf("%s=%d %d %d", childSeed, seed,
		from,
		count))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	r := &running{cmd, make(chan string, 1<<16)}
	go func() {
		defer close(r.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			r.lines <- in.Text()
		}
	}()
	return r
}

// kill ends the child at once, and gathers what it has said.
func (r *running) kill(t *testing.T, l *life) {
	t.Helper()
	must(t, r.cmd.Process.Kill())
	for line := range r.lines {
		l.hear(t, line)
	}
	_ = r.cmd.Wait() // killed
}

func (l *life) hear(t *testing.T, line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "count":
		l.count, _ = strconv.Atoi(rest)
	case "traded":
		number, rest, _ := strings.Cut(rest, " ")
		_, answer, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(number)
		must(t, err)
		if before, ok := l.answers[n]; ok && before != answer {
			t.Errorf("trade %d was answered %q, and %q when asked again", n, before, answer)
		}
		l.answers[n], l.last = answer, max(l.last, n)
	case "fenced":
		l.fenced = true
	case "error":
		t.Errorf("the child: %s", rest)
	}
}

// TestKills kills programs at random moments while they write and trade: nothing that they said was
// done is lost, and nothing is done twice. COEVAL_SOAK=1 kills 200 on each database.
func TestKills(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	kills := 3
	if os.Getenv("COEVAL_SOAK") != "" {
		kills = 200
	}
	onEach(t, func(t *testing.T, url string) {
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		rnd := rand.New(rand.NewPCG(seed, 0))
		s := open(t, url)
		var rows []kept.Row
		for i := range people {
			rows = append(rows, gold("p"+strconv.Itoa(i), riches))
		}
		must(t, s.Write(t.Context(), nil, rows))
		l := &life{answers: map[int]string{}, last: -1}
		for range kills {
			// The last trades are asked for again, as after a replay of a journal.
			c := startChild(t, url, seed, max(0, l.last-2), l.count)
			more := 2 + rnd.IntN(40) // lines to hear, and then some time
			for line := range c.lines {
				l.hear(t, line)
				if more--; more == 0 {
					break
				}
			}
			time.Sleep(time.Duration(rnd.IntN(5000)) * time.Microsecond)
			c.kill(t, l)
			compare(t, s, seed, l)
			if t.Failed() {
				return
			}
		}
		l.checked = 0
		compare(t, s, seed, l) // all of it, from the beginning
		t.Logf("%d kills, %d trades, things counted to %d", kills, l.last+1, l.count)
		if l.last < kills || l.count == 0 {
			t.Error("hardly anything was acknowledged, so nothing was tried")
		}
	})
}

// compare has all trades be done again in memory, by the answers that are kept, and compares.
func compare(t *testing.T, s *store.Store, seed uint64, l *life) {
	t.Helper()
	// The database may still be at what the child wanted last. A claim waits for that, and nothing
	// of the child's comes after it.
	_, err := s.Claim(t.Context(), "game", "test")
	must(t, err)
	if l.checked == 0 {
		l.have = map[string]uint64{}
		for i := range people {
			l.have["p"+strconv.Itoa(i)] = riches
		}
	}
	have := l.have
	for n := l.checked; n <= l.last+1; n++ { // one more may have been done without a word
		name, from, to, amount := deal(seed, n)
		notDone := errors.New("it was never done")
		answer, again, err := s.Do(t.Context(), name, nil, func(kept.Tx) ([]byte, error) {
			return nil, notDone
		})
		if errors.Is(err, notDone) && n == l.last+1 {
			continue
		}
		if err != nil || !again {
			t.Fatalf("trade %d, which was acknowledged: %v", n, err)
		}
		want := "refused"
		if have[from] >= amount {
			have[from] -= amount
			have[to] += amount
			want = fmt.Sprintf("%d %d", have[from], have[to])
		}
		if said, ok := l.answers[n]; string(answer) != want || ok && said != want {
			t.Fatalf("trade %d was answered %q, the store has %q, want %q", n, said, answer, want)
		}
		l.checked = n + 1
	}
	var keys []kept.Key
	for i := range people {
		keys = append(keys, purse("p"+strconv.Itoa(i)))
	}
	for j := range things {
		keys = append(keys, thing(j))
	}
	rows, err := s.Load(t.Context(), keys)
	must(t, err)
	for i, r := range rows[:people] {
		if of := "p" + strconv.Itoa(i); in(r) != have[of] {
			t.Errorf("%s has %d, want %d", of, in(r), have[of])
		}
	}
	for _, r := range rows[people:] {
		if n, _ := strconv.Atoi(string(r.Data)); n < l.count {
			t.Errorf("%s is %d, and %d was acknowledged", r.Key.Of, n, l.count)
		}
	}
}

// TestLateProcess: when another process claims the game, the one before is refused, and what it
// goes on to write is nowhere.
func TestLateProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	onEach(t, func(t *testing.T, url string) {
		s := open(t, url)
		must(t, s.Write(t.Context(), nil, []kept.Row{gold("p0", 1)})) // nobody can trade much
		old := startChild(t, url, 1, 0, 0)
		a := &life{answers: map[int]string{}}
		for line := range old.lines {
			if a.hear(t, line); a.count > 0 {
				break
			}
		}
		fence, err := s.Claim(t.Context(), "game", "another")
		must(t, err)
		must(t, s.Write(t.Context(), []kept.Fence{fence}, []kept.Row{{Key: thing(0),
			Data: []byte("-1")}}))
		for line := range old.lines {
			if a.hear(t, line); a.fenced {
				break
			}
		}
		old.kill(t, a)
		rows, err := s.Load(t.Context(), []kept.Key{thing(0)})
		must(t, err)
		if string(rows[0].Data) != "-1" {
			t.Errorf("a late writer wrote %s", rows[0].Data)
		}
	})
}
