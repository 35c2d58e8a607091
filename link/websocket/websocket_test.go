package websocket_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	coder "github.com/coder/websocket"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/linktest"
	"github.com/coeval-dev/coeval/link/websocket"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a server behind a real web server.
func serve(t testing.TB, o websocket.Options) (*websocket.Server, string) {
	server := websocket.NewServer(o)
	web := httptest.NewServer(server)
	t.Cleanup(func() {
		server.Close()
		web.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return server, "ws" + strings.TrimPrefix(web.URL, "http")
}

func dial(t testing.TB, url string, o websocket.Options) *websocket.Client {
	t.Helper()
	c, err := websocket.Dial(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestLink(t *testing.T) {
	linktest.Run(t, linktest.Carrier{
		Sessions: true, Fills: true, Reliable: true,
		Open: func(t testing.TB) (link.Link, func() linktest.Client) {
			server, url := serve(t, websocket.Options{})
			return server, func() linktest.Client {
				c := dial(t, url, websocket.Options{})
				return linktest.Client{Link: c, Server: c.Peer()}
			}
		},
	})
}

// first waits for a datagram.
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

func TestPeerLeaves(t *testing.T) {
	server, url := serve(t, websocket.Options{})
	c := dial(t, url, websocket.Options{})
	c.Send([]link.Datagram{{Addr: c.Peer(), Data: []byte("hello")}})
	peer := first(t, server).Addr
	if kind, n, ok := link.Session(peer); kind != link.WebSocket || n != 1 || !ok {
		t.Errorf("%v is not the first session", peer)
	}
	if remote, ok := server.Remote(peer); !ok || !remote.Addr().IsLoopback() {
		t.Errorf("its real address is %v", remote)
	}
	c.Close()
	for {
		_, err := server.Send([]link.Datagram{{Addr: peer, Data: []byte("x")}})
		if errors.Is(err, link.ErrNoPeer) {
			break
		}
		server.Wait(time.Millisecond)
	}
	if _, ok := server.Remote(peer); ok || server.Sessions() != 0 {
		t.Error("the session is still known")
	}
}

// TestServerLeaves: the client gets what was sent before, then the end.
func TestServerLeaves(t *testing.T) {
	server, url := serve(t, websocket.Options{})
	c := dial(t, url, websocket.Options{})
	c.Send([]link.Datagram{{Addr: c.Peer(), Data: []byte("hello")}})
	peer := first(t, server).Addr
	server.Send([]link.Datagram{{Addr: peer, Data: []byte("goodbye")}})
	server.Close()
	if d := first(t, c); string(d.Data) != "goodbye" {
		t.Errorf("got %q", d.Data)
	}
	for {
		if _, err := c.Wait(-1); err != nil {
			if !errors.Is(err, link.ErrClosed) || !strings.Contains(err.Error(), "dial again") {
				t.Errorf("ended with %v", err)
			}
			break
		}
	}
	if _, err := c.Send([]link.Datagram{{Addr: c.Peer(), Data: []byte("x")}}); !errors.Is(err,
		link.ErrClosed) {
		t.Errorf("send: %v", err)
	}
}

func TestDisconnect(t *testing.T) {
	server, url := serve(t, websocket.Options{})
	c := dial(t, url, websocket.Options{})
	c.Send([]link.Datagram{{Addr: c.Peer(), Data: []byte("hello")}})
	server.Disconnect(first(t, server).Addr)
	for {
		if _, err := c.Wait(-1); errors.Is(err, link.ErrClosed) {
			break
		}
	}
	server.Disconnect(netip.AddrPort{}) // nobody
}

// TestStrangeMessages: text and oversized messages are skipped and counted,
// huge ones end the session.
func TestStrangeMessages(t *testing.T) {
	server, url := serve(t, websocket.Options{})
	raw, _, err := coder.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.CloseNow()
	ctx := t.Context()
	raw.Write(ctx, coder.MessageText, []byte("text"))
	raw.Write(ctx, coder.MessageText, make([]byte, 1200))
	raw.Write(ctx, coder.MessageBinary, make([]byte, 1201))
	raw.Write(ctx, coder.MessageBinary, make([]byte, 30000))
	raw.Write(ctx, coder.MessageBinary, []byte("good"))
	if d := first(t, server); string(d.Data) != "good" {
		t.Errorf("got %q", d.Data)
	}
	if c := server.Counters(); c.DroppedIn != 4 || c.Received != 1 {
		t.Errorf("counts %+v", c)
	}
	raw.Write(ctx, coder.MessageBinary, make([]byte, 100_000))
	if _, _, err := raw.Read(ctx); err == nil {
		t.Error("still connected")
	}
}

func TestSilentPeersGo(t *testing.T) {
	server, url := serve(t, websocket.Options{Idle: 20 * time.Millisecond})
	raw, _, err := coder.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.CloseNow()
	if _, _, err := raw.Read(t.Context()); err == nil {
		t.Error("read something")
	}
	for server.Sessions() > 0 {
		server.Wait(time.Millisecond)
	}
}

func TestRefusals(t *testing.T) {
	server, url := serve(t, websocket.Options{Sessions: 1})
	dial(t, url, websocket.Options{})
	if _, err := websocket.Dial(t.Context(), url, websocket.Options{}); err == nil ||
		!strings.Contains(err.Error(), "503") {
		t.Errorf("one too many: %v", err)
	}
	server.Close()
	if _, err := websocket.Dial(t.Context(), url, websocket.Options{}); err == nil {
		t.Error("connected to a closed server")
	}
	if _, err := websocket.Dial(t.Context(), "ws://127.0.0.1:1/",
		websocket.Options{}); err == nil ||
		!strings.Contains(err.Error(), "check that a server runs") {
		t.Errorf("nobody there: %v", err)
	}
}

func TestOrigins(t *testing.T) {
	for _, c := range []struct {
		o    websocket.Options
		from string
		ok   bool
	}{
		{websocket.Options{}, "https://evil.example", false},
		{websocket.Options{Origins: []string{"*.example.org"}}, "https://play.example.org", true},
		{websocket.Options{Origins: []string{"*.example.org"}}, "https://evil.example", false},
		{websocket.Options{AnyOrigin: true}, "https://evil.example", true},
	} {
		_, url := serve(t, c.o)
		raw, _, err := coder.Dial(t.Context(), url,
			&coder.DialOptions{HTTPHeader: http.Header{"Origin": {c.from}}})
		if (err == nil) != c.ok {
			t.Errorf("%+v from %s: %v", c.o, c.from, err)
		}
		if err == nil {
			raw.CloseNow()
		}
	}
}

func Example() {
	server := websocket.NewServer(websocket.Options{})
	web := httptest.NewServer(server)
	defer web.Close()
	defer server.Close()

	client, err := websocket.Dial(context.Background(), "ws"+strings.TrimPrefix(web.URL, "http"),
		websocket.Options{})
	if err != nil {
		fmt.Println(err)
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
	server, url := serve(b, websocket.Options{})
	c := dial(b, url, websocket.Options{})
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
