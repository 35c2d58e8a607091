//go:build !js

package host

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/link/webtransport"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/clientserver"
	"github.com/coeval-dev/coeval/world"
)

const joinLong = `Play a game on a server, in the terminal.

ADDR is where {program} serve listens, such as localhost:4000. An open server is
asked there, over HTTP, for a token; for others give --token and --game. Of a game
that runs on several mirrors any number may be given, separated by commas, the
nearest first: the first that answers is played at. If it dies, or is stopped, you
go on at another, whether or not it was named.

Arrow keys or w, a, s, d play. p asks for a pause, q or Ctrl-C leaves.

What you press is seen at once, however far the server is: what comes of it is
predicted, and put right if the server finds otherwise. With --style doom3
everything in view is predicted, with quake3 only what is yours, while the rest
is shown as it was a moment ago; halflife is the same for servers that go back
in time to judge a shot; none shows what has come, when it has come. Who only
watches is shown what was a moment ago, unless the style is none.

Through a proxy, such as {program} netsim, ADDR is the proxy's address and --http
the server's, which is asked for a token.

With --headless nothing is shown, and a bot plays for --seconds seconds; then
what came of it is printed. With --ticket FILE the ticket by which the same
player can come back is kept in a file, and used if it is there: so who crashed,
or closed the terminal, finds their seat as it was.`

const joinExample = `  {program} join localhost:4000
  {program} join play.example.net:4000 --name ada --ticket ~/.pong.ticket
  {program} join eu.example.net:4000,us.example.net:4000
  {program} join localhost:4000 --over websocket --spectate
  {program} join localhost:5000 --http localhost:4000 --style quake3
  {program} join localhost:4000 --headless --seconds 5 --json`

// join is what the command line says.
type join struct {
	name, game, token, ticket string
	http, over, style         string
	spectate, headless, json  bool
	seconds                   float64

	kept   string // the ticket that was written last
	unkept error  // why none can be
}

func (p *Program) joinCommand() *cobra.Command {
	var j join
	cmd := &cobra.Command{
		Use:     "join ADDR[,ADDR...]",
		Short:   "Play a game on a server, in the terminal",
		Long:    joinLong,
		Example: joinExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("which server? Give its address and port, such as localhost:4000")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return j.run(p, cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&j.name, "name", os.Getenv("USER"), "what others read")
	f.BoolVar(&j.spectate, "spectate", false, "only watch")
	f.StringVar(&j.http, "http", "", "where the server answers over HTTP, if not at ADDR; datagrams then go to ADDR itself")
	f.StringVar(&j.style, "style", "doom3", "how to show what the server has not told yet: "+styleNames)
	f.StringVar(&j.over, "over", "udp", "how to reach the server: udp, websocket or webtransport")
	f.StringVar(&j.token, "token", "", "a token from the game's backend, in place of asking the server for one")
	f.StringVar(&j.game, "game", "", "the game, with --token")
	f.StringVar(&j.ticket, "ticket", "", "file to keep the ticket in by which to come back")
	f.BoolVar(&j.headless, "headless", false, "show nothing and let a bot play, then say what came of it")
	f.Float64Var(&j.seconds, "seconds", 10, "with --headless, how long to play")
	f.BoolVar(&j.json, "json", false, "with --headless, print one JSON object")
	return cmd
}

func (j *join) run(p *Program, cmd *cobra.Command, addr string) error {
	switch {
	case j.json && !j.headless:
		return cli.Usagef("--json goes with --headless")
	case j.token != "" && j.game == "" && len(p.Titles) > 1:
		return cli.Usagef("with --token also give --game: there are %s", strings.Join(p.names(), ", "))
	case !(j.seconds > 0 && j.seconds <= 1e6):
		return cli.Usagef("--seconds is %v: it must be above 0", j.seconds)
	}
	if _, err := parseStyle(j.style); err != nil {
		return err
	}
	ctx := cmd.Context()
	entry, err := j.entry(ctx, addr)
	if err != nil {
		return err
	}
	if entry.Game == "" {
		entry.Game = p.Titles[0].Name()
	}
	t, err := p.Title(entry.Game)
	if err != nil {
		return fmt.Errorf("the server plays %q, which this program does not have: %w", entry.Game, err)
	}
	err = j.enter(cmd, t, entry)
	var end *clientserver.EndError
	if errors.As(err, &end) && entry.fresh != nil {
		switch end.Reason {
		case conn.ReasonTokenUsed, conn.ReasonExpired, conn.ReasonBadToken, conn.ReasonWrongGame: // the ticket is of no use any more
			entry.token, entry.fresh = *entry.fresh, nil
			err = j.enter(cmd, t, entry)
		}
	}
	return errors.Join(joinAdvice(err), j.unkept)
}

// enter plays, shown or not.
func (j *join) enter(cmd *cobra.Command, t *game.Title, entry *entry) error {
	ctx := cmd.Context()
	in, okIn := cmd.InOrStdin().(*os.File)
	out, okOut := cmd.OutOrStdout().(*os.File)
	terminal := okIn && okOut && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
	switch {
	case j.headless:
		return j.watch(ctx, cmd.OutOrStdout(), t, entry)
	case !t.Screen.Drawn():
		return noScreen(t, "--headless to let a bot play")
	case !terminal:
		return cli.Usagef("this is not a terminal to play in; use --headless to let a bot play")
	default:
		return j.play(ctx, t, entry, in, out)
	}
}

// An entry is a way into a server.
type entry struct {
	admission
	token    token.Token
	fresh    *token.Token     // to use if the ticket is refused
	servers  []netip.AddrPort // for UDP
	base     *url.URL         // for the rest
	strategy replica.Strategy
}

// entry finds a way in: at the first of the servers that answers, and to the others over UDP if it does not let the player in.
func (j *join) entry(ctx context.Context, addrs string) (*entry, error) {
	list := strings.Split(addrs, ",")
	if len(list) > 1 && (j.http != "" || j.over != "udp") {
		return nil, cli.Usagef("several servers can be given for udp, and without --http")
	}
	var found *entry
	var wrong error
	for _, addr := range list {
		if found != nil {
			if a, err := udp.Resolve(ctx, strings.TrimSpace(addr)); err == nil {
				found.servers = append(found.servers, a)
			}
			continue
		}
		e, err := j.entryAt(ctx, strings.TrimSpace(addr))
		if err != nil {
			wrong = errors.Join(wrong, err)
			continue
		}
		found = e
	}
	if found == nil {
		return nil, wrong
	}
	return found, nil
}

// entryAt finds a way into one server: with the token or ticket that was given, or by asking.
func (j *join) entryAt(ctx context.Context, addr string) (*entry, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, cli.Usagef("%q is not an address and a port, such as localhost:4000", addr)
	}
	base, err := httpBase(addr, j.http)
	if err != nil {
		return nil, err
	}
	e := &entry{base: base}
	if j.token != "" {
		e.Game = j.game
		if e.token, err = token.ParseText(j.token); err != nil {
			return nil, err
		}
	} else if e.admission, err = askToken(ctx, base); err != nil {
		return nil, err
	} else if e.token, err = token.ParseText(e.Token); err != nil {
		return nil, fmt.Errorf("the server's token: %w", err)
	}
	if e.strategy, err = e.admission.strategy(); err != nil {
		return nil, err
	}
	if t, ok := readTicket(j.ticket); ok && t.Expires > time.Now().Unix() {
		fresh := e.token
		e.token, e.fresh = t, &fresh
	}
	if e.UDP != 0 && j.http == "" { // with both addresses given, they are meant
		port = fmt.Sprint(e.UDP)
	}
	if j.over == "udp" {
		a, err := udp.Resolve(ctx, net.JoinHostPort(host, port))
		if err != nil {
			return nil, err
		}
		e.servers = []netip.AddrPort{a}
	}
	return e, nil
}

// httpBase is where the server answers over HTTP.
func httpBase(addr, given string) (*url.URL, error) {
	if given == "" {
		given = addr
	}
	if !strings.Contains(given, "://") {
		given = "http://" + given
	}
	u, err := url.Parse(given)
	if err != nil || u.Host == "" {
		return nil, cli.Usagef("%q is not an address and a port, such as localhost:4000", addr)
	}
	if strings.HasPrefix(u.Host, ":") {
		u.Host = "localhost" + u.Host
	}
	return u, nil
}

// askToken asks an open server for a token.
func askToken(ctx context.Context, base *url.URL) (admission, error) {
	var a admission
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	at := base.JoinPath("token").String()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, nil)
	if err != nil {
		return a, cli.Usagef("%s: %w", at, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, fmt.Errorf("no server answers at %s: check the address, and that a server runs there (or say with --http where it answers): %w", base.Host, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return a, fmt.Errorf("%s: %w", at, err)
	}
	if resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("%s: %s: %s", at, resp.Status, strings.TrimSpace(string(body)))
	}
	if err := json.Unmarshal(body, &a); err != nil || a.Token == "" {
		return a, fmt.Errorf("%s does not answer as a server of this toolkit does", at)
	}
	return a, nil
}

// link opens a way to the server.
func (j *join) link(ctx context.Context, e *entry) (link.Link, []netip.AddrPort, error) {
	switch j.over {
	case "udp":
		bind := "0.0.0.0:0"
		if slices.ContainsFunc(e.servers, func(a netip.AddrPort) bool { return a.Addr().Is6() }) {
			bind = "[::]:0"
		}
		l, err := udp.Listen(bind, udp.Options{})
		return l, e.servers, err
	case "websocket":
		if e.WebSocket == "" {
			return nil, nil, errors.New("the server takes no one over WebSocket; start it with --websocket, or join over udp")
		}
		u := *e.base
		u.Scheme = map[string]string{"http": "ws", "https": "wss"}[u.Scheme]
		l, err := websocket.Dial(ctx, u.JoinPath(e.WebSocket).String(), websocket.Options{})
		if err != nil {
			return nil, nil, err
		}
		return l, []netip.AddrPort{l.Peer()}, nil
	case "webtransport":
		if e.WebTransport == 0 {
			return nil, nil, errors.New("the server takes no one over WebTransport; start it with --webtransport, or join over udp")
		}
		var o webtransport.DialOptions
		for _, text := range e.Certificates {
			var h webtransport.Hash
			if n, err := hex.Decode(h[:], []byte(text)); err == nil && n == len(h) {
				o.Hashes = append(o.Hashes, h)
			}
		}
		l, err := webtransport.Dial(ctx, fmt.Sprintf("https://%s/coeval", net.JoinHostPort(e.base.Hostname(), fmt.Sprint(e.WebTransport))), o)
		if err != nil {
			return nil, nil, err
		}
		return l, []netip.AddrPort{l.Peer()}, nil
	}
	return nil, nil, cli.Usagef("--over is %q: it must be udp, websocket or webtransport", j.over)
}

// ticketTime is how long a server is given to accept a ticket, before a new token is tried. One that was started anew cannot read old tickets, nor prove it.
const ticketTime = 2 * time.Second

// client makes the client, with what is the same whether or not it is shown. The seer makes what is shown of it.
func (j *join) client(ctx context.Context, t *game.Title, e *entry, s *seer, o clientserver.ClientOptions) (*clientserver.Client, error) {
	l, servers, err := j.link(ctx, e)
	if err != nil {
		return nil, err
	}
	o.Game, o.Settings, o.Replica = t.Game, settingsOf(t), replicaOf(t, e.strategy)
	o.Link, o.Servers, o.Token, o.Name, o.Spectate = l, servers, e.token, j.name, j.spectate
	if e.fresh != nil {
		o.ConnectTimeout = ticketTime
	}
	s.hook(&o)
	var c *clientserver.Client
	o.Seen = func(*world.World) { j.keepTicket(c) }
	if c, err = clientserver.NewClient(o); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s.attach(c)
	return c, nil
}

// joinAdvice says what to do about the end of a connection.
func joinAdvice(err error) error {
	var version *clientserver.VersionError
	if errors.As(err, &version) {
		return fmt.Errorf("%w\nuse the same build of the program on both sides", err)
	}
	return err
}

// readTicket reads what keepTicket wrote, if it is there.
func readTicket(name string) (token.Token, bool) {
	if name == "" {
		return token.Token{}, false
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return token.Token{}, false
	}
	t, err := token.ParseText(string(text))
	return t, err == nil
}

// keepTicket writes each new ticket to where the next start finds it, and nobody else. What cannot be written is said once, at the end.
func (j *join) keepTicket(c *clientserver.Client) {
	t, ok := c.Ticket()
	if j.ticket == "" || !ok || j.unkept != nil {
		return
	}
	text := t.Text() + "\n"
	if text == j.kept {
		return
	}
	j.kept = text
	if err := os.WriteFile(j.ticket, []byte(text), 0o600); err != nil {
		j.unkept = fmt.Errorf("the ticket could not be kept: %w", err)
	}
}
