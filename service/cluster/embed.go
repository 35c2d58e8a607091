package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const user = "coeval" // of embedded servers with a secret

// Embed starts a NATS server in this process, which keeps everything in Options.Dir, and opens the
// cluster there. Without peers it listens nowhere, unless Listen says so. With peers it is one node
// of several, and waits for a majority of them, no longer than the context says. Close stops it.
func Embed(ctx context.Context, o Options) (*Cluster, error) {
	if o.Dir == "" {
		return nil, errors.New("cluster: an embedded server needs a Dir to keep things in")
	}
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	if err := o.open(); err != nil {
		return nil, err
	}
	if len(o.Peers) == 0 && o.Replicas > 1 {
		return nil, fmt.Errorf("cluster: %d replicas need Peers", o.Replicas)
	}
	s, err := start(o)
	if err != nil {
		return nil, err
	}
	o.URL = s.server.ClientURL()
	o.Found = true // unless Dir remembers a cluster
	return open(ctx, o, s)
}

// A node is an embedded server.
type node struct {
	server *server.Server
	alone  bool
}

func start(o Options) (*node, error) {
	so := &server.Options{
		ServerName: o.Node, StoreDir: filepath.Join(o.Dir, "nats"), JetStream: true,
		JetStreamMaxStore: o.MaxDisk, SyncAlways: o.Flush, SyncInterval: time.Second,
		NoSigs: true, DisableJetStreamBanner: true, MaxPayload: maxPayload,
		PingInterval: o.Ping, MaxPingsOut: 2, TLSConfig: o.TLS,
		// One that does not take what it is sent must not hold up the others.
		WriteDeadline: 4 * o.Ping, TLSTimeout: 2,
	}
	if o.Secret != "" {
		so.Username, so.Password = user, o.Secret
	}
	alone := len(o.Peers) == 0 && o.Listen == ""
	if alone {
		so.DontListen = true
		so.TLSConfig = nil // nothing leaves the process
	} else if err := peers(o, so); err != nil {
		return nil, err
	}
	s, err := server.NewServer(so)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	told := &teller{log: o.Log}
	s.SetLoggerV2(told, false, false, false)
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("cluster: the NATS server does not start: %s", told.worst())
	}
	return &node{s, alone}, nil
}

const maxPayload = 8 << 20 // of a message, and so of a record

// peers sets where a server listens, and what makes it one of several if it has peers.
func peers(o Options, so *server.Options) error {
	var err error
	listen := o.Listen
	if listen == "" {
		listen = "127.0.0.1:-1"
	}
	if so.Host, so.Port, err = split(listen); err != nil {
		return err
	}
	if len(o.Peers) == 0 {
		return nil
	}
	c := &so.Cluster
	c.Name = "coeval-" + o.Name
	if c.Host, c.Port, err = split(o.ListenPeers); err != nil {
		return err
	}
	c.PingInterval, c.MaxPingsOut, c.TLSConfig, c.TLSTimeout = o.Ping, 2, o.TLS, 2
	c.WriteDeadline = 4 * o.Ping
	if o.Secret != "" {
		c.Username, c.Password = user, o.Secret
	}
	for _, p := range o.Peers {
		if _, _, err := split(p); err != nil {
			return err
		}
		u := &url.URL{Scheme: "nats-route", Host: p}
		if o.Secret != "" {
			u.User = url.UserPassword(user, o.Secret)
		}
		so.Routes = append(so.Routes, u)
	}
	return nil
}

func split(addr string) (string, int, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("cluster: address %q: %w", addr, err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return "", 0, fmt.Errorf("cluster: address %q: the port is no number", addr)
	}
	return host, n, nil
}

// options are those with which a client of this process reaches its server.
func (s *node) options() []nats.Option {
	if !s.alone {
		return nil
	}
	return []nats.Option{nats.InProcessServer(s.server)}
}

func (s *node) stop() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}

// A teller passes on what an embedded server has to say, and keeps the last error for ours.
type teller struct {
	log  *slog.Logger
	mu   sync.Mutex
	last string
}

func (t *teller) worst() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

func (t *teller) say(level slog.Level, format string, v []any) {
	if level >= slog.LevelError {
		t.mu.Lock()
		t.last = fmt.Sprintf(format, v...)
		t.mu.Unlock()
	}
	if t.log != nil {
		t.log.Log(context.Background(), level, "nats: "+fmt.Sprintf(format, v...))
	}
}

func (t *teller) Noticef(format string, v ...any) { t.say(slog.LevelDebug, format, v) }
func (t *teller) Warnf(format string, v ...any)   { t.say(slog.LevelWarn, format, v) }
func (t *teller) Fatalf(format string, v ...any)  { t.say(slog.LevelError, format, v) }
func (t *teller) Errorf(format string, v ...any)  { t.say(slog.LevelError, format, v) }
func (t *teller) Debugf(string, ...any)           {}
func (t *teller) Tracef(string, ...any)           {}
