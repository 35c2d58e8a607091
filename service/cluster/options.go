package cluster

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"
)

// Options say which cluster, and how to reach it. The zero value is complete for a server that is
// embedded in one process, but for Dir.
type Options struct {
	// Name tells clusters apart that are kept by the same NATS. It consists of letters, digits,
	// hyphens and underscores, and is "world" if empty.
	Name string
	// Dir is a folder of this program's own. It remembers which cluster this is, so that another
	// one of the same name is refused; an embedded server keeps everything in it. Open can do
	// without it.
	Dir string
	// ID is the identity that the cluster must have. Empty takes the one that Dir remembers, or
	// whichever is found.
	ID string
	// Found has Open found a cluster where there is none of that name. Embed does so without being
	// told if Dir does not remember one.
	Found bool

	// Replicas is how many nodes keep each write, 1 or 3. It counts when a cluster is founded. 0 is
	// 3 for an embedded server with peers, and 1 otherwise.
	Replicas int
	// Streams is into how many streams zones are divided. It counts when a cluster is founded. 0 is
	// as many as Replicas, so that each node can lead one.
	Streams int

	// URL is where NATS is, for Open: one address, or several with commas between them.
	URL string
	// Credentials is a file with a user's JWT and seed, for Open; empty if NATS asks for none.
	Credentials string
	// Secret is a password for clients and peers of embedded servers. Without one they listen on
	// loopback addresses only.
	Secret string
	// TLS encrypts connections of clients, and those between embedded servers. It is optional.
	TLS *tls.Config

	// Node names an embedded server among its peers: the same after each start. "node" if empty.
	Node string
	// Listen is the address for clients of an embedded server, such as 10.0.0.1:4222. Its peers'
	// programs use it when their own server is away. Empty picks a loopback port if there are
	// peers; without them it is for other programs, and empty listens nowhere.
	Listen string
	// ListenPeers is the address at which an embedded server hears its peers.
	ListenPeers string
	// Peers are the addresses at which the peers hear each other. If it names any, all nodes of the
	// cluster belong there; the own one may be among them.
	Peers []string
	// Flush has an embedded server flush each write to disk before it acknowledges it. Otherwise it
	// does every second, and a power cut can take back what was acknowledged in that second, if it
	// hits as many nodes as make up a majority.
	Flush bool
	// MaxDisk limits what an embedded server keeps, in bytes. 0 is three quarters of what is free.
	MaxDisk int64
	// Log gets what an embedded server has to say. Nil is nobody.
	Log *slog.Logger

	// Patience bounds each call whose context would let it wait longer. 0 is 15 s, which outlasts
	// the election of a new leader.
	Patience time.Duration
	// Ping is how often connections are tried. One that misses two pings is given up. 0 is 2 s.
	Ping time.Duration
}

// filled gives the options with what is empty filled in, or says what is wrong with them.
func (o Options) filled() (Options, error) {
	if o.Name == "" {
		o.Name = "world"
	}
	if o.Node == "" {
		o.Node = "node"
	}
	for _, name := range []string{o.Name, o.Node} {
		if len(name) > 64 || strings.Trim(name, plain) != "" {
			return o, fmt.Errorf("cluster: %q is no name: use letters, digits, - and _", name)
		}
	}
	if o.Replicas == 0 {
		o.Replicas = 1
		if len(o.Peers) > 0 {
			o.Replicas = 3
		}
	}
	if o.Replicas != 1 && o.Replicas != 3 {
		return o, fmt.Errorf("cluster: there are 1 or 3 replicas, not %d", o.Replicas)
	}
	if o.Streams == 0 {
		o.Streams = o.Replicas
	}
	if o.Streams < 1 || o.Streams > maxStreams {
		return o, fmt.Errorf("cluster: there are 1 to %d streams, not %d", maxStreams, o.Streams)
	}
	if o.Patience <= 0 {
		o.Patience = 15 * time.Second
	}
	if o.Ping <= 0 {
		o.Ping = 2 * time.Second
	}
	return o, nil
}

const maxStreams = 64

// open says whether an embedded server would listen where strangers can reach it without a secret.
func (o *Options) open() error {
	if o.Secret != "" {
		return nil
	}
	for _, addr := range []string{o.Listen, o.ListenPeers} {
		if addr == "" {
			continue
		}
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return fmt.Errorf("cluster: address %q: %w", addr, err)
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return fmt.Errorf("cluster: to listen on %s, which others can reach, set Secret", addr)
		}
	}
	return nil
}
