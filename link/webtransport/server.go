package webtransport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/plain"
	"github.com/coeval-dev/coeval/link/internal/session"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"
)

// Options are for Listen. A server needs an Identity or TLS; the zero value of
// the other fields will do.
type Options struct {
	// Identity is a self-signed certificate. TLS is for those who have a better one;
	// one of the two is needed.
	Identity *Identity
	TLS      *tls.Config
	// Path is where sessions are opened, "/coeval" when empty.
	Path string
	// Handler answers other requests over HTTP/3, if set.
	Handler http.Handler
	// Origins are hosts whose pages may connect besides the server's own. AnyOrigin
	// lets every page connect, which is safe when connections prove themselves by
	// tokens and not by cookies.
	Origins   []string
	AnyOrigin bool
	// Socket is one that is open already, in place of an address: such as of a program whose place
	// this one takes. It is the server's from now on.
	Socket *net.UDPConn

	// PeerQueue is how many datagrams of one peer wait at most, each way; 64 when zero,
	// a second of a busy game.
	PeerQueue int
	Queue     int           // how many wait to be received in all; 4096 when zero
	Sessions  int           // how many clients there may be; 1024 when zero
	PerSource int           // and of one address; a quarter when zero, no limit below zero
	Idle      time.Duration // a peer silent for so long is gone; 30 seconds when zero
}

// Server is a link to all clients that open sessions with it.
type Server struct {
	session.Link
	hub    *session.Hub
	web    *webtransport.Server
	quic   *quic.Transport
	socket *net.UDPConn
	serve  sync.WaitGroup
	cancel context.CancelFunc
	once   sync.Once

	most  int // connections
	mu    sync.Mutex
	conns map[*quic.Conn]*opening
}

// opening is a connection that has yet to open its session. It has a place from the beginning,
// since it takes up as much; one without is only there to be told so.
type opening struct {
	place *session.Place
	timer *time.Timer // until it must have
	taken bool        // its session was opened; there is no second
}

var (
	_ link.Link        = (*Server)(nil)
	_ link.PeerLimiter = (*Server)(nil)
	_ link.Keeper      = (*Server)(nil)
)

// Listen opens a server on a UDP address such as ":4433".
func Listen(address string, o Options) (*Server, error) {
	var config *tls.Config
	switch {
	case o.TLS != nil:
		config = o.TLS
	case o.Identity != nil:
		config = o.Identity.TLS()
	default:
		return nil, errors.New(
			"webtransport: a server needs a certificate, set Identity (see NewIdentity) or TLS")
	}
	socket, err := o.open(address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf(
			"webtransport: the port of %s is in use, stop the program that has it or choose "+
				"another (0 for any): %w", address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("webtransport: cannot listen on %q, write it like :4433: %w",
			address, err)
	}
	hub := session.New(sessions(session.Options{
		PeerQueue: o.PeerQueue, Queue: o.Queue, Sessions: o.Sessions,
		PerSource: o.PerSource, Idle: o.Idle,
	}))
	s := &Server{
		Link:  hub.Link(),
		hub:   hub,
		most:  cmp.Or(o.Sessions, session.DefaultSessions),
		conns: make(map[*quic.Conn]*opening),
	}
	s.Addr, s.socket = plain.Local(socket), socket
	mux := http.NewServeMux()
	if o.Handler != nil {
		mux.Handle("/", o.Handler)
	}
	mux.HandleFunc(cmp.Or(o.Path, path), s.upgrade)
	s.web = &webtransport.Server{
		H3: &http3.Server{
			Handler:    mux,
			QUICConfig: quicConfig(),
			ConnContext: func(ctx context.Context, c *quic.Conn) context.Context {
				return context.WithValue(ctx, connKey{}, c)
			},
		},
		CheckOrigin: o.allows,
	}
	// When some places are taken, newcomers must first prove their address.
	s.quic = &quic.Transport{
		Conn: socket, VerifySourceAddress: func(net.Addr) bool {
			return s.connections() > min(s.most/2, 16)
		}}
	listener, err := s.quic.ListenEarly(http3.ConfigureTLSConfig(config), quicConfig())
	if err != nil {
		socket.Close()
		return nil, fmt.Errorf("webtransport: cannot listen on %q: %w", address, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.serve.Go(func() { s.accept(ctx, listener) })
	return s, nil
}

// open opens the socket, unless it is open.
func (o *Options) open(address string) (*net.UDPConn, error) {
	if o.Socket != nil {
		return o.Socket, nil
	}
	c, err := net.ListenPacket("udp", address)
	if err != nil {
		return nil, err
	}
	return c.(*net.UDPConn), nil
}

// Socket is what the server listens at, for whoever hands it over to another program.
func (s *Server) Socket() *net.UDPConn { return s.socket }

const (
	patience = 5 * time.Second // for a connection to open its session
	spare    = 16              // connections that are told why there is no place for them
	brief    = time.Second     // how long that may take
)

// connKey finds the connection of a request.
type connKey struct{}

// accept takes connections until the server closes, or its socket breaks.
func (s *Server) accept(ctx context.Context, listener *quic.EarlyListener) {
	for {
		c, err := listener.Accept(ctx)
		if err != nil {
			if ctx.Err() == nil {
				s.hub.Lose(fmt.Errorf("%w: %w", link.ErrClosed, err))
			}
			return
		}
		place := s.hub.Enter(remoteOf(c.RemoteAddr()), func() {
			s.serve.Go(func() { refuse(c, "someone else has the place") })
		})
		wait := patience
		if place == nil {
			if s.connections() >= s.most+spare {
				refuse(c, errFull)
				continue
			}
			wait = brief
		}
		// A connection that opens no session would take the place of one that does.
		timer := time.AfterFunc(wait, func() {
			c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeRequestIncomplete),
				"no session was opened")
		})
		s.mu.Lock()
		s.conns[c] = &opening{place: place, timer: timer}
		s.mu.Unlock()
		s.serve.Go(func() {
			// It returns when the connection ends; how it ended is of no concern here.
			_ = s.web.ServeQUICConn(c)
			timer.Stop()
			if place != nil {
				place.Leave()
			}
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		})
	}
}

// errFull is what whoever finds no place is told.
const errFull = "the server is full or closing, or too many come from your address; try again later"

func refuse(c *quic.Conn, why string) {
	c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeExcessiveLoad), why)
}

// open takes the place of a request's connection for its session, once.
func (s *Server) open(r *http.Request) (*quic.Conn, *session.Place) {
	c, _ := r.Context().Value(connKey{}).(*quic.Conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.conns[c]
	if o == nil || o.taken {
		return nil, nil
	}
	o.taken = true
	return c, o.place
}

func (s *Server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// allows checks the page that wants to connect.
func (o *Options) allows(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || o.AnyOrigin {
		return true
	}
	_, host, _ := strings.Cut(origin, "://")
	if strings.EqualFold(host, r.Host) {
		return true
	}
	return slices.ContainsFunc(o.Origins,
		func(allowed string) bool { return strings.EqualFold(host, allowed) })
}

func (s *Server) upgrade(w http.ResponseWriter, r *http.Request) {
	c, place := s.open(r)
	if place == nil {
		http.Error(w, errFull, http.StatusServiceUnavailable)
		return
	}
	sess, err := s.web.Upgrade(w, r)
	if err != nil {
		s.mu.Lock()
		if o := s.conns[c]; o != nil {
			o.taken = false // it may try again, until its time is up
		}
		s.mu.Unlock()
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	if o := s.conns[c]; o != nil {
		o.timer.Stop()
	}
	s.mu.Unlock()
	_, ended := place.Start(newConn(sess))
	if ended == nil {
		refuse(c, "someone else has the place")
		return
	}
	s.serve.Go(func() {
		<-ended
		c.CloseWithError(0, "")
	})
}

// Close ends all sessions and frees the port.
func (s *Server) Close() error {
	s.hub.End(link.ErrClosed)
	var err error
	s.once.Do(func() {
		err = s.web.Close()
		s.cancel()
		err = cmp.Or(err, s.quic.Close())
		s.serve.Wait()
		err = cmp.Or(err, s.quic.Conn.Close())
	})
	return err
}
