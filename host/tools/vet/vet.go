//go:build !js

// Package vet is the command that finds what would make two machines disagree about the same world.
package vet

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/stepvet"
)

const long = `Find what would make two machines disagree about the same world.

It looks at every Step and Sync method, at the functions given to world.OnStart
and its like, and at all that they call, in other packages too: map iteration,
clocks, goroutines and channels, shared randomness, input and output, products
that a compiler may fuse, inexact functions of math, conversions of floats that
may not fit, code that sees addresses, and state outside the world.

Each line says where, why, what to do instead, and in brackets the category. Where
you know better, say so and why, on the line or above it:

  //coeval:allow mapiter -- only the number of keys is used

Packages are named as for go build. The exit code is 0 if nothing was found, 1 if
something was, and 2 if the packages could not be loaded.`

// options are the flags of coeval vet.
type options struct {
	dir       string
	json      bool
	unchecked bool
}

// Command is {program} vet.
func Command(_ *host.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "vet [packages]",
		Short: "Find nondeterminism in a game's rules",
		Long:  long,
		Example: `  {program} vet ./...
  {program} vet --json ./games/pong`,
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := vet(cmd, o, args)
			if err != nil {
				return err
			}
			if err := report.print(cmd.OutOrStdout(), o.json); err != nil {
				return err
			}
			switch n := len(report.Findings); n {
			case 0:
				return nil
			case 1:
				return errors.New("1 finding")
			default:
				return fmt.Errorf("%d findings", n)
			}
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.dir, "dir", "C", "", "folder to work in, in place of the current one")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.BoolVarP(&o.unchecked, "verbose", "v", false, "also list calls that cannot be followed")
	return cmd
}

// report is what vet prints as JSON. The names are for scripts and stay.
type report struct {
	Packages int       `json:"packages"` // how many were named
	Findings []finding `json:"findings"`
}

type finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Category string `json:"category"`
	Message  string `json:"message"`
}

func (r *report) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(r)
	}
	for _, f := range r.Findings {
		if _, err := fmt.Fprintf(out, "%s:%d:%d: %s [%s]\n", f.File, f.Line, f.Column, f.Message,
			f.Category); err != nil {
			return err
		}
	}
	return nil
}

// vet loads packages and all they import, except for the standard library, and analyses them.
func vet(cmd *cobra.Command, o options, patterns []string) (*report, error) {
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	named, pkgs, err := load(cmd, o, patterns)
	if err != nil {
		return nil, err
	}
	if err := stepvet.Analyzer.Flags.Set("unchecked", fmt.Sprint(o.unchecked)); err != nil {
		return nil, err
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{stepvet.Analyzer}, pkgs, nil)
	if err != nil {
		return nil, err
	}
	report := &report{Packages: len(named), Findings: []finding{}}
	for _, act := range graph.Roots {
		if act.Err != nil {
			return nil, fmt.Errorf("%s: %w", act.Package.ID, act.Err)
		}
		if !named[act.Package.ID] {
			continue
		}
		for _, d := range act.Diagnostics {
			at := act.Package.Fset.Position(d.Pos)
			report.Findings = append(report.Findings,
				finding{relative(o.dir, at.Filename), at.Line, at.Column, d.Category,
					stepvet.Text(d.Message)})
		}
	}
	slices.SortFunc(report.Findings, compareFindings)
	return report, nil
}

func compareFindings(a, b finding) int {
	return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column,
		strings.Compare(a.Category+a.Message, b.Category+b.Message))
}

// relative shortens a file's name for people who stand in dir.
func relative(dir, name string) string {
	base, err := filepath.Abs(dir)
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(base, name); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return name
}

// load finds the packages that the patterns name, and gives them with their source and that of all
// they import. The standard library comes compiled: the analyser has a table for it, and reading it
// would take most of the time.
func load(cmd *cobra.Command, o options, patterns []string) (named map[string]bool,
	pkgs []*packages.Package, err error) {
	conf := packages.Config{Context: cmd.Context(), Dir: o.dir,
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedFiles |
			packages.NeedModule}
	roots, err := packages.Load(&conf, patterns...)
	if err != nil {
		return nil, nil, cli.Usagef("load packages: %w", err)
	}
	if err := loadErrors(cmd.ErrOrStderr(), roots); err != nil {
		return nil, nil, err
	}
	named = map[string]bool{}
	for _, p := range roots {
		named[p.ID] = true
	}
	if len(roots) == 0 {
		return nil, nil, cli.Usagef("no packages match %s", strings.Join(patterns, " "))
	}
	paths := slices.Clone(patterns)
	packages.Visit(roots, nil, func(p *packages.Package) {
		if p.Module != nil && !named[p.ID] {
			paths = append(paths, p.PkgPath)
		}
	})
	conf.Mode = packages.LoadSyntax | packages.NeedModule
	pkgs, err = packages.Load(&conf, paths...)
	if err != nil {
		return nil, nil, cli.Usagef("load packages: %w", err)
	}
	return named, pkgs, loadErrors(cmd.ErrOrStderr(), pkgs)
}

// loadErrors shows what does not compile: what cannot be read cannot be checked.
func loadErrors(stderr io.Writer, pkgs []*packages.Package) error {
	var all []packages.Error
	for _, p := range pkgs {
		all = append(all, p.Errors...)
	}
	if len(all) == 0 {
		return nil
	}
	// The go command's account of a failed build says the same as the errors in the source, if
	// there are any.
	inSource := slices.ContainsFunc(all,
		func(e packages.Error) bool { return e.Kind != packages.ListError })
	for _, e := range all {
		if e.Kind != packages.ListError || !inSource {
			fmt.Fprintln(stderr, e)
		}
	}
	return cli.Usagef("the packages do not build; what cannot be read cannot be checked")
}
