//go:build !js

package entry

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/link/webtransport"
)

// Base is where a server answers over HTTP: where that was given, or else at its address.
func Base(addr, given string) (*url.URL, error) {
	if given == "" {
		given = addr
	}
	if !strings.Contains(given, "://") {
		given = "http://" + given
	}
	u, err := url.Parse(given)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not an address and a port, such as localhost:4000", addr)
	}
	if strings.HasPrefix(u.Host, ":") {
		u.Host = "localhost" + u.Host
	}
	return u, nil
}

// Ask asks an open server for a token.
func Ask(ctx context.Context, base *url.URL) (Admission, error) { return AskBy(ctx, base, nil) }

// AskBy asks a server that is trusted as a Trust says; nil is whom the system trusts.
func AskBy(ctx context.Context, base *url.URL, t *Trust) (a Admission, err error) {
	return Bring(ctx, base, t, "")
}

// Bring asks a server that lets in only whom a backend sends, with a token of that, or an open one
// without.
func Bring(ctx context.Context, base *url.URL, t *Trust, token string) (a Admission, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	at := base.JoinPath("token").String()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, nil)
	if err != nil {
		return a, fmt.Errorf("%s: %w", at, err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := t.Client().Do(req)
	if unknown := new(tls.CertificateVerificationError); errors.As(err, &unknown) {
		return a, fmt.Errorf("%s has a certificate that is not trusted: %w; if it is the right "+
			"one, give its fingerprint or file by --trust", base.Host, unknown.Err)
	}
	if err != nil {
		return a, fmt.Errorf(
			"no server answers at %s: check the address, and that a server runs there (or say "+
				"with --http where it answers): %w", base.Host, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return a, fmt.Errorf("%s: %w", at, err)
	}
	if resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("%s: %s: %s", at, resp.Status, strings.TrimSpace(string(body)))
	}
	if err := json.Unmarshal(body, &a); err != nil || a.Token == "" {
		return a, fmt.Errorf("%s does not answer as a server of this toolkit does", at)
	}
	return a, nil
}

// Resolve finds where a server takes players over UDP.
func (a *Admission) Resolve(ctx context.Context, base *url.URL) (netip.AddrPort, error) {
	return udp.Resolve(ctx, net.JoinHostPort(base.Hostname(), fmt.Sprint(a.UDP)))
}

// Bind opens a socket from which these servers are reached.
func Bind(o udp.Options, servers ...netip.AddrPort) (link.Link, error) {
	bind := "0.0.0.0:0"
	if slices.ContainsFunc(servers, func(a netip.AddrPort) bool { return a.Addr().Is6() }) {
		bind = "[::]:0"
	}
	return udp.Listen(bind, o)
}

// DialSocket connects over WebSocket, and says who is at the other end.
func (a *Admission) DialSocket(
	ctx context.Context, base *url.URL,
) (link.Link, netip.AddrPort, error) {
	return a.DialSocketBy(ctx, base, nil)
}

// DialSocketBy connects over WebSocket to a server that is trusted as a Trust says.
func (a *Admission) DialSocketBy(
	ctx context.Context, base *url.URL, t *Trust,
) (link.Link, netip.AddrPort, error) {
	if a.WebSocket == "" {
		return nil, netip.AddrPort{}, errors.New("the server takes no one over WebSocket; " +
			"start it with --websocket, or join over udp")
	}
	u := *base
	u.Scheme = map[string]string{"http": "ws", "https": "wss"}[u.Scheme]
	l, err := websocket.Dial(ctx, u.JoinPath(a.WebSocket).String(),
		websocket.Options{Trust: t.config()})
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	return l, l.Peer(), nil
}

// DialTransport connects over WebTransport, and says who is at the other end.
func (a *Admission) DialTransport(
	ctx context.Context, base *url.URL,
) (link.Link, netip.AddrPort, error) {
	if a.WebTransport == 0 {
		return nil, netip.AddrPort{}, errors.New("the server takes no one over WebTransport; " +
			"start it with --webtransport, or join over udp")
	}
	var o webtransport.DialOptions
	for _, text := range a.Certificates {
		var h webtransport.Hash
		if n, err := hex.Decode(h[:], []byte(text)); err == nil && n == len(h) {
			o.Hashes = append(o.Hashes, h)
		}
	}
	at := net.JoinHostPort(base.Hostname(), fmt.Sprint(a.WebTransport))
	l, err := webtransport.Dial(ctx, "https://"+at+"/coeval", o)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	return l, l.Peer(), nil
}
