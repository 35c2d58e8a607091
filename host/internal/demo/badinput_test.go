package demo

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/page"
)

// TestNoGo: whoever has no Go is told in the page where it is to be had.
func TestNoGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	c := page.NewClient(pong.Title, nil)
	_ = c.Make(t.Context())
	if b := c.Now(); !strings.Contains(b.Error, "install it from https://go.dev") || b.Done {
		t.Errorf("%+v", b)
	}
	if err := (&flags{title: pong.Title, preset: "lan", style: "doom3", watches: true}).watch(
		t.Context(), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "install it") {
		t.Error(err)
	}
}

// TestThePortIsTaken: another is taken where none was asked for, and only there.
func TestThePortIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	if port > 65000 {
		t.Skip("there is none after it")
	}
	d := &flags{title: pong.Title, port: port}
	l, err := d.bind()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := l.Addr().(*net.TCPAddr).Port; got <= port || got >= port+20 {
		t.Errorf("port %d, and %d is taken", got, port)
	}
	d.fixed = true
	if _, err := d.open(game.Level{}); err == nil ||
		!strings.Contains(err.Error(), "choose another by --port") {
		t.Error(err)
	}
}
