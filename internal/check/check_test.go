package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/coeval-dev/coeval/internal/layers"
)

// module gives a tree made of the given files, each a path and its text.
func module(t *testing.T, texts map[string]string) *layers.Tree {
	t.Helper()
	fsys := fstest.MapFS{"go.mod": {Data: []byte("module example.com/m\n\ngo 1.26\n")}}
	for name, text := range texts {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := layers.Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// onDisk writes such a module to a folder, goes there, and gives a runner for
// it and what it prints.
func onDisk(t *testing.T, texts map[string]string) (*runner, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	texts["go.mod"] = "module example.com/m\n\ngo 1.26\n"
	for name, text := range texts {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	tree, err := layers.Load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	return &runner{
			ctx: t.Context(), out: out, tree: tree, options: options{
				target: regexp.MustCompile("")}},
		out
}

func mustContain(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("want %q in\n%s", w, text)
		}
	}
}

func TestStagesAndSummary(t *testing.T) {
	var out bytes.Buffer
	plan := []stage{
		{"first", func(*runner) error { return nil }},
		{"second", func(r *runner) error { r.skip("the moon: no ladder"); return nil }},
		{"third", func(*runner) error { return errors.New("it rains") }},
		{build.name, func(*runner) error { return errors.New("syntax error") }},
		{"fifth", func(*runner) error { t.Error("ran although the build failed"); return nil }},
	}
	r := &runner{ctx: t.Context(), out: &out}
	err := r.run(plan)
	if err == nil || err.Error() != "failed: third, build, fifth" {
		t.Errorf("error %v", err)
	}
	mustContain(t, out.String(), "left out: the moon: no ladder", "FAILED  it rains",
		"FAILED  not run, because the build failed", "in all")

	r = &runner{ctx: t.Context(), out: &out}
	if err := r.run(plan[:2]); err != nil {
		t.Errorf("a part left out failed the run: %v", err)
	}
	r = &runner{ctx: t.Context(), out: &out, options: options{strict: true}}
	if err := r.run(plan[:2]); err == nil || err.Error() != "failed: second" {
		t.Errorf("with CI=true a part left out gave %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r = &runner{ctx: ctx, out: &out}
	if err := r.run(plan[:1]); err == nil || err.Error() != "interrupted" {
		t.Errorf("an interrupted run gave %v", err)
	}
}

func TestConcurrentPackages(t *testing.T) {
	whole, some := concurrent(module(t, map[string]string{
		"calm/a.go":         "package calm\n",
		"calm/a_test.go":    "package calm\n",
		"busy/a.go":         "package busy\n\nfunc f() { go f() }\n",
		"busy/a_test.go":    "package busy\n",
		"above/a.go":        "package above\n\nimport _ \"example.com/m/middle\"\n",
		"above/a_test.go":   "package above\n",
		"middle/a.go":       "package middle\n\nimport _ \"example.com/m/busy\"\n",
		"group/a.go":        "package group\n\nfunc f(g group) { g.Go(nil) }\n",
		"group/a_test.go":   "package group\n",
		"compare/a_test.go": "package compare\n\nimport _ \"example.com/m/busy\"\n",
		"linktest/a.go":     "package linktest\n\nfunc f() { go f() }\n",
		"link/a_test.go":    "package link\n\nimport _ \"example.com/m/linktest\"\n",
		"parallel/a_test.go": "package parallel\n\nimport \"testing\"\n\nfunc TestA(t " +
			"*testing.T) { t.Parallel() }\n",
		"intest/a_test.go": "package intest\n\nfunc TestA() { go f() }\n\nfunc TestB() {}\n\n" +
			"func TestC() { x.indirect() }\n",
		"intest/b_test.go": "package intest\n\nfunc (x) indirect() { helper() }\n\n" +
			"func helper() { g.Go(nil) }\n\nfunc BenchmarkA() { go f() }\n",
	}))
	if got := strings.Join(whole, " "); got != "above busy group link" {
		t.Errorf("found %q", got)
	}
	if got := fmt.Sprint(some); got != "map[intest:[TestA TestC] parallel:[TestA]]" {
		t.Errorf("found %s", got)
	}
}

func TestSeededPackages(t *testing.T) {
	got := strings.Join(seeded(module(t, map[string]string{
		"a/a_test.go": "package a\n\nimport _ \"pgregory.net/rapid\"\n",
		"b/b_test.go": "package b\n\nvar v = \"COEVAL_SEEDS\"\n",
		"c/c_test.go": "package c\n\nvar v = \"SEEDS\"\n",
		"d/d.go":      "package d\n\nvar v = \"COEVAL_SEEDS\"\n",
		"e/e_test.go": "package e\n\nimport _ \"example.com/m/d\"\n",
	})), " ")
	if got != "./a ./b ./e" {
		t.Errorf("found %q", got)
	}
}

func TestToolsAskedFor(t *testing.T) {
	tree := module(t, map[string]string{
		"det/a_test.go": "package det\n\nvar v = " +
			"[]string{\"/usr/bin/qemu-aarch64-static\"}\n",
		"web/a_test.go":           "package web\n\nimport _ \"github.com/chromedp/chromedp\"\n",
		"store/a.go":              "package store\n\nimport _ \"github.com/jackc/pgx/v5\"\n",
		"internal/check/tools.go": "package main\n\nvar v = \"tshark\"\n",
	})
	var got []string
	for _, x := range outsideTools {
		if askedFor(tree, x) {
			got = append(got, x.pkg)
		}
	}
	if strings.Join(got, " ") != "qemu-user chromium postgresql" {
		t.Errorf("found %q", got)
	}
}

func TestMissingToolIsLeftOut(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out bytes.Buffer
	r := &runner{
		ctx: t.Context(), out: &out,
		tree: module(t, map[string]string{"a/a_test.go": "package a\n\nvar v = \"tshark\"\n"})}
	if err := provideTools(r); err != nil {
		t.Fatal(err)
	}
	mustContain(t, strings.Join(r.skipped, "\n"), "tshark is not here (package tshark)")
}

func TestGoTestIsFollowed(t *testing.T) {
	r, out := onDisk(t, map[string]string{
		"good/a_test.go": "package good\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { " +
			"t.Log(\"chatter\") }\n\nfunc TestB(t *testing.T) { t.Skip(\"no moon tonight\") " +
			"}\n\nfunc FuzzC(f *testing.F) { f.Add(1); f.Fuzz(func(t *testing.T, i int) { " +
			"t.Skip() }) }\n",
		"bad/a_test.go": "package bad\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { " +
			"t.Error(\"two and two\") }\n",
		"broken/a_test.go": "package broken\n\nvar x int = \"\"\n",
	})
	err := r.test(nil, "./...")
	if err == nil || err.Error() != "tests failed in bad, broken" &&
		err.Error() != "tests failed in broken, bad" {
		t.Errorf("error %v", err)
	}
	if strings.Join(r.skipped, "\n") != "good TestB: no moon tonight" {
		t.Errorf("skipped %q", r.skipped)
	}
	mustContain(t, out.String(), "two and two", "cannot use", "ok  example.com/m/good",
		"FAILED example.com/m/bad")
	if strings.Contains(out.String(), "chatter") {
		t.Error("a passing test's output was shown")
	}
}

func TestHangIsShown(t *testing.T) {
	r, out := onDisk(t, map[string]string{
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestStuck(t *testing.T) { " +
			"t.Log(\"entering\"); select {} }\n",
	})
	if err := r.test(nil, "-timeout=300ms", "./..."); err == nil {
		t.Error("not noticed")
	}
	mustContain(t, out.String(), "TestStuck", "test timed out", "entering")
}

func TestFormatting(t *testing.T) {
	r, out := onDisk(t,
		map[string]string{"a/good.go": "package a\n", "a/bad.go": "package a\nvar   x int\n"})
	if err := checkFormatting(r); err == nil {
		t.Error("not noticed")
	}
	if out.String() != "a/bad.go\n" {
		t.Errorf("complained of %q", out.String())
	}
}

func TestCrossBuildFinds(t *testing.T) {
	r, out := onDisk(t, map[string]string{
		"det/det.go":         "package det\n",
		"det/det_windows.go": "package det\n\nvar x int = \"\"\n",
		"lab/lab_darwin.go":  "package lab\n\nvar x int = \"\"\n", // neither pure nor a carrier
	})
	err := r.cross(pureOnly)
	if err == nil || err.Error() != "does not build for windows/amd64" {
		t.Errorf("error %v", err)
	}
	mustContain(t, out.String(), "js/wasm: 1 packages", "det_windows.go:3")
}

func TestRaceFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the race detector")
	}
	r, out := onDisk(t, map[string]string{
		"a/a_test.go": `package a

import "testing"

func TestA(t *testing.T) {
	n, done := 0, make(chan bool)
	go func() { n++; done <- true }()
	n++
	<-done
}
`,
	})
	err := r.race()
	if len(r.skipped) > 0 {
		t.Skip(r.skipped[0])
	}
	if err == nil {
		t.Error("not found")
	}
	mustContain(t, out.String(), "DATA RACE")
}

func TestSeedsGrowUntilFailure(t *testing.T) {
	r, out := onDisk(t, map[string]string{
		"a/a_test.go": `package a

import (
	"os"
	"testing"
)

func TestA(t *testing.T) {
	if n := os.Getenv("COEVAL_SEEDS"); n == "2000" {
		t.Fatalf("seed 1234 of %s", n)
	}
}
`,
	})
	if err := r.seeds(10 * time.Minute); err == nil || err.Error() != "tests failed in a" {
		t.Errorf("error %v", err)
	}
	mustContain(t, out.String(), "round with 1000 seeds", "round with 2000 seeds",
		"seed 1234 of 2000")
}

func TestSeedsAreCutOff(t *testing.T) {
	r, out := onDisk(t, map[string]string{
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nvar v = \"COEVAL_SEEDS\"\n\nfunc " +
			"TestA(t *testing.T) { for { _ = t } }\n",
	})
	if err := r.seeds(time.Second); err != nil {
		t.Errorf("the end of the time was taken for a failure: %v", err)
	}
	mustContain(t, out.String(), "the time is used up")
	if r.ctx.Err() != nil {
		t.Error("the stages that follow could not run")
	}
}

// TestFuzzFinds plants a fault that no seed shows and expects it to be found,
// and its input kept.
func TestFuzzFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the fuzzer's instrumentation")
	}
	r, out := onDisk(t, map[string]string{
		"p/p_test.go": `package p

import "testing"

func FuzzSound(f *testing.F) { f.Add(byte(1)); f.Fuzz(func(t *testing.T, b byte) {}) }

func FuzzFaulty(f *testing.F) {
	f.Add(byte(1))
	f.Fuzz(func(t *testing.T, b byte) {
		if b > 1 {
			t.Fatal("more than one")
		}
	})
}
`,
	})
	r.target = regexp.MustCompile(`^p\.FuzzFaulty$`)
	err := r.fuzz(func(int) time.Duration { return time.Minute })
	if err == nil {
		t.Fatalf("not found\n%s", out)
	}
	mustContain(t, err.Error(), "p.FuzzFaulty", "testdata/fuzz")
	mustContain(t, out.String(), "1 targets", "more than one")
	kept, _ := filepath.Glob("p/testdata/fuzz/FuzzFaulty/*")
	if len(kept) != 1 {
		t.Errorf("kept %v", kept)
	}
}

func TestShare(t *testing.T) {
	for _, x := range []struct {
		n    int
		want time.Duration
	}{{0, 2 * time.Second}, {10, 2 * time.Second}, {60, time.Second}, {1000, time.Second / 2}} {
		if got := share(time.Minute, x.n, time.Second/2, 2*time.Second); got != x.want {
			t.Errorf("%d targets: %v each, want %v", x.n, got, x.want)
		}
	}
}

func TestFuzzerOutput(t *testing.T) {
	said := "fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed\nfuzz: elapsed: 2s, " +
		"execs: 1234 (617/sec), new interesting: 0\n"
	if got := lastCount(said); got != "1234 inputs" {
		t.Errorf("counted %q", got)
	}
	if onlyOutOfTime(said) ||
		!onlyOutOfTime("--- FAIL: FuzzA (2.01s)\n    context deadline exceeded\n") ||
		onlyOutOfTime(
			"context deadline exceeded\n    Failing input written to testdata/fuzz/FuzzA/1\n") {
		t.Error("a run that was only out of time is not told from a real failure")
	}
}

func TestDocuments(t *testing.T) {
	fsys := fstest.MapFS{
		"README.md": {
			Data: []byte(
				"# Top\n\nSee [docs](docs/README.md), [a part](docs/a.md#the-part-one), " +
					"[gone](docs/gone.md), [no part](docs/a.md#nothing),\n" +
					"[out](https://example.com/x), `[code](nowhere)`.\n\n```go\npackage " +
					"main\n\nfunc " +
					"main() {}\n```\n\n```go\nx := 1 // [y](z)\n```\n")},
		"docs/README.md": {Data: []byte("[a](a.md)\n")},
		"docs/a.md": {
			Data: []byte("## The part, `one`\n\n[up](../README.md#top) [here](#the-part-one)\n")},
		"docs/b.md": {Data: []byte("alone\n")},
	}
	pages, err := readPages(fsys)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(append(brokenLinks(fsys, pages), notInIndex(pages)...), "\n")
	want := "README.md: link to docs/gone.md leads nowhere\n" +
		"README.md: link to docs/a.md#nothing: no heading of that name\n" +
		"docs/b.md: no link from docs/README.md"
	if got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	if len(pages[0].programs) != 1 || !strings.HasPrefix(pages[0].programs[0], "package main\n") {
		t.Errorf("programs %q", pages[0].programs)
	}
}

func TestDocumentProgramsCompile(t *testing.T) {
	r, _ := onDisk(t, map[string]string{"a/a.go": "package a\n\nconst Answer = 42\n"})
	const head = "package main\n\nimport \"example.com/m/a\"\n\n"
	if err := r.compile(head + "func main() { println(a.Answer) }\n"); err != nil {
		t.Error(err)
	}
	if err := r.compile(head + "func main() { println(a.Question) }\n"); err == nil {
		t.Error("a program with a mistake passed")
	}
}

func TestWideLines(t *testing.T) {
	wide := strings.Repeat("x", 101)
	src := "package a\n" + // 1
		"// " + wide[:97] + "\n" + // 2: just fits
		"// " + wide[:98] + "\n" + // 3: does not
		"//\t" + wide + "\n" + // 4: a picture
		"var a = `" + wide + "\n" + wide + "`\n" + // 5, 6: a text
		"\tvar " + wide[:93] + " = 1\n" + // 7: the tab counts as four
		"// " + strings.Repeat("ü", 97) + "\n" + // 8: letters count, not bytes
		"//go:build " + wide + "\n" // 9: a directive
	if got := fmt.Sprint(wideLines(src)); got != "[3 7]" {
		t.Errorf("found %s", got)
	}
}

func TestLargeParts(t *testing.T) {
	body := strings.Repeat("\t_ = 1\n", maxFunction-2)
	fields := strings.Repeat("\ta, b int\n", maxFields/2)
	for src, want := range map[string]string{
		"func f() {\n" + body + "}\n":               "[]",
		"func f() {\n\t_ = 2\n" + body + "}\n":      "[a.go:3: f has 81 lines]",
		"type t struct {\n" + fields + "}\n":        "[]",
		"type t struct {\n\tint\n" + fields + "}\n": "[a.go:3: t has 31 fields]",
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "a.go", "package a\n\n"+src, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(largeParts(fset, "a", file)); got != want {
			t.Errorf("found %s, not %s", got, want)
		}
	}
}
