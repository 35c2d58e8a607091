//go:build !js

// Package federation is the command that runs federations: simulations that know nothing of each
// other, and share objects and time.
package federation

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	core "github.com/coeval-dev/coeval/federation"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/service/federation"
)

const long = `Run federations: simulations that know nothing of each other share objects and time.

Whoever joins a federation first brings its object model; others bring what they
need of it, which must agree. Calls and notices are lines of JSON over a WebSocket,
at /federation/v1/ws, so a federate in any language is a page of code.

Beyond this machine a token is needed: in a file that its owner alone can read,
--token-file. --dir keeps what federations save.`

const example = `  {program} federation
  {program} federation --listen :4600 --token-file secret --tls-cert c.pem --tls-key k.pem
  {program} federation status http://localhost:4600 --json`

type flags struct {
	listen, tokenFile, dir string
	origins                []string
	patience, adopt        time.Duration
	settings               cli.Settings
	web                    serve.WebOptions
}

// Command is {program} federation.
func Command(_ *host.Program) *cobra.Command {
	var d flags
	cmd := &cobra.Command{
		Use: "federation", Short: "Run federations of simulations that share objects and time",
		Long: long, Example: example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd) },
	}
	d.settings.LogFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&d.listen, "listen", "localhost:4600", "TCP address; port 0 for any that is free")
	f.StringVar(&d.tokenFile, "token-file", "",
		"file with what federates must bring; needed beyond this machine")
	f.StringVar(&d.dir, "dir", "", "folder for what federations save (default: in memory alone)")
	f.StringSliceVar(&d.origins, "origin", nil,
		"hosts of pages that may connect, such as sim.example.org (default: this server's own)")
	f.DurationVar(&d.patience, "patience", 30*time.Second,
		"for how long all wait for one federate until they are told; it is put out after four "+
			"times as long. 0 for ever")
	f.DurationVar(&d.adopt, "adopt", 10*time.Second,
		"for how long what a lost federate owned is offered to others before it is deleted")
	d.web.Flags(f)
	cmd.AddCommand(statusCommand())
	return cmd
}

func (d *flags) run(cmd *cobra.Command) error {
	if err := d.settings.Fill(cmd); err != nil {
		return err
	}
	log, err := d.settings.Logger(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if err := d.web.Check(); err != nil {
		return err
	}
	if d.patience < 0 || d.adopt < 0 {
		return cli.Usagef("--patience and --adopt are durations of 0 or more")
	}
	token, err := readToken(d.tokenFile)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", d.listen)
	if err != nil {
		return err
	}
	if host := l.Addr().(*net.TCPAddr); token == "" && !host.IP.IsLoopback() {
		return errors.Join(cli.Usagef("%s can be reached from elsewhere: give --token-file, or "+
			"--listen localhost:4600", l.Addr()), l.Close())
	}
	s, err := federation.New(federation.Options{Token: token, Dir: d.dir, Origins: d.origins,
		Log: log, Federation: core.Options{Patience: d.patience, Adopt: d.adopt}})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	site := serve.Site{Listener: l, WebOptions: d.web, Conns: 4096}
	print, err := site.Secure()
	if err != nil {
		s.Close()
		return errors.Join(err, l.Close())
	}
	if print != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "trust it by %s\n", print)
	}
	mux := http.NewServeMux()
	mux.Handle("/federation/v1/", s)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "ok")
	})
	site.Run(mux, log)
	fmt.Fprintf(cmd.OutOrStdout(), "federations are at %s://%s/federation/v1/ws\n",
		strings.Replace(site.Scheme(), "http", "ws", 1), l.Addr())
	<-cmd.Context().Done()
	s.Close()
	site.Close()
	return nil
}

// readToken reads the token, or draws none.
func readToken(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	data, err := cli.ReadSecret(name)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("there is no file %s: write a secret into it, such as %s, and give "+
			"it to federates", name, rand.Text())
	}
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if len(token) < 16 {
		return "", cli.Usagef("the token in %s has fewer than 16 characters", name)
	}
	return token, nil
}

// statusCommand shows what federations there are.
func statusCommand() *cobra.Command {
	var asJSON bool
	var tokenFile string
	cmd := &cobra.Command{
		Use: "status URL", Short: "Show which federations there are, who is in and at what time",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			token, err := readToken(tokenFile)
			if err != nil {
				return err
			}
			st, err := getStatus(cmd.Context(), args[0], token)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(st)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "FEDERATION\tOBJECTS\tFEDERATE\tTIME\tWAITING")
			for _, f := range st.Federations {
				for _, g := range f.Federates {
					fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%d\n", f.Name, f.Objects, g.Name, g.Time,
						g.Waiting)
				}
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "file with the federation's token")
	return cmd
}

func getStatus(ctx context.Context, url, token string) (st federation.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		strings.TrimSuffix(url, "/")+"/federation/v1/", nil)
	if err != nil {
		return st, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return st, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return st, fmt.Errorf("the federation answers %s: is it its URL, and --token-file its token?",
			res.Status)
	}
	err = json.NewDecoder(http.MaxBytesReader(nil, res.Body, 16<<20)).Decode(&st)
	return st, err
}
