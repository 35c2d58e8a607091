//go:build !js

package serve

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/page"
	"github.com/coeval-dev/coeval/web"
)

// A pageOf is the page of a server, on which people play in their browsers. It shows the game and
// nothing else: who has it can do what any player can.
type pageOf struct {
	client *page.Client
	reach  page.Reach
	names  []string // of the reach, those that the server was told
}

// downloadTime is how long a browser may take to fetch the client, which has some megabytes.
const downloadTime = 3 * time.Minute

// openPage looks at whether there can be a page, before anybody is told of it, and fills in what
// browsers need. The ports are open.
func (s *Server) openPage(o *Options) error {
	t := o.Server.Title
	switch {
	case s.site.Listener == nil:
		return cli.Usagef("--page needs an HTTP address, and --http is none")
	case t.Client == "" && !t.Screen.Drawn():
		return cli.Usagef("--page: %s cannot be shown in a browser, as its title has neither a "+
			"Screen to draw with nor a Client", t.Name())
	}
	p := &pageOf{client: page.NewClient(t, o.Client)}
	if err := p.client.Find(context.Background()); err != nil {
		return fmt.Errorf("--page: %w", err)
	}
	for _, name := range slices.Concat(o.Hosts, o.Public) {
		if host, _, err := net.SplitHostPort(name); err == nil {
			name = host
		}
		if name = strings.Trim(name, "[]"); !slices.Contains(page.Here, name) {
			p.names = append(p.names, name)
		}
	}
	p.reach = page.NewReach(addrOf(s.site.Addr()), p.names...)
	o.Hosts = p.reach
	// Names without a port are those of pages behind a proxy, which has the usual one.
	o.Origins = slices.Concat(o.Origins, p.reach.Pages(s.port()), p.names)
	o.WebSocket = true
	if o.WebTransport == "" {
		a := s.socket.LocalAddr()
		o.WebTransport = netip.AddrPortFrom(a.Addr(), a.Port()+1).String()
		o.anyPort = true
	}
	s.page = p
	return nil
}

// port is that of HTTP.
func (s *Server) port() int { return s.site.Listener.Addr().(*net.TCPAddr).Port }

// mountPage adds the page, and what is fetched for it.
func (s *Server) mountPage(transport uint16) {
	p := s.page
	scheme := strings.Replace(s.site.Scheme(), "http", "ws", 1)
	o := web.Options{
		Client: p.client.Bundle, Index: "play.html", Game: s.title.Name(),
		Connect: p.reach.Origins(scheme, s.port()),
	}
	if at := s.listed.Directory(); at != "" {
		o.Servers = &web.Servers{Directory: at, Game: s.title.Name()}
	}
	if transport != 0 {
		o.Connect = append(o.Connect, p.reach.Origins("https", int(transport))...)
	}
	for _, name := range p.names {
		o.Connect = append(o.Connect, "wss://"+name)
	}
	files := web.Page(o)
	s.mux.Handle("/", s.site.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/client.wasm" {
			// what cannot be set has the limit of all answers
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(downloadTime))
		}
		files.ServeHTTP(w, r)
	}), p.reach))
}

// handler is all that the server answers. Browsers that were led here by a name that is not the
// page's get neither tokens nor sockets: any name can be made to lead to any address.
func (s *Server) handler() http.Handler {
	if s.page == nil {
		return s.mux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if web.ByPage(r) && !web.Known(r.Host, s.page.reach...) && r.URL.Path != PingPath {
			s.site.Refusals.Count("other_pages")
			http.Error(w, "the server is not known by that name: open the page by the address "+
				"that was printed, or name it by --host", http.StatusForbidden)
			return
		}
		s.mux.ServeHTTP(w, r)
	})
}

// Links are where people play in their browsers: for others, or for this machine where nobody else
// reaches it. Without a page there are none.
func (s *Server) Links() []string {
	if s.page == nil {
		return nil
	}
	if list := s.page.reach.Links(s.site.Scheme(), s.port(), nil); len(list) > 0 {
		return list
	}
	return []string{fmt.Sprintf("%s://%s/", s.site.Scheme(), s.site.Addr())}
}

// Client is the program for browsers, or nil.
func (s *Server) Client() *page.Client {
	if s.page == nil {
		return nil
	}
	return s.page.client
}
