//go:build !js

// Package operators is the command admin: what operators do with servers that run, by the API of
// package service/admin.
package operators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/admin"
)

const long = `See and act while a game runs: who is there, kick, ban, mute, message, pause, level,
content, knobs, save, drain, a diagnosis, the end.

A server answers operators that was started with --admin ADDRESS and --admin-dir
FOLDER. The folder holds who may; make yourself a token there first:

  {program} admin token make --dir FOLDER --role operate --name ada --out ada.token

Roles are watch, moderate and operate; each may do what those before it may. All that
is done is written down in the folder, in audit.jsonl.

Several servers can be named. What concerns people is done at each. Of mirrors, the
first that answers changes knobs and content, for all of them.

--server, --token-file and --trust can also come from the environment, as
COEVAL_ADMIN_SERVER, COEVAL_ADMIN_TOKEN_FILE and COEVAL_ADMIN_TRUST.`

const example = `  {program} serve {game} --admin 127.0.0.1:4900 --admin-dir folder
  {program} admin players --token-file ada.token
  {program} admin kick ada --why "mind your language"
  {program} admin ban 3 --for 24h --address
  {program} admin knobs gravity.pull=3
  {program} admin level NAME
  {program} admin watch`

// operator is whom the command acts for.
type operator struct {
	Access
	json bool
}

// Command is the command admin.
func Command() *cobra.Command {
	o := &operator{}
	cmd := &cobra.Command{
		Use:     "admin",
		Short:   "See and act while a game runs, as its operator",
		Long:    long,
		Example: example,
	}
	f := cmd.PersistentFlags()
	f.StringSliceVar(&o.Servers, "server", []string{"http://localhost:4900"},
		"where servers answer operators, as they have it by --admin; several by commas")
	f.StringVar(&o.TokenFile, "token-file", "", "file with your token, from: {program} admin token make")
	f.StringVar(&o.Trust, "trust", "",
		"fingerprint or file of the server's certificate, where nobody has signed it")
	cmd.AddCommand(o.lookCommands()...)
	cmd.AddCommand(o.peopleCommands()...)
	cmd.AddCommand(o.worldCommands()...)
	cmd.AddCommand(o.programCommands()...)
	cmd.AddCommand(o.handoverCommands()...)
	cmd.AddCommand(tokenCommand())
	return cmd
}

// environment gives settings of the command from the environment.
func environment(key string) (string, bool) {
	switch name := strings.TrimPrefix(key, "COEVAL_"); name {
	case "SERVER", "TOKEN_FILE", "TRUST":
		return os.LookupEnv("COEVAL_ADMIN_" + name)
	}
	return "", false
}

// targets are the servers that were named.
func (o *operator) targets(cmd *cobra.Command) ([]Target, error) {
	if err := cli.Configure(cmd.Flags(), "", environment); err != nil {
		return nil, err
	}
	return o.Targets("--server")
}

// ask does something at a server, and gives the answer with how people read it.
type ask func(ctx context.Context, t Target) (fmt.Stringer, error)

// each does something at every server, and prints the answers.
func (o *operator) each(cmd *cobra.Command, do ask) error {
	list, err := o.targets(cmd)
	if err != nil {
		return err
	}
	var all error
	for _, t := range list {
		answer, err := do(cmd.Context(), t)
		if err = t.Explain(err); err != nil {
			if len(list) > 1 {
				err = fmt.Errorf("%s: %w", t.Name, err)
			}
			all = errors.Join(all, err)
			continue
		}
		if err := o.print(cmd.OutOrStdout(), t, len(list) > 1, answer); err != nil {
			return err
		}
	}
	return all
}

// once does something that mirrors do for all of them: at the first that answers. Servers that are
// none do it each.
func (o *operator) once(cmd *cobra.Command, do ask) error {
	list, err := o.targets(cmd)
	if err != nil {
		return err
	}
	if len(list) == 1 {
		return o.each(cmd, do)
	}
	var first error
	for _, t := range list {
		var index admin.Index
		if err := t.Get(cmd.Context(), "", &index); err != nil {
			first = errors.Join(first, t.Explain(err))
			continue
		}
		if !index.Mirrored {
			return o.each(cmd, do)
		}
		answer, err := do(cmd.Context(), t)
		if err != nil {
			return t.Explain(err)
		}
		return o.print(cmd.OutOrStdout(), t, false, answer)
	}
	return first
}

// print prints an answer, with the server's name where there are several.
func (o *operator) print(out io.Writer, t Target, several bool, answer fmt.Stringer) error {
	if o.json && several {
		return json.NewEncoder(out).Encode(map[string]any{"server": t.Name, "answer": answer})
	}
	if several {
		fmt.Fprintf(out, "%s\n", t.Name)
	}
	return cli.Print(out, answer, o.json)
}

// command makes one that prints an answer.
func (o *operator) command(use, short string, args cobra.PositionalArgs,
	run func(*cobra.Command, []string) error) *cobra.Command {
	name, _, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{Use: use, Short: short, Args: args, RunE: run, Example: examples[name]}
	cli.JSONFlag(cmd, &o.json)
	return cmd
}

// examples are those of the commands, by name. Where the token is, is in the environment.
var examples = map[string]string{
	"status":  "  {program} admin status --json",
	"players": "  {program} admin players --server https://192.0.2.7:4900",
	"watch":   "  {program} admin watch --every 5s",
	"bans":    "  {program} admin bans",
	"audit":   "  {program} admin audit --last 100",
	"kick":    "  {program} admin kick ada --why \"mind your language\"",
	"message": "  {program} admin message \"ten minutes left\"\n" +
		"  {program} admin message \"well played\" --to ada",
	"ban": "  {program} admin ban 3 --for 24h --address\n" +
		"  {program} admin ban --network 203.0.113.0/24",
	"unban":  "  {program} admin unban 2\n  {program} admin unban 203.0.113.0/24",
	"mute":   "  {program} admin mute ada --for 10m",
	"unmute": "  {program} admin unmute ada",
	"knobs": "  {program} admin knobs\n" +
		"  {program} admin knobs gravity.pull=3 gravity.wind=0.5",
	"level":    "  {program} admin level\n  {program} admin level NAME --seed 7",
	"content":  "  {program} admin content weapons.json",
	"pause":    "  {program} admin pause --why \"a phone rings\"",
	"resume":   "  {program} admin resume",
	"save":     "  {program} admin save",
	"drain":    "  {program} admin drain 203.0.113.7:4000",
	"welcome":  "  {program} admin welcome",
	"bundle":   "  {program} admin bundle --out diagnosis.tar.gz",
	"shutdown": "  {program} admin shutdown --drain 30s --why maintenance",
	"handover": "  {program} admin handover",
	"halt":     "  {program} admin halt --within 5s",
	"world":    "  {program} admin world --out world.json",
	"cede":     "  {program} admin cede 203.0.113.7:4001 --tick 123456",
	"go-on":    "  {program} admin go-on",
}
