//go:build !js

package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/topology/server"
)

// AdminOptions say how operators reach a program that serves, and how it ends.
type AdminOptions struct {
	// Listen is the address of the API for operators, over TCP; nothing is none. Dir is the folder
	// with tokens, bans and the audit log. Bans count without Listen, too.
	Listen, Dir string
	// Inspect is the address of a page that shows the game while it runs; nothing is none.
	Inspect string
	// Drain is how long players have to go on elsewhere when the program is told to end, and
	// DrainTo where: addresses of other servers with the same key.
	Drain   time.Duration
	DrainTo []string
	// Settings are what the program was started with, for a diagnosis.
	Settings []admin.Setting
}

// Flags adds the flags. The default of --drain is the caller's.
func (o *AdminOptions) Flags(f *pflag.FlagSet, drain time.Duration) {
	f.StringVar(&o.Listen, "admin", "",
		"address at which operators see and act, such as 127.0.0.1:4900, with {program} admin; "+
			"beyond this machine it needs HTTPS (default: none)")
	f.StringVar(&o.Dir, "admin-dir", "",
		"folder with the tokens of operators, bans and the audit log, from: {program} admin token "+
			"make")
	f.StringVar(&o.Inspect, "inspect", "",
		"address of a page that shows the game while it runs, such as 127.0.0.1:4950; beyond this "+
			"machine it needs HTTPS and --admin-dir (default: none)")
	f.DurationVar(&o.Drain, "drain", drain,
		"how long players have to go on elsewhere when the program is told to end")
}

// ElsewhereFlag adds --drain-to, for servers that do not know of others by themselves.
func (o *AdminOptions) ElsewhereFlag(f *pflag.FlagSet) {
	f.StringSliceVar(&o.DrainTo, "drain-to", nil,
		"with --drain, servers with the same --key at which players go on (default: they play on "+
			"here for that long)")
}

// Fill takes down what the command line says, and looks at what can be wrong with it.
func (o *AdminOptions) Fill(f *pflag.FlagSet) error {
	switch {
	case o.Listen != "" && o.Dir == "":
		return cli.Usagef("--admin needs --admin-dir, the folder with the tokens of those who " +
			"may: " +
			"make one with: {program} admin token make --dir FOLDER --role operate --name NAME")
	case len(o.DrainTo) > 0 && o.Drain == 0:
		return cli.Usagef("--drain-to goes with --drain, how long players have to go there")
	case o.Drain < 0 || o.Drain > time.Hour:
		return cli.Usagef("--drain is %v: it must be from 0s to 1h", o.Drain)
	}
	f.VisitAll(func(x *pflag.Flag) {
		if x.Name != "help" {
			o.Settings = append(o.Settings, admin.Setting{Name: x.Name, Value: x.Value.String()})
		}
	})
	return nil
}

// An Admin is how operators reach a game. Nil is one that they do not reach.
type Admin struct {
	opt    AdminOptions
	folder *admin.Folder // nil where operators may only look
	tail   admin.Tail
	site   Site
	window window
	handed net.Listener  // what another program had for it, or nil
	ends   chan struct{} // closed by Close
	alive  sync.WaitGroup
}

// OpenAdmin opens the folder, has its bans and mutes count, and remembers what is logged from now
// on.
func OpenAdmin(o AdminOptions, rules *server.Rules, log **slog.Logger) (*Admin, error) {
	if o.Listen != "" && o.Dir == "" {
		return nil, errors.New("operators need a folder with their tokens: set AdminOptions.Dir")
	}
	a := &Admin{opt: o, ends: make(chan struct{})}
	switch {
	case o.Dir == "" && o.Inspect == "":
		return nil, nil
	case o.Dir == "":
		return a, nil
	}
	var err error
	if a.folder, err = admin.OpenFolder(o.Dir); err != nil {
		return nil, err
	}
	a.folder.Enforce(rules)
	*log = a.tail.Wrap(*log)
	return a, nil
}

// Listen opens the port, where there is to be one. It answers as the site does: over HTTPS with the
// same certificate. Without that it answers this machine alone.
func (a *Admin) Listen(s *Site) (err error) {
	if a == nil {
		return nil
	}
	if err := a.window.listen(&a.opt, s); err != nil || a.opt.Listen == "" {
		return err
	}
	l := a.handed
	if l == nil {
		l, err = net.Listen("tcp", a.opt.Listen)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("another program has the port, perhaps another server: stop that, or "+
			"choose another with --admin: %w", err)
	}
	if err != nil {
		return err
	}
	if s.tls == nil && !addrOf(l.Addr().String()).IsLoopback() {
		_ = l.Close() // nothing came by it
		a.window.close()
		return cli.Usagef("--admin %s is reached from other machines, and tokens would pass in "+
			"the clear: give --tls-cert and --tls-key, or --tls-self-signed, or listen at this "+
			"machine alone, as --admin 127.0.0.1:4900", a.opt.Listen)
	}
	a.site.Listener, a.site.WebOptions, a.site.tls = l, s.WebOptions, s.tls
	return nil
}

// reloadEvery is how often it is looked whether another program has banned someone.
const reloadEvery = 2 * time.Second

// reload has bans count that another program has written, until Close.
func (a *Admin) reload(log *slog.Logger) {
	look := time.NewTicker(reloadEvery)
	defer look.Stop()
	said := ""
	for {
		select {
		case <-a.ends:
			return
		case <-look.C:
		}
		text := ""
		if err := a.folder.Reload(); err != nil {
			text = err.Error()
		}
		if text != said && text != "" {
			log.Error("bans cannot be read, and those count that did", "error", text)
		}
		said = text
	}
}

// Run begins to answer. Settings and log are filled in.
func (a *Admin) Run(g admin.Game, log *slog.Logger) {
	if a == nil {
		return
	}
	var api *admin.API
	if a.folder != nil {
		a.alive.Go(func() { a.reload(log) })
		g.Settings, g.Log = a.opt.Settings, &a.tail
		api = admin.New(a.folder, g, log)
	}
	a.window.run(g, api, log)
	if a.site.Listener == nil {
		return
	}
	a.site.Run(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A level may be large and take long, and a diagnosis as well. Those who are no operators
		// are refused by their headers, before that matters.
		c := http.NewResponseController(w)
		// what cannot be set has the limit of all
		_ = c.SetReadDeadline(time.Now().Add(downloadTime))
		_ = c.SetWriteDeadline(time.Now().Add(downloadTime)) // the same
		api.ServeHTTP(w, r)
	}), log)
	log.Info("operators are answered", "admin", a.site.Addr(), "scheme", a.site.Scheme(),
		"folder", a.opt.Dir)
}

// Addr is where operators are answered, or nothing.
func (a *Admin) Addr() string {
	if a == nil {
		return ""
	}
	return a.site.Addr()
}

// Close ends it, and gives the port free.
func (a *Admin) Close() {
	if a == nil {
		return
	}
	a.window.close()
	a.site.Close()
	select {
	case <-a.ends:
	default:
		close(a.ends)
	}
	a.alive.Wait()
}

// elsewhere finds the servers to which players are sent at the end.
func (o *AdminOptions) elsewhere(ctx context.Context) (list []netip.AddrPort, err error) {
	for _, name := range o.DrainTo {
		at, err := udp.Resolve(ctx, strings.TrimSpace(name))
		if err != nil || at.Port() == 0 {
			return nil, cli.Usagef("--drain-to %q: want an address and a port, like "+
				"203.0.113.7:4000: %v", name, cmp.Or(err, errors.New("it has no port")))
		}
		list = append(list, netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
	}
	return list, nil
}
