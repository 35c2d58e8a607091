//go:build !js

package lobbies

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/join"
	"github.com/coeval-dev/coeval/query"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/lobby"
)

// A gathering is somebody in a room, or who waits in a queue, until there is a match.
type gathering struct {
	*flags
	out   io.Writer
	typed <-chan string // lines; nil or closed if there are none

	room   lobby.Room // as it was last seen
	heard  int        // the number of the last line of chat that was told
	old    string     // the match that was before
	began  bool       // the host has asked for the start
	waited bool       // in a queue, of which was told
	why    string     // why the last start failed, as was told
	away   time.Time  // since when the directory does not answer
}

// awayFor is for how long the directory may be silent.
const awayFor = 30 * time.Second

// listen reads lines that somebody types.
func listen(in *os.File, headless bool) <-chan string {
	if in == nil || headless {
		return nil
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}

// gather enters, and waits until there is a match.
func (g *gathering) gather(ctx context.Context, p *cli.Program) (*lobby.Start, error) {
	if err := g.enter(ctx, p); err != nil {
		return nil, err
	}
	return g.attend(ctx)
}

// attend tells what happens and does what is typed, until there is a match.
func (g *gathering) attend(ctx context.Context) (*lobby.Start, error) {
	reports, stop := watch(ctx, g.member)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			g.leave(context.WithoutCancel(ctx))
			return nil, context.Cause(ctx)
		case line, more := <-g.typed:
			if !more {
				g.typed = nil
				break
			}
			left, err := g.do(ctx, strings.TrimSpace(line))
			if left {
				g.leave(ctx)
				return nil, cli.Nothingf("you have left")
			}
			if err != nil {
				fmt.Fprintln(g.out, "!", clean(err.Error()))
			}
		case r := <-reports:
			if ctx.Err() != nil {
				continue // one leaves before one goes
			}
			start, err := g.take(ctx, &r)
			if start != nil || err != nil {
				return start, err
			}
		}
	}
}

// enter makes a room, joins one, or waits in the queue.
func (g *gathering) enter(ctx context.Context, p *cli.Program) error {
	is, err := g.member.Me(ctx)
	if err != nil {
		return err
	}
	if is.Start != nil {
		g.old = is.Start.Match
	}
	if g.code != "" { // a room says which game it is
		room, err := g.member.Join(ctx, g.code, g.me)
		if err != nil {
			return err
		}
		g.game = room.Game
	}
	if err := g.measure(ctx, p); err != nil {
		return err
	}
	for _, t := range p.List {
		if t.Name() == g.game { // so that the server is one that this program can play on
			g.setup.Version = fmt.Sprintf("%016x", t.Game.Hash())
		}
	}
	switch {
	case g.queue:
		return g.member.Enqueue(ctx, g.game, g.setup.Version, g.me)
	case g.code != "":
	default:
		room, err := g.member.Make(ctx, g.setup, g.me)
		if err != nil {
			return err
		}
		g.code = room.Code
		fmt.Fprintf(g.out, "room %s of %s; others join by: lobby --directory %s --code %s\n",
			g.code, g.game, g.url, g.code)
	}
	return g.member.Set(ctx, g.code, lobby.Me{Trips: g.me.Trips, Ready: &g.ready})
}

// leave says that one goes.
func (g *gathering) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if g.queue {
		_ = g.member.Dequeue(ctx) // who is silent is taken out in a while
	} else {
		_ = g.member.Leave(ctx, g.code)
	}
}

// take tells what is new.
func (g *gathering) take(ctx context.Context, r *report) (*lobby.Start, error) {
	is, err := &r.is, r.err
	var said *directory.Error
	switch {
	case err == nil:
		g.away = time.Time{}
	case errors.As(err, &said) && said.Status < 500, ctx.Err() != nil:
		return nil, err
	case g.away.IsZero():
		g.away = time.Now()
		fmt.Fprintln(g.out, "!", clean(err.Error()))
		return nil, nil
	case time.Since(g.away) > awayFor:
		return nil, err
	default:
		return nil, nil
	}
	if s := is.Start; s != nil && s.Match != g.old {
		if s.Why != "" {
			return nil, errors.New(clean(s.Why))
		}
		return s, nil
	}
	if g.queue {
		return nil, g.queued(is.Queue)
	}
	if is.Room == nil || is.Room.Code != g.code {
		return nil, errors.New("you are not in the room any more: the host has removed you, or " +
			"the directory was started anew")
	}
	g.tell(is.Room, is.Client)
	return nil, g.maybeStart(ctx, is.Room, is.Client)
}

// queued tells how one waits.
func (g *gathering) queued(q *lobby.Queued) error {
	switch {
	case q == nil || q.Gone:
		return errors.New("you do not wait any more: the directory was started anew, or no " +
			"server was found")
	case !g.waited:
		g.waited = true
		fmt.Fprintf(g.out, "waiting for others who want to play %s\n", g.game)
	}
	if q.Why != "" && q.Why != g.why {
		fmt.Fprintln(g.out, "!", clean(q.Why))
	}
	g.why = q.Why
	return nil
}

// tell says what is new in the room.
func (g *gathering) tell(r *lobby.Room, me uint64) {
	for _, m := range r.Members {
		i := slices.IndexFunc(g.room.Members, func(o lobby.Member) bool {
			return o.Client == m.Client
		})
		name := clean(m.Name)
		switch {
		case i < 0 && m.Client != me:
			fmt.Fprintf(g.out, "%s is here\n", name)
		case i >= 0 && m.Ready != g.room.Members[i].Ready:
			fmt.Fprintf(g.out, "%s is %s\n", name, map[bool]string{true: "ready",
				false: "not ready"}[m.Ready])
		case i >= 0 && m.Team != g.room.Members[i].Team:
			fmt.Fprintf(g.out, "%s is in team %d\n", name, m.Team)
		}
	}
	for _, m := range g.room.Members {
		if !slices.ContainsFunc(r.Members, func(o lobby.Member) bool {
			return o.Client == m.Client
		}) {
			fmt.Fprintf(g.out, "%s has left\n", clean(m.Name))
		}
	}
	if r.Host == me && g.room.Host != 0 && g.room.Host != me {
		fmt.Fprintln(g.out, "you are the host now")
	}
	for _, l := range r.Chat {
		switch missed := l.Number - g.heard - 1; {
		case missed < 0:
			continue // it was told
		case missed > 0 && g.heard > 0:
			fmt.Fprintf(g.out, "! %d lines that were said meanwhile are lost\n", missed)
		}
		g.heard = l.Number
		fmt.Fprintf(g.out, "%s: %s\n", clean(l.Name), clean(l.Text))
	}
	if r.Why != "" && r.Why != g.why {
		fmt.Fprintln(g.out, "!", clean(r.Why))
	}
	g.why, g.room = r.Why, *r
}

// maybeStart starts the match by itself, if that was asked for and it can be.
func (g *gathering) maybeStart(ctx context.Context, r *lobby.Room, me uint64) error {
	if g.start == 0 || g.began || r.Host != me || r.Size < g.start || r.State != lobby.Open {
		return nil
	}
	for _, m := range r.Members {
		if m.Client != me && !m.Ready {
			return nil
		}
	}
	g.began = true
	return g.member.Start(ctx, g.code, false)
}

// do does what was typed, and says whether that was to leave.
func (g *gathering) do(ctx context.Context, line string) (left bool, err error) {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if verb == "/leave" {
		return true, nil
	}
	if g.queue || line == "" {
		return false, nil
	}
	yes, no := true, false
	switch verb {
	case "/ready":
		return false, g.member.Set(ctx, g.code, lobby.Me{Ready: &yes})
	case "/unready":
		return false, g.member.Set(ctx, g.code, lobby.Me{Ready: &no})
	case "/team":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return false, errors.New("which team? Give its number, such as /team 2")
		}
		return false, g.member.Set(ctx, g.code, lobby.Me{Team: &n})
	case "/kick":
		for _, m := range g.room.Members {
			if m.Name == rest {
				return false, g.member.Kick(ctx, g.code, m.Client)
			}
		}
		return false, fmt.Errorf("nobody here is called %q", rest)
	case "/start":
		return false, g.member.Start(ctx, g.code, rest == "anyway")
	case "/queue":
		return false, g.member.EnqueueRoom(ctx, g.code)
	}
	if strings.HasPrefix(line, "/") {
		return false, fmt.Errorf("%s is nothing that can be done: there are /ready, /unready, "+
			"/team, /kick, /start, /queue and /leave", verb)
	}
	return false, g.member.Say(ctx, g.code, line)
}

// play goes to where the match is.
func (x *flags) play(
	ctx context.Context, out io.Writer, s *lobby.Start, g *gathering,
) (*join.Joined, error) {
	fmt.Fprintf(out, "playing at %s\n", clean(s.Name))
	if g.typed != nil {
		// Whoever reads lines reads what is typed next as well, and so has to come to an end.
		fmt.Fprintln(out, "press Enter to begin")
		select {
		case <-g.typed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	trust, err := entry.ParseTrust(x.Trust)
	if err != nil {
		return nil, cli.Usagef("--trust: %w", err)
	}
	x.Game = s.Game
	x.Enter = func(ctx context.Context) (join.Entrance, error) { return entrance(ctx, s, trust) }
	return join.Join(ctx, x.Options)
}

// entrance is the way into the server of a match.
func entrance(
	ctx context.Context, s *lobby.Start, trust *entry.Trust,
) (e join.Entrance, err error) {
	at, err := netip.ParseAddrPort(s.UDP)
	if err != nil {
		return e, fmt.Errorf("the server %q is not reached by UDP: play in a browser", s.Name)
	}
	e.Servers = []netip.AddrPort{at}
	if s.Token == "" {
		base, err := url.Parse(strings.TrimSuffix(s.Door, "/token"))
		if err != nil || base.Host == "" {
			return e, fmt.Errorf("the server %q lets nobody in", s.Name)
		}
		e.Admission, err = entry.AskBy(ctx, base, trust)
		return e, err
	}
	// The server says by what else its clients must go, if it answers where datagrams go.
	for _, scheme := range []string{"http", "https"} {
		base := &url.URL{Scheme: scheme, Host: at.String()}
		if e.Admission, err = entry.Bring(ctx, base, trust, s.Token); err == nil {
			return e, nil
		}
	}
	e.Admission = entry.Admission{Game: s.Game, Token: s.Token}
	return e, nil
}

// clean is a text of others as a terminal may show it.
func clean(text string) string { return query.Clean(text, 512) }
