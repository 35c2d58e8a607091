package vet_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/host/tools/vet"
)

// vetModule writes a small game with its own stand-in for the toolkit, so that the real commands
// can run on it.
func vetModule(t *testing.T, rules string) (dir string) {
	dir = t.TempDir()
	files := map[string]string{
		"go.mod":         "module example.com/game\n\ngo 1.26\n",
		"world/world.go": "package world\n\ntype World struct{ Tick int }\ntype ID uint64\n",
		"dice/dice.go": "package dice\n\nimport \"math/rand/v2\"\n\nfunc Roll() int { return " +
			"rand.IntN(6) }\n",
		"rules/rules.go": rules,
	}
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runVet(t *testing.T, args ...string) (code int, stdout, stderr string) {
	return toolstest.TryContext(t.Context(), append([]string{"vet"}, args...)...)
}

const badRules = `package rules

import (
	"example.com/game/dice"
	"example.com/game/world"
)

type Ball struct {
	X, V float64
	Hook func()
}

func (b *Ball) Step(w *world.World, me world.ID) {
	b.X += b.V * 0.1
	b.V = float64(dice.Roll())
	b.Hook()
}
`

func TestVetFinds(t *testing.T) {
	dir := vetModule(t, badRules)
	code, out, errs := runVet(t, "-C", dir, "./...")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	want := []string{
		`^rules/rules\.go:14:9: the product may be fused .* \[fuse\]$`,
		`^rules/rules\.go:15:21: dice\.Roll leads to example\.com/game/dice/dice\.go:5: math/rand/v2\.IntN .* \[random\]$`,
	}
	if code != toolstest.ExitFailure || len(lines) != len(want) ||
		errs != "coeval vet: 2 findings\n" {
		t.Fatalf("code %d, errors %q, output:\n%s", code, errs, out)
	}
	for i, w := range want {
		if line := filepath.ToSlash(lines[i]); !regexp.MustCompile(w).MatchString(line) {
			t.Errorf("%q does not match %q", line, w)
		}
	}
}

func TestVetNamesOnlyWhatWasAskedFor(t *testing.T) {
	dir := vetModule(t, badRules)
	if code, out, errs := runVet(t, "-C", dir, "./dice", "./world"); code != toolstest.ExitOK ||
		out != "" || errs != "" {
		t.Errorf("code %d, errors %q, output:\n%s", code, errs, out)
	}
}

func TestVetVerbose(t *testing.T) {
	dir := vetModule(t, badRules)
	code, out, _ := runVet(t, "-C", dir, "-v", "./rules")
	if code != toolstest.ExitFailure || !strings.Contains(out, ":16:2: Hook holds a function") ||
		!strings.Contains(out, "[unchecked]") {
		t.Errorf("code %d, output:\n%s", code, out)
	}
}

func TestVetJSON(t *testing.T) {
	dir := vetModule(t, badRules)
	code, out, _ := runVet(t, "-C", dir, "--json", "./rules")
	var report vet.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != toolstest.ExitFailure {
		t.Fatalf("code %d, %v: %s", code, err, out)
	}
	if report.Packages != 1 || len(report.Findings) != 2 {
		t.Fatalf("%+v", report)
	}
	f := report.Findings[1]
	if f.Line != 15 || f.Column != 21 || f.Category != "random" ||
		strings.Contains(f.Message, "[random]") || filepath.Base(f.File) != "rules.go" {
		t.Errorf("%+v", f)
	}
}

func TestVetClean(t *testing.T) {
	dir := vetModule(t,
		strings.NewReplacer("b.V * 0.1", "float64(b.V * 0.1)", "dice.Roll()",
			"dice.Roll() /* each throw is sent */", "b.V = ",
			"//coeval:allow random -- the server alone throws\n\tb.V = ").Replace(badRules))
	code, out, errs := runVet(t, "-C", dir, "--json", "./...")
	if code != toolstest.ExitOK || out != "{\"packages\":3,\"findings\":[]}\n" || errs != "" {
		t.Errorf("code %d, errors %q, output:\n%s", code, errs, out)
	}
}

func TestVetCannotLoad(t *testing.T) {
	broken := vetModule(t, "package rules\n\nvar x int = \"text\"\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-C", broken, "./..."}, "rules.go:3:13: cannot use"},
		{[]string{"-C", broken, "./nowhere"}, "nowhere"},
		{[]string{"--no-such-flag"}, "no-such-flag"},
	} {
		code, out, errs := runVet(t, c.args...)
		if code != toolstest.ExitUsage || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: code %d, errors %q, output %q", c.args, code, errs, out)
		}
	}
}
