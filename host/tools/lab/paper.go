//go:build !js

package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/paperlab"
)

const paperLong = `Run experiments of the literature again, on any title: the published figures
beside ours, and what differs and why.

Name one or several, or take all of them with --all; --list says which there are.
What is random is run with several seeds (--seeds), and has its interval at 95 %.

With --markdown the tables are also written to a file, as docs/evidence.md has
them: {program} lab paper --all --markdown evidence.md

The command fails if an answer that is known does not come out.`

const paperExample = `  {program} lab paper --list
  {program} lab paper crimp
  {program} lab paper doom3 gamenet --quick
  {program} lab paper --all --markdown evidence.md
  {program} lab paper mirrors-bandwidth --seeds 8 --json`

// paperRun is {program} lab paper.
type paperRun struct {
	paperlab.Options
	list, all bool
	markdown  string
	program   string // what it calls itself
}

func paperVerb(p *host.Program) *cobra.Command {
	var r paperRun
	cmd := verb.Verb{
		Name: "paper", Short: "Experiments of the literature, run again",
		Long: paperLong, Example: paperExample,
		Options: append(r.List(),
			lab.Switch(&r.list, "list", "say which experiments there are"),
			lab.Switch(&r.all, "all", "run all of them"),
			lab.Text(&r.markdown, "markdown", "", "also write the tables to `FILE`")),
		Title: &r.Title, Fits: verb.Embodied,
		Prepare: r.prepare,
		Run:     r.run,
	}.For(p)
	cmd.Use = "paper [NAME...]"
	cmd.Args = func(_ *cobra.Command, args []string) error {
		for _, name := range args {
			if _, err := paperlab.Lookup(name); err != nil {
				return cli.Usage(err)
			}
		}
		r.Names = args
		return nil
	}
	for _, e := range paperlab.Experiments() {
		cmd.ValidArgs = append(cmd.ValidArgs, e.Name)
	}
	return cmd
}

// prepare checks what was asked for before anything is measured.
func (r *paperRun) prepare(cmd *cobra.Command) error {
	r.program = cmd.Root().Name()
	switch {
	case r.list && (r.all || len(r.Names) > 0):
		return cli.Usagef("--list runs nothing: leave out the names and --all")
	case r.all && len(r.Names) > 0:
		return cli.Usagef("--all, and %s: name some, or take all", strings.Join(r.Names, ", "))
	case !r.list && !r.all && len(r.Names) == 0:
		return cli.Usagef("which experiment? name one, or take --all; --list says which there are")
	}
	if r.all {
		r.Names = nil
	}
	if r.markdown != "" {
		if s, err := os.Stat(filepath.Dir(r.markdown)); err != nil || !s.IsDir() {
			return cli.Usagef("--markdown %s: there is no such folder", r.markdown)
		}
	}
	return cli.Usage(r.Check())
}

func (r *paperRun) run(ctx context.Context, progress lab.Progress) (lab.Result, error) {
	if r.list {
		return paperList(paperlab.Experiments()), nil
	}
	r.Progress = progress
	result, err := paperlab.Run(ctx, r.Options)
	if err != nil || r.markdown == "" {
		return result, err
	}
	var b bytes.Buffer
	if err := result.Markdown(&b, r.program+" lab paper"); err != nil {
		return result, err
	}
	if err := os.WriteFile(r.markdown, b.Bytes(), 0o644); err != nil {
		return result, fmt.Errorf("--markdown: %w", err)
	}
	return result, nil
}

// paperList is what --list tells.
type paperList []paperlab.Experiment

// Report has a line for each.
func (l paperList) Report(r *lab.Report) {
	for _, e := range l {
		r.Add("%-18s %s", e.Name, e.Title)
		r.Add("%-18s %s", "", e.Source)
	}
}

// Check has nothing to say.
func (l paperList) Check() error { return nil }

// Lines are the experiments, without what runs them.
func (l paperList) Lines() (list []any) {
	for _, e := range l {
		list = append(list, map[string]string{
			"name": e.Name, "title": e.Title, "source": e.Source})
	}
	return list
}
