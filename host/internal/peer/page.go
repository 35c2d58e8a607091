//go:build !js

package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/page"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/web"
)

// PageOptions say how a page is served on which people play in their browsers, through a relay.
type PageOptions struct {
	// HTTP is the address of the page. If nobody asked for its port, AnyPort, another will do.
	HTTP    string
	AnyPort bool
	// Hosts are names of this machine, by which others ask for the page.
	Hosts []string
	Web   serve.WebOptions
	// Built is a folder with the game for the browser, or nil to compile it. Program is what is
	// compiled: by default the program that runs.
	Built   fs.FS
	Program string
	// Out is a folder to write the page into, for any server of files, in place of serving it.
	Out string
	// Seeded has each match that is founded on the page have the seed of the level.
	Seeded bool
}

// A PageServer serves the page.
type PageServer struct {
	o        *Options
	page     *PageOptions
	site     serve.Site
	client   *page.Client
	reach    page.Reach
	settings settings
	print    string
}

// settings are what the page is told. The JSON names are those of web/assets/match.js.
type settings struct {
	Game    string   `json:"game"`
	Relay   string   `json:"relay,omitempty"`
	Style   string   `json:"style,omitempty"`
	Depth   int      `json:"depth,omitempty"`
	Delay   int      `json:"delay"`
	Packets int      `json:"packets,omitempty"`
	Level   string   `json:"level,omitempty"`
	Data    []byte   `json:"data,omitempty"`
	Seed    string   `json:"seed,omitempty"`
	Seats   int      `json:"seats,omitempty"`
	Start   int      `json:"start,omitempty"`
	Wait    int64    `json:"wait,omitempty"`  // milliseconds
	Grace   int64    `json:"grace,omitempty"` // the same
	End     bool     `json:"end,omitempty"`
	Links   []string `json:"links,omitempty"`
	Command string   `json:"command,omitempty"`
}

// settingsOf is what the page is told of a relay and of the matches that are founded on it.
func settingsOf(o *Options, p *PageOptions, relay *url.URL) settings {
	s := settings{
		Game: o.Title.Name(), Relay: relay.String(), Style: StyleName(o.Style),
		Depth: o.Style.Depth, Delay: o.Style.Delay, Packets: o.Packets,
		Command: fmt.Sprintf("%s %s CODE --relay %s", o.Fill("{program} peer join"),
			o.Title.Name(), o.Relay),
	}
	if m := o.Match; m != nil {
		s.Level, s.Data, s.Seats, s.Start, s.End = m.Level, m.Data, m.Seats, m.Start, m.End
		s.Wait, s.Grace = o.Wait.Milliseconds(), m.Grace.Milliseconds()
		if o.Wait < 0 {
			s.Wait = -1
		}
		if p.Seeded {
			s.Seed = strconv.FormatUint(m.Seed, 10)
		}
	}
	return s
}

// relayFor finds the relay, and whether it takes browsers.
func relayFor(ctx context.Context, at string) (*url.URL, error) {
	base, err := entry.Base(at, "")
	if err != nil {
		return nil, cli.Usagef("--relay: %w", err)
	}
	a, err := entry.Ask(ctx, base)
	if err != nil {
		return nil, fmt.Errorf("--relay: %w", err)
	}
	if a.WebSocket == "" && a.WebTransport == 0 {
		return nil, fmt.Errorf("the relay at %s takes no browsers: start it with --websocket, "+
			"with --webtransport, or better with both", base.Host)
	}
	return base, nil
}

// check says why there can be no page.
func check(o *Options, p *PageOptions) error {
	if !o.Title.Screen.Drawn() {
		return cli.Usagef("--page: %s cannot be shown in a browser, as its title has no Screen "+
			"to draw with", o.Title.Name())
	}
	return p.Web.Check()
}

// NewPageServer opens the port of a page.
func NewPageServer(ctx context.Context, o *Options, p *PageOptions) (_ *PageServer, err error) {
	if err := check(o, p); err != nil {
		return nil, err
	}
	relay, err := relayFor(ctx, o.Relay)
	if err != nil {
		return nil, err
	}
	s := &PageServer{o: o, page: p, client: p.newClient(o), settings: settingsOf(o, p, relay)}
	if err := s.client.Find(ctx); err != nil {
		return nil, fmt.Errorf("--page: %w", err)
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	at, err := netip.ParseAddrPort(s.site.Addr())
	if err != nil {
		return nil, err
	}
	s.reach = page.NewReach(at.Addr(), p.Hosts...)
	s.site.WebOptions = p.Web
	s.site.Names = s.reach
	if s.print, err = s.site.Secure(); err != nil {
		return nil, err
	}
	s.settings.Links = s.reach.Links(s.site.Scheme(), s.port(), nil)
	told, err := json.Marshal(&s.settings)
	if err != nil {
		return nil, err
	}
	files := web.Page(web.Options{
		Client: s.client.Bundle, Index: "match.html", Game: o.Title.Name(), Settings: told,
		Connect: connections(relay, s.reach),
	})
	s.site.Run(s.site.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/client.wasm" {
			// what cannot be set has the limit of all answers
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(downloadTime))
		}
		files.ServeHTTP(w, r)
	}), s.reach), slog.New(slog.DiscardHandler))
	return s, nil
}

// downloadTime is how long a browser may take to fetch the client, which has some megabytes.
const downloadTime = 3 * time.Minute

// newClient is the game for the browser: the program that runs, as a title's own client for it
// knows servers alone.
func (p *PageOptions) newClient(o *Options) *page.Client {
	t := o.Title.Clone()
	t.Client = p.Program
	c := page.NewClient(t, p.Built)
	c.Matches = true
	return c
}

func (s *PageServer) listen() (err error) {
	s.site.Listener, err = net.Listen("tcp", s.page.HTTP)
	if errors.Is(err, syscall.EADDRINUSE) && s.page.AnyPort {
		host, _, _ := net.SplitHostPort(s.page.HTTP)
		s.site.Listener, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("another program has the port: end that, or choose another by --http: %w",
			err)
	}
	return err
}

// connections are what the page may connect to: the relay, by the hosts by which a browser may know
// it. Which port WebTransport has, the relay tells later.
func connections(relay *url.URL, reach page.Reach) (list []string) {
	hosts := []string{relay.Hostname()}
	if slices.Contains(page.Here, relay.Hostname()) {
		hosts = slices.Concat(hosts, reach)
	}
	for _, h := range hosts {
		at := h
		if p := relay.Port(); p != "" {
			at = net.JoinHostPort(h, p)
		}
		sockets := strings.Replace(relay.Scheme, "http", "ws", 1)
		list = append(list, relay.Scheme+"://"+at, sockets+"://"+at,
			"https://"+net.JoinHostPort(h, "*"))
	}
	return list
}

func (s *PageServer) port() int { return s.site.Listener.Addr().(*net.TCPAddr).Port }

// Link is where the page is opened on this machine, for what it was started for: to found a match,
// or to join one.
func (s *PageServer) Link() string {
	then := "new"
	if s.o.Match == nil {
		then = "code=" + s.o.Invitation
		if s.o.Watch {
			then += "&watch"
			if s.o.Behind > 0 {
				then += fmt.Sprintf("&behind=%g", s.o.Behind.Seconds())
			}
		}
	}
	return fmt.Sprintf("%s://%s#%s", s.site.Scheme(), net.JoinHostPort("127.0.0.1",
		fmt.Sprint(s.port()))+"/", then)
}

// Client is the game for the browser.
func (s *PageServer) Client() *page.Client { return s.client }

// Close ends it.
func (s *PageServer) Close() { s.site.Close() }

// Run makes the game for the browser, and serves the page until the context ends.
func (s *PageServer) Run(ctx context.Context) error {
	defer s.Close()
	if err := s.client.Make(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// savePage writes the page into a folder.
func savePage(ctx context.Context, o *Options, p *PageOptions, out io.Writer) error {
	relay, err := entry.Base(o.Relay, "")
	if err != nil {
		return cli.Usagef("--relay: %w", err)
	}
	c := p.newClient(o)
	bar := cli.NewProgress(out)
	c.Watch = func(b page.Progress) { bar.Show(b.Part, b.Step) }
	err = c.Make(ctx)
	if bar.Clear(); err != nil {
		return err
	}
	s := settingsOf(o, p, relay)
	told, err := json.MarshalIndent(&s, "", "  ")
	if err != nil {
		return err
	}
	if err := web.SavePage(p.Out, web.Options{Client: c.Bundle, Index: "match.html",
		Game: o.Title.Name(), Settings: told}); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	plain, gz, _ := c.Bundle().Sizes()
	fmt.Fprintf(out, "%s: a page for any server of files, with %d bytes of WebAssembly, %d with "+
		"gzip; people found matches on it and join them at %s\n", p.Out, plain, gz, relay)
	return nil
}

// ServePage serves the page until the context ends, and says where it is; or it writes the page
// into a folder.
func ServePage(ctx context.Context, o *Options, p *PageOptions, out io.Writer) error {
	if err := check(o, p); err != nil {
		return err
	}
	if p.Out != "" {
		return savePage(ctx, o, p, out)
	}
	s, err := NewPageServer(ctx, o, p)
	if err != nil {
		return err
	}
	if o.JSON {
		_ = json.NewEncoder(out).Encode(map[string]any{"event": "page", "page": s.Link(),
			"links": s.settings.Links, "relay": o.Relay})
	} else {
		fmt.Fprintf(out, "play in a browser at %s\n", s.Link())
		for _, l := range s.settings.Links {
			fmt.Fprintf(out, "others open %s, with the link or the code that your page shows\n", l)
		}
		bar := cli.NewProgress(out)
		s.client.Watch = func(b page.Progress) {
			switch {
			case b.Error != "":
				bar.Clear() // Run says it
			case b.Done:
				bar.Clear()
				fmt.Fprintf(out, "browsers can play after %.1f s: %s; Ctrl-C ends the page\n",
					b.Seconds, b.Step)
			default:
				bar.Show(b.Part, b.Step)
			}
		}
	}
	return s.Run(ctx)
}
