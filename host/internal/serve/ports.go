//go:build !js

package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
)

// OpenPorts opens the socket for players and, unless that is "none", the port for HTTP. On an error
// nothing is left open. Where any port will do for both they have the same number, so a number that
// another program has over TCP is passed over.
func OpenPorts(listen, web string) (link.Link, net.Listener, error) {
	var passed []link.Link
	defer func() { CloseAll(passed) }()
	_, port, _ := net.SplitHostPort(listen)
	for {
		l, err := udp.Listen(listen, udp.Options{})
		if err != nil || web == "none" {
			return l, nil, err
		}
		h, err := ListenHTTP(web, l)
		if err == nil {
			return l, h, nil
		}
		passed = append(passed, l)
		const most = 16
		if port != "0" || web != "" || !errors.Is(err, syscall.EADDRINUSE) || len(passed) == most {
			return nil, nil, err
		}
	}
}

// CloseAll closes links by which nothing came.
func CloseAll(list []link.Link) {
	for _, l := range list {
		_ = l.Close()
	}
}

// ListenHTTP opens the port for HTTP: that of the game, unless another was said.
func ListenHTTP(address string, game link.Link) (net.Listener, error) {
	if address == "" {
		a := game.LocalAddr()
		address = a.String()
		if a.Addr().IsUnspecified() {
			address = fmt.Sprintf(":%d", a.Port())
		}
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("another program has the port, perhaps another server: stop that, or "+
			"choose another with --http: %w", err)
	}
	return l, err
}

// A Site answers over HTTP, in a goroutine of its own. Without a listener it answers nothing.
type Site struct {
	Listener net.Listener
	web      http.Server
	serving  sync.WaitGroup
}

// Run begins to answer.
func (s *Site) Run(h http.Handler, log *slog.Logger) {
	if s.Listener == nil {
		return
	}
	s.web.Handler, s.web.ReadHeaderTimeout = h, 10*time.Second
	s.web.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	s.serving.Go(func() {
		if err := s.web.Serve(s.Listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("http has ended", "error", err)
		}
	})
}

// Addr is where it answers, or nothing.
func (s *Site) Addr() string {
	if s.Listener == nil {
		return ""
	}
	return s.Listener.Addr().String()
}

// Close ends it, and gives the port free.
func (s *Site) Close() {
	_ = s.web.Close()
	if s.Listener != nil {
		_ = s.Listener.Close() // it may never have been served
	}
	s.serving.Wait()
}
