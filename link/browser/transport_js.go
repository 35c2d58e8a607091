package browser

import (
	"sync"
	"syscall/js"

	"github.com/coeval-dev/coeval/link"
)

// transport is a WebTransport session.
type transport struct {
	session js.Value
	writer  js.Value
	ready   bool
	once    sync.Once
}

// ignore is for promises whose failure is noticed elsewhere.
var ignore = js.FuncOf(func(js.Value, []js.Value) any { return nil })

var bytesOf = js.Global().Get("Uint8Array")

// toBytes copies a datagram to where the browser can read it.
func toBytes(data []byte) js.Value {
	b := bytesOf.New(len(data))
	js.CopyBytesToJS(b, data)
	return b
}

func openTransport(url string, hashes [][]byte, t try) pipe {
	o := map[string]any{"congestionControl": "low-latency", "requireUnreliable": true}
	if len(hashes) > 0 {
		list := make([]any, 0, len(hashes))
		for _, h := range hashes {
			list = append(list, map[string]any{"algorithm": "sha-256", "value": toBytes(h)})
		}
		o["serverCertificateHashes"] = list
	}
	p := &transport{}
	session, ok := construct("WebTransport", url, o)
	if !ok {
		later(t.failed)
		return p
	}
	p.session = session
	fail := p.on(func(js.Value) { t.failed() })
	session.Get("closed").Call("then", fail, fail)
	session.Get("ready").Call("then", p.on(func(js.Value) { p.begin(t) }), fail)
	return p
}

// begin takes datagrams from now on.
func (p *transport) begin(t try) {
	d := p.session.Get("datagrams")
	d.Set("incomingHighWaterMark", 256)
	d.Set("outgoingHighWaterMark", 32)
	d.Set("outgoingMaxAge", 250) // older ones are not worth sending
	p.writer = writable(d).Call("getWriter")
	reader := d.Get("readable").Call("getReader")
	var next func()
	fail := p.on(func(js.Value) { t.failed() })
	got := p.on(func(v js.Value) {
		if v.Get("done").Bool() {
			t.failed()
			return
		}
		t.received(v.Get("value"))
		next()
	})
	next = func() { reader.Call("read").Call("then", got, fail) }
	p.ready = true
	max := most
	if m := d.Get("maxDatagramSize"); m.Type() == js.TypeNumber && m.Int() > 0 {
		max = m.Int()
	}
	t.opened(max)
	next()
}

// writable finds where datagrams go: browsers have changed their mind about the name.
func writable(datagrams js.Value) js.Value {
	if f := datagrams.Get("createWritable"); f.Type() == js.TypeFunction {
		return datagrams.Call("createWritable")
	}
	return datagrams.Get("writable")
}

// on makes a function for the browser to call. It is never released, as a promise may still be kept
// after the transport is closed; there are a handful for each try.
func (p *transport) on(f func(v js.Value)) js.Func {
	g := js.FuncOf(func(_ js.Value, args []js.Value) any {
		v := js.Undefined()
		if len(args) > 0 {
			v = args[0]
		}
		f(v)
		return nil
	})
	return g
}

func (p *transport) send(data []byte) error {
	if !p.ready {
		return link.ErrFull
	}
	if room := p.writer.Get("desiredSize"); room.Type() != js.TypeNumber || room.Int() <= 0 {
		return link.ErrFull
	}
	p.writer.Call("write", toBytes(data)).Call("catch", ignore)
	return nil
}

func (p *transport) close() {
	p.once.Do(func() {
		if p.session.Truthy() {
			p.session.Get("ready").Call("catch", ignore)
			p.session.Get("closed").Call("catch", ignore)
			attempt(func() { p.session.Call("close") })
		}
	})
}
