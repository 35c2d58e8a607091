package stepvet

import (
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// fusedInstruction matches what the compiler makes of x*y + z on arm64.
var fusedInstruction = regexp.MustCompile(`\sFN?M(ADD|SUB)[SD]\s`)

// What the analyser says may be fused must be just what the compiler fuses, function by function.
func TestFusedAsTheCompilerDoes(t *testing.T) {
	const name = "example.com/fused"
	said, declared := map[string]bool{}, []string{}
	results := analysistest.Run(ignore{t}, analysistest.TestData(), Analyzer, name)
	for _, r := range results {
		for _, file := range r.Pass.Files {
			for _, decl := range file.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || fn.Doc == nil { // only those that are not inlined
					continue
				}
				declared = append(declared, fn.Name.Name)
				said[fn.Name.Name] = slices.ContainsFunc(r.Diagnostics,
					func(d analysis.Diagnostic) bool { return inside(d.Pos, fn) })
			}
		}
	}
	done := compilerFuses(t, name)
	if len(declared) < 40 || len(done) < 20 {
		t.Fatalf("%d functions, %d of them fused: the test has lost its material", len(declared),
			len(done))
	}
	t.Logf("%d functions, %d of them fused", len(declared), len(done))
	for _, fn := range declared {
		if said[fn] != done[fn] {
			t.Errorf("%s: the analyser says fused is %v, the compiler does %v", fn, said[fn],
				done[fn])
		}
	}
}

func inside(pos token.Pos, n ast.Node) bool { return n.Pos() <= pos && pos < n.End() }

// ignore is for a package without expectations.
type ignore struct{ testing.TB }

func (ignore) Errorf(string, ...any) {}

// compilerFuses compiles a package of testdata for arm64 and gives the functions with fused
// instructions.
func compilerFuses(t *testing.T, pkg string) map[string]bool {
	gopath, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-gcflags="+pkg+"=-S", "-o", os.DevNull, pkg)
	cmd.Env = append(os.Environ(), "GO111MODULE=off", "GOPATH="+gopath, "GOARCH=arm64", "GOFLAGS=",
		"GOOS=linux", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	fused, fn := map[string]bool{}, ""
	for line := range strings.Lines(string(out)) {
		if head, _, ok := strings.Cut(line, " STEXT"); ok {
			fn = strings.TrimPrefix(head, pkg+".")
			fn, _, _ = strings.Cut(fn, "[") // an instance of a generic function
		} else if fusedInstruction.MatchString(line) {
			fused[fn] = true
		}
	}
	return fused
}
