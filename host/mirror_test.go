package host

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/load"
	"github.com/coeval-dev/coeval/host/internal/mirrors"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

func TestMirrorExplainsItself(t *testing.T) {
	cmd := mirrors.Command(&bundled.Program)
	if cmd.Short == "" || cmd.Example == "" {
		t.Error("no short description, or no example")
	}
	code, stdout, _ := tryMirror(t.Context(), "mirror", "--help")
	if code != 0 || !strings.Contains(stdout, "--uber") ||
		!strings.Contains(stdout, "coeval token key") {
		t.Errorf("exit code %d:\n%s", code, stdout)
	}
}

// TestMirrorMistakes: whatever is wrong is refused with what to do about it.
func TestMirrorMistakes(t *testing.T) {
	key := groupKeyFor(t)
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		return name
	}
	text, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	m := mirrorIn(t, "--uber", "--key", key)
	quiet := m.stopped(t) // an address at which no one answers
	here := " --listen 127.0.0.1:0 --mirrors 127.0.0.1:0 --http none "
	uber := "mirror --uber --key " + key + here
	for _, x := range []struct {
		args, want string
		code       int
	}{
		{"mirror", "give --uber to found a game, --join with", cli.ExitUsage},
		{"mirror --uber --join 127.0.0.1:1", "give one of them", cli.ExitUsage},
		{"mirror --uber", "coeval token key --out", cli.ExitUsage},
		{"mirror extra", "unknown command", cli.ExitUsage},
		{"mirror --uber --key " + filepath.Join(dir, "none") + here, "there is no key file",
			cli.ExitFailure},
		{"mirror --uber --key " + file("garbage", "12345\n", 0o600) + here,
			"copy the file of the mirror that founded", cli.ExitFailure},
		{uber + "--players 0", "--players is 0", cli.ExitUsage},
		{uber + "--snapshots 0", "--snapshots is 0", cli.ExitUsage},
		{uber + "--log xml", "text or json", cli.ExitUsage},
		{uber + "--game chess", "there are arena", cli.ExitUsage},
		{uber + "--level atlantis", "atlantis", cli.ExitFailure},
		{uber + "--patience 1s", "--patience goes with --join", cli.ExitUsage},
		{uber + "--forever", "--forever goes with --join", cli.ExitUsage},
		{uber + "--witness", "does not go with --witness", cli.ExitUsage},
		{"mirror --witness --key " + key, "give --uber to found a game, --join", cli.ExitUsage},
		{"mirror --witness --join 127.0.0.1:1 --record x --key " + key,
			"--record does not go with --witness", cli.ExitUsage},
		{"mirror --witness --join 127.0.0.1:1 --mirrors :0 --key " + key, "give --address",
			cli.ExitUsage},
		{"mirror --witness --join " + quiet + " --patience 300ms --mirrors 127.0.0.1:0 --key " +
			key, "no mirror answers at " + quiet, cli.ExitFailure},
		{"mirror --witness --join " + m.Address + " --mirrors 127.0.0.1:0 --key " + groupKeyFor(t),
			"copy the key file of the other mirrors", cli.ExitFailure},
		{"mirror --witness --join " + m.Address + " --mirrors 127.0.0.1:0 --window 700ms --key " +
			key, "--timeline, --delays and --window as the other mirrors", cli.ExitFailure},
		{uber + "--timeline sideways", "choose one of auto", cli.ExitUsage},
		{uber + "--delays 0,soon", `--delays has "soon"`, cli.ExitUsage},
		{uber + "--delays 0,-1s", `--delays has "-1s"`, cli.ExitUsage},
		{uber + "--delays 1s,0", "--delays are impossible", cli.ExitUsage},
		{uber + "--delays 0,100ms,100ms", "--delays are impossible", cli.ExitUsage},
		{uber + "--delays 0,2h", "--delays are impossible", cli.ExitUsage},
		{uber + "--delays 0,2s --window 1s", "cannot be further behind than the window",
			cli.ExitUsage},
		{uber + "--window -1s", "above zero", cli.ExitUsage},
		{uber + "--timeline bucket --window 1s", "not with bucket", cli.ExitUsage},
		{uber + "--timeline bucket --delays 0,1s", "give at most 1", cli.ExitUsage},
		{uber + "--timeline timewarp --delays 0,1s --window 2s", "leave one of them out",
			cli.ExitUsage},
		{uber + "--address 0.0.0.0", "no one can reach this machine", cli.ExitUsage},
		{uber + "--public no.such.host.invalid", "--public", cli.ExitUsage},
		{uber + "--record " + file("old.trace", "x", 0o600), "already there", cli.ExitFailure},
		{uber + "--record " + filepath.Join(dir, "no", "x.trace"), "no such file", cli.ExitFailure},
		{"mirror --uber --key " + key + " --listen 127.0.0.1:0 --mirrors :0 --http none",
			"give --address", cli.ExitUsage},
		{"mirror --uber --key " + key + " --listen " + m.UDP + " --mirrors 127.0.0.1:0", "--listen",
			cli.ExitFailure},
		{"mirror --uber --key " + key + " --listen 127.0.0.1:0 --mirrors " + m.Address, "--mirrors",
			cli.ExitFailure},
		{"mirror --uber --key " + key + " --listen 127.0.0.1:0 --mirrors 127.0.0.1:0 --http " +
			m.HTTP, "another program has the port", cli.ExitFailure},
		{"mirror --join 127.0.0.1:1 --level duel --key " + key, "--level goes with --uber",
			cli.ExitUsage},
		{"mirror --join 127.0.0.1:1 --patience 0s --key " + key, "--patience is 0s", cli.ExitUsage},
		{"mirror --join nowhere --key " + key + here, "--join nowhere", cli.ExitFailure},
		{"mirror --join " + quiet + " --key " + key +
			" --listen 127.0.0.1:0 --http none --mirrors " + quiet, "is this mirror itself",
			cli.ExitUsage},
		{"mirror --join " + quiet + " --patience 300ms --key " + key + here,
			"no mirror answers at " + quiet + " within 300ms: check", cli.ExitFailure},
		{"mirror --join " + m.Address + " --key " + groupKeyFor(t) + here,
			"copy the key file of the other mirrors", cli.ExitFailure},
		{"mirror --join " + m.Address + " --game pong --key " + key + here, "--game",
			cli.ExitFailure},
	} {
		code, _, stderr := tryMirror(t.Context(), strings.Fields(x.args)...)
		if code != x.code || !strings.Contains(stderr, x.want) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", x.args, code, x.code, x.want, stderr)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	open := file("open.key", string(text), 0o644)
	if code, _, stderr := tryMirror(t.Context(),
		strings.Fields("mirror --uber --key "+open+here)...); code != cli.ExitFailure ||
		!strings.Contains(stderr, "chmod 600 "+open) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestMirrorOfAnotherVersion: mirrors that would not compute the same are not let in, and are told
// what differs.
func TestMirrorOfAnotherVersion(t *testing.T) {
	t.Parallel() // it mostly waits
	key := groupKeyFor(t)
	m := mirrorIn(t, "--uber", "--key", key)
	for _, other := range []string{"--timeline timewarp", "--window 700ms"} {
		args := "mirror --join " + m.Address + " --key " + key +
			" --listen 127.0.0.1:0 --mirrors 127.0.0.1:0 --http none --json " + other
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		log := follow(r)
		go func() {
			if line, _ := log.await("serving", 0); line != nil {
				cancel() // it was let in
			}
		}()
		code := run(ctx, strings.Fields(args), io.Discard, w, commands())
		cancel()
		w.Close()
		log.await("", 0) // to the end
		stderr := log.String()
		if code != cli.ExitFailure ||
			!strings.Contains(stderr, "--timeline, --delays and --window as the other mirrors") {
			t.Errorf("%s: exit code %d:\n%s", other, code, stderr)
		}
	}
}

// TestMirrorsServe: two mirrors in one game, each with bots; what they say of themselves; and what
// they record is the same match, which repeats.
func TestMirrorsServe(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it takes its time")
	}
	key := groupKeyFor(t)
	dir := t.TempDir()
	records := []string{filepath.Join(dir, "one.trace"), filepath.Join(dir, "two.trace")}
	one := mirrorIn(t, "--uber", "--key", key, "--open", "--level", "duel", "--seed", "7",
		"--record", records[0])
	two := mirrorIn(t, "--join", one.Address, "--key", key, "--open", "--name", "two", "--record",
		records[1])
	var bots sync.WaitGroup
	for _, m := range []*mirrored{one, two} {
		bots.Go(func() {
			code, stdout,
				stderr := try("bots", "--server", m.HTTP, "--count", "2", "--seconds", "3",
				"--spread", "0.1", "--json")
			var r load.Report
			if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != 0 ||
				r.Game != "arena" || r.Played != 2 || len(r.Ended) != 0 {
				t.Errorf("exit code %d: %v\n%s%s", code, err, stdout, stderr)
			}
		})
	}
	bots.Wait()
	for _, m := range []*mirrored{one, two} {
		for path, want := range map[string]string{
			"healthz": "ok, serving", "readyz": "ready", "status": `"mirrors":[1,2]`,
			"metrics": `coeval_mirror_phase{phase="serving"} 1`} {
			if code, text := get(t, "http://"+m.HTTP+"/"+path); code != 200 ||
				!strings.Contains(text, want) {
				t.Errorf("%s: %d\n%s", path, code, text)
			}
		}
		_, text := get(t, "http://"+m.HTTP+"/metrics")
		for _, want := range []string{
			"coeval_mirror_members 2", "coeval_mirror_uber_id 1", "coeval_mirror_rollbacks_total",
			"coeval_mirror_late_commands_total", `coeval_mirror_events_total{what="retracted"}`,
			"coeval_mirror_settled_delay_seconds", "coeval_mirror_clock_offset_seconds",
			"coeval_mirror_clock_bound_seconds",
			`coeval_mirror_sent_bytes_total{purpose="message"}`,
			`coeval_people{kind="players"}`, "coeval_mirror_rejoins_total 0",
			"coeval_mirror_differed_total 0", `coeval_visits_total{what="joined"} 2`} {
			if !strings.Contains(text, want) {
				t.Errorf("metrics lack %s:\n%s", want, text)
			}
		}
	}
	// A token of one mirror is good at the other.
	var a entry.Admission
	if _, text := get(t, "http://"+one.HTTP+"/token"); json.Unmarshal([]byte(text), &a) != nil {
		t.Fatal(text)
	}
	code, stdout,
		stderr := try("join", two.UDP, "--token", a.Token, "--game", "arena", "--headless",
		"--seconds", "1", "--json")
	var j Joined
	if err := json.Unmarshal([]byte(stdout), &j); err != nil || code != 0 || j.Snapshots == 0 {
		t.Errorf("exit code %d: %v\n%s%s", code, err, stdout, stderr)
	}
	for _, m := range []*mirrored{two, one} {
		if code := m.stop(); code != 0 {
			t.Errorf("exit code %d:\n%s", code, m.log)
		}
	}
	hashes := make([]map[uint64]uint64, 2)
	for i, name := range records {
		hashes[i] = replayed(t, name)
	}
	same := 0
	for tick, h := range hashes[1] {
		if other, ok := hashes[0][tick]; ok {
			same++
			if h != other {
				t.Fatalf("the mirrors recorded different worlds at tick %d", tick)
			}
		}
	}
	if same < 60 {
		t.Errorf("only %d ticks are in both recordings", same)
	}
}

// replayed plays a recording again and gives the hash of each tick.
func replayed(t *testing.T, name string) map[uint64]uint64 {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[uint64]uint64{}
	res, err := trace.Replay(arena.Game, r,
		trace.ReplayOptions{Each: func(w *world.World, _ *trace.Record) error {
			hashes[uint64(w.Tick())] = w.Hash()
			return nil
		}})
	if err != nil || res.Mismatch != nil {
		t.Fatalf("%s does not repeat: %v, %+v", name, err, res)
	}
	return hashes
}

// TestMirrorThatNeverGivesUp: with --forever a mirror waits for the others however long they take.
func TestMirrorThatNeverGivesUp(t *testing.T) {
	key := groupKeyFor(t)
	at := mirrorIn(t, "--uber", "--key", key).stopped(t) // an address at which no one answers yet
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	log := follow(r)
	code := make(chan int, 1)
	go func() {
		args := "mirror --join " + at + " --forever --patience 1ms --key " + key +
			" --listen 127.0.0.1:0 --mirrors 127.0.0.1:0 --http none --json"
		code <- run(ctx, strings.Fields(args), io.Discard, w, commands())
		w.Close()
	}()
	_, next := log.await("joining", 0)
	mirrorIn(t, "--uber", "--key", key, "--mirrors", at)
	line, _ := log.await("serving", next)
	cancel()
	if got := <-code; line == nil || got != cli.ExitOK {
		t.Errorf("exit code %d:\n%s", got, log)
	}
}
