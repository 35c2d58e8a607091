//go:build !js && !wasip1

package det

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// A platform is a way to run a Go program on a processor, real or not.
type platform struct {
	name string
	env  []string
	run  func(t *testing.T, program string) []string // the command line
	fma  *regexp.Regexp                              // fused instructions of this processor
}

// otherPlatforms lists what this machine may run beside its own.
func otherPlatforms() []platform {
	ps := []platform{{
		name: "wasm",
		env:  []string{"GOOS=js", "GOARCH=wasm"},
		run: func(t *testing.T, program string) []string {
			node := need(t, "node", "Node.js")
			root, err := exec.Command("go", "env", "GOROOT").Output()
			if err != nil {
				t.Fatal(err)
			}
			return []string{
				node, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm",
					"wasm_exec_node.js"), program}
		},
	}}
	direct := func(t *testing.T, program string) []string { return []string{program} }
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		ps = append(ps,
			platform{"amd64 v1", []string{"GOARCH=amd64", "GOAMD64=v1"}, direct, nil},
			platform{"amd64 v3", []string{"GOARCH=amd64", "GOAMD64=v3"},
				func(t *testing.T, program string) []string {
					if info, _ := os.ReadFile("/proc/cpuinfo"); !bytes.Contains(info,
						[]byte(" fma ")) {
						t.Skip("this processor has no fused multiply-add")
					}
					return direct(t, program)
				}, regexp.MustCompile(`\bVFN?M(ADD|SUB)`)},
		)
		if os.Getenv("COEVAL_SOAK") != "" { // nobody is promised this one
			ps = append(ps, platform{"386", []string{"GOARCH=386"}, direct, nil})
		}
	}
	if runtime.GOOS == "linux" && runtime.GOARCH != "arm64" {
		ps = append(ps,
			platform{"arm64", []string{"GOARCH=arm64"},
				func(t *testing.T, program string) []string {
					return []string{
						need(t, "qemu-aarch64", "QEMU's user emulation (Debian: qemu-user)"),
						program}
				}, regexp.MustCompile(`\bFN?M(ADD|SUB)`)})
	}
	return ps
}

// need finds a program, or ends the test: by skipping it, but on the project's own machines, where
// CI=true is set, by failing it.
func need(t *testing.T, program, what string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		const msg = "%s is not installed, so results on %s are not compared; install %s"
		if os.Getenv("CI") == "true" {
			t.Fatalf(msg, program, t.Name(), what)
		}
		t.Skipf(msg, program, t.Name(), what)
	}
	return path
}

// golden is the hash of every function, with a million results each, or few on platforms that are
// tried beyond those that are promised.
func golden(t *testing.T, few bool) (n, want string) {
	n = "1000000"
	if few {
		n = "10000"
	}
	b, err := os.ReadFile(filepath.Join("testdata", "dethash-"+n+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return n, string(b)
}

// compile builds dethash for a platform.
func compile(t *testing.T, env []string) string {
	out := filepath.Join(t.TempDir(), "dethash")
	cmd := exec.Command("go", "build", "-o", out, "./internal/dethash")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	return out
}

// compare runs dethash and holds its output against the committed hashes.
func compare(t *testing.T, command []string, few bool) {
	n, want := golden(t, few)
	var stderr bytes.Buffer
	cmd := exec.Command(command[0], append(command[1:], n)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	got, wanted := strings.Split(string(out), "\n"), strings.Split(want, "\n")
	if len(got) != len(wanted) {
		t.Fatalf("%d functions, %d are committed", len(got), len(wanted))
	}
	for i := range got {
		if got[i] != wanted[i] {
			t.Errorf("got %q, committed is %q", got[i], wanted[i])
		}
	}
}

// This machine, whatever it is, must agree with what is committed. After a deliberate change of a
// function:
//
//	go run ./det/internal/dethash 1000000 > det/testdata/dethash-1000000.txt
//	go run ./det/internal/dethash 10000 > det/testdata/dethash-10000.txt
func TestResultsHere(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("another program computes")
	}
	compare(t, []string{compile(t, nil)}, false)
}

func TestResultsElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("other programs compute")
	}
	for _, p := range otherPlatforms() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			program := compile(t, p.env)
			// An emulated processor is a hundred times slower.
			emulated := p.name == "arm64" && os.Getenv("COEVAL_SOAK") == ""
			compare(t, p.run(t, program), emulated || p.name == "amd64 v1" || p.name == "386")
		})
	}
}

// listing is what the compiler makes of a package, in assembly.
func listing(t *testing.T, dir string, env []string, packages ...string) []byte {
	cmd := exec.Command("go",
		append([]string{"build", "-o", os.DevNull, "-gcflags=-S"}, packages...)...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	asm, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, asm)
	}
	if !bytes.Contains(asm, []byte("STEXT")) {
		t.Fatalf("no assembly in\n%s", asm)
	}
	return asm
}

// No fused multiply-add may be in what the compiler makes of this package and its user, into which
// much of it is inlined.
func TestNothingIsFused(t *testing.T) {
	for _, p := range otherPlatforms() {
		if p.fma == nil {
			continue
		}
		for line := range bytes.Lines(listing(t, ".", p.env, ".", "./internal/dethash")) {
			if p.fma.Match(line) {
				t.Errorf("%s: %s", p.name, bytes.TrimSpace(line))
			}
		}
	}
}

// The search for fused instructions must find one where there is one, or it proves nothing.
func TestFusedIsFound(t *testing.T) {
	const source = "package fused\n\nfunc F(x, y, z float64) float64 { return x*y + z }\n"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"fused.go": source, "go.mod": "module fused\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range otherPlatforms() {
		if p.fma == nil {
			continue
		}
		if asm := listing(t, dir, append(p.env, "GOWORK=off", "GOFLAGS=-mod=mod"),
			"."); !p.fma.Match(asm) {
			t.Errorf("%s: no fused instruction found in\n%s", p.name, asm)
		}
	}
}
