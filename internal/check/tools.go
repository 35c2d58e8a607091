package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/coeval-dev/coeval/internal/layers"
)

// A tool is a program outside Go that some tests ask for.
type tool struct {
	commands []string // any of which will do; a path may be a pattern
	library  string   // a library whose use in a test means that the tool is asked for
	pkg      string   // where apt-get finds it
	purpose  string
}

var outsideTools = []tool{
	{[]string{"node"}, "", "nodejs", "tests in WebAssembly"},
	{[]string{"python3"}, "", "python3", "federates in Python"},
	{[]string{"qemu-aarch64", "qemu-aarch64-static"}, "", "qemu-user", "tests on arm64"},
	{[]string{"tshark"}, "", "tshark", "the protocol as Wireshark sees it"},
	{[]string{"ip"}, "", "iproute2", "multicast across network namespaces"},
	{[]string{"nft"}, "", "nftables", "routers that translate addresses"},
	{[]string{"systemd-analyze"}, "", "systemd", "units of systemd"},
	{[]string{"chromium", "chromium-browser", "google-chrome"}, "github.com/chromedp/chromedp",
		"chromium", "tests in a browser"},
	{[]string{"/usr/lib/postgresql/*/bin/postgres", "postgres"}, "github.com/jackc/pgx/v5",
		"postgresql", "tests with PostgreSQL"},
}

var tools = stage{"tools", provideTools}

// provideTools installs what tests ask for and the machine lacks, where it may.
func provideTools(r *runner) error {
	updated := false
	for _, t := range outsideTools {
		if !askedFor(r.tree, t) {
			continue
		}
		if found := t.find(); found != "" {
			fmt.Fprintf(r.out, "%s: %s\n", t.purpose, found)
			continue
		}
		if !r.install || os.Geteuid() != 0 || !onPath("apt-get") {
			r.skip("%s: %s is not here (package %s)", t.purpose, filepath.Base(t.commands[0]),
				t.pkg)
			continue
		}
		fmt.Fprintf(r.out, "installing %s for %s\n", t.pkg, t.purpose)
		if err := r.aptInstall(t.pkg, &updated); err != nil || t.find() == "" {
			r.skip("%s: package %s could not be installed: %v", t.purpose, t.pkg, err)
		}
	}
	return nil
}

func (t tool) find() string {
	for _, c := range t.commands {
		if p, err := exec.LookPath(c); err == nil {
			return p
		}
		if found, err := filepath.Glob(c); err == nil && filepath.IsAbs(c) && len(found) > 0 {
			return found[len(found)-1]
		}
	}
	return ""
}

func onPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// aptInstall tries twice, because mirrors have bad moments.
func (r *runner) aptInstall(pkg string, updated *bool) error {
	env := []string{"DEBIAN_FRONTEND=noninteractive"}
	args := []string{"-q", "-y", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=3"}
	var err error
	for range 2 {
		if !*updated {
			if _, err = r.ask(env, "apt-get", append(args, "update")...); err != nil {
				continue
			}
			*updated = true
		}
		if _, err = r.ask(env, "apt-get",
			append(args, "install", "--no-install-recommends", pkg)...); err == nil {
			return nil
		}
	}
	return err
}

// askedFor reports whether a tool is named anywhere in the source, or its
// library used: nobody should wait for a browser to be installed before there
// is a test that drives one.
func askedFor(tree *layers.Tree, t tool) bool {
	found := false
	for _, p := range tree.Packages {
		if p.Path == "internal/check" {
			continue
		}
		for _, f := range p.Files {
			found = found || slices.Contains(f.Imports(), t.library) || mentions(f, t.commands...)
		}
	}
	return found
}
