package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/world"
)

// A hill has wind, which is a knob, and a rule that is content. It is a title of somebody's own,
// and in a process that this is set for, the test binary stands in for its program.
const asHill = "COEVAL_TEST_AS_HILL"

func init() {
	if os.Getenv(asHill) != "" {
		os.Exit(hillProgram.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
}

type wind struct{ Force float64 }

func (w *wind) Sync(s *bits.Sync) { s.Float(&w.Force, -4, 4, 1.0/16) }

type rule struct{ Text string }

func (r *rule) Sync(s *bits.Sync) { s.String(&r.Text, 40) }

type push struct{ X float64 }

func (p *push) Sync(s *bits.Sync) { s.Float(&p.X, -1, 1, 1.0/16) }

type kite struct{ X float64 }

func (k *kite) Sync(s *bits.Sync) { s.Float(&k.X, -1e4, 1e4, 1.0/64) }

func (k *kite) Step(w *world.World, me world.ID) {
	k.X = min(max(k.X+(world.Command[push](w, me).X+world.StateOf[wind](w).Force)*w.Seconds(),
		-1e4), 1e4)
}

var hillProgram = Program{Name: "hill", Titles: []*game.Title{{
	Game: world.Define("hill", world.Class[kite](), world.Commands[push](), world.Knob[wind](),
		world.State[rule](),
		world.OnContent(func(w *world.World, data []byte) {
			if text, ok := strings.CutPrefix(string(data), "rule: "); ok && len(text) <= 40 {
				world.StateOf[rule](w).Text = text
			}
		}),
		world.OnJoin(func(w *world.World, p world.Player) {
			w.SetOwner(world.Spawn(w, kite{}),
				p)
		}),
		world.OnLeave(func(w *world.World, p world.Player) {
			for id := range world.All[kite](w) {
				if w.Owner(id) == p {
					w.Remove(id)
				}
			}
		})),
}}}

// hill runs the program's command line in this process.
func hill(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = hillProgram.Run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// A hillServer is a process that operators may reach.
type hillServer struct {
	*testing.T
	cmd           *exec.Cmd
	log           *logLines
	http, udp, at string // at is where operators are answered
	token         string
}

// newToken makes a token in a folder, and gives its file.
func newToken(t *testing.T, dir, role string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), role+".token")
	if code, _, errs := hill("admin", "token", "make", "--dir", dir, "--role", role, "--name",
		"the "+role, "--out", file); code != 0 {
		t.Fatal(errs)
	}
	return file
}

// start runs the program until it serves.
func startHill(t *testing.T, dir string, args ...string) *hillServer {
	t.Helper()
	s := &hillServer{T: t, token: newToken(t, dir, "operate")}
	s.cmd = exec.CommandContext(t.Context(), os.Args[0], append(args, "--listen", "127.0.0.1:0",
		"--log", "json", "--admin", "127.0.0.1:0", "--admin-dir", dir)...)
	s.cmd.Env = append(os.Environ(), asHill+"=1")
	s.cmd.WaitDelay = 10 * time.Second
	pipe, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.log = follow(pipe)
	serving, _ := s.log.await("serving", 0)
	answered, _ := s.log.await("operators are answered", 0)
	if serving == nil || answered == nil {
		t.Fatalf("it does not serve: %v\n%s", s.cmd.Wait(), s.log)
	}
	s.http, s.udp = serving["http"].(string), serving["udp"].(string)
	s.at = answered["admin"].(string)
	return s
}

// admin runs the command admin for this server, which must succeed, and gives its JSON.
func (s *hillServer) admin(args ...string) map[string]any {
	s.Helper()
	code, out, errs := s.tryAdmin(append(args, "--json")...)
	answer := map[string]any{}
	if err := json.Unmarshal([]byte(out), &answer); code != 0 || err != nil {
		s.Fatalf("admin %v: exit code %d: %v: %s%s", args, code, err, out, errs)
	}
	return answer
}

func (s *hillServer) tryAdmin(args ...string) (code int, stdout, stderr string) {
	return hill(append([]string{"admin", "--server", s.at, "--token-file", s.token}, args...)...)
}

// refuses runs the command admin, which must say why not.
func (s *hillServer) refuses(want string, args ...string) {
	s.Helper()
	if code, _, errs := s.tryAdmin(args...); code != cli.ExitFailure || !strings.Contains(errs,
		want) {
		s.Errorf("admin %v: exit code %d, want %q: %s", args, code, want, errs)
	}
}

// ended waits for the process to end in good order.
func (s *hillServer) ended() {
	s.Helper()
	if err := s.cmd.Wait(); err != nil {
		s.Errorf("%v\n%s", err, s.log)
	}
}

// A visit is a player who joins as people do, in a goroutine.
type visit struct {
	over chan error
	stop context.CancelFunc
}

func visitHill(t *testing.T, at, name string) visit {
	ctx, stop := context.WithCancel(t.Context())
	v := visit{make(chan error, 1), stop}
	bot := func(*game.Title) game.Bot {
		return func(_ *world.World, me world.Player, _ world.Tick, in *world.Inputs) error {
			return world.Give(in, me, push{X: 1})
		}
	}
	go func() {
		_, err := Join(ctx, hillProgram.Titles[0], JoinOptions{Servers: []string{at}, Name: name,
			Bot: bot})
		v.over <- err
	}()
	return v
}

// leaves ends a visit, perhaps before it has begun.
func (v visit) leaves(t *testing.T) {
	t.Helper()
	v.stop()
	if err := <-v.over; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestAdminProcess: a server is a process, and its operator has the command line. What is changed
// survives kill -9, bans included.
func TestAdminProcess(t *testing.T) {
	t.Parallel() // it mostly waits
	tmp := t.TempDir()
	dir, kept := filepath.Join(tmp, "admin"), filepath.Join(tmp, "kept")
	s := startHill(t, dir, "serve", "--keep", kept)
	ada := visitHill(t, s.http, "ada")
	s.log.await("joined", 0)
	people := s.admin("players")["people"].([]any)
	if x := people[0].(map[string]any); len(people) != 1 || x["name"] != "ada" ||
		x["player"] != 1.0 ||
		x["address"] == nil {
		t.Errorf("%v", people)
	}
	if _, out, _ := s.tryAdmin("players"); !strings.Contains(out, "PLAYER") ||
		!strings.Contains(out, "ada") {
		t.Error(out)
	}
	if _, out, _ := s.tryAdmin("watch", "--times", "1"); !strings.Contains(out, "hill") ||
		!strings.Contains(out, "ada") {
		t.Error(out)
	}
	if k := s.admin("knobs", "wind.force=2.5"); k["in_force"] != true {
		t.Errorf("%v", k)
	}
	s.refuses("there are wind.Force", "knobs", "wind.farce=1")
	s.refuses("from -4 to 4", "knobs", "wind.force=5")
	file := filepath.Join(tmp, "content")
	for text, good := range map[string]bool{"rule: be kind": true, "ruler": false} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if good {
			s.admin("content", file)
		} else {
			s.refuses("nothing was changed", "content", file)
		}
	}
	s.refuses("has no levels", "level", "nowhere")
	s.admin("message", "hello", "all")
	if p := s.admin("pause"); p["paused"] != true {
		t.Errorf("%v", p)
	}
	s.admin("save") // also of a world that stands still
	s.admin("resume")
	bundle := filepath.Join(tmp, "x.tar.gz")
	s.admin("bundle", "--out", bundle)
	if info, err := os.Stat(bundle); err != nil || info.Size() < 1000 ||
		runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if d := s.admin("ban", "ada", "--address", "--for", "1h", "--why", "enough"); len(
		d["sanctions"].([]any)) != 2 {
		t.Errorf("%v", d)
	}
	if err := <-ada.over; err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("ada ended by %v", err)
	}
	saved := s.admin("save")["tick"].(float64)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // it was killed

	again := startHill(t, dir, "serve", "--keep", kept)
	went, _ := again.log.await("going on with the game that was kept", 0)
	if went["tick"].(float64) < saved {
		t.Errorf("%v, and %v was saved", went, saved)
	}
	knob := again.admin("knobs")["knobs"].([]any)[0].(map[string]any)
	if knob["name"] != "wind.Force" || knob["value"] != "2.5" {
		t.Errorf("%v", knob)
	}
	if err := <-visitHill(t, again.http, "eve").over; err == nil ||
		!strings.Contains(err.Error(), "enough") {
		t.Errorf("eve ended by %v", err)
	}
	if code, out, errs := again.tryAdmin("unban", "127.0.0.1"); code != 0 ||
		!strings.HasPrefix(out, "not banned any more:\n") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	eve := visitHill(t, again.http, "eve")
	again.log.await("joined", 0)
	eve.leaves(t)
	again.admin("shutdown", "--drain", "0s")
	again.ended()
	_, out, _ := hill("admin", "token", "list", "--dir", dir)
	if strings.Count(out, "the operate") != 2 {
		t.Error(out)
	}
}

// TestDrainToAnother: a server that is told to end sends its players to another, and ends when they
// are there. They stay in the game.
func TestDrainToAnother(t *testing.T) {
	t.Parallel() // it mostly waits
	tmp := t.TempDir()
	key := filepath.Join(tmp, "key")
	if code, _, errs := hill("token", "key", "--out", key); code != 0 {
		t.Fatal(errs)
	}
	b := startHill(t, filepath.Join(tmp, "b"), "serve", "--key", key, "--open")
	a := startHill(t, filepath.Join(tmp, "a"), "serve", "--key", key, "--open", "--drain", "1m",
		"--drain-to", b.udp)
	ada := visitHill(t, a.http, "ada")
	a.log.await("joined", 0)
	if status, text := get(t, "http://"+a.http+"/readyz"); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if line, _ := b.log.await("joined", 0); line == nil || line["name"] != "ada" {
		t.Errorf("%v", line)
	}
	if line, _ := a.log.await("drained", 0); line == nil || line["left"] != 0.0 {
		t.Errorf("%v", line)
	}
	a.ended()
	if p := b.admin("players")["people"].([]any); len(p) != 1 {
		t.Errorf("%v", p)
	}
	ada.leaves(t)
	b.admin("shutdown")
	b.ended()
}

// TestDrainAlone: a server without another lets nobody new in, says at once that it is not ready,
// and lets those play on who are there, until the limit.
func TestDrainAlone(t *testing.T) {
	t.Parallel() // it mostly waits
	s := startHill(t, filepath.Join(t.TempDir(), "admin"), "serve", "--drain", "3s")
	ada := visitHill(t, s.http, "ada")
	s.log.await("joined", 0)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.log.await("draining", 0)
	if status, text := get(t, "http://"+s.http+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", status, text)
	}
	if err := <-visitHill(t, s.http, "late").over; err == nil {
		t.Error("someone was let in")
	}
	if line, _ := s.log.await("drained", 0); line == nil || line["left"] != 1.0 {
		t.Errorf("%v", line)
	}
	s.ended()
	ada.stop() // the server is gone; whether she waits for another is her program's business
	<-ada.over
}

// TestAdminMirrors: knobs and content that are changed at one mirror are so at all; what mirrors
// cannot do is said; and one that an operator ends sends its players to the other.
func TestAdminMirrors(t *testing.T) {
	t.Parallel() // it mostly waits
	tmp := t.TempDir()
	key := filepath.Join(tmp, "key")
	if code, _, errs := hill("token", "key", "--out", key); code != 0 {
		t.Fatal(errs)
	}
	dir := filepath.Join(tmp, "admin") // one for both, with one token
	mirror := func(args ...string) *hillServer {
		return startHill(t, dir, append([]string{"mirror", "--key", key, "--open", "--mirrors",
			"127.0.0.1:0"}, args...)...)
	}
	a := mirror("--uber", "--keep", filepath.Join(tmp, "kept"))
	serving, _ := a.log.await("serving", 0)
	b := mirror("--join", serving["address"].(string))
	ada := visitHill(t, a.http, "ada")
	a.log.await("joined", 0)
	still := a.admin("pause", "--why", "tea")
	if b.admin("pause")["paused"] != true { // which it is already
		t.Error("one mirror stands still and the other does not")
	}
	if saved := a.admin("save")["tick"].(float64); saved > still["tick"].(float64) {
		t.Errorf("tick %v was saved, and the world stands still at %v", saved, still["tick"])
	}
	if again := a.admin("pause"); again["tick"] != still["tick"] {
		t.Errorf("the world stands still at %v, and did at %v", again["tick"], still["tick"])
	}
	b.admin("resume")
	a.refuses("hill has no levels", "level", "x")
	if began := b.admin("level", ""); began["level"] != "" || began["seed"] == "" {
		t.Errorf("%v", began)
	}
	if began := a.admin("level", ""); began["kept"] != true {
		t.Errorf("%v", began)
	}
	b.refuses("not kept", "save")
	for first := a.admin("save")["tick"].(float64); a.admin("save")["tick"].(float64) <= first; {
		time.Sleep(5 * time.Millisecond) // what is settled goes on
	}
	file := filepath.Join(tmp, "content")
	if err := os.WriteFile(file, []byte("rule: hold on"), 0o600); err != nil {
		t.Fatal(err)
	}
	both := &hillServer{T: t, at: a.at + "," + b.at, token: a.token}
	if code, out, errs := both.tryAdmin("knobs", "wind.force=-1.5", "--json"); code != 0 ||
		strings.Count(out, "\n") != 1 || !strings.Contains(out, `"in_force":true`) {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	for ok := false; !ok; {
		knob := b.admin("knobs")["knobs"].([]any)[0].(map[string]any)
		ok = knob["value"] == "-1.5"
	}
	if code, _, errs := both.tryAdmin("content", file); code != 0 {
		t.Error(errs)
	}
	for { // until the other has it too, and makes nothing new of it
		if code, _, errs := b.tryAdmin("content", file); code != 0 &&
			strings.Contains(errs, "what the game has already") {
			break
		}
	}
	if code, out, errs := both.tryAdmin("players", "--json"); code != 0 ||
		strings.Count(out, `"server"`) != 2 || strings.Count(out, `"ada"`) != 1 {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	a.refuses("--drain", "shutdown", "--drain", "5s")
	a.admin("shutdown", "--why", "maintenance")
	a.ended()
	if line, _ := b.log.await("joined", 0); line == nil || line["name"] != "ada" {
		t.Errorf("%v", line)
	}
	ada.leaves(t)
	b.admin("shutdown")
	b.ended()
}

// TestAdminMistakes: whatever is wrong is said with what to do about it.
func TestAdminMistakes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "admin")
	token := newToken(t, dir, "watch")
	open := filepath.Join(t.TempDir(), "open.token")
	if err := errors.Join(os.WriteFile(open, []byte("x"), 0o644), os.Chmod(open,
		0o644)); err != nil {
		t.Fatal(err)
	}
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	here := " --listen 127.0.0.1:0 --http none"
	for _, x := range []struct {
		args, want string
		code       int
	}{
		{"admin players", "--token-file is needed", cli.ExitUsage},
		{"admin players --token-file " + garbage, "it is no token", cli.ExitFailure},
		{"admin players --token-file " + open, "chmod 600", cli.ExitFailure},
		{"admin players --token-file " + dir + "/none", "no such file", cli.ExitFailure},
		{"admin players --server 127.0.0.1:1 --token-file " + token, "was started with --admin",
			cli.ExitFailure},
		{"admin players --server http://192.0.2.1:1 --token-file " + token, "https://",
			cli.ExitFailure},
		{"admin nothing", `there is no command "nothing"`, cli.ExitUsage},
		{"admin knobs pull --token-file " + token, "write NAME=VALUE", cli.ExitUsage},
		{"admin ban --token-file " + token, "say WHO", cli.ExitUsage},
		{"admin ban x --for soon --token-file " + token, "--for", cli.ExitUsage},
		{"admin drain here --token-file " + token, "an address and a port", cli.ExitUsage},
		{"admin audit --last 0 --token-file " + token, "--last is 0", cli.ExitUsage},
		{"admin watch --every 1ms --token-file " + token, "--every is 1ms", cli.ExitUsage},
		{"admin content " + dir + "/none --token-file " + token, "no such file", cli.ExitFailure},
		{"admin token make --dir " + dir + " --role king --name a", "choose watch", cli.ExitUsage},
		{"admin token make --dir " + dir + " --role watch", "--name is needed", cli.ExitUsage},
		{"admin token make --role watch --name a", "--dir is needed", cli.ExitUsage},
		{"admin token make --dir " + dir + " --role watch --name a --for never --out " + token,
			"exists", cli.ExitFailure},
		{"admin token revoke nobody --dir " + dir, "there is no token", cli.ExitFailure},
		{"admin token list --dir " + dir + "/none", "make a first token", cli.ExitFailure},
		{"serve --admin 127.0.0.1:0" + here, "--admin needs --admin-dir", cli.ExitUsage},
		{"serve --admin 0.0.0.0:0 --admin-dir " + dir + here, "--tls-self-signed", cli.ExitUsage},
		{"serve --drain -1s" + here, "--drain is -1s", cli.ExitUsage},
		{"serve --drain-to 127.0.0.1:1" + here, "--drain-to goes with --drain", cli.ExitUsage},
		{"serve --drain 1s --drain-to nowhere" + here, "--drain-to", cli.ExitUsage},
		{"mirror --witness --join 127.0.0.1:1 --key x --admin 127.0.0.1:0",
			"does not go with --witness", cli.ExitUsage},
	} {
		code, _, errs := hill(strings.Fields(x.args)...)
		if code != x.code || !strings.Contains(errs, x.want) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", x.args, code, x.code, x.want, errs)
		}
	}
	if _, out, _ := hill("admin", "token", "list", "--dir", dir, "--json"); strings.Count(out,
		`"id"`) != 1 {
		t.Errorf("a token was made that nobody has: %s", out)
	}
}

// TestAdminSecure: beyond this machine operators are answered over HTTPS, by a certificate that
// they trust by its fingerprint.
func TestAdminSecure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "admin")
	s, err := NewServer(hillProgram.Titles[0], ServeOptions{Listen: "127.0.0.1:0",
		Web: WebOptions{TLSSelfSigned: true, Admin: AdminOptions{Listen: "0.0.0.0:0", Dir: dir}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- errors.Join(s.Run(ctx), s.Close()) }()
	_, port, _ := strings.Cut(s.Admin(), "]:")
	at := fmt.Sprint("https://127.0.0.1:", port)
	args := []string{"admin", "status", "--server", at, "--token-file", newToken(t, dir, "watch")}
	if code, _, errs := hill(args...); code != 1 || !strings.Contains(errs, "--trust") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, out, errs := hill(append(args, "--trust", s.Fingerprint())...); code != 0 ||
		!strings.Contains(out, "hill") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
}
