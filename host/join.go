//go:build !js

package host

import (
	"cmp"
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

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/link/webtransport"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/topology/client"
)

// JoinOptions say where and how a title is played. Servers has no default.
type JoinOptions struct {
	// Servers are addresses and ports, such as localhost:4000: of a game on several mirrors any
	// number, the nearest first.
	Servers []string
	// HTTP is where the server answers over HTTP and is asked for a token, if not at the same
	// address.
	HTTP string
	// Over is how to reach the server: udp, websocket or webtransport. Default: udp.
	Over string
	// Token is one from the game's backend, as text, in place of asking the server for one.
	Token string
	// Ticket is a file to keep the ticket in by which the same player can come back.
	Ticket string

	// Name is what others read, and Spectate asks only to watch.
	Name     string
	Spectate bool
	// Style is how what the server has not told yet is shown.
	Style predict.Style
	// Patience is for how long a server that has gone is looked for. Default: 30 s.
	Patience time.Duration

	// Bot, if set, makes who plays, with nothing shown: for so long as For says, or until the
	// context ends. Otherwise the game is played in a terminal, until the player has had enough.
	Bot func(*game.Title) game.Bot
	For time.Duration
	// In and Out are the terminal. Defaults: os.Stdin and os.Stdout.
	In, Out *os.File
}

// Join plays a title on a server, in the terminal or by a bot, and says what came of it. If the
// server is started anew the player goes on there.
func Join(ctx context.Context, t *game.Title, o JoinOptions) (*Joined, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	return o.join(ctx, func(name string) (*game.Title, error) {
		if name != t.Name() {
			return nil, fmt.Errorf("this program has %s", t.Name())
		}
		return t, nil
	}, t.Name())
}

// join is Join for a program with several titles: which of them it is, the server says.
func (o *JoinOptions) join(
	ctx context.Context, find func(name string) (*game.Title, error), name string,
) (*Joined, error) {
	j := &joiner{JoinOptions: o, game: name}
	j.Over, j.Patience = cmp.Or(j.Over, "udp"), cmp.Or(j.Patience, 30*time.Second)
	e, err := j.find(ctx)
	if err != nil {
		return nil, err
	}
	t, err := find(e.Game)
	if err != nil {
		return nil, fmt.Errorf(
			"the server plays %q, which this program does not have: %w", e.Game, err)
	}
	if o.Bot == nil && !t.Screen.Drawn() {
		return nil, noScreen(t, "--headless to let a bot play")
	}
	if o.Bot == nil && !isTerminal(o.In, o.Out) {
		return nil, cli.Usagef(
			"this is not a terminal to play in; use --headless to let a bot play")
	}
	s, err := j.session(ctx, t, e)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	p := &visit{joiner: j, title: t, session: s, ticket: e.ticket}
	var r *Joined
	if o.Bot != nil {
		r, err = p.watch(ctx)
	} else {
		r, err = p.show(ctx)
	}
	return r, errors.Join(joinAdvice(err), j.unkept)
}

// A joiner finds ways into a game, and keeps the player's ticket.
type joiner struct {
	*JoinOptions
	game string // as far as it is known before the server is asked

	spent  bool   // the ticket was tried, or is not to be
	kept   string // the ticket that was written last
	unkept error  // why none can be
}

// ticketTime is how long a server is given to accept a ticket, before a new token is tried. One
// that was started anew cannot read old tickets, nor prove it.
const ticketTime = 4 * time.Second

// returnTime is for how long a player tries to come back to the seat that they lost, before they
// ask to be let in as someone new: a server that died and was started anew knows no seats, nor can
// it say so.
const returnTime = 10 * time.Second

// session enters a server, and goes on at it, or at another of those that are named, when that has
// ended.
func (j *joiner) session(ctx context.Context, t *game.Title, e *entry) (*client.Session, error) {
	first, err := j.open(ctx, e)
	if err != nil {
		return nil, err
	}
	o := client.SessionOptions{Options: client.Options{
		Title: t, Strategy: e.strategy, Style: j.Style, Name: j.Name, Spectate: j.Spectate,
		Return: returnTime,
	}}
	if e.ticket {
		o.ConnectTimeout = ticketTime
	}
	o.Join = func(ctx context.Context) (client.Entry, error) {
		e, err := j.find(ctx)
		if err != nil {
			return client.Entry{}, err
		}
		return j.open(ctx, e)
	}
	s := client.NewSession(o)
	s.Enter(first)
	return s, nil
}

// An entry is a way into a server.
type entry struct {
	admission
	token    token.Token
	ticket   bool             // the token is the ticket of an earlier connection
	servers  []netip.AddrPort // for UDP
	base     *url.URL         // for the rest
	strategy replica.Strategy
}

// find finds a way in: at the first of the servers that answers, and to the others over UDP if it
// does not let the player in.
func (j *joiner) find(ctx context.Context) (*entry, error) {
	if len(j.Servers) > 1 && (j.HTTP != "" || j.Over != "udp") {
		return nil, cli.Usagef("several servers can be given for udp, and without --http")
	}
	var found *entry
	var wrong error
	for _, addr := range j.Servers {
		if found != nil {
			if a, err := udp.Resolve(ctx, addr); err == nil {
				found.servers = append(found.servers, a)
			}
			continue
		}
		e, err := j.at(ctx, addr)
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

// at finds a way into one server: with the token or ticket that was given, or by asking.
func (j *joiner) at(ctx context.Context, addr string) (*entry, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, cli.Usagef("%q is not an address and a port, such as localhost:4000", addr)
	}
	base, err := httpBase(addr, j.HTTP)
	if err != nil {
		return nil, err
	}
	e := &entry{base: base}
	if j.Token != "" {
		e.Game = j.game
		if e.token, err = token.ParseText(j.Token); err != nil {
			return nil, err
		}
	} else if e.admission, err = askToken(ctx, base); err != nil {
		return nil, err
	} else if e.token, err = token.ParseText(e.admission.Token); err != nil {
		return nil, fmt.Errorf("the server's token: %w", err)
	}
	if e.strategy, err = e.admission.strategy(); err != nil {
		return nil, err
	}
	if t, ok := readTicket(j.Ticket); ok && t.Expires > time.Now().Unix() && !j.spent {
		e.token, e.ticket, j.spent = t, true, true
	}
	if e.UDP != 0 && j.HTTP == "" { // with both addresses given, they are meant
		port = fmt.Sprint(e.UDP)
	}
	if j.Over == "udp" {
		a, err := udp.Resolve(ctx, net.JoinHostPort(host, port))
		if err != nil {
			return nil, err
		}
		e.servers = []netip.AddrPort{a}
	}
	return e, nil
}

// open opens a way that was found.
func (j *joiner) open(ctx context.Context, e *entry) (client.Entry, error) {
	l, servers, err := j.link(ctx, e)
	return client.Entry{Link: l, Token: e.token, Servers: servers}, err
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
		return a, fmt.Errorf(
			"no server answers at %s: check the address, and that a server runs there (or say "+
				"with --http where it answers): %w", base.Host, err)
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
func (j *joiner) link(ctx context.Context, e *entry) (link.Link, []netip.AddrPort, error) {
	switch j.Over {
	case "udp":
		bind := "0.0.0.0:0"
		if slices.ContainsFunc(e.servers, func(a netip.AddrPort) bool { return a.Addr().Is6() }) {
			bind = "[::]:0"
		}
		l, err := udp.Listen(bind, udp.Options{})
		return l, e.servers, err
	case "websocket":
		if e.WebSocket == "" {
			return nil, nil, errors.New("the server takes no one over WebSocket; " +
				"start it with --websocket, or join over udp")
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
			return nil, nil, errors.New("the server takes no one over WebTransport; " +
				"start it with --webtransport, or join over udp")
		}
		var o webtransport.DialOptions
		for _, text := range e.Certificates {
			var h webtransport.Hash
			if n, err := hex.Decode(h[:], []byte(text)); err == nil && n == len(h) {
				o.Hashes = append(o.Hashes, h)
			}
		}
		at := net.JoinHostPort(e.base.Hostname(), fmt.Sprint(e.WebTransport))
		l, err := webtransport.Dial(ctx, "https://"+at+"/coeval", o)
		if err != nil {
			return nil, nil, err
		}
		return l, []netip.AddrPort{l.Peer()}, nil
	}
	return nil, nil, cli.Usagef("--over is %q: it must be udp, websocket or webtransport", j.Over)
}

// joinAdvice says what to do about the end of a connection.
func joinAdvice(err error) error {
	var version *client.VersionError
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

// keepTicket writes each new ticket to where the next start finds it, and nobody else. What cannot
// be written is said once, at the end.
func (j *joiner) keepTicket(c *client.Client) {
	if j.Ticket == "" || j.unkept != nil || c == nil || c.Phase() != client.Playing {
		return
	}
	t, ok := c.Ticket()
	text := t.Text() + "\n"
	if !ok || text == j.kept {
		return
	}
	j.kept = text
	if err := os.WriteFile(j.Ticket, []byte(text), 0o600); err != nil {
		j.unkept = fmt.Errorf("the ticket could not be kept: %w", err)
	}
}
