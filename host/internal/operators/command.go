//go:build !js

// Package operators is the command admin: what operators do with servers that run, by the API of
// package service/admin.
package operators

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/entry"
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
	servers []string
	file    string
	trust   string
	json    bool
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
	f.StringSliceVar(&o.servers, "server", []string{"http://localhost:4900"},
		"where servers answer operators, as they have it by --admin; several by commas")
	f.StringVar(&o.file, "token-file", "", "file with your token, from: {program} admin token make")
	f.StringVar(&o.trust, "trust", "",
		"fingerprint or file of the server's certificate, where nobody has signed it")
	cmd.AddCommand(o.lookCommands()...)
	cmd.AddCommand(o.peopleCommands()...)
	cmd.AddCommand(o.worldCommands()...)
	cmd.AddCommand(o.programCommands()...)
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

// A target is a server that is asked.
type target struct {
	name string
	*admin.Client
}

// targets are the servers that were named.
func (o *operator) targets(cmd *cobra.Command) (list []target, err error) {
	if err := cli.Configure(cmd.Flags(), "", environment); err != nil {
		return nil, err
	}
	if o.file == "" {
		return nil, cli.Usagef("--token-file is needed, the file with your token; make one beside " +
			"the server with: {program} admin token make --dir FOLDER --role operate --name NAME " +
			"--out FILE")
	}
	secret, err := readSecret(o.file)
	if err != nil {
		return nil, err
	}
	trust, err := entry.ParseTrust(o.trust)
	if err != nil {
		return nil, cli.Usagef("--trust: %w", err)
	}
	for _, name := range o.servers {
		u, err := entry.Base(strings.TrimSpace(name), "")
		if err != nil {
			return nil, cli.Usagef("--server: %w", err)
		}
		if o.trust != "" && !strings.Contains(name, "://") {
			u.Scheme = "https"
		}
		list = append(list, target{u.String(),
			&admin.Client{URL: u, Secret: secret, HTTP: trust.Client()}})
	}
	if len(list) == 0 {
		return nil, cli.Usagef("--server names no server")
	}
	return list, nil
}

// readSecret reads a token, and sees that it is its owner's alone.
func readSecret(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", fmt.Errorf("the token: %w", err)
	}
	if mode := info.Mode(); mode.IsRegular() && mode.Perm()&0o077 != 0 &&
		runtime.GOOS != "windows" {
		return "", fmt.Errorf("others on this machine can get at the token in %s (its mode is "+
			"%04o); close it with: chmod 600 %s", name, mode.Perm(), name)
	}
	text, err := cli.ReadFile(name, 1<<12)
	if err != nil {
		return "", fmt.Errorf("the token: %w", err)
	}
	secret, err := admin.ParseSecret(string(text))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return secret, nil
}

// explain says what to do about an error.
func explain(t target, err error) error {
	var refused *admin.Error
	var unknown *tls.CertificateVerificationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		text := refused.Message
		switch refused.Status {
		case http.StatusUnauthorized, http.StatusForbidden:
			text += "; make a token beside the server with: {program} admin token make"
		}
		return errors.New(text)
	case errors.As(err, &unknown):
		return fmt.Errorf("%s has a certificate that is not trusted: %w; if it is the right one, "+
			"give its fingerprint or file by --trust", t.name, unknown.Err)
	case errors.Is(err, admin.ErrPlain):
		return fmt.Errorf("%w; write --server https://..., and start the server with --tls-cert "+
			"or --tls-self-signed", err)
	case errors.Is(err, context.Canceled):
		return err
	}
	return fmt.Errorf("no server answers operators at %s: check --server, and that it was started "+
		"with --admin: %w", t.name, err)
}

// ask does something at a server, and gives the answer with how people read it.
type ask func(ctx context.Context, t target) (fmt.Stringer, error)

// each does something at every server, and prints the answers.
func (o *operator) each(cmd *cobra.Command, do ask) error {
	list, err := o.targets(cmd)
	if err != nil {
		return err
	}
	var all error
	for _, t := range list {
		answer, err := do(cmd.Context(), t)
		if err = explain(t, err); err != nil {
			if len(list) > 1 {
				err = fmt.Errorf("%s: %w", t.name, err)
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
			first = errors.Join(first, explain(t, err))
			continue
		}
		if !index.Mirrored {
			return o.each(cmd, do)
		}
		answer, err := do(cmd.Context(), t)
		if err != nil {
			return explain(t, err)
		}
		return o.print(cmd.OutOrStdout(), t, false, answer)
	}
	return first
}

// print prints an answer, with the server's name where there are several.
func (o *operator) print(out io.Writer, t target, several bool, answer fmt.Stringer) error {
	if o.json && several {
		return json.NewEncoder(out).Encode(map[string]any{"server": t.name, "answer": answer})
	}
	if several {
		fmt.Fprintf(out, "%s\n", t.name)
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
}
