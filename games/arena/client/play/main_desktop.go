//go:build desktop && !js

// Command play is the arena in the browser, or in a window of its own.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/arena/client"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/predict"
)

func main() {
	server := flag.String("server", "", "where the server answers over HTTP, such as localhost:8080 for a demo or localhost:4000 for coeval serve arena; without it, practice against bots")
	name := flag.String("name", os.Getenv("USER"), "what others read")
	style := flag.String("style", "doom3", "prediction: doom3, quake3 or halflife")
	level := flag.String("map", "", "map to practise on")
	mute := flag.Bool("mute", false, "no sound")
	flag.Parse()
	if err := run(*server, *name, *style, *level, *mute); err != nil {
		fmt.Fprintln(os.Stderr, "arena:", err)
		os.Exit(1)
	}
}

func run(server, name, style, level string, mute bool) error {
	s, err := predict.ParseStyle(style)
	if err != nil {
		return err
	}
	o := client.Options{Mute: mute, Practice: session.PracticeOptions{Map: level, Bots: 7, Seed: uint64(time.Now().UnixNano())}}
	if server != "" {
		if !strings.Contains(server, "://") {
			server = "http://" + server
		}
		base, err := url.Parse(server)
		if err != nil || base.Hostname() == "" {
			return fmt.Errorf("--server %q is no address; write it like localhost:8080", server)
		}
		o.Network = session.New(session.Options{Join: func(ctx context.Context) (session.Entry, error) { return join(ctx, base) }, Name: name, Style: s})
		defer o.Network.Leave()
	}
	app, err := client.New(o)
	if err != nil {
		return err
	}
	ebiten.SetWindowTitle("coeval arena")
	ebiten.SetWindowSize(1280, 720)
	ebiten.SetWindowResizingMode(ebiten.WindowResizingModeEnabled)
	ebiten.SetRunnableOnUnfocused(true)
	ebiten.SetTPS(ebiten.SyncWithFPS)
	ebiten.SetCursorMode(ebiten.CursorModeHidden)
	return ebiten.RunGame(app)
}

// join asks an open server for a token, and opens a socket.
func join(ctx context.Context, base *url.URL) (session.Entry, error) {
	var e session.Entry
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base.JoinPath("token").String(), nil)
	if err != nil {
		return e, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return e, errors.New("the server does not answer at " + base.Host)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
	if err != nil || answer.StatusCode != http.StatusOK {
		return e, fmt.Errorf("the server at %s lets no one in: %s", base.Host, strings.TrimSpace(string(body)))
	}
	var a struct {
		Token string `json:"token"`
		UDP   uint16 `json:"udp"`
	}
	if err := json.Unmarshal(body, &a); err != nil || a.UDP == 0 {
		return e, fmt.Errorf("the server at %s cannot be joined by UDP", base.Host)
	}
	if e.Token, err = token.ParseText(a.Token); err != nil {
		return e, err
	}
	addr, err := udp.Resolve(ctx, net.JoinHostPort(base.Hostname(), fmt.Sprint(a.UDP)))
	if err != nil {
		return e, err
	}
	e.Servers = []netip.AddrPort{addr}
	e.Link, err = udp.Listen(":0", udp.Options{})
	return e, err
}
