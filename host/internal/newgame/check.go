//go:build !js

package newgame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/coeval-dev/coeval/host/internal/cli"
)

// What names games and modules may have.
var (
	gameName   = regexp.MustCompile(`^[a-z][a-z0-9]*([-_][a-z0-9]+)*$`)
	modulePath = regexp.MustCompile(`^[A-Za-z0-9_~][A-Za-z0-9._~-]*` +
		`(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)
)

// check looks at what is asked for, before anything is written.
func (o *Options) check() (m *Module, err error) {
	m = &Module{Dir: filepath.Clean(o.Dir), Path: o.Module}
	m.Name = filepath.Base(m.Dir)
	if !gameName.MatchString(m.Name) || len(m.Name) > 40 || token.IsKeyword(m.Name) {
		return nil, cli.Usagef("%q is no name for a game: take small letters and digits, "+
			"beginning with a letter, such as tanks or space-race, and no word of Go", m.Name)
	}
	if m.Path == "" {
		m.Path = "example.com/" + m.Name
	}
	if !modulePath.MatchString(m.Path) || strings.HasSuffix(m.Path, ".") ||
		strings.Contains(m.Path, "./") {
		return nil, cli.Usagef("--module %q is no path of a module: take one such as "+
			"example.com/%s, or github.com/you/%s", m.Path, m.Name, m.Name)
	}
	if m.template, err = find(cmp.Or(o.Template, Templates[0].Name)); err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("go"); err != nil {
		return nil, errors.New("to compile games, Go is needed and was not found: install it " +
			"from https://go.dev/dl, and see that the command go works in a terminal")
	}
	if m.Local, m.version, err = toolkit(o.Local); err != nil {
		return nil, err
	}
	return m, nil
}

// toolkit finds what the module is to use: the checkout that was given, or the one that this
// program was compiled from, or else the version that it is.
func toolkit(given string) (local, version string, err error) {
	if given != "" {
		if local, err = filepath.Abs(given); err != nil {
			return "", "", err
		}
		if !isCheckout(local) {
			return "", "", cli.Usagef("--local %s is no checkout of the toolkit: it needs a "+
				"go.mod that says \"module %s\"", given, cli.Module)
		}
		return local, "", nil
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		local = filepath.Join(filepath.Dir(file), "..", "..", "..")
		if isCheckout(local) && !strings.Contains(filepath.ToSlash(local), "/pkg/mod/") {
			return local, "", nil
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
			if m.Path == cli.Module && strings.HasPrefix(m.Version, "v") {
				return "", strings.TrimSuffix(m.Version, "+dirty"), nil
			}
		}
	}
	return "", "", cli.Usagef("this program is no released version of the toolkit, and the " +
		"checkout that it was compiled from is not here: get one, and give its folder by --local")
}

// isCheckout says whether a folder has the toolkit.
func isCheckout(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && strings.HasPrefix(string(text), "module "+cli.Module+"\n")
}

// tidy finds the versions of what a released toolkit needs.
func (m *Module) tidy(ctx context.Context, dir string) error {
	c := exec.CommandContext(ctx, "go", "mod", "tidy")
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off")
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("version %s of the toolkit cannot be downloaded, so nothing was "+
			"written. If it is not published yet, or this machine is not online, get a checkout "+
			"of the toolkit and give its folder: {program} new %s --local FOLDER\n\nGo says:\n%s",
			m.version, m.Name, text)
	}
	return nil
}
