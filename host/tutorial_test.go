package host

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/hosttest"
)

// A lesson is one step of the tutorial: files to write, and then commands with what they print.
type lesson struct {
	title    string
	files    map[string]string
	commands []typed
}

// A typed command is a line that the reader types. What it prints is said where the page says so.
type typed struct{ line, prints string }

// lessons reads the tutorial.
func lessons(t *testing.T) (list []lesson) {
	page, err := os.ReadFile("../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(page), "\n## ")[1:]
	fence := regexp.MustCompile("(?s)```(go)?\n(.*?)```\n+((?:    [^\n]*\n)*)")
	for _, text := range sections {
		title, text, _ := strings.Cut(text, "\n")
		l := lesson{title: title, files: map[string]string{}}
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			if m[1] == "go" {
				name, _, _ := strings.Cut(strings.TrimPrefix(m[2], "// "), "\n")
				if filepath.Ext(name) != ".go" || !strings.HasPrefix(m[2], "// ") {
					t.Errorf("%s: a block does not begin with the name of its file: %.40s", title, m[2])
				}
				l.files[name] = m[2]
				continue
			}
			for line := range strings.Lines(m[2]) {
				l.commands = append(l.commands, typed{line: strings.TrimSpace(line)})
			}
			if n := len(l.commands); n > 0 && m[3] != "" {
				l.commands[n-1].prints = strings.TrimSpace(m[3])
			}
		}
		list = append(list, l)
	}
	return list
}

// TestTheTutorial types the tutorial, as it stands, in a module outside of the repository: every
// step compiles, and every command does what the page says.
func TestTheTutorial(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("it builds programs, and interrupts them")
	}
	o := &outside{t: t, dir: t.TempDir()}
	o.program = filepath.Join(o.dir, "pong")
	o.module("example.com/pong")
	ran := map[string]int{}
	for _, l := range lessons(t) {
		for name, text := range l.files {
			o.write(name, text)
		}
		if len(l.files) > 0 {
			o.build(".", o.program)
		}
		for _, c := range l.commands {
			ran[o.types(l.title, c)]++
		}
		if strings.HasPrefix(l.title, "2.") {
			o.forgets(l.files["ball.go"])
		}
	}
	if ran["run"] < 3 || ran["test"] != 1 || ran["demo"] < 4 || ran["play"] != 1 ||
		ran["measure"] < 2 {
		t.Errorf("commands of the tutorial: %v", ran)
	}
}

// types does what a line of the tutorial says, and says of what kind it was.
func (o *outside) types(title string, c typed) string {
	o.t.Helper()
	line, ok := strings.CutPrefix(c.line, "go run .")
	args := strings.Fields(line)
	switch {
	case c.line == "go test .":
		out, err := o.command("go", "test", ".").CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), c.prints) {
			o.t.Errorf("%s: %v\n%s", title, err, out)
		}
		return "test"
	case !ok:
		o.t.Errorf("%s: what is %q?", title, c.line)
		return ""
	case len(args) == 0:
		if out := o.try(0); strings.TrimSpace(out) != c.prints {
			o.t.Errorf("%s: it prints %s", title, out)
		}
		return "run"
	case args[0] == "demo" && strings.Contains(line, "--listen") && !networked():
		return "demo" // there is nobody to let in
	case args[0] == "demo":
		o.shows(append(args, "--port", "0", "--no-open"))
		return "demo"
	case c.line == "go run . play":
		return "terminal" // which a test of the terminal plays
	case args[0] == "play":
		if out := o.try(0, args...); !strings.Contains(out, "pong") {
			o.t.Errorf("%s: it prints %s", title, out)
		}
		return "play"
	}
	if args[0] == "lab" && !hosttest.Soak() {
		args = append(args, "--help") // it takes a while
	}
	if out := o.try(0, args...); out == "" {
		o.t.Errorf("%s: it prints nothing", title)
	}
	return "measure"
}

// networked says whether this machine has an address that others could reach.
func networked() bool {
	list, _ := net.InterfaceAddrs() // without them it has none
	return slices.ContainsFunc(list, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast()
	})
}

// shows starts a demo, and ends it when it says where the game is.
func (o *outside) shows(args []string) {
	o.t.Helper()
	cmd := o.command(o.program, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		o.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	said := follow(out)
	if said.plain("the game is at http://") == "" {
		o.t.Errorf("%v: it never says where the game is", args)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	said.end()
	if err := cmd.Wait(); err != nil {
		o.t.Errorf("%v: %v", args, err)
	}
}

// forgets leaves out the line that the tutorial says to leave out.
func (o *outside) forgets(ball string) {
	o.t.Helper()
	o.write("ball.go", strings.Replace(ball, "\ts.Int(&b.Wait, 0, 60)\n", "", 1))
	o.build(".", o.program)
	const want = `game "pong": class Ball: field Wait is not synced; sync it, or say why not by a tag`
	if out := o.try(0); !strings.Contains(out, want) {
		o.t.Errorf("without the line it prints %s", out)
	}
	o.write("ball.go", ball)
}
