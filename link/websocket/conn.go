package websocket

import (
	"cmp"
	"context"
	"io"
	"net/netip"
	"time"

	"github.com/coder/websocket"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/session"
)

// Options are for servers and clients; the zero value will do.
type Options struct {
	MaxDatagram int // 1200 when zero, as elsewhere, so that a game can change carriers
	// PeerQueue is how many datagrams of one peer wait at most, each way; 64 when zero,
	// a second of a busy game. A longer one only makes old news older.
	PeerQueue int
	Queue     int           // how many wait to be received in all; 4096 when zero
	Sessions  int           // how many clients a server takes; 1024 when zero
	PerSource int           // and of one address; a quarter when zero, no limit below zero
	Idle      time.Duration // a peer silent for so long is gone; 30 seconds when zero
	// Trust says whom a client believes over wss; nil is whom the system trusts. Browsers decide
	// themselves.
	Trust *trusted
	// Origins are hosts whose pages may connect besides the server's own, with patterns
	// as in "*.example.org".
	Origins []string
	// AnyOrigin lets every page connect. That is safe when, as in this project,
	// connections prove themselves by tokens and not by cookies.
	AnyOrigin bool
}

func (o *Options) session() session.Options {
	return session.Options{
		Carrier: link.WebSocket, Max: cmp.Or(o.MaxDatagram, 1200),
		Queue: o.Queue, PeerQueue: o.PeerQueue, Sessions: o.Sessions,
		PerSource: o.PerSource, Idle: o.Idle,
		HoldBack: true, // TCP holds the sender back in turn
	}
}

// mostMessage is where a connection ends that sends messages far beyond what a
// datagram can be. Between the two they are skipped.
const mostMessage = 64 << 10

// conn is a session over one WebSocket.
type conn struct {
	ws     *websocket.Conn
	ctx    context.Context
	cancel context.CancelFunc
	max    int
	remote netip.AddrPort
}

func newConn(ws *websocket.Conn, max int, remote netip.AddrPort) *conn {
	ws.SetReadLimit(mostMessage)
	c := &conn{ws: ws, max: max, remote: remote}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *conn) Read(buf []byte) (int, error) {
	kind, r, err := c.ws.Reader(c.ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for {
		k, err := r.Read(buf[n:])
		n += k
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		if n == len(buf) {
			// Full: either that was all, or it is too large.
			rest, err := io.Copy(io.Discard, r)
			if err != nil {
				return 0, err
			}
			if rest > 0 {
				return 0, session.ErrBad
			}
			break
		}
	}
	if kind != websocket.MessageBinary {
		return 0, session.ErrBad
	}
	return n, nil
}

func (c *conn) Write(data []byte) error {
	return c.ws.Write(c.ctx, websocket.MessageBinary, data)
}

func (c *conn) Close() {
	c.cancel()
	_ = c.ws.CloseNow()
}

func (c *conn) Max() int               { return c.max }
func (c *conn) Remote() netip.AddrPort { return c.remote }
