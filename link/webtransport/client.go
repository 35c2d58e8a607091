package webtransport

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/session"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"
)

// DialOptions are for Dial; the zero value trusts whom the system trusts.
type DialOptions struct {
	// Hashes are the digests by which the server's certificate is accepted, as in a
	// browser. Without them it must be signed by somebody whom the system trusts, or as
	// Trust says.
	Hashes []Hash
	Trust  *tls.Config

	PeerQueue int           // how many datagrams wait to be sent at most; 64 when zero
	Queue     int           // how many wait to be received; 4096 when zero
	Idle      time.Duration // a server silent for so long is gone; 30 seconds when zero
}

// Client is a link to one server.
type Client struct{ *session.Client }

var (
	_ link.Link        = (*Client)(nil)
	_ link.PeerLimiter = (*Client)(nil)
)

// Dial opens a session at a URL like https://host:port/coeval.
func Dial(ctx context.Context, url string, o DialOptions) (*Client, error) {
	config := &tls.Config{}
	if o.Trust != nil {
		config = o.Trust.Clone()
	}
	config.NextProtos = []string{http3.NextProtoH3}
	if len(o.Hashes) > 0 {
		// The digest vouches for the server, in place of a chain of signatures.
		config.InsecureSkipVerify = true
		config.VerifyPeerCertificate = verify(o.Hashes, time.Now)
	}
	transport := &webtransport.Transport{TLSClientConfig: config, QUICConfig: quicConfig()}
	response, sess, err := transport.Dial(ctx, url, nil)
	if err != nil {
		if response != nil && response.StatusCode >= 400 {
			return nil, fmt.Errorf("webtransport: %s refuses: %s", url, response.Status)
		}
		return nil, fmt.Errorf(
			"webtransport: cannot connect to %s, check that a server runs there: %w", url, err)
	}
	ended := fmt.Errorf("%w: the session with %s has ended, dial again", link.ErrClosed, url)
	limits := sessions(session.Options{PeerQueue: o.PeerQueue, Queue: o.Queue, Idle: o.Idle})
	return &Client{session.NewClient(limits, newConn(sess), ended)}, nil
}
