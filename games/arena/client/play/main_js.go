// Command play is the arena in the browser, or in a window of its own.
package main

import (
	"context"
	"errors"
	"syscall/js"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/arena/client"
	"github.com/coeval-dev/coeval/games/arena/client/session"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/browser"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/wire"

	"net/netip"
)

// The page that this runs in sets coevalConfig and offers coevalJoin; see web/assets/play.js.
func main() {
	config := js.Global().Get("coevalConfig")
	text := func(name string) string {
		if v := config.Get(name); v.Type() == js.TypeString {
			return v.String()
		}
		return ""
	}
	o := client.Options{Mute: config.Get("mute").Truthy(), Frugal: config.Get("frugal").Truthy(), Fine: config.Get("fine").Truthy(), Autopilot: config.Get("autopilot").Truthy(),
		Ready: func() { js.Global().Call("coevalReady") }}
	if config.Get("practice").Truthy() {
		o.Practice = session.PracticeOptions{Map: text("map"), Bots: 7, Seed: uint64(time.Now().UnixNano())}
	} else {
		style, _ := predict.ParseStyle(text("style")) // the first, if there is none of that name
		o.Network = session.New(session.Options{Join: join, Name: text("name"), Style: style})
	}
	app, err := client.New(o)
	if err != nil {
		fail(err)
		return
	}
	export(app)
	go idle(app)
	ebiten.SetRunnableOnUnfocused(true)
	ebiten.SetTPS(ebiten.SyncWithFPS)
	ebiten.SetCursorMode(ebiten.CursorModeHidden)
	if err := ebiten.RunGame(app); err != nil {
		fail(err)
	}
}

// fail lets the page say what is wrong.
func fail(err error) {
	js.Global().Get("document").Call("getElementById", "step").Set("textContent", err.Error())
	js.Global().Get("console").Call("error", err.Error())
}

// idle keeps the connection while the page is not to be seen: the browser then draws no frames.
func idle(app *client.App) {
	for {
		time.Sleep(200 * time.Millisecond)
		app.Idle()
	}
}

// carrier is the link of the present session, for the panel.
var carrier *browser.Client

// join asks the page for a token, and opens a link.
func join(ctx context.Context) (session.Entry, error) {
	v, err := await(js.Global().Call("coevalJoin"))
	if err != nil {
		return session.Entry{}, err
	}
	t, err := token.ParseText(v.Get("token").String())
	if err != nil {
		return session.Entry{}, errors.New("the server's answer makes no sense")
	}
	o := browser.Options{WebTransport: v.Get("transport").String(), WebSocket: v.Get("socket").String()}
	ways := v.Get("ways") // to all mirrors of the game, where there are several
	if ways.Truthy() {
		if o.Peer, err = netip.ParseAddrPort(v.Get("peer").String()); err != nil {
			return session.Entry{}, errors.New("the server's answer makes no sense")
		}
	}
	list := v.Get("hashes")
	for i := range list.Length() {
		h := make([]byte, list.Index(i).Get("length").Int())
		js.CopyBytesToGo(h, list.Index(i))
		o.Hashes = append(o.Hashes, h)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	l, err := browser.Dial(ctx, o)
	if err != nil {
		return session.Entry{}, errors.New("the server cannot be reached")
	}
	carrier = l
	e := session.Entry{Link: l, Token: t, Servers: []netip.AddrPort{l.Peer()}}
	if ways.Truthy() {
		e.Dial = func(p wire.Server) (link.Link, error) { return dial(ways, p) }
	}
	return e, nil
}

// dial begins to connect to another mirror.
func dial(ways js.Value, p wire.Server) (link.Link, error) {
	way := ways.Get(p.Addr.String())
	if way.Type() != js.TypeString {
		return nil, link.ErrAddr
	}
	l, err := browser.Open(browser.Options{WebSocket: way.String(), Peer: p.Addr})
	if err != nil {
		return nil, err
	}
	carrier = l
	return l, nil
}

// await waits for a promise.
func await(promise js.Value) (js.Value, error) {
	type result struct {
		v   js.Value
		err error
	}
	done := make(chan result, 1)
	first := func(args []js.Value) js.Value {
		if len(args) == 0 {
			return js.Undefined()
		}
		return args[0]
	}
	kept := js.FuncOf(func(_ js.Value, args []js.Value) any { done <- result{v: first(args)}; return nil })
	broken := js.FuncOf(func(_ js.Value, args []js.Value) any {
		text := "the page could not help"
		if m := first(args); m.Type() == js.TypeObject && m.Get("message").Type() == js.TypeString {
			text = m.Get("message").String()
		}
		done <- result{err: errors.New(text)}
		return nil
	})
	promise.Call("then", kept, broken)
	r := <-done
	kept.Release()
	broken.Release()
	return r.v, r.err
}

// export offers the page what its panel shows and changes.
func export(app *client.App) {
	js.Global().Set("coeval", map[string]any{
		"stats": js.FuncOf(func(js.Value, []js.Value) any { return stats(app) }),
		"set": js.FuncOf(func(_ js.Value, args []js.Value) any {
			if len(args) == 2 {
				app.Set(args[0].String(), args[1].String())
			}
			return nil
		}),
	})
}

func stats(app *client.App) map[string]any {
	out := map[string]any{}
	app.Stats(func(name string, v any) { out[name] = v })
	name := ""
	if carrier != nil {
		switch carrier.Carrier() {
		case link.WebTransport:
			name = "WebTransport"
		case link.WebSocket:
			name = "WebSocket"
		}
		out["changes"] = carrier.Changes()
	}
	out["carrier"] = name
	return out
}
