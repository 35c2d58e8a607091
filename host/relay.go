//go:build !js

package host

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/internal/relays"
	"github.com/coeval-dev/coeval/topology/relay"
)

// RelayOptions are what a relay is made from. The zero value is one at port 4300, over UDP and for
// HTTP, that lets anyone in.
type RelayOptions struct {
	// Listen is the UDP address for players, with port 0 for any that is free. Default: ":4300".
	Listen string
	// HTTP is where health, metrics, status and tokens are asked for. Default: as Listen, over TCP.
	// "none" is no HTTP at all.
	HTTP string
	// WebSocket also takes players over WebSocket, at /coeval of the HTTP address, and WebTransport
	// at a UDP address of its own. Hosts are names of this machine, for its certificate.
	WebSocket    bool
	WebTransport string
	Hosts        []string
	// Web is how all that is HTTP is answered.
	Web WebOptions
	// Keys open tokens; see package conn/token. Default: one that is drawn.
	Keys []token.Key
	// Open lets anyone in who asks at /token. A relay without Keys is open.
	Open bool
	// Limits are what matches and players may ask for.
	Limits relay.Limits
	// Log is told what happens. Default: nobody is.
	Log *slog.Logger
}

// Relay runs a relay for players of any game, until the context ends: sockets, tokens, HTTP and
// metrics in one call. Players are told before it returns.
func Relay(ctx context.Context, o RelayOptions) error {
	r, err := NewRelayHost(o)
	if err != nil {
		return err
	}
	return errors.Join(r.Run(ctx), r.Close())
}

// A RelayHost is a relay with what is around it. Most programs need only Relay; a RelayHost also
// says where it listens.
type RelayHost struct{ r *relays.Relay }

// NewRelayHost opens the sockets of a relay. On an error nothing is left open.
func NewRelayHost(o RelayOptions) (*RelayHost, error) {
	r, err := relays.New(relays.Options{
		Listen: o.Listen, HTTP: o.HTTP, WebSocket: o.WebSocket, WebTransport: o.WebTransport,
		Hosts: o.Hosts, Web: o.Web.inside(), Origins: o.Web.Origins, Keys: o.Keys, Open: o.Open,
		Limits: o.Limits, Log: o.Log, Queries: o.Web.Queries,
	})
	return &RelayHost{r}, err
}

// Addr is where players come to, over UDP.
func (r *RelayHost) Addr() netip.AddrPort { return r.r.Addr() }

// HTTP is the address and port at which the relay answers over HTTP, or nothing.
func (r *RelayHost) HTTP() string { return r.r.HTTP() }

// Fingerprint is that of a certificate that the relay has made, or nothing.
func (r *RelayHost) Fingerprint() string { return r.r.Fingerprint() }

// Run relays until the context ends.
func (r *RelayHost) Run(ctx context.Context) error { return r.r.Run(ctx) }

// Close closes the sockets.
func (r *RelayHost) Close() error { return r.r.Close() }
