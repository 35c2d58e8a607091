package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// go vet runs the program once a package, in processes that only share files: what is known of a
// function must survive that.
func TestUnderGoVet(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "stepvet.exe")
	if out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	gopath, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "vet", "-vettool="+tool, "example.com/mistakes")
	cmd.Env = append(os.Environ(), "GO111MODULE=off", "GOPATH="+gopath, "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); !failed {
		t.Fatalf("go vet should fail, but gives %v: %s", err, out)
	}
	for _, want := range []string{
		"time.Now is bound to the wall clock",
		"dice.Roll leads to example.com/dice/dice.go:10: math/rand/v2.IntN draws from a stream",
		"dice.Mul gives a product that is not rounded",
		"a sum inside dice.Sum",
		"history is not part of the world",
		"cheat.Roll) [global]",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing from:\n%s", want, out)
		}
	}
}
