package directory

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/service/directory/packet"
)

// ProofPath is where a server answers challenges over HTTP, for those that only TCP reaches.
const ProofPath = "/.well-known/coeval-directory"

// A Responder is the directory's socket: it challenges servers, hears their proofs, and answers the
// queries of games' clients. It keeps nothing of those who ask, and sends no more than it was sent.
type Responder struct {
	book *Book
	link link.Link

	mu      sync.Mutex
	waiting map[packet.Challenge]waiting
	sending sync.Mutex

	Queries, Answered, Dropped atomic.Uint64
	Challenges, Proofs         atomic.Uint64
}

// waiting is who waits for a proof, and from where it has to come.
type waiting struct {
	at   netip.AddrPort
	done chan struct{}
}

// NewResponder makes a responder over a socket, which Run closes.
func NewResponder(b *Book, l link.Link) *Responder {
	return &Responder{book: b, link: l, waiting: map[packet.Challenge]waiting{}}
}

const (
	mostProofs = 4096 // that are waited for at once
	// A challenge is sent at these times, and waited for until the last.
	proofTime = 3 * time.Second
	httpTime  = 4 * time.Second
)

var challengesAt = []time.Duration{0, 250 * time.Millisecond, time.Second}

// Prove challenges the addresses that somebody claims.
func (r *Responder) Prove(
	ctx context.Context, id [IDSize]byte, a Addresses, from netip.Addr,
) (proved Addresses, failed map[string]string) {
	failed = map[string]string{}
	var udp, ws error
	var both sync.WaitGroup
	if a.UDP != "" {
		both.Go(func() { udp = r.proveUDP(ctx, id, a.UDP) })
	}
	if a.WS != "" {
		both.Go(func() { ws = proveHTTP(ctx, id, a.WS, from) })
	}
	both.Wait()
	if a.UDP != "" {
		if udp == nil {
			proved.UDP = a.UDP
		} else {
			failed["udp"] = udp.Error()
		}
	}
	if a.WS != "" {
		if ws == nil {
			proved.WS = a.WS
		} else {
			failed["ws"] = ws.Error()
		}
	}
	if a.WT != "" {
		proved.WT, failed["wt"] = a.WT, ""
		if !sameHost(a.WT, proved) {
			proved.WT = ""
			failed["wt"] = "wt is at another host than what answered"
		}
	}
	if failed["wt"] == "" {
		delete(failed, "wt")
	}
	return proved, failed
}

// sameHost says whether a URL of WebTransport is at the host of a carrier that answered.
func sameHost(wt string, proved Addresses) bool {
	u, err := url.Parse(wt)
	if err != nil {
		return false
	}
	at, err := netip.ParseAddrPort(proved.UDP)
	if err == nil && at.Addr().String() == u.Hostname() {
		return true
	}
	ws, err := url.Parse(proved.WS)
	return proved.WS != "" && err == nil && ws.Hostname() == u.Hostname()
}

// proveUDP sends a challenge until its proof comes from the address that is claimed.
func (r *Responder) proveUDP(ctx context.Context, id [IDSize]byte, claimed string) error {
	at, err := netip.ParseAddrPort(claimed)
	if err != nil {
		return err
	}
	c := packet.Challenge{ID: id}
	_, _ = rand.Read(c.Nonce[:]) // it never fails
	done := make(chan struct{})
	r.mu.Lock()
	if len(r.waiting) >= mostProofs {
		r.mu.Unlock()
		return errors.New("too many servers are challenged just now: try again")
	}
	r.waiting[c] = waiting{at, done}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.waiting, c)
		r.mu.Unlock()
	}()
	ctx, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	data, begun := c.AppendChallenge(nil), time.Now()
	for _, due := range challengesAt {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer over UDP", claimed)
		case <-time.After(due - time.Since(begun)):
		}
		r.Challenges.Add(1)
		if err := r.send([]link.Datagram{{Addr: at, Data: data}}); err != nil {
			return err
		}
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s does not answer over UDP", claimed)
	}
}

func (r *Responder) send(batch []link.Datagram) error {
	r.sending.Lock()
	defer r.sending.Unlock()
	_, err := link.SendAll(r.link, batch)
	return err
}

// proveHTTP asks a server over HTTP, at the address from which it announces itself: a directory is
// not to be had to ask at others.
func proveHTTP(ctx context.Context, id [IDSize]byte, claimed string, from netip.Addr) error {
	u, err := url.Parse(claimed)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, httpTime)
	defer cancel()
	list, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return fmt.Errorf("%s: there is no such host", u.Hostname())
	}
	own := false
	for _, a := range list {
		own = own || a.Unmap() == from
	}
	if !own {
		return fmt.Errorf("%s is not the address from which it is announced, %v", u.Hostname(),
			from)
	}
	nonce := rand.Text()
	scheme, port := "http", "80"
	if u.Scheme == "wss" {
		scheme, port = "https", "443"
	}
	if u.Port() != "" {
		port = u.Port()
	}
	ask := url.URL{Scheme: scheme, Host: u.Host, Path: ProofPath,
		RawQuery: url.Values{"id": {hex.EncodeToString(id[:])}, "nonce": {nonce}}.Encode()}
	dial := &net.Dialer{}
	t := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: 8 << 10,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dial.DialContext(ctx, "tcp", net.JoinHostPort(from.String(), port))
		}}
	client := &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, ask.String(), nil)
	if err != nil {
		return err
	}
	a, err := client.Do(q)
	if err != nil {
		return fmt.Errorf("%s does not answer over HTTP", claimed)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(io.LimitReader(a.Body, 256))
	if err != nil || a.StatusCode != http.StatusOK || string(body) != nonce {
		return fmt.Errorf("%s is answered by something else: let %s through to the server", claimed,
			ProofPath)
	}
	return nil
}

// Carried is what the socket has carried.
func (r *Responder) Carried() link.Counters { return r.link.Counters() }

// Run answers until the context ends, and closes the socket.
func (r *Responder) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, r.link.Wake)
	defer stop()
	in, out := make([]link.Datagram, 128), make([]link.Datagram, 0, 128)
	var buf []byte
	for ctx.Err() == nil {
		n, err := r.link.Receive(in)
		if err != nil {
			return errors.Join(err, r.link.Close())
		}
		out, buf = out[:0], buf[:0]
		l := r.book.listing.Load()
		for i := range in[:n] {
			start := len(buf)
			if buf = r.answer(l, &in[i], buf); len(buf) > start {
				out = append(out, link.Datagram{Addr: in[i].Addr,
					Data: buf[start:len(buf):len(buf)]})
			}
		}
		if err := r.send(out); err != nil {
			return errors.Join(err, r.link.Close())
		}
		if n == 0 {
			if _, err := r.link.Wait(time.Second); err != nil {
				return errors.Join(err, r.link.Close())
			}
		}
	}
	return r.link.Close()
}

// answer handles a datagram, and appends what is answered: no more bytes than it has.
func (r *Responder) answer(l *listing, d *link.Datagram, buf []byte) []byte {
	if len(d.Data) == 0 {
		return buf
	}
	switch d.Data[0] {
	case packet.KindProof:
		if c, ok := packet.ParseProof(d.Data); ok {
			r.proof(c, d.Addr)
			return buf
		}
	case packet.KindQuery:
		if q, ok := packet.ParseQuery(d.Data); ok {
			r.Queries.Add(1)
			r.Answered.Add(1)
			return l.query(&q, buf, len(d.Data))
		}
	}
	r.Dropped.Add(1)
	return buf
}

// proof notes that a challenge was answered, if that came from where it was sent to.
func (r *Responder) proof(c packet.Challenge, from netip.AddrPort) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.waiting[c]
	if !ok || w.at != netip.AddrPortFrom(from.Addr().Unmap(), from.Port()) {
		r.Dropped.Add(1)
		return
	}
	delete(r.waiting, c)
	close(w.done)
	r.Proofs.Add(1)
}
