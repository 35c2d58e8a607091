package browser

import (
	"sync"
	"syscall/js"

	"github.com/coeval-dev/coeval/link"
)

// socket is a WebSocket.
type socket struct {
	ws    js.Value
	ready bool
	once  sync.Once
}

func openSocket(url string, t try) pipe {
	p := &socket{}
	ws, ok := construct("WebSocket", url)
	if !ok {
		later(t.failed)
		return p
	}
	p.ws = ws
	ws.Set("binaryType", "arraybuffer")
	p.on("open", func(js.Value) { p.ready = true; t.opened(most) })
	p.on("message", func(e js.Value) {
		if data := e.Get("data"); data.Type() == js.TypeObject {
			t.received(bytesOf.New(data))
		}
	})
	p.on("close", func(js.Value) { t.failed() })
	p.on("error", func(js.Value) { t.failed() })
	return p
}

func (p *socket) on(event string, f func(e js.Value)) {
	g := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) > 0 {
			f(args[0])
		}
		return nil
	})
	p.ws.Call("addEventListener", event, g)
}

func (p *socket) send(data []byte) error {
	if !p.ready || p.ws.Get("bufferedAmount").Int() > backlog {
		return link.ErrFull
	}
	if !attempt(func() { p.ws.Call("send", toBytes(data)) }) {
		return link.ErrFull
	}
	return nil
}

func (p *socket) close() {
	p.once.Do(func() {
		p.ready = false
		if p.ws.Truthy() {
			attempt(func() { p.ws.Call("close") })
		}
	})
}

// attempt calls into the browser, which may throw, and says whether it did not.
func attempt(f func()) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, thrown := r.(js.Error); !thrown {
				panic(r)
			}
			ok = false
		}
	}()
	f()
	return true
}

// construct makes an object of the browser's, if it lets us.
func construct(class string, args ...any) (v js.Value, ok bool) {
	ok = attempt(func() { v = js.Global().Get(class).New(args...) })
	return v, ok
}

// later calls f when the lock that is held now is free.
func later(f func()) { go f() }
