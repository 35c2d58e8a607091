//go:build !js

// Package directories runs a directory, where servers, mirrors and relays register and are found:
// with the sockets, HTTP, metrics and bans that are around it.
package directories

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/jwt"
	"github.com/coeval-dev/coeval/service/directory/starter"
)

const long = `Run a directory: where servers, mirrors and relays register and are found.

Servers are listed by "{program} serve --directory URL --name NAME", mirrors and relays
likewise. Before one is listed it has to answer at the address that it claims, so the
directory's own UDP port (--listen) must be able to reach it. Those that are silent for
30 s are gone.

Over HTTP (--http), or HTTPS (--tls-cert), programs and pages ask at /directory/v1/,
which /directory/v1/openapi.json describes: lists with filters and pages, live
updates, tokens. Games' clients ask over UDP. /healthz, /readyz and /metrics are as
with {program} serve. What was acknowledged is in a database, --store, of this
directory's own.

With --key FILE the directory issues connect tokens for servers that have one of the
keys in the file. It is read again when it changes: put a new key first, give it to
servers, and take the old one out when all have the new one. Without more, tokens are
for anonymous names; with --jwt-key only for accounts whose signed JWT is brought.
Bans by account and address, and the log of tokens, are in --admin-dir, as with
{program} admin; servers of a banned address are not listed either. With --name, servers
that were announced to another directory are refused.

Players gather in a lobby: rooms that are joined by a code, and for games that are
named by --queue GAME=SIZE, or that bring a rule of their own, queues. A match is sent
to a server with room, or with --start-command LINE to one that this command starts:
in its environment are LOBBY_GAME, LOBBY_LEVEL, LOBBY_ROOM, LOBBY_PLAYERS and LOBBY_TAG,
a tag that the server must register with; COEVAL_TAG and COEVAL_DIRECTORY say the same
to {program} serve. Servers report results under their key, for leaderboards.`

const example = `  {program} directory --store sqlite:directory.db
  {program} directory --store postgres://find@db.example.net/find --tls-cert c.pem --tls-key k.pem
  {program} directory --store directory.db --key servers.key --jwt-key accounts.pub --json
  {program} directory --queue {game}=2 --key k --start-command 'coeval serve {game} --listen :0 --key k'
  {program} serve {game} --directory http://localhost:4400 --name "Friday night"`

// Options are what a directory is made from.
type Options struct {
	Listen, HTTP, Store string
	Web                 serve.WebOptions
	Key, JWTKey, Dir    string
	Lobby               LobbyOptions
	Names               []string
	Log                 *slog.Logger
}

type flags struct {
	Options
	settings cli.Settings
}

// Command is the command directory.
func Command(*cli.Program) *cobra.Command {
	var d flags
	cmd := &cobra.Command{
		Use: "directory", Short: "Run a directory, where servers register and are found",
		Long: long, Example: example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd) },
	}
	d.settings.LogFlags(cmd)
	d.settings.JSON(cmd)
	f := cmd.Flags()
	f.StringVar(&d.Listen, "listen", ":4400",
		"UDP address for challenges and queries; port 0 for any that is free")
	f.StringVar(&d.HTTP, "http", "", "HTTP address (default: as --listen, over TCP)")
	f.StringVar(&d.Store, "store", "sqlite:directory.db",
		"database of this directory's own: sqlite:FILE, FILE or postgres://USER@HOST/NAME")
	f.StringVarP(&d.Key, "key", "k", "",
		"file with the keys of tokens, the newest first, from: {program} token key")
	f.StringVar(&d.JWTKey, "jwt-key", "",
		"with --key, file with the key that accounts' JWTs are signed with: an Ed25519 public key "+
			"in PEM, or a secret for HS256")
	f.StringVar(&d.Dir, "admin-dir", "",
		"folder with bans and the audit log of tokens (default: none)")
	d.Lobby.Flags(f)
	f.StringSliceVar(&d.Names, "name", nil,
		"hosts by which servers reach this directory, such as find.example.org: what was announced "+
			"to another is refused (default: nothing is)")
	d.Web.Flags(f)
	return cmd
}

func (d *flags) run(cmd *cobra.Command) (err error) {
	if err := d.settings.Fill(cmd); err != nil {
		return err
	}
	if d.Log, err = d.settings.Logger(cmd.ErrOrStderr()); err != nil {
		return err
	}
	if d.JWTKey != "" && d.Key == "" {
		return cli.Usagef("--jwt-key says who gets tokens, and --key is what they are sealed " +
			"with: give both")
	}
	x, err := New(cmd.Context(), d.Options)
	if err != nil {
		return err
	}
	if print := x.print; print != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "trust it by %s\n", print)
	}
	return errors.Join(x.Run(cmd.Context()), x.Close())
}

// A Directory is one that runs.
type Directory struct {
	log       *slog.Logger
	keeper    directory.Keeper
	book      *directory.Book
	responder *directory.Responder
	api       *directory.API
	lobby     *directory.Lobby
	starter   *starter.Starter // nil without
	folder    *admin.Folder
	socket    link.Link
	site      serve.Site
	print     string
	meters    *serve.Meters
}

// openTime is how long a database may take to answer at the start, and mostConns how many
// connections there may be: of servers that are heard every ten seconds, and of those who listen.
const (
	openTime  = 30 * time.Second
	mostConns = 20_000
)

// New opens the database and the sockets. On an error nothing is left open.
func New(ctx context.Context, o Options) (_ *Directory, err error) {
	if err := errors.Join(o.Web.Check(), o.Lobby.check()); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Directory{log: o.Log}
	if o.Dir != "" {
		if d.folder, err = admin.OpenFolder(o.Dir); err != nil {
			return nil, err
		}
	}
	issuer, err := d.issuer(&o)
	if err != nil {
		return nil, err
	}
	driver := directory.In()
	if driver == nil {
		return nil, errors.New("this program has no databases: add " +
			`import _ "github.com/coeval-dev/coeval/service/directory/use" to it, or use coevald`)
	}
	opening, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	if d.keeper, err = driver.Open(opening, o.Store); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = d.Close()
		}
	}()
	if d.book, err = directory.NewBook(opening, directory.BookOptions{Keeper: d.keeper,
		Issues: issuer.Issues}); err != nil {
		return nil, err
	}
	d.site.Conns = mostConns
	d.socket, d.site.Listener, err = serve.OpenPorts(cmp.Or(o.Listen, ":4400"), o.HTTP)
	if err != nil {
		return nil, err
	}
	d.site.WebOptions = o.Web
	if d.print, err = d.site.Secure(); err != nil {
		return nil, err
	}
	d.responder = directory.NewResponder(d.book, d.socket)
	d.api = directory.NewAPI(d.book, d.responder, issuer)
	d.api.Names = o.Names
	if d.folder != nil {
		d.api.Banned = d.banned
	}
	if err = d.openLobby(opening, &o.Lobby); err != nil {
		return nil, err
	}
	d.meters = serve.MetersOf(time.Second, d.measure)
	return d, nil
}

// issuer is what issues tokens, or nil.
func (d *Directory) issuer(o *Options) (*directory.Issuer, error) {
	if o.Key == "" {
		return nil, nil
	}
	keys, err := openKeys(o.Key, o.Log)
	if err != nil {
		return nil, err
	}
	i := &directory.Issuer{Keys: keys.Keys, Verifier: directory.OwnVerifier()}
	if o.JWTKey != "" {
		if i.Verifier != nil {
			return nil, cli.Usagef("this program knows accounts by itself: leave out --jwt-key")
		}
		secret, err := cli.ReadSecret(o.JWTKey)
		if err != nil {
			return nil, err
		}
		if i.Verifier, err = jwt.New(secret); err != nil {
			return nil, fmt.Errorf("%s: %w", o.JWTKey, err)
		}
	}
	i.Folder = d.folder
	return i, nil
}

// banned says why nothing from an address is listed.
func (d *Directory) banned(from netip.Addr) error {
	s := d.folder.Sanctioned(admin.Ban, 0, from)
	if s == nil {
		return nil
	}
	return fmt.Errorf("this address is banned: ask the operator of the directory: %s",
		cmp.Or(s.Why, "no reason was given"))
}

// measure takes all numbers.
func (d *Directory) measure(_ context.Context, m *serve.Metrics) error {
	m.Site(&d.site)
	entries, places := d.book.Size()
	m.Gauge("directory_entries", "Entries that are listed.", float64(entries))
	m.Gauge("directory_places", "Places of all entries.", float64(places))
	s := d.api.Stats()
	m.Gauge("directory_listeners", "Who listens to live updates.", float64(s.Listeners))
	serve.Counts(m, "directory_requests_total", "What servers have asked for and was done.", "what",
		map[string]uint64{"register": s.Registered, "alive": s.Alive, "goodbye": s.Goodbye})
	m.Count("directory_expired_total", "Places that were silent for too long.", s.Expired)
	m.Count("directory_refused_total", "Requests over HTTP that were refused.", s.Refused)
	m.Count("directory_write_failures_total", "Transactions that failed.", s.Failed)
	d.measureLobby(m)
	r := d.responder
	serve.Counts(m, "directory_datagrams_total", "Datagrams, by what they were.", "what",
		map[string]uint64{"challenges": r.Challenges.Load(), "proofs": r.Proofs.Load(),
			"queries": r.Queries.Load(), "answers": r.Answered.Load(), "dropped": r.Dropped.Load()})
	c := r.Carried()
	serve.Counts(m, "directory_datagram_bytes_total", "Bytes of datagrams, by their way.", "way",
		map[string]uint64{"in": c.ReceivedBytes, "out": c.SentBytes})
	return nil
}

// Run answers until the context ends.
func (d *Directory) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	mux := http.NewServeMux()
	mux.Handle(directory.Path, d.api)
	d.meters.Mount(mux, &d.site)
	var all sync.WaitGroup
	all.Go(func() { d.book.Run(ctx) })
	all.Go(func() { d.look(ctx) })
	all.Go(func() { d.lobby.Run(ctx) })
	d.site.Run(mux, d.log)
	d.meters.SetReady(true)
	entries, _ := d.book.Size()
	d.log.Info("listing", "udp", d.socket.LocalAddr().String(), "http", d.site.Addr(), "scheme",
		d.site.Scheme(), "entries", entries, "trust", d.print)
	d.site.Warn(d.log, d.api.Issuer != nil)
	err := d.responder.Run(ctx)
	d.socket = nil // it has closed it
	d.meters.SetReady(false)
	cancel()
	all.Wait()
	d.log.Info("stopped")
	return err
}

// look says every second that the directory is well, and has bans count that others have made.
func (d *Directory) look(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for ctx.Err() == nil {
		d.meters.Took(0)
		if d.folder != nil {
			if err := d.folder.Reload(); err != nil {
				d.log.Error("bans cannot be read again, those before count", "error", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-t.C:
		}
	}
}

// HTTP is where it answers over HTTP.
func (d *Directory) HTTP() string { return d.site.Addr() }

// Close closes what is open.
func (d *Directory) Close() error {
	d.site.Close()
	_ = d.starter.Close() // it never fails
	if d.socket != nil {
		_ = d.socket.Close() // nothing is expected of it
	}
	return d.keeper.Close()
}
