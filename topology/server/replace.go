package server

import (
	"errors"
	"time"

	"github.com/coeval-dev/coeval/topology/wire"
)

// ErrReplaced says that another program has taken the server's place: it computes and takes in
// nothing any more. Tick, Receive and Run return it after Replaced.
var ErrReplaced = errors.New("server: another program has taken its place")

// goodbyes is how often everyone is told that the server was replaced. Nobody's answer is heard, as
// what comes at the address is the other's.
const goodbyes = 10

// Replaced is for when another program has the world, the seats and the sockets, from Save and on
// its way: it ends this one. Everyone is told to come back to the same address by their ticket, for
// a fifth of a second, without looking at what comes. Nothing of the server may be used after it
// but Close.
func (s *Server) Replaced(note string) {
	s.closing, s.over = true, true
	for _, p := range s.ports {
		p.conn.Shutdown(wire.ReasonReplaced, note)
	}
	for i := range goodbyes {
		if i > 0 {
			time.Sleep(20 * time.Millisecond)
		}
		s.now += 20 * time.Millisecond
		s.flush()
	}
}
