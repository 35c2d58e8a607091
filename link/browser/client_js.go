package browser

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"syscall/js"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/internal/mailbox"
)

// Options say where the server is. At least one of the two addresses is needed.
type Options struct {
	// WebTransport is an address like https://host:port/path, and Hashes the digests by which its
	// certificate is accepted if nobody has signed it.
	WebTransport string
	Hashes       [][]byte
	// WebSocket is an address like wss://host:port/path.
	WebSocket string
	// Peer is how the server is called, for programs that have links to several. Default: a name of
	// the link's own.
	Peer netip.AddrPort
	// Came, if set, is called when a datagram has come: for pages that nobody looks at, whose
	// timers browsers slow down.
	Came func()
}

const (
	// most is the largest datagram: what every path that carries QUIC takes.
	most = 1150
	// transportMost is what browsers say of WebTransport while they do not know the path. A link
	// that may come to use it never sends more, or it could not change over.
	transportMost = 1024
	// backlog is how many bytes may wait in a WebSocket before more is refused.
	backlog = 32 << 10
	// inbox is how many datagrams wait to be received.
	inbox = 512
	// beat is how often the choice is looked at.
	beat = 100 * time.Millisecond
)

// A Client is a link to one server. It keeps itself connected until it is closed.
type Client struct {
	mailbox.Port
	o    Options
	born time.Time
	stop context.CancelFunc

	mu      sync.Mutex
	choice  choice
	pipes   [ways]pipe
	number  [ways]int     // of the present try; what older ones say is ignored
	max     int           // the largest datagram, by what the first carrier allowed
	first   chan struct{} // closed when something can be used
	reached bool
	closed  bool
	changes int
}

// A pipe is an open carrier.
type pipe interface {
	send(data []byte) error
	close()
}

var _ link.Link = (*Client)(nil)

// server is how the one peer is called, if no one says otherwise.
var server = link.SessionAddr(link.WebTransport, 1)

// Dial connects, and returns when the server can be reached by one of the carriers or the context
// ends.
func Dial(ctx context.Context, o Options) (*Client, error) {
	c, err := Open(o)
	if err != nil {
		return nil, err
	}
	select {
	case <-c.first:
		return c, nil
	case <-ctx.Done():
		c.Close()
		return nil, ctx.Err()
	}
}

// Open begins to connect and does not wait: until the server can be reached, what is sent is lost.
func Open(o Options) (*Client, error) {
	if !o.Peer.IsValid() {
		o.Peer = server
	}
	c := &Client{
		o: o, born: time.Now(), Port: mailbox.Port{Box: mailbox.New(inbox)}, max: most,
		first: make(chan struct{})}
	c.Box.Clock = func() time.Duration { return time.Since(c.born) }
	c.choice = choice{open: c.open, shut: c.shut, use: none}
	c.choice.able[byTransport] = o.WebTransport != "" && js.Global().Get("WebTransport").Truthy()
	c.choice.able[bySocket] = o.WebSocket != ""
	if c.choice.able[byTransport] {
		c.max = transportMost
	}
	if !c.choice.able[byTransport] && !c.choice.able[bySocket] {
		return nil, errors.New(
			"browser: no way to the server: this browser lacks WebTransport, and there is no " +
				"address for WebSocket")
	}
	run, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.locked(func(now time.Duration) { c.choice.start(now) })
	go c.watch(run)
	return c, nil
}

// watch lets the choice see that time goes by.
func (c *Client) watch(ctx context.Context) {
	t := time.NewTicker(beat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			c.locked(c.choice.tick)
		}
	}
}

// locked calls f with the time, and looks what came of it.
func (c *Client) locked(f func(now time.Duration)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	before := c.choice.use
	f(time.Since(c.born))
	if c.choice.use != before && c.choice.use != none {
		c.changes++
		if !c.reached {
			c.reached = true
			close(c.first)
		}
	}
}

// open begins a try. The lock is held; whatever the browser answers comes later.
func (c *Client) open(w way) {
	c.number[w]++
	t := try{client: c, way: w, number: c.number[w]}
	if w == byTransport {
		c.pipes[w] = openTransport(c.o.WebTransport, c.o.Hashes, t)
	} else {
		c.pipes[w] = openSocket(c.o.WebSocket, t)
	}
}

func (c *Client) shut(w way) {
	c.number[w]++
	if p := c.pipes[w]; p != nil {
		c.pipes[w] = nil
		p.close()
	}
}

// A try tells the client what becomes of it.
type try struct {
	client *Client
	way    way
	number int
}

func (t try) current() bool { return t.client.number[t.way] == t.number }

// opened says that datagrams of so many bytes can be sent.
func (t try) opened(max int) {
	c := t.client
	c.locked(func(now time.Duration) {
		if !t.current() {
			return
		}
		if !c.reached {
			c.max = min(c.max, max)
		}
		c.choice.opened(t.way, now, max >= c.max && max >= least)
	})
}

// least is what a connection needs at least.
const least = 512

func (t try) failed() {
	c := t.client
	c.locked(func(now time.Duration) {
		if t.current() {
			c.shut(t.way)
			c.choice.failed(t.way, now)
		}
	})
}

// received takes a datagram, a Uint8Array.
func (t try) received(data js.Value) {
	n := data.Get("byteLength").Int()
	if n > most+50 {
		t.client.Box.Drop()
		return
	}
	var buf [most + 50]byte
	js.CopyBytesToGo(buf[:n], data)
	if !t.client.Box.Push(t.client.o.Peer, buf[:n], nil) {
		t.client.Box.Drop()
	}
	if came := t.client.o.Came; came != nil {
		came()
	}
}

// Peer is the address by which the server is sent to.
func (c *Client) Peer() netip.AddrPort { return c.o.Peer }

// Carrier is what is used now, or 0 while there is nothing.
func (c *Client) Carrier() link.Carrier {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.choice.use {
	case byTransport:
		return link.WebTransport
	case bySocket:
		return link.WebSocket
	}
	return 0
}

// Changes counts how often the carrier was changed or opened anew.
func (c *Client) Changes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// Send hands datagrams to the browser. While there is no carrier they are lost.
func (c *Client) Send(batch []link.Datagram) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, link.ErrClosed
	}
	return c.SendEach(batch, c.sendOne)
}

func (c *Client) sendOne(d *link.Datagram) error {
	switch {
	case d.Addr != c.o.Peer:
		return link.ErrNoPeer
	case len(d.Data) > c.max:
		return link.ErrTooLarge
	case c.choice.use == none || c.pipes[c.choice.use] == nil:
		c.Tally.Drop(1)
		return nil
	}
	return c.pipes[c.choice.use].send(d.Data)
}

// MaxDatagram is the largest that can be sent, whichever carrier is used.
func (c *Client) MaxDatagram() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.max
}

// Close ends everything.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	c.stop()
	for w := range ways {
		c.shut(w)
	}
	c.Box.End(link.ErrClosed, false)
	return nil
}
