//go:build !js

package browser_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/browser"
	"github.com/coeval-dev/coeval/link/linktest"
	"github.com/coeval-dev/coeval/link/websocket"
	"github.com/coeval-dev/coeval/link/webtransport"
)

// both opens a server over both carriers, and ways to dial each.
func both(t testing.TB) (s *browser.Server, wt, ws func() linktest.Client) {
	t.Helper()
	id, err := webtransport.NewIdentity("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	w, err := webtransport.Listen("127.0.0.1:0", webtransport.Options{Identity: id})
	if err != nil {
		t.Fatal(err)
	}
	sock := websocket.NewServer(websocket.Options{})
	web := httptest.NewServer(sock)
	t.Cleanup(web.Close)
	s = browser.NewServer(w, sock)
	wt = func() linktest.Client {
		c, err := webtransport.Dial(context.Background(),
			fmt.Sprintf("https://%v/coeval", w.LocalAddr()), webtransport.DialOptions{
				Hashes: id.Hashes()})
		if err != nil {
			t.Fatal(err)
		}
		return linktest.Client{Link: c, Server: c.Peer()}
	}
	ws = func() linktest.Client {
		c, err := websocket.Dial(context.Background(), strings.Replace(web.URL, "http", "ws", 1),
			websocket.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return linktest.Client{Link: c, Server: c.Peer()}
	}
	return s, wt, ws
}

// TestLink holds the server to what every link promises, by clients of one carrier and of both in
// turn.
func TestLink(t *testing.T) {
	for _, x := range []struct {
		name string
		dial func(wt, ws func() linktest.Client) func() linktest.Client
	}{
		{"WebSocket", func(_, ws func() linktest.Client) func() linktest.Client { return ws }},
		{"both", func(wt, ws func() linktest.Client) func() linktest.Client {
			n := 0
			return func() linktest.Client {
				if n++; n%2 == 0 {
					return wt()
				}
				return ws()
			}
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			linktest.Run(t,
				linktest.Carrier{
					Sessions: true, Open: func(t testing.TB) (link.Link, func() linktest.Client) {
						s, wt, ws := both(t)
						return s, x.dial(wt, ws)
					}})
		})
	}
}

func ExampleServer() {
	id, _ := webtransport.NewIdentity("127.0.0.1")
	wt, err := webtransport.Listen("127.0.0.1:0", webtransport.Options{Identity: id})
	if err != nil {
		fmt.Println(err)
		return
	}
	ws := websocket.NewServer(websocket.Options{}) // an http.Handler, for the page's web server
	both := browser.NewServer(wt, ws)
	defer both.Close()
	fmt.Println("every peer can be sent", both.MaxDatagram(), "bytes")
	// Output: every peer can be sent 1150 bytes
}
