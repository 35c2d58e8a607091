package layers

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
)

// findings checks a module made of the given files, each a path and its text.
func findings(t *testing.T, files map[string]string) []string {
	t.Helper()
	fsys := fstest.MapFS{"go.mod": {Data: []byte("module example.com/m\n")}}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range Current().Check(tree) {
		out = append(out, f.String())
	}
	return out
}

func expect(t *testing.T, files map[string]string, want ...string) {
	t.Helper()
	got := findings(t, files)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestDirection(t *testing.T) {
	t.Run("upwards", func(t *testing.T) {
		expect(t, map[string]string{
			"codec/delta.go": "package codec\n\nimport _ \"example.com/m/world\"\n",
			"world/world.go": "package world\n",
		}, "codec/delta.go:3: codec imports world: codec stands on a lower row")
	})
	t.Run("sideways", func(t *testing.T) {
		expect(t, map[string]string{
			"interest/grid.go": "package interest\n\nimport (\n\t_ \"example.com/m/reckon\"\n\t_ " +
				"\"example.com/m/world\"\n)\n",
			"reckon/reckon.go": "package reckon\n",
			"world/world.go":   "package world\n",
		}, "interest/grid.go:4: interest imports reckon: they stand on the same row, and no "+
			"arrow leads from interest to reckon")
	})
	t.Run("between games", func(t *testing.T) {
		expect(t, map[string]string{
			"games/arena/rules.go":   "package arena\n\nimport _ \"example.com/m/games/pong\"\n",
			"games/pong/pong.go":     "package pong\n",
			"games/pong/client/c.go": "package client\n\nimport _ \"example.com/m/games/pong\"\n",
		}, "games/arena/rules.go:3: games/arena imports games/pong: they stand on the same row, "+
			"and no arrow leads from games/arena to games/pong")
	})
	t.Run("into what is not pure", func(t *testing.T) {
		expect(t, map[string]string{
			"conn/dial.go":    "package conn\n\nimport _ \"example.com/m/link/udp\"\n",
			"link/udp/udp.go": "package udp\n\nimport _ \"net\"\n",
		}, "conn/dial.go:3: conn imports link/udp: conn is pure and link/udp is not")
	})
	t.Run("unknown", func(t *testing.T) {
		expect(t, map[string]string{
			"util/strings.go": "package util\n",
		}, "util is not in the map: place it in a row of internal/layers/map.go and "+
			"docs/architecture.md")
	})
	t.Run("files for other platforms", func(t *testing.T) {
		expect(t, map[string]string{
			"bits/fast_plan9.go": "//go:build plan9\n\npackage bits\n\nimport _ " +
				"\"example.com/m/entropy\"\n",
			"entropy/e.go": "package entropy\n",
		}, "bits/fast_plan9.go:5: bits imports entropy: they stand on the same row, and no arrow "+
			"leads from bits to entropy")
	})
	t.Run("tests are free", func(t *testing.T) {
		expect(t, map[string]string{
			"bits/bits.go": "package bits\n",
			"bits/bits_test.go": "package bits_test\n\nimport (\n\t_ " +
				"\"example.com/m/entropy\"\n\t_ \"os\"\n)\n",
			"entropy/e.go": "package entropy\n",
		})
	})
}

func TestDependencies(t *testing.T) {
	quic := "package webtransport\n\nimport _ \"github.com/quic-go/quic-go\"\n"
	const may = "it may be reached only from service, link/*, games/*/client, host, examples, cmd"
	t.Run("direct", func(t *testing.T) {
		expect(t, map[string]string{
			"lab/lab.go": "package lab\n\nimport _ \"github.com/quic-go/quic-go\"\n",
		}, "lab/lab.go:3: lab imports github.com/quic-go/quic-go: "+may)
	})
	t.Run("through another", func(t *testing.T) {
		expect(t, map[string]string{
			"link/webtransport/link.go": quic,
			"topology/server/run.go": "package server\n\nimport _ " +
				"\"example.com/m/link/webtransport\"\n",
			"lab/lab.go": "package lab\n\nimport _ " +
				"\"example.com/m/topology/server\"\n",
			"cmd/coeval/main.go": "package main\n\nimport _ " +
				"\"example.com/m/link/webtransport\"\n",
		}, "topology/server/run.go:3: topology/server reaches github.com/quic-go/quic-go through "+
			"link/webtransport: "+may)
	})
	t.Run("a test's own", func(t *testing.T) {
		expect(t, map[string]string{
			"bits/bits_test.go": "package bits\n\nimport _ \"pgregory.net/rapid\"\n",
		})
	})
	t.Run("for tests", func(t *testing.T) {
		expect(t, map[string]string{
			"link/linktest/suite.go": "package linktest\n\nimport _ \"go.uber.org/goleak\"\n",
			"link/udp/udp.go":        "package udp\n\nimport _ \"example.com/m/link/linktest\"\n",
		}, "link/udp/udp.go:3: link/udp reaches go.uber.org/goleak through link/linktest: it may "+
			"be reached only from */*test, */*/*test")
	})
	t.Run("unknown", func(t *testing.T) {
		expect(t, map[string]string{
			"bits/bits.go": "package bits\n\nimport _ \"example.org/fast\"\n",
		}, "bits/bits.go:3: bits imports example.org/fast, which the map does not know: list it "+
			"under Dependencies in internal/layers/map.go, with the folders that may reach it")
	})
	t.Run("cgo", func(t *testing.T) {
		expect(t, map[string]string{
			"topology/solo/fast.go": "package solo\n\nimport \"C\"\n",
		}, "topology/solo/fast.go:3: topology/solo imports C: the project builds without cgo")
	})
}

func TestPurity(t *testing.T) {
	const workers = ": offer the unit of work and let the topology own the workers"
	for _, x := range []struct{ name, imports, body, want string }{
		{"clock", `"time"`, `_ = time.Now()`,
			"time.Now in a pure package: take the time as an argument"},
		{"clock as a value", `"time"`, `f := time.Now; _ = f`,
			"time.Now in a pure package: take the time as an argument"},
		{"clock by another name", `clock "time"`, `clock.Sleep(1)`,
			"time.Sleep in a pure package: take the time as an argument"},
		{"timer", `"time"`, `var t *time.Timer; _ = t`,
			"time.Timer in a pure package: take the time as an argument"},
		{"deadline", `"context"`, `context.WithTimeout(nil, 1)`,
			"context.WithTimeout in a pure package: take the time as an argument"},
		{"mutex", `"sync"`, `var m sync.Mutex; m.Lock()`, "sync.Mutex in a pure package" + workers},
		{"cores", `"runtime"`, `_ = runtime.NumCPU()`,
			"runtime.NumCPU in a pure package: leave scheduling to the topology"},
		{"printing", `"fmt"`, `fmt.Println()`, "fmt.Println in a pure package: take a writer"},
		{"printing without fmt", ``, `println()`, "println in a pure package: take a writer"},
		{"goroutine", ``, `go f()`, "go statement in a pure package" + workers},
		{"channel", ``, `var c chan int; _ = c`, "channel type in a pure package" + workers},
		{"send", ``, `c <- 1`, "channel send in a pure package" + workers},
		{"receive", ``, `_ = <-c`, "channel receive in a pure package" + workers},
		{"select", ``, `select {}`, "select statement in a pure package" + workers},
	} {
		t.Run(x.name, func(t *testing.T) {
			imports := ""
			if x.imports != "" {
				imports = "import " + x.imports
			}
			text := fmt.Sprintf("package conn\n\n%s\n\nfunc f() {\n\t%s\n}\n", imports, x.body)
			expect(t, map[string]string{"conn/send.go": text}, "conn/send.go:6: "+x.want)
		})
	}
	for _, x := range []struct{ spec, want string }{
		{`"net"`, "import of net in a pure package: take and give datagrams; addresses are " +
			"net/netip"},
		{`"net/http"`,
			"import of net/http in a pure package: take and give datagrams; addresses are net/netip"},
		{`"os"`, "import of os in a pure package: take a reader or bytes"},
		{`"os/exec"`, "import of os/exec in a pure package: take a reader or bytes"},
		{`"math/rand/v2"`,
			"import of math/rand/v2 in a pure package: draw from det, by a seed that the caller " +
				"gives"},
		{`"crypto/rand"`,
			"import of crypto/rand in a pure package: take fresh randomness as an argument"},
		{`"hash/maphash"`,
			"import of hash/maphash in a pure package: its seed differs from run to run: use a " +
				"hash of fixed definition"},
		{`"log/slog"`, "import of log/slog in a pure package: return an error or count the event"},
		{`. "time"`, "dot import of time in a pure package: name it, so that its use can be seen"},
	} {
		t.Run(x.spec, func(t *testing.T) {
			expect(t, map[string]string{"world/w.go": "package world\n\nimport " + x.spec + "\n"},
				"world/w.go:3: "+x.want)
		})
	}
	t.Run("linkname", func(t *testing.T) {
		expect(t, map[string]string{
			"det/d.go": "package det\n\nimport _ \"unsafe\"\n\n//go:linkname now " +
				"runtime.nanotime\nfunc now() int64\n"},
			"det/d.go:5: go:linkname in a pure package: use what is exported")
	})
}

func TestPurityLeavesAlone(t *testing.T) {
	impure := "import (\n\t\"net\"\n\t\"time\"\n)\n\nfunc f() { go time.Sleep(1); var _ net.Conn " +
		"}\n"
	expect(t, map[string]string{
		"conn/now.go": "package conn\n\nimport " +
			"(\n\t\"net/netip\"\n\t\"sync\"\n\t\"time\"\n)\n\nvar once sync.Once\n\nfunc f(now " +
			"time.Duration, a netip.AddrPort) time.Duration { return now + time.Second }\n",
		"link/udp/udp.go":         "package udp\n\n" + impure,
		"netsim/proxy/proxy.go":   "package proxy\n\n" + impure,
		"topology/solo/run.go":    "package solo\n\n" + impure,
		"det/internal/hash/m.go":  "package main\n\n" + impure,
		"det/testdata/bad/bad.go": "package bad\n\n" + impure,
		"det/_old/bad.go":         "package bad\n\n" + impure,
		"conn/now_test.go":        "package conn\n\n" + impure,
		"other/go.mod":            "module example.com/other\n",
		"other/bad.go":            "package other\n\n" + impure,
	})
}

func TestLoadRefuses(t *testing.T) {
	for _, x := range []struct {
		name string
		fsys fstest.MapFS
		want string
	}{
		{"no module", fstest.MapFS{}, "not the root of a module"},
		{"no name", fstest.MapFS{"go.mod": {Data: []byte("go 1.26\n")}}, "names no module"},
		{"not Go", fstest.MapFS{"go.mod": {Data: []byte("module m\n")},
			"a/a.go": {Data: []byte("pack\n")}}, "a/a.go:1:1"},
	} {
		if _, err := Load(x.fsys); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
	}
}

// TestCompiledClosure asks the go command what a program that uses a pure
// package really compiles, libraries of libraries included.
func TestCompiledClosure(t *testing.T) {
	tree, err := Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	c := Current()
	for _, p := range tree.Packages {
		if !c.Pure(p.Path) || len(p.Of(false)) == 0 || p.Files[0].Syntax.Name.Name == "main" {
			continue
		}
		cmd := exec.Command("go", "list", "-deps", "./"+p.Path)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("go list -deps ./%s: %v", p.Path, err)
			continue
		}
		for dep := range strings.FieldsSeq(string(out)) {
			if dep == "golang.org/x/sys/cpu" {
				continue // ciphers ask it what the processor can do; it opens nothing
			}
			if d := c.dependency(dep); d != nil && !withinAny(p.Path, d.from) {
				t.Errorf("a program that uses %s compiles %s", p.Path, dep)
			}
		}
	}
}
