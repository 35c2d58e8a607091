package webtransport_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/linktest"
	"github.com/coeval-dev/coeval/link/webtransport"
	"github.com/quic-go/quic-go"
	quicwt "github.com/quic-go/webtransport-go"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// A library has nothing to say on its own, except that QUIC's recommends larger
	// socket buffers.
	log.SetOutput(panicWriter{})
	goleak.VerifyTestMain(m)
}

type panicWriter struct{}

func (panicWriter) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "buffer size") {
		return len(b), nil
	}
	panic("logged: " + string(b))
}

func serve(t testing.TB, o webtransport.Options) (server *webtransport.Server, url string,
	identity *webtransport.Identity) {
	t.Helper()
	identity, err := webtransport.NewIdentity("localhost", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	if o.TLS == nil {
		o.Identity = identity
	}
	server, err = webtransport.Listen("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server, fmt.Sprintf("https://%v/coeval", server.LocalAddr()), identity
}

func dial(t testing.TB, url string, identity *webtransport.Identity) *webtransport.Client {
	t.Helper()
	c, err := webtransport.Dial(t.Context(), url,
		webtransport.DialOptions{Hashes: identity.Hashes()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestLink(t *testing.T) {
	linktest.Run(t, linktest.Carrier{
		Sessions: true, Fills: true,
		Open: func(t testing.TB) (link.Link, func() linktest.Client) {
			server, url, identity := serve(t, webtransport.Options{})
			return server, func() linktest.Client {
				c := dial(t, url, identity)
				return linktest.Client{Link: c, Server: c.Peer()}
			}
		},
	})
}

func first(t testing.TB, l link.Link) link.Datagram {
	t.Helper()
	batch := make([]link.Datagram, 1)
	for {
		if n, err := l.Receive(batch); n == 1 {
			return batch[0]
		} else if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Wait(-1); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSizes(t *testing.T) {
	server, url, identity := serve(t, webtransport.Options{})
	c := dial(t, url, identity)
	c.Send([]link.Datagram{{Addr: c.Peer(), Data: []byte("hello")}})
	peer := first(t, server).Addr
	if server.MaxDatagram() != 1150 || link.MaxTo(server, peer) != 1200 ||
		link.MaxTo(c, c.Peer()) != 1200 {
		t.Errorf("carries %d to all, %d to the client, %d to the server", server.MaxDatagram(),
			link.MaxTo(server, peer), link.MaxTo(c, c.Peer()))
	}
	if kind, _, ok := link.Session(peer); kind != link.WebTransport || !ok {
		t.Errorf("%v is no session", peer)
	}
	if remote, ok := server.Remote(peer); !ok || !remote.Addr().IsLoopback() {
		t.Errorf("its real address is %v", remote)
	}
}

func TestPeersLeave(t *testing.T) {
	server, url, identity := serve(t, webtransport.Options{})
	c, d := dial(t, url, identity), dial(t, url, identity)
	c.Send([]link.Datagram{{Addr: c.Peer(), Data: []byte("c")}})
	peer := first(t, server).Addr
	c.Close()
	for {
		_, err := server.Send([]link.Datagram{{Addr: peer, Data: []byte("x")}})
		if errors.Is(err, link.ErrNoPeer) {
			break
		}
		server.Wait(time.Millisecond)
	}
	if server.Sessions() != 1 {
		t.Errorf("%d sessions", server.Sessions())
	}
	server.Close()
	for {
		if _, err := d.Wait(-1); err != nil {
			if !errors.Is(err, link.ErrClosed) {
				t.Errorf("ended with %v", err)
			}
			break
		}
	}
}

// TestCertificates: a server is accepted by digest or by trust, and by nothing
// else.
func TestCertificates(t *testing.T) {
	_, url, identity := serve(t, webtransport.Options{})
	if len(identity.Hashes()) != 2 {
		t.Errorf("digests %x", identity.Hashes())
	}
	other, err := webtransport.NewIdentity("localhost")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := webtransport.Dial(t.Context(), url,
		webtransport.DialOptions{Hashes: other.Hashes()}); err == nil ||
		!strings.Contains(err.Error(), "not among those expected") {
		t.Errorf("with a stranger's digest: %v", err)
	}
	if _, err := webtransport.Dial(t.Context(), url, webtransport.DialOptions{}); err == nil {
		t.Error("trusted a self-signed certificate")
	}
	cert, err := identity.TLS().GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if days := leaf.NotAfter.Sub(leaf.NotBefore); days >= 14*24*time.Hour || leaf.Version != 3 ||
		leaf.PublicKeyAlgorithm != x509.ECDSA {
		t.Errorf("browsers would not accept it: %v, version %d, %v", days, leaf.Version,
			leaf.PublicKeyAlgorithm)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	c, err := webtransport.Dial(t.Context(), url,
		webtransport.DialOptions{Trust: &tls.Config{RootCAs: pool}})
	if err != nil {
		t.Fatalf("trusted: %v", err)
	}
	c.Close()
}

func TestRefusals(t *testing.T) {
	server, url,
		identity := serve(t,
		webtransport.Options{Sessions: 1, Path: "/play", Handler: http.NotFoundHandler()})
	o := webtransport.DialOptions{Hashes: identity.Hashes()}
	if _, err := webtransport.Dial(t.Context(), url, o); err == nil ||
		!strings.Contains(err.Error(), "404") {
		t.Errorf("wrong path: %v", err)
	}
	url = strings.Replace(url, "/coeval", "/play", 1)
	c, err := webtransport.Dial(t.Context(), url, o)
	// The connection that asked for the wrong path has its place until the server sees it end.
	for range 500 {
		if err == nil || !strings.Contains(err.Error(), "503") {
			break
		}
		time.Sleep(10 * time.Millisecond)
		c, err = webtransport.Dial(t.Context(), url, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := webtransport.Dial(t.Context(), url, o); err == nil ||
		!strings.Contains(err.Error(), "503") {
		t.Errorf("one too many: %v", err)
	}
	if _, err := webtransport.Listen(server.LocalAddr().String(),
		webtransport.Options{Identity: identity}); err == nil ||
		!strings.Contains(err.Error(), "in use, stop the program") {
		t.Errorf("same port: %v", err)
	}
	if _, err := webtransport.Listen("nonsense",
		webtransport.Options{Identity: identity}); err == nil ||
		!strings.Contains(err.Error(), "write it like :4433") {
		t.Errorf("nonsense: %v", err)
	}
	if _, err := webtransport.Listen(":0", webtransport.Options{}); err == nil ||
		!strings.Contains(err.Error(), "needs a certificate") {
		t.Errorf("no certificate: %v", err)
	}
	if _, err := webtransport.NewIdentity(); err == nil {
		t.Error("an identity of nobody")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := webtransport.Dial(ctx, "https://127.0.0.1:1/", o); err == nil {
		t.Error("connected to nobody")
	}
}

// TestConnectionLimit: connections that open no session do not lock out those
// that do for good, and are bounded.
func TestConnectionLimit(t *testing.T) {
	server, url, identity := serve(t, webtransport.Options{Sessions: 1})
	conf := &quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true}
	refused := 0
	for range 40 {
		c, err := quic.DialAddr(t.Context(), server.LocalAddr().String(),
			&tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h3"}}, conf)
		if err != nil {
			refused++
			continue
		}
		defer c.CloseWithError(0, "")
		select {
		case <-c.Context().Done():
			refused++
		default:
		}
	}
	// Refusals may still be on their way, so ask by trying.
	for {
		c, err := webtransport.Dial(t.Context(), url,
			webtransport.DialOptions{Hashes: identity.Hashes()})
		if err != nil {
			break
		}
		c.Close()
	}
	t.Logf("%d of 40 were refused at once", refused)
}

func TestOrigins(t *testing.T) {
	for _, c := range []struct {
		o    webtransport.Options
		from string
		ok   bool
	}{
		{webtransport.Options{}, "https://evil.example", false},
		{webtransport.Options{Origins: []string{"play.example.org"}}, "https://play.example.org",
			true},
		{webtransport.Options{Origins: []string{"play.example.org"}}, "https://evil.example",
			false},
		{webtransport.Options{AnyOrigin: true}, "https://evil.example", true},
	} {
		_, url, _ := serve(t, c.o)
		tr := quicwt.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h3"}},
			QUICConfig: &quic.Config{
				EnableDatagrams: true, EnableStreamResetPartialDelivery: true},
		}
		_, sess, err := tr.Dial(t.Context(), url, http.Header{"Origin": {c.from}})
		if (err == nil) != c.ok {
			t.Errorf("%+v from %s: %v", c.o.Origins, c.from, err)
		}
		if err == nil {
			sess.CloseWithError(0, "")
		}
	}
}

func Example() {
	identity, err := webtransport.NewIdentity("localhost")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	server, err := webtransport.Listen("127.0.0.1:0", webtransport.Options{Identity: identity})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer server.Close()

	url := fmt.Sprintf("https://%v/coeval", server.LocalAddr())
	client, err := webtransport.Dial(context.Background(), url,
		webtransport.DialOptions{Hashes: identity.Hashes()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer client.Close()
	client.Send([]link.Datagram{{Addr: client.Peer(), Data: []byte("hello")}})
	server.Wait(-1)
	batch := make([]link.Datagram, 8)
	n, _ := server.Receive(batch)
	fmt.Printf("%d: %s\n", n, batch[0].Data)
	// Output: 1: hello
}

func BenchmarkEcho(b *testing.B) {
	server, url, identity := serve(b, webtransport.Options{})
	c := dial(b, url, identity)
	out := []link.Datagram{{Addr: c.Peer(), Data: make([]byte, 100)}}
	batch := make([]link.Datagram, 8)
	b.ReportAllocs()
	for b.Loop() {
		c.Send(out)
		server.Wait(-1)
		n, _ := server.Receive(batch)
		server.Send(batch[:n])
		c.Wait(-1)
		c.Receive(batch)
	}
}
