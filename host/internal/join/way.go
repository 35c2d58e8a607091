//go:build !js

package join

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/topology/client"
)

// A joiner finds ways into a game, and keeps the player's ticket.
type joiner struct {
	Options
	trust *entry.Trust

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
func (j *joiner) session(ctx context.Context, t *game.Title, e *way) (*client.Session, error) {
	first, err := j.open(ctx, e)
	if err != nil {
		return nil, err
	}
	o := client.SessionOptions{Options: j.Player}
	o.Title, o.Return = t, returnTime
	if err := e.Play(&o.Options, !j.AsServed); err != nil {
		return nil, errors.Join(err, first.Link.Close())
	}
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

// A way is a way into a server.
type way struct {
	entry.Admission
	token   token.Token
	ticket  bool             // the token is the ticket of an earlier connection
	servers []netip.AddrPort // for UDP
	base    *url.URL         // for the rest
}

// find finds a way in: at the first of the servers that answers, and to the others over UDP if it
// does not let the player in.
func (j *joiner) find(ctx context.Context) (*way, error) {
	if j.Enter != nil {
		x, err := j.Enter(ctx)
		if err != nil {
			return nil, err
		}
		e := &way{Admission: x.Admission, servers: x.Servers}
		return e, j.admitted(e, x.Token)
	}
	if len(j.Servers) > 1 && (j.HTTP != "" || j.Over != "udp") {
		return nil, cli.Usagef("several servers can be given for udp, and without --http")
	}
	var found *way
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
func (j *joiner) at(ctx context.Context, addr string) (*way, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, cli.Usagef("%q is not an address and a port, such as localhost:4000", addr)
	}
	base, err := entry.Base(addr, j.HTTP)
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	if j.HTTPS || j.Trust != "" {
		base.Scheme = "https"
	}
	e := &way{base: base}
	if j.Token != "" {
		e.Game, e.Admission.Token = j.Game, j.Token
	} else if e.Admission, err = entry.AskBy(ctx, base, j.trust); err != nil {
		return nil, err
	}
	if err := j.admitted(e, e.Admission.Token); err != nil {
		return nil, err
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

// admitted takes the token that was given, or the ticket where there is one.
func (j *joiner) admitted(e *way, text string) (err error) {
	if e.token, err = token.ParseText(text); err != nil {
		return fmt.Errorf("the token: %w", err)
	}
	if _, err = e.Snapshots(); err != nil {
		return err
	}
	if t, ok := readTicket(j.Ticket); ok && t.Expires > time.Now().Unix() && !j.spent {
		e.token, e.ticket, j.spent = t, true, true
	}
	return nil
}

// open opens a way that was found.
func (j *joiner) open(ctx context.Context, e *way) (out client.Entry, err error) {
	out.Token = e.token
	var peer netip.AddrPort
	switch j.Over {
	case "udp":
		out.Servers = e.servers
		out.Link, err = entry.Bind(udp.Options{}, e.servers...)
		return out, err
	case "websocket":
		out.Link, peer, err = e.DialSocketBy(ctx, e.base, j.trust)
	case "webtransport":
		out.Link, peer, err = e.DialTransport(ctx, e.base)
	default:
		err = cli.Usagef("--over is %q: it must be udp, websocket or webtransport", j.Over)
	}
	out.Servers = []netip.AddrPort{peer}
	return out, err
}

// readTicket reads what keepTicket wrote, if it is there.
func readTicket(name string) (token.Token, bool) {
	if name == "" {
		return token.Token{}, false
	}
	text, err := cli.ReadFile(name, 1<<16)
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
