//go:build !js

package directorylab

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/packet"
)

// A server is one that registers and says that it is there, by a connection of its own as servers
// have it.
type server struct {
	key   ed25519.PrivateKey
	conn  *client
	path  string
	says  directory.Announcement
	lease string
}

const (
	registering = 48  // that register at once
	speaking    = 128 // goroutines in which servers speak
)

// register registers all servers. Each answers its challenge at an address of its own.
func (l *load) register(ctx context.Context, p lab.Progress) error {
	l.servers = make([]*server, l.Servers)
	var all sync.WaitGroup
	var next, done atomic.Int64
	var failed failures
	begun := time.Now()
	for w := range registering {
		all.Go(func() {
			r := l.random(uint64(w))
			for ctx.Err() == nil && failed.none() {
				i := int(next.Add(1) - 1)
				if i >= len(l.servers) {
					return
				}
				s, err := l.enter(i, r)
				if err != nil {
					failed.add(fmt.Errorf("registering: %w", err))
					return
				}
				l.servers[i] = s
				if n := done.Add(1); n%100 == 0 {
					p.Tell(float64(n)/float64(len(l.servers)), "registering")
				}
			}
		})
	}
	all.Wait()
	l.row.RegisterSec = time.Since(begun).Seconds()
	l.row.Registered, l.row.RegisterP99 = int(done.Load()), part(l.took.list, 0.99)
	if err := errors.Join(failed.first, ctx.Err()); err != nil {
		l.servers = nil
		return err
	}
	return nil
}

func (f *failures) none() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first == nil
}

// enter registers a server.
func (l *load) enter(i int, r *mrand.Rand) (*server, error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	at := net.UDPAddr{IP: net.IPv4(127, byte(1+i/62500), byte(i/250%250), byte(1+i%250))}
	socket, err := net.ListenUDP("udp4", &at)
	if err != nil {
		return nil, err
	}
	var answering sync.WaitGroup
	answering.Go(func() { answer(socket) })
	defer func() {
		_ = socket.Close() // it is done with
		answering.Wait()
	}()
	s := &server{key: key, says: directory.Announcement{
		Key: hex.EncodeToString(public), Seq: 1, Game: fmt.Sprintf("game%02d", i%games),
		Version: fmt.Sprintf("%016x", 1+i%3), Mode: directory.Server,
		Name: fmt.Sprintf("The server %d of somebody", i), Level: "the bridge",
		Region: fmt.Sprintf("region-%d", r.IntN(regions)), Tags: []string{"beginners", "fast"},
		Players: r.IntN(17), Capacity: 16,
		Addresses: directory.Addresses{UDP: socket.LocalAddr().String()},
	}}
	if s.conn, err = l.dial(); err != nil {
		return nil, err
	}
	var is directory.Registered
	begun := time.Now()
	if err := s.say(directory.Path+"entries", s.says, &is); err != nil {
		return nil, errors.Join(err, s.conn.Close())
	}
	l.took.add(time.Since(begun))
	s.path, s.lease = directory.Path+"entries/"+is.ID+"/alive", is.Lease
	return s, nil
}

// answer answers challenges until the socket is closed.
func answer(socket *net.UDPConn) {
	buf := make([]byte, 256)
	for {
		n, from, err := socket.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if c, ok := packet.ParseChallenge(buf[:n]); ok {
			_, _ = socket.WriteToUDPAddrPort(c.AppendProof(nil), from) // it is challenged again
		}
	}
}

// say says something, signed.
func (s *server) say(path string, what, into any) error {
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return s.conn.post(path, body, directory.Sign(s.key, path, body), into)
}

// mark is what a level begins with that says when it was said.
const mark = "@"

// keepAlive has all servers say every ten seconds that they are there, one after the other, until
// the context ends.
func (l *load) keepAlive(ctx context.Context, all *sync.WaitGroup) {
	begun := time.Now()
	gap := directory.Every / time.Duration(len(l.servers))
	speaking := min(speaking, len(l.servers))
	for w := range speaking {
		all.Go(func() {
			r := l.random(1000 + uint64(w))
			for round := 0; ; round++ {
				for i := w; i < len(l.servers); i += speaking {
					due := begun.Add(time.Duration(i)*gap + time.Duration(round)*directory.Every)
					select {
					case <-ctx.Done():
						return
					case <-time.After(time.Until(due)):
					}
					if err := l.servers[i].alive(r, l.Changing); err != nil {
						l.failures.add(fmt.Errorf("a server that is there: %w", err))
						continue
					}
					l.alive.add(time.Since(due))
				}
			}
		})
	}
}

// alive says that a server is there.
func (s *server) alive(r *mrand.Rand, changing int) error {
	if r.IntN(100) < changing {
		s.says.Players = r.IntN(17)
		s.says.Level = fmt.Sprint(mark, time.Now().UnixNano())
	}
	s.says.Seq++
	return s.say(s.path, directory.Alive{Lease: s.lease, Seq: s.says.Seq, Level: s.says.Level,
		Players: s.says.Players, Capacity: s.says.Capacity}, nil)
}
