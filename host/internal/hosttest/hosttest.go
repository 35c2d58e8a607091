// Package hosttest is what tests of programs need from the machine: other processors to run on, and
// networks of its own. Only tests import it.
package hosttest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A Platform is a way to run a Go program on a processor, real or not.
type Platform struct {
	Name string
	Env  []string
	Run  func(t *testing.T) []string // what stands before the program on the command line
}

// Platforms lists what this machine may run, its own first.
func Platforms() []Platform {
	direct := func(*testing.T) []string { return nil }
	ps := []Platform{
		{"here", nil, direct}, {
			"wasm", []string{"GOOS=js", "GOARCH=wasm"}, func(t *testing.T) []string {
				node := NeedProgram(t, "node", "Node.js")
				root, err := exec.Command("go", "env", "GOROOT").Output()
				if err != nil {
					t.Fatal(err)
				}
				return []string{
					node, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm",
						"wasm_exec_node.js")}
			}}}
	// It is for a soak, as arm64 has fused multiply-add too, and package det looks for it here.
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" && Soak() {
		ps = append(ps,
			Platform{"amd64 v3", []string{"GOARCH=amd64", "GOAMD64=v3"},
				func(t *testing.T) []string {
					if info, _ := os.ReadFile("/proc/cpuinfo"); !bytes.Contains(info,
						[]byte(" fma ")) {
						t.Skip("this processor has no fused multiply-add")
					}
					return nil
				}})
	}
	if runtime.GOOS == "linux" && runtime.GOARCH != "arm64" {
		ps = append(ps, Platform{"arm64", []string{"GOARCH=arm64"}, func(t *testing.T) []string {
			return []string{
				NeedProgram(t, "qemu-aarch64", "QEMU's user emulation (Debian: qemu-user)")}
		}})
	}
	return ps
}

// NeedProgram finds a program, or ends the test: by skipping it, but on the project's own machines,
// where CI=true is set, by failing it.
func NeedProgram(t *testing.T, program, what string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		const msg = "%s is not installed, so %s is not tried; install %s"
		if os.Getenv("CI") == "true" {
			t.Fatalf(msg, program, t.Name(), what)
		}
		t.Skipf(msg, program, t.Name(), what)
	}
	return path
}

// IP runs the tool that makes network namespaces, or says why it cannot.
func IP(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// NeedNamespaces ends the test where no network namespaces can be made.
func NeedNamespaces(t *testing.T) {
	t.Helper()
	why := ""
	if _, err := exec.LookPath("ip"); err != nil {
		why = "ip is not here; install the package iproute2"
	} else if os.Geteuid() != 0 {
		why = "network namespaces need root"
	}
	switch {
	case why != "" && os.Getenv("CI") == "true":
		t.Fatal(why)
	case why != "":
		t.Skip(why)
	}
}

// OwnCache is an environment in which a program keeps what it compiled in a folder of the test's
// own, so that it does compile. What Go itself keeps is where it was: Go's folder is in the same
// place unless it is said otherwise, and everything would be compiled anew.
func OwnCache(t *testing.T) []string {
	t.Helper()
	kept, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"GOCACHE=" + strings.TrimSpace(string(kept)), "XDG_CACHE_HOME=" + t.TempDir()}
}
