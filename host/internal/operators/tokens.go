//go:build !js

package operators

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/admin"
)

// tokenCommand is about the tokens in a server's folder. It needs no server.
func tokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke the tokens of operators, beside a server",
		Long: `Make, list and revoke the tokens of operators, in the folder that a server has as
--admin-dir. It need not run; if it does, changes count at once. The folder holds
hashes: a token is shown once, when it is made.`,
		Example: `  {program} admin token make --dir folder --role operate --name ada --out ada.token
  {program} admin token list --dir folder
  {program} admin token revoke ada --dir folder`,
	}
	cmd.AddCommand(makeCommand(), listCommand(), revokeCommand())
	return cmd
}

// here is who uses this machine, for the audit log.
func here() string {
	if u, err := user.Current(); err == nil {
		return "local:" + u.Username
	}
	return "local"
}

// folderFlag adds --dir, and gives what opens the folder.
func folderFlag(cmd *cobra.Command) func(must bool) (*admin.Folder, error) {
	dir := ""
	cmd.Flags().StringVar(&dir, "dir", "", "the folder that the server has as --admin-dir "+
		"(required)")
	return func(must bool) (*admin.Folder, error) {
		if dir == "" {
			return nil, cli.Usagef("--dir is needed, the folder that the server has as --admin-dir")
		}
		if _, err := os.Stat(dir); must && errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no folder %s: make a first token with: {program} "+
				"admin token make --dir %s", dir, dir)
		}
		return admin.OpenFolder(dir)
	}
}

// made is what token make and token list print of a token. The names are for scripts and stay.
type made struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Role    admin.Role `json:"role"`
	Made    time.Time  `json:"made"`
	Expires *time.Time `json:"expires,omitempty"`
	Expired bool       `json:"expired"`
	Token   string     `json:"token,omitempty"` // once
	File    string     `json:"file,omitempty"`
}

func describe(t admin.Token) made {
	m := made{ID: t.ID, Name: t.Name, Role: t.Role, Made: t.Made, Expired: t.Expired(time.Now())}
	if !t.Expires.IsZero() {
		m.Expires = &t.Expires
	}
	return m
}

func (m *made) String() string {
	if m.File != "" {
		return fmt.Sprintf("%s: a token of %s, to %v%s\n", m.File, show(m.Name), m.Role, m.until())
	}
	return m.Token + "\n"
}

func (m *made) until() string {
	if m.Expires == nil {
		return ", for ever"
	}
	return ", until " + m.Expires.UTC().Format(time.DateTime)
}

type tokens struct {
	Tokens []made `json:"tokens"`
}

func (l *tokens) String() string {
	if len(l.Tokens) == 0 {
		return "there are no tokens\n"
	}
	return table("ID\tNAME\tROLE\tMADE\tEXPIRES", func(row func(string, ...any)) {
		for _, t := range l.Tokens {
			until := "never"
			if t.Expires != nil {
				until = t.Expires.UTC().Format(time.DateTime)
			}
			if t.Expired {
				until += " (expired)"
			}
			row("%s\t%s\t%v\t%s\t%s", t.ID, show(t.Name), t.Role,
				t.Made.UTC().Format(time.DateTime), until)
		}
	})
}

func makeCommand() *cobra.Command {
	role, name, life, out, asJSON := "", "", "90d", "", false
	cmd := &cobra.Command{
		Use: "make", Short: "Make a token for an operator", Args: cobra.NoArgs,
		Example: "  {program} admin token make --dir folder --role operate --name ada --for 90d " +
			"--out ada.token",
		Long: `Make a token for an operator. With --out it goes to a file that only its owner can
read; an existing file is never overwritten. Roles are watch (see), moderate (also kick,
ban, mute, message) and operate (all).`,
	}
	open := folderFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&role, "role", "", "watch, moderate or operate (required)")
	f.StringVar(&name, "name", "", "whose it is; the audit log says it (required)")
	f.StringVar(&life, "for", life, "how long it is good, such as 12h or 90d; never for no end")
	f.StringVarP(&out, "out", "o", "", "file to write the token to, in place of standard output")
	cli.JSONFlag(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := admin.ParseRole(role)
		if err != nil {
			return cli.Usagef("--role: %w", err)
		}
		if name == "" {
			return cli.Usagef("--name is needed: whose token it is, for the audit log")
		}
		d := time.Duration(0)
		if life != "never" {
			if d, err = admin.ParseTime(life); err != nil {
				return cli.Usagef("--for: %w; or never", err)
			}
		}
		folder, err := open(false)
		if err != nil {
			return err
		}
		var file *os.File
		if out != "" {
			file, err = os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%s exists: choose another name, or remove it first", out)
			}
			if err != nil {
				return err
			}
		}
		secret, t, err := folder.MakeToken(r, name, d)
		if err == nil {
			err = folder.Log(admin.Entry{Who: here(), What: "token make", Token: t.ID,
				Role: r.String(), Result: "ok: for " + name}, true)
		}
		m := describe(t)
		m.Token = secret
		if file != nil {
			m.Token, m.File = "", out
			if err == nil {
				_, err = fmt.Fprintln(file, secret)
			}
			if err = errors.Join(err, file.Close()); err != nil {
				_ = os.Remove(out) // it holds no whole token
			}
		}
		if err != nil {
			return err
		}
		return cli.Print(cmd.OutOrStdout(), &m, asJSON)
	}
	return cmd
}

func listCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{Use: "list", Short: "List the tokens of operators", Args: cobra.NoArgs,
		Example: "  {program} admin token list --dir folder"}
	open := folderFlag(cmd)
	cli.JSONFlag(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		folder, err := open(true)
		if err != nil {
			return err
		}
		list, err := folder.Tokens()
		if err != nil {
			return err
		}
		out := &tokens{Tokens: []made{}}
		for _, t := range list {
			out.Tokens = append(out.Tokens, describe(t))
		}
		return cli.Print(cmd.OutOrStdout(), out, asJSON)
	}
	return cmd
}

func revokeCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "revoke ID|NAME", Short: "Revoke a token, or all of someone", Args: cobra.ExactArgs(1),
		Example: "  {program} admin token revoke ada --dir folder",
	}
	open := folderFlag(cmd)
	cli.JSONFlag(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		folder, err := open(true)
		if err != nil {
			return err
		}
		gone, err := folder.RevokeTokens(args[0])
		if err != nil {
			return err
		}
		out := &tokens{}
		for _, t := range gone {
			out.Tokens = append(out.Tokens, describe(t))
			err = errors.Join(err, folder.Log(admin.Entry{Who: here(), What: "token revoke",
				Token: t.ID,
				Role:  t.Role.String(), Result: "ok: of " + t.Name}, true))
		}
		return errors.Join(err, cli.Print(cmd.OutOrStdout(), out, asJSON))
	}
	return cmd
}
