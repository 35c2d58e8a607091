package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/coeval-dev/coeval/topology/seamless"
)

// A Cluster is a connection to what the servers of a world share. Its methods, and those of its
// parts, may be called by any goroutine.
type Cluster struct {
	world   seamless.Map
	journal seamless.Journal
	store   seamless.Store
	nats    *connection // nil in memory
}

// Map is what all servers agree on.
func (c *Cluster) Map() seamless.Map { return c.world }

// Journal is where the zones' records are.
func (c *Cluster) Journal() seamless.Journal { return c.journal }

// Store is where snapshots are.
func (c *Cluster) Store() seamless.Store { return c.store }

// ID is the identity of the cluster, which was drawn when it was founded. It is empty in memory.
func (c *Cluster) ID() string {
	if c.nats == nil {
		return ""
	}
	return c.nats.id
}

// Close ends the connection, and an embedded server with it. Calls that wait return soon.
func (c *Cluster) Close() error {
	if c.nats == nil {
		return nil
	}
	return c.nats.close()
}

// Counts say how often something went wrong that this package then put right.
type Counts struct {
	// Resent writes had no answer for a while, or nobody heard them.
	Resent uint64
	// Refused writes were right all the same, as reading back showed.
	Refused uint64
	// Done writes were found to have been done when they were sent again.
	Done uint64
	// Stale answers came from nodes that had not yet heard of the newest write.
	Stale uint64
}

// Counts says how often something went wrong that this package then put right.
func (c *Cluster) Counts() Counts {
	if c.nats == nil {
		return Counts{}
	}
	n := &c.nats.counts
	return Counts{n.resent.Load(), n.refused.Load(), n.done.Load(), n.stale.Load()}
}

// A connection is one to NATS, with what all three parts need of it.
type connection struct {
	options Options
	id      string
	writer  [8]byte // tells the records of this connection from those of others
	nc      *nats.Conn
	js      jetstream.JetStream
	asker   *asker
	server  *node // that is embedded, or nil

	world, store stream
	journals     []stream
	replicas     int

	mu sync.Mutex
	// known is the newest sequence of each subject that this program has seen. What is older is
	// stale, or has been put back.
	known map[string]uint64

	counts struct{ resent, refused, done, stale atomic.Uint64 }
}

// Open reaches a cluster at the NATS that the options name. It waits until that can be used, no
// longer than the context says.
func Open(ctx context.Context, o Options) (*Cluster, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	if o.URL == "" {
		return nil, errors.New("cluster: Open needs the URL of a NATS server")
	}
	return open(ctx, o, nil)
}

func open(ctx context.Context, o Options, server *node) (*Cluster, error) {
	n := &connection{options: o, server: server, writer: mark(), known: map[string]uint64{}}
	err := n.connect(ctx)
	if err == nil {
		err = n.enter(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, n.close())
	}
	return &Cluster{&worldMap{n}, &journal{n}, &snapshots{n}, n}, nil
}

func (n *connection) connect(ctx context.Context) error {
	o := &n.options
	opts := []nats.Option{
		nats.Name("coeval " + o.Name),
		// What cannot be sent now fails now. A buffer would send it later, when its writer has been
		// told that nobody was there.
		nats.ReconnectBufSize(-1),
		nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond),
		nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond),
		nats.PingInterval(o.Ping), nats.MaxPingsOutstanding(2),
		nats.Timeout(2 * time.Second), nats.FlusherTimeout(2 * time.Second),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // by default, it prints
	}
	if o.Credentials != "" {
		opts = append(opts, nats.UserCredentials(o.Credentials))
	}
	if o.Secret != "" {
		opts = append(opts, nats.UserInfo(user, o.Secret))
	}
	if o.TLS != nil && (n.server == nil || !n.server.alone) {
		opts = append(opts, nats.Secure(o.TLS))
	}
	if n.server != nil {
		opts = append(opts, n.server.options()...)
	}
	var err error
	for {
		if n.nc, err = nats.Connect(o.URL, opts...); err == nil {
			break
		}
		if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrSecureConnWanted) ||
			errors.Is(err, nats.ErrSecureConnRequired) || !pause(ctx, 100*time.Millisecond) {
			return fmt.Errorf("cluster: %s: %w", o.URL, unsure(ctx, false, err))
		}
	}
	if n.js, err = jetstream.New(n.nc); err != nil {
		return err
	}
	n.asker, err = newAsker(n.nc)
	return err
}

func (n *connection) close() error {
	if n.nc != nil {
		n.nc.Close()
	}
	if n.server != nil {
		n.server.stop()
	}
	return nil
}

// bound gives a context that ends when the caller's does, or when patience is at its end.
func (n *connection) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, n.options.Patience)
}

// seen notes that a subject has a message.
func (n *connection) seen(subject string, sequence uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[subject] = max(n.known[subject], sequence)
}

// newest is the newest sequence of a subject that this program has seen.
func (n *connection) newest(subject string) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known[subject]
}
