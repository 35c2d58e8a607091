//go:build !js

// Package find finds servers, by a directory or on the local network, measures the ways to them,
// and joins the best.
package find

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/join"
	"github.com/coeval-dev/coeval/service/directory/ask"
)

const long = `Find servers, measure the way to each, and join the best.

A directory (--directory, or COEVAL_DIRECTORY) knows which servers there are: see
"serve --directory". With --lan servers on the local network are looked for as well, at
the ports 4000 to 4009; that is also what is done if no directory is given.

Each server, and each mirror of a group, is asked several times how long the way is. The
table shows the round trip, by how much it varies (jitter) and how much is lost. Those that
may be the nearest are asked most often, until it is sure, within 3 ms, which is.
Servers of another version of the game, those that are full and those that let in only whom
a backend sends are listed, and not joined.

With --join the first of the list that can be joined is played on, as by "{program} join". Of
a group that is its nearest mirror; if that ends you go on at the next. An open server
is asked for a token, and otherwise the directory, if it issues tokens for it.

The exit code is 3 if there is no server.`

const example = `  {program} find {game} --directory https://find.example.org
  COEVAL_DIRECTORY=https://find.example.org {program} find --room --region eu-north
  {program} find --lan --join
  {program} find {game} --join --name ada
  {program} find --sort players --limit 5 --json`

// flags are what the command line says.
type flags struct {
	join.Flags
	search            Search
	url, trust, token string
	enter, json       bool
	sort              string
	limit             int

	order func(a, b *Server) int
}

// Command is the command find.
func Command(p *cli.Program) *cobra.Command {
	var x flags
	cmd := &cobra.Command{
		Use: "find [GAME]", Short: "Find servers, measure the way to each, and join the best",
		Long: long, Example: example, ValidArgs: p.Each(), Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				x.search.Filter.Game = args[0]
			} else if len(p.List) == 1 {
				x.search.Filter.Game = p.List[0].Name()
			}
			return x.run(p, cmd)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&x.url, "directory", "d", os.Getenv("COEVAL_DIRECTORY"),
		"URL of the directory that is asked, such as https://find.example.org")
	f.StringVar(&x.trust, "directory-trust", os.Getenv("COEVAL_DIRECTORY_TRUST"),
		"its certificate if nobody has signed that: a fingerprint or a file")
	f.StringVar(&x.token, "account", os.Getenv("COEVAL_ACCOUNT"),
		"file with the JWT that says to the directory who you are, where it wants to know")
	f.BoolVar(&x.search.LAN, "lan", false,
		"look on the local network (default: if there is no --directory)")
	f.StringVar(&x.search.Filter.Region, "region", "", "only those in a region, such as eu-north")
	f.StringSliceVar(&x.search.Filter.Tags, "tag", nil,
		"only those with a tag; several must all be there")
	f.StringVar(&x.search.Filter.Name, "search", "", "only those whose name has this in it")
	f.BoolVar(&x.search.Filter.Room, "room", false, "only those that have room for one more")
	f.StringVar(&x.sort, "sort", "rtt", "by what the list is sorted: "+Sorts)
	f.IntVar(&x.limit, "limit", 20, "how many are shown")
	f.BoolVar(&x.enter, "join", false, "play on the first that can be joined")
	cli.JSONFlag(cmd, &x.json)
	x.Add(f)
	for _, name := range []string{"name", "spectate", "style", "ticket", "patience", "headless"} {
		f.Lookup(name).Usage = "with --join, " + f.Lookup(name).Usage
	}
	return cmd
}

// check looks at what was given, before anything is done.
func (x *flags) check(p *cli.Program, cmd *cobra.Command) (err error) {
	if x.limit < 1 {
		return cli.Usagef("--limit is %d: it must be above 0", x.limit)
	}
	if x.order, err = parseSort(x.sort); err != nil {
		return err
	}
	if x.enter && !x.Headless && x.json {
		return cli.Usagef("--json and --join go together with --headless")
	}
	if x.Headless && !x.enter {
		return cli.Usagef("--headless goes with --join")
	}
	x.search.LAN = x.search.LAN || x.url == ""
	if x.url != "" {
		t, err := entry.ParseTrust(x.trust)
		if err != nil {
			return cli.Usagef("--directory-trust: %w", err)
		}
		if x.search.Directory, err = ask.New(x.url, t.Client()); err != nil {
			return cli.Usagef("--directory: %w", err)
		}
	}
	return x.Fill(p, cmd)
}

func parseSort(name string) (func(a, b *Server) int, error) {
	order, ok := sorter(name)
	if !ok {
		return nil, cli.Usagef("--sort is %q: it must be %s", name, Sorts)
	}
	return order, nil
}

func (x *flags) run(p *cli.Program, cmd *cobra.Command) error {
	if err := x.check(p, cmd); err != nil {
		return err
	}
	ctx := cmd.Context()
	view := newView(cmd.OutOrStdout(), x.json)
	x.search.Titles, x.search.Doing = p.List, view.say
	x.search.Show = func(list []*Server, part float64) {
		slices.SortStableFunc(list, x.order)
		view.show(list, x.limit, part)
	}
	r, err := x.search.Run(ctx)
	view.clear()
	if err != nil {
		return err
	}
	all := r.Servers
	slices.SortStableFunc(all, x.order)
	r.Directory, r.Servers = x.url, all[:min(len(all), x.limit)]
	r.Left = len(all) - len(r.Servers)
	return x.end(ctx, cmd, all, r)
}

// end prints the report, and joins if that was asked for.
func (x *flags) end(ctx context.Context, cmd *cobra.Command, list []*Server, r *Report) error {
	best, out := Best(list), cmd.OutOrStdout()
	joins := x.enter && best != nil
	// As JSON there is one object, which also has what came of playing.
	if x.json && !joins || !x.json && len(list) > 0 {
		if err := cli.Print(out, r, x.json); err != nil {
			return err
		}
	}
	switch {
	case len(list) == 0:
		return x.nothing()
	case !x.enter:
		return nil
	case !joins:
		return cli.Nothingf("none of these can be joined: the table says why, or they do " +
			"not answer")
	}
	return x.play(ctx, out, best, r)
}

// play joins a server.
func (x *flags) play(ctx context.Context, out io.Writer, best *Server, r *Report) error {
	g := &guest{server: best, directory: x.search.Directory}
	var err error
	if g.trust, err = entry.ParseTrust(x.Trust); err != nil {
		return cli.Usagef("--trust: %w", err)
	}
	if x.token != "" {
		text, err := cli.ReadSecret(x.token)
		if err != nil {
			return err
		}
		g.account = strings.TrimSpace(string(text))
	}
	x.Enter, x.Game = g.enter, best.Game
	if !x.json {
		fmt.Fprintf(out, "joining %s, %.1f ms away\n", clean(best.Name), best.Trip.RTT)
	}
	joined, err := join.Join(ctx, x.Options)
	if err != nil || !x.Headless {
		return err
	}
	if x.json {
		r.Joined = joined
		return cli.Print(out, r, true)
	}
	return cli.Print(out, joined, false)
}

// nothing says that there is no server, and what to do.
func (x *flags) nothing() error {
	of := ""
	f := &x.search.Filter
	if f.Game != "" {
		of = " of " + f.Game
	}
	if f.Region != "" || f.Name != "" || f.Room || len(f.Tags) > 0 {
		return cli.Nothingf("no server%s is as the flags say: leave some of them out", of)
	}
	if x.search.Directory == nil {
		return cli.Nothingf("no server%s answers on the local network at the ports %d to %d: "+
			"start one by \"{program} serve {game}\", or name a directory by --directory", of,
			firstPort, lastPort)
	}
	return cli.Nothingf("no server%s is listed at %s: start one by \"{program} serve {game} "+
		"--directory %s\"", of, x.url, x.url)
}
