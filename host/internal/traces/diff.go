package traces

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

const diffLong = `Find the first tick at which two traces have different inputs, and the first at
which they have different hashes.

It works for traces of any game. To see which entity and field differ, and why,
use {program} desync. The exit code is 0 if the traces agree in all that both have,
and 1 if not.`

// diffReport is what trace diff prints as JSON. The names are for scripts and stay.
type diffReport struct {
	Same     bool                   `json:"same"`
	First    world.Tick             `json:"first_tick"`
	Last     world.Tick             `json:"last_tick"`
	Compared int                    `json:"hashes_compared"`
	Headers  []string               `json:"headers,omitempty"`
	Inputs   *trace.InputDifference `json:"inputs,omitempty"`
	Hash     *trace.HashDifference  `json:"hash,omitempty"`
	OnlyA    bool                   `json:"a_goes_on,omitempty"`
	OnlyB    bool                   `json:"b_goes_on,omitempty"`
	DamageA  string                 `json:"damage_a,omitempty"`
	DamageB  string                 `json:"damage_b,omitempty"`
}

func diffCommand() *cobra.Command {
	var asJSON bool
	var trusted trust
	cmd := &cobra.Command{
		Use:     "diff A B",
		Short:   "Find the first tick at which two traces differ",
		Long:    diffLong,
		Example: "  {program} trace diff server.trace client.trace",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := diffTraces(args[0], args[1], trusted)
			if err != nil {
				return trusted.explain(err)
			}
			err = cli.Print(cmd.OutOrStdout(), d, asJSON)
			if err == nil && !d.Same {
				err = errors.New("the traces differ")
			}
			return err
		},
	}
	cli.JSONFlag(cmd, &asJSON)
	trusted.flag(cmd)
	return cmd
}

func diffTraces(a, b string, t trust) (*diffReport, error) {
	f, x, err := openTrace(a, t)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g, y, err := openTrace(b, t)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	d, err := trace.Diff(x, y)
	if err != nil {
		return nil, err
	}
	out := &diffReport{
		Same: d.Same(), First: d.First, Last: d.Last, Compared: d.Compared, Headers: d.Headers,
		Inputs: d.Inputs, Hash: d.Hash, OnlyA: d.OnlyA, OnlyB: d.OnlyB}
	if d.A != nil {
		out.DamageA = d.A.Error()
	}
	if d.B != nil {
		out.DamageB = d.B.Error()
	}
	return out, nil
}

// String is what people are told.
func (d *diffReport) String() string {
	var rows cli.Rows
	row := rows.Add
	for _, h := range d.Headers {
		row("header", "%s", h)
	}
	row("ticks", "%d to %d were compared", d.First, d.Last)
	if d.Inputs != nil {
		row("inputs", "differ first at %v", d.Inputs)
	} else {
		row("inputs", "the same")
	}
	switch {
	case d.Hash != nil:
		row("hashes", "differ first at %v; the last that agree are of tick %d", d.Hash,
			d.Hash.LastGood)
	case d.Compared == 0:
		row("hashes", "there is no tick for which both have one")
	default:
		row("hashes", "the same, %d of them", d.Compared)
	}
	for _, x := range []struct {
		name, damage string
		more         bool
	}{{"A", d.DamageA, d.OnlyA}, {"B", d.DamageB, d.OnlyB}} {
		if x.damage != "" {
			row(x.name, "%s", x.damage)
		} else if x.more {
			row(x.name, "goes on after that")
		}
	}
	return rows.String()
}
