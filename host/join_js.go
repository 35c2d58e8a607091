package host

import (
	"context"
	"errors"
	"net/netip"
	"syscall/js"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/browser"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/wire"
)

// A way is how the page's server is reached now.
type way struct{ carrier *browser.Client }

// An admission is what the page tells of the server that it has asked.
type admission struct{ game, strategy string }

var errAnswer = errors.New("the server's answer makes no sense")

// join asks the page for a token, and opens a link.
func (w *way) join(ctx context.Context) (e client.Entry, a admission, err error) {
	v, err := await(js.Global().Call("coevalJoin"))
	if err != nil {
		return e, a, err
	}
	text := func(name string) string {
		if x := v.Get(name); x.Type() == js.TypeString {
			return x.String()
		}
		return ""
	}
	a = admission{text("game"), text("strategy")}
	if e.Token, err = token.ParseText(text("token")); err != nil {
		return e, a, errAnswer
	}
	o := browser.Options{WebTransport: text("transport"), WebSocket: text("socket")}
	ways := v.Get("ways") // to all mirrors of the game, where there are several
	if ways.Truthy() {
		if o.Peer, err = netip.ParseAddrPort(text("peer")); err != nil {
			return e, a, errAnswer
		}
		e.Dial = func(p wire.Server) (link.Link, error) { return w.dial(ways, p) }
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
	w.carrier = l
	e.Link, e.Servers = l, []netip.AddrPort{l.Peer()}
	return e, a, nil
}

// dial begins to connect to another mirror.
func (w *way) dial(ways js.Value, p wire.Server) (link.Link, error) {
	at := ways.Get(p.Addr.String())
	if at.Type() != js.TypeString {
		return nil, link.ErrAddr
	}
	l, err := browser.Open(browser.Options{WebSocket: at.String(), Peer: p.Addr})
	if err != nil {
		return nil, err
	}
	w.carrier = l
	return l, nil
}

// stats adds how the server is reached.
func (w *way) stats(out map[string]any) {
	name := ""
	if w.carrier != nil {
		switch w.carrier.Carrier() {
		case link.WebTransport:
			name = "WebTransport"
		case link.WebSocket:
			name = "WebSocket"
		}
		out["changes"] = w.carrier.Changes()
	}
	out["carrier"] = name
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
