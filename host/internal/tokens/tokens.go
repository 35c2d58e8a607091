// Package tokens is the command token: keys, and the tokens that let players in.
package tokens

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link/udp"
)

const long = `Make keys and connect tokens, and look inside tokens.

A token lets one player into the servers it names, once into each, until it
expires. Whoever issues tokens and the servers that accept them share a key.
A game's backend issues tokens with the Go package conn/token; these commands
do the same by hand.`

// Command is the command token.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make keys and connect tokens, look inside tokens",
		Long:  long,
		Example: `  {program} token key --out server.key
  {program} token issue --key server.key --game tanks --client 42 --server 203.0.113.7:4000
  {program} token inspect --key server.key TOKEN`,
	}
	cmd.AddCommand(keyCommand(), issueCommand(), inspectCommand())
	return cmd
}

func keyCommand() *cobra.Command {
	out := ""
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Make a key for issuing and accepting tokens",
		Long: `Make a key for issuing and accepting tokens.

Who has the key can let anyone in as anybody. With --out it goes to a file that
only its owner can read; an existing file is never overwritten.`,
		Example: "  {program} token key --out server.key",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, err := token.NewKey(rand.Reader)
			if err != nil {
				return err
			}
			if out == "" {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), key.Text())
				return err
			}
			return cli.WriteKey(out, key)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "",
		"file to write the key to, in place of standard output")
	return cmd
}

// report is what token issue and token inspect print as JSON. The names are for
// scripts and stay.
type report struct {
	Token    string    `json:"token,omitempty"`
	Protocol string    `json:"protocol"`
	Expires  time.Time `json:"expires"`
	Expired  bool      `json:"expired"`
	Servers  []string  `json:"servers"`
	Client   *uint64   `json:"client,omitempty"`    // only with the key
	UserData *string   `json:"user_data,omitempty"` // only with the key
	Resumed  *bool     `json:"resumed,omitempty"`   // only with the key
	// when the first token was issued, and from when no ticket is good, as far as it says
	Issued *time.Time `json:"issued,omitempty"`
	Until  *time.Time `json:"until,omitempty"`
}

func issueCommand() *cobra.Command {
	var (
		keyFile, game, data string
		client              uint64
		servers             []string
		life                time.Duration
		asJSON              bool
	)
	cmd := &cobra.Command{
		Use:   "issue",
		Short: "Issue a token for one player",
		Long: `Issue a token for one player, and print it in the text form that clients take.

A server may be named by address or by host name, which is looked up now.
Without --server the token works at any server with the key, and the client must
be told where to go.`,
		Example: `  {program} token issue --key server.key --game tanks --client 42 --server 203.0.113.7:4000
  {program} token issue --key server.key --game tanks --client 42 --server eu.example.net:4000 --server us.example.net:4000 --for 5m --data name=ada`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if life <= 0 {
				return cli.Usagef("--for is %v: it must be above zero", life)
			}
			if len(data) > token.MaxUserData {
				return cli.Usagef("--data has %d bytes: at most %d fit", len(data),
					token.MaxUserData)
			}
			key, err := cli.ReadKey(keyFile)
			if err != nil {
				return err
			}
			now := time.Now()
			g := token.Grant{
				Protocol: token.ProtocolID(game), Client: client, Expires: now.Add(life).Unix(),
				Issued: now.Unix(), UserData: []byte(data)}
			for _, s := range servers {
				addr, err := resolve(cmd.Context(), s)
				if err != nil {
					return err
				}
				g.Servers = append(g.Servers, addr)
			}
			t, err := token.Issue(key, g, rand.Reader)
			if err != nil {
				return err
			}
			if !asJSON {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), t.Text())
				return err
			}
			r := describe(&t, &g, now)
			r.Token = t.Text()
			return cli.Print(cmd.OutOrStdout(), r, true)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&keyFile, "key", "k", "", "file with the key (required)")
	f.StringVarP(&game, "game", "g", "", "name of the game (required)")
	f.Uint64VarP(&client, "client", "c", 0, "number of the player (required)")
	f.StringArrayVarP(&servers, "server", "s", nil,
		"address and port of a server; may be given up to 16 times")
	f.DurationVar(&life, "for", time.Minute, "how long the token can be used to connect")
	f.StringVar(&data, "data", "", "up to 256 bytes for the server to know about the player")
	cli.JSONFlag(cmd, &asJSON)
	for _, name := range []string{"key", "game", "client"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return cmd
}

// resolve finds the server that is meant.
func resolve(ctx context.Context, s string) (netip.AddrPort, error) {
	a, err := udp.Resolve(ctx, s)
	if err != nil || !a.Addr().IsValid() || a.Port() == 0 {
		return a, fmt.Errorf("server %q: want an address and a port, like 203.0.113.7:4000: %w", s,
			err)
	}
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), nil
}

func inspectCommand() *cobra.Command {
	keyFile, asJSON := "", false
	cmd := &cobra.Command{
		Use:   "inspect TOKEN",
		Short: "Say what a token says",
		Long: `Say what a token says. Without the key that is what its client can see; with the
key it is what a server sees. The token is read from standard input if it is
given as -.

The exit code is not zero if the token has expired or does not fit the key.`,
		Example: "  {program} token inspect --key server.key coeval-token-1:AQD...\n  {program} " +
			"token inspect - < token.txt",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := args[0]
			if text == "-" {
				b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 1<<16))
				if err != nil {
					return fmt.Errorf("read token: %w", err)
				}
				text = string(b)
			}
			t, err := token.ParseText(text)
			if err != nil {
				return err
			}
			var g *token.Grant
			if keyFile != "" {
				key, err := cli.ReadKey(keyFile)
				if err != nil {
					return err
				}
				opened, err := token.Open(key, t.Sealed)
				if err != nil {
					return err
				}
				g = &opened
			}
			r := describe(&t, g, time.Now())
			err = cli.Print(cmd.OutOrStdout(), r, asJSON)
			if err == nil && r.Expired {
				return errors.New(
					"the token has expired; issue a new one with: {program} token issue")
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&keyFile, "key", "k", "",
		"file with the key, to see what the server sees")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// describe says what is known of a token: with a grant all, without one what is
// in clear.
func describe(t *token.Token, g *token.Grant, now time.Time) *report {
	r := &report{
		Protocol: fmt.Sprintf("%016x", t.Protocol),
		Expires:  time.Unix(t.Expires, 0).UTC(),
		Expired:  t.Expires <= now.Unix(),
		Servers:  []string{},
	}
	servers := t.Servers
	if g != nil {
		data := string(g.UserData)
		r.Client, r.UserData, r.Resumed = &g.Client, &data, &g.Resumed
		servers = g.Servers
		r.Issued, r.Until = second(g.Issued), second(g.Until)
	}
	for _, s := range servers {
		r.Servers = append(r.Servers, s.String())
	}
	return r
}

// second is a Unix time as a time, or nil for zero.
func second(at int64) *time.Time {
	if at == 0 {
		return nil
	}
	t := time.Unix(at, 0).UTC()
	return &t
}

// String is what people are told.
func (r *report) String() string {
	var rows cli.Rows
	servers := "any that has the key"
	if len(r.Servers) > 0 {
		servers = strings.Join(r.Servers, ", ")
	}
	rows.Add("protocol", "%s", r.Protocol)
	rows.Add("expires", "%s", r.Expires.Format(time.RFC3339))
	rows.Add("servers", "%s", servers)
	if r.Client == nil {
		rows.Add("client", "sealed; give --key to see it")
		return rows.String()
	}
	rows.Add("client", "%d", *r.Client)
	rows.Add("user data", "%q", *r.UserData)
	if *r.Resumed {
		rows.Add("kind", "resumption ticket")
	}
	if r.Issued != nil {
		rows.Add("issued", "%s", r.Issued.Format(time.RFC3339))
	}
	if r.Until != nil {
		rows.Add("tickets until", "%s", r.Until.Format(time.RFC3339))
	}
	return rows.String()
}
