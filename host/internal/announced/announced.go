//go:build !js

// Package announced has what a program runs be listed at a directory: the flags, and when it is
// said what.
package announced

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/spf13/pflag"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link/answer"
	"github.com/coeval-dev/coeval/query"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/announce"
)

// Options say where something is listed, and as what. Without URL it is not.
type Options struct {
	URL, Trust, Name, Region string
	Tags                     []string
}

// Flags adds the flags. What is called a name may be something else of the command's.
func (o *Options) Flags(f *pflag.FlagSet, name string) {
	f.StringVar(&o.URL, "directory", "",
		"URL of a directory at which players find this, such as https://find.example.org")
	f.StringVar(&o.Trust, "directory-trust", "",
		"with --directory, its certificate if nobody has signed that: a fingerprint or a file")
	f.StringVar(&o.Name, name, "",
		"what it is listed as at a --directory, and says of itself (default: the game)")
	f.StringVar(&o.Region, "region", "", "where in the world it is, such as eu-north, for lists")
	f.StringSliceVar(&o.Tags, "tag", nil, "what people can search for in lists")
}

// Describe fills in what these options say of a server to those who ask it.
func (o *Options) Describe(i *query.Info) {
	i.Name, i.Region, i.Tags = cmp.Or(o.Name, i.Game), o.Region, o.Tags
}

// A Listing is what is listed. A nil one does nothing.
type Listing struct {
	*announce.Announcer
	opt  Options
	says directory.Announcement
	now  func(context.Context) (announce.Status, error)
}

// Open makes what is needed to be listed, or nil if that was not asked for. Without a key one is
// drawn.
func (o *Options) Open(key ed25519.PrivateKey, log *slog.Logger) (*Listing, error) {
	if o.URL == "" {
		return nil, nil
	}
	if key == nil {
		var err error
		if _, key, err = ed25519.GenerateKey(rand.Reader); err != nil {
			return nil, err
		}
	}
	ao := announce.Options{URL: o.URL, Key: key, Log: log}
	if o.Trust != "" {
		t, err := entry.ParseTrust(o.Trust)
		if err != nil {
			return nil, cli.Usagef("--directory-trust: %w", err)
		}
		ao.Client = t.Client()
	}
	a, err := announce.New(ao)
	if err != nil {
		return nil, cli.Usagef("--directory: %w", err)
	}
	return &Listing{Announcer: a, opt: *o}, nil
}

// Directory is the URL of the directory, or nothing.
func (l *Listing) Directory() string {
	if l == nil {
		return ""
	}
	return l.opt.URL
}

// A Subject is what is listed, as the program knows it.
type Subject struct {
	Mode, Game, Version, Place string
	// UDP is the socket for players, and Public where they reach it, if that is not known.
	UDP, Public netip.AddrPort
	// HTTP is where it answers over HTTP, by a scheme, or nothing. Host is by what name, if not by
	// the address of datagrams.
	HTTP, Scheme, Host string
	// Page says that people play there in their browsers.
	Page      bool
	Admission entry.Admission
	// Open has a door where anyone gets a token. Keys open tokens of backends.
	Open bool
	Keys []token.Key
	// Now says how it is.
	Now func(context.Context) (announce.Status, error)
}

// Introduce says what is listed, and adds to a mux what answers challenges. It says what is wrong
// with what was given on the command line.
func (l *Listing) Introduce(s Subject, mux *http.ServeMux) error {
	if l == nil {
		return nil
	}
	host := ""
	if s.Public.IsValid() {
		host = s.Public.Addr().String()
	} else if !s.UDP.Addr().IsUnspecified() {
		host = s.UDP.Addr().String()
	}
	at := func(port string) string { return net.JoinHostPort(host, port) }
	if host == "" {
		at = func(port string) string { return ":" + port }
	}
	a := directory.Announcement{Mode: s.Mode, Game: s.Game, Version: s.Version, Place: s.Place,
		Name: l.opt.Name, Region: l.opt.Region, Tags: l.opt.Tags}
	if a.Name == "" {
		a.Name = s.Game
	}
	port := s.UDP.Port()
	if s.Public.IsValid() {
		port = s.Public.Port()
	}
	a.Addresses.UDP = at(fmt.Sprint(port))
	if _, web, err := net.SplitHostPort(s.HTTP); err == nil {
		secure := map[bool]string{true: "s"}[s.Scheme == "https"]
		site := at(web)
		if s.Host != "" {
			site = net.JoinHostPort(s.Host, web)
		}
		if s.Admission.WebSocket != "" {
			a.Page = s.Page
			a.Addresses.WS = "ws" + secure + "://" + site + s.Admission.WebSocket
		}
		if s.Open {
			a.Door = "http" + secure + "://" + site + "/token"
		}
		mux.Handle("GET "+directory.ProofPath, l.Announcer)
	}
	if s.Admission.WebTransport != 0 {
		a.Addresses.WT = "https://" + at(fmt.Sprint(s.Admission.WebTransport)) + "/coeval"
	}
	for _, k := range s.Keys[:min(len(s.Keys), directory.MaxKeys)] {
		a.Keys = append(a.Keys, directory.Fingerprint(k))
	}
	l.says, l.now = a, s.Now
	if err := a.Check(); err != nil {
		return cli.Usagef("it cannot be listed at --directory: %w", err)
	}
	return nil
}

// Answerers are what answers challenges on the socket of players, if anything has to.
func (l *Listing) Answerers() []answer.Answerer {
	if l == nil {
		return nil
	}
	return []answer.Answerer{l.Announcer}
}

// Begin announces it until the context ends or what it gives is called, which waits for a goodbye.
func (l *Listing) Begin(ctx context.Context) (end func()) {
	if l == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var saying sync.WaitGroup
	saying.Go(func() { l.Run(ctx, l.says, l.now) })
	return func() {
		cancel()
		saying.Wait()
	}
}
