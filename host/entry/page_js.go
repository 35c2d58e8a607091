package entry

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"syscall/js"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/browser"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A Page is the page that the program runs in, which knows the server; see web/assets/play.js.
type Page struct {
	// Came, if set, is called when a datagram has come.
	Came func()

	carrier *browser.Client
}

// Config is what the page sets by a name, or nothing.
func Config(name string) string { return text(js.Global().Get("coevalConfig"), name) }

// Configured says whether the page sets something.
func Configured(name string) bool { return js.Global().Get("coevalConfig").Get(name).Truthy() }

func text(v js.Value, name string) string {
	if x := v.Get(name); x.Type() == js.TypeString {
		return x.String()
	}
	return ""
}

// Ready tells the page that there is something to see.
func Ready() { js.Global().Call("coevalReady") }

// Furnish has the page show its buttons and the pointer, for a program that knows all of "board",
// "help" and "say" as things to set, but for those that it does without.
func Furnish(without ...string) {
	js.Global().Call("coevalFurnish", strings.Join(without, " "))
}

// Say has the page say what the player waits for.
func Say(status string) {
	js.Global().Get("document").Call("getElementById", "step").Set("textContent", status)
}

// Fail has the page say what is wrong.
func Fail(err error) {
	Say(err.Error())
	js.Global().Get("console").Call("error", err.Error())
}

// Export offers the page's panel numbers to show, with how the server is reached, and things to
// change by name.
func (p *Page) Export(stats func() map[string]any, set func(name, value string)) {
	js.Global().Set("coeval", map[string]any{
		"stats": js.FuncOf(func(js.Value, []js.Value) any {
			out := stats()
			out["carrier"] = ""
			if p.carrier != nil {
				out["carrier"] = carriers[p.carrier.Carrier()]
				out["changes"] = p.carrier.Changes()
			}
			return out
		}),
		"set": js.FuncOf(func(_ js.Value, args []js.Value) any {
			if len(args) == 2 {
				set(args[0].String(), args[1].String())
			}
			return nil
		}),
	})
}

// carriers are what people call them.
var carriers = map[link.Carrier]string{
	link.WebTransport: "WebTransport", link.WebSocket: "WebSocket",
}

var errAnswer = errors.New("the server's answer makes no sense")

// Join asks the page for a token, and opens a link.
func (p *Page) Join(ctx context.Context) (e client.Entry, a Admission, err error) {
	v, err := await(js.Global().Call("coevalJoin"))
	if err != nil {
		return e, a, err
	}
	a.Game, a.Strategy = text(v, "game"), text(v, "strategy")
	a.Take, a.Style, a.Knobs = text(v, "take"), text(v, "style"), text(v, "knobs")
	if n := v.Get("commands"); n.Type() == js.TypeNumber {
		a.Commands = n.Int()
	}
	if e.Token, err = token.ParseText(text(v, "token")); err != nil {
		return e, a, errAnswer
	}
	o := browser.Options{WebTransport: text(v, "transport"), WebSocket: text(v, "socket"),
		Came: p.Came}
	ways := v.Get("ways") // to all mirrors of the game, where there are several
	if ways.Truthy() {
		if o.Peer, err = netip.ParseAddrPort(text(v, "peer")); err != nil {
			return e, a, errAnswer
		}
		e.Dial = func(at wire.Server) (link.Link, error) { return p.dial(ways, at) }
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
		return e, a, errors.New("the server cannot be reached")
	}
	p.carrier = l
	e.Link, e.Servers = l, []netip.AddrPort{l.Peer()}
	return e, a, nil
}

// Token asks the page for another token, for the link that there is.
func (p *Page) Token(context.Context) (t token.Token, err error) {
	v, err := await(js.Global().Call("coevalJoin"))
	if err != nil {
		return t, err
	}
	if t, err = token.ParseText(text(v, "token")); err != nil {
		return t, errAnswer
	}
	return t, nil
}

// dial begins to connect to another mirror.
func (p *Page) dial(ways js.Value, at wire.Server) (link.Link, error) {
	path := text(ways, at.Addr.String())
	if path == "" {
		return nil, link.ErrAddr
	}
	l, err := browser.Open(browser.Options{WebSocket: path, Peer: at.Addr})
	if err != nil {
		return nil, err
	}
	p.carrier = l
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
	kept := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- result{v: first(args)}
		return nil
	})
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
