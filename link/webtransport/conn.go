package webtransport

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/session"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/webtransport-go"
)

const (
	// most is the largest datagram in either direction.
	most = 1200
	// floor is the largest that fits on every path. QUIC requires paths to carry
	// packets of 1200 bytes; headers, tag and identifiers take up to 45 of them.
	floor = 1150
	// idle is when QUIC gives up a silent connection by itself.
	idle = 30 * time.Second
	// path is where sessions are opened if nothing else is said.
	path = "/coeval"
)

// sessions adds to limits what all sessions have in common.
func sessions(limits session.Options) session.Options {
	limits.Carrier, limits.Max, limits.Floor = link.WebTransport, most, floor
	return limits
}

func quicConfig() *quic.Config {
	return &quic.Config{
		EnableDatagrams:                  true,
		EnableStreamResetPartialDelivery: true,
		MaxIdleTimeout:                   idle,
		// Sessions need the stream that opens them and no others.
		MaxIncomingStreams: 8,
	}
}

// conn is one session.
type conn struct {
	s      *webtransport.Session
	ctx    context.Context
	cancel context.CancelFunc
	remote netip.AddrPort
	max    atomic.Int32
	probed atomic.Int64 // when max was last asked for, in nanoseconds
}

func newConn(s *webtransport.Session) *conn {
	c := &conn{s: s}
	c.ctx, c.cancel = context.WithCancel(s.Context())
	c.remote = remoteOf(s.RemoteAddr())
	c.probe()
	return c
}

func remoteOf(a net.Addr) netip.AddrPort {
	udp, ok := a.(*net.UDPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := udp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

func (c *conn) Read(buf []byte) (int, error) {
	data, err := c.s.ReceiveDatagram(c.ctx)
	if err != nil {
		return 0, err
	}
	if len(data) > len(buf) {
		return 0, session.ErrBad
	}
	return copy(buf, data), nil
}

// Write waits while QUIC's queue of 32 datagrams is full.
func (c *conn) Write(data []byte) error {
	err := c.s.SendDatagram(data)
	var large *quic.DatagramTooLargeError
	if errors.As(err, &large) {
		// The path has become narrower since Send asked.
		c.probe()
		return session.ErrLost
	}
	if time.Now().UnixNano()-c.probed.Load() > int64(time.Second) {
		c.probe()
	}
	return err
}

// tooLarge is larger than any datagram, and so never sent.
var tooLarge [1 << 14]byte

// probe finds out how large a datagram may be now. QUIC tells only in refusing
// one.
func (c *conn) probe() {
	c.probed.Store(time.Now().UnixNano())
	var large *quic.DatagramTooLargeError
	size := int64(floor)
	if errors.As(c.s.SendDatagram(tooLarge[:]), &large) {
		// The identifier of the session comes before the data. It is one byte for the first
		// sessions of a connection and eight at most.
		size = large.MaxDatagramPayloadSize - 8
	}
	c.max.Store(int32(max(1, min(size, most))))
}

func (c *conn) Max() int               { return int(c.max.Load()) }
func (c *conn) Remote() netip.AddrPort { return c.remote }

func (c *conn) Close() {
	c.cancel()
	_ = c.s.CloseWithError(0, "")
}
