package server

import (
	"sync"
	"sync/atomic"

	"github.com/coeval-dev/coeval/conn"
)

// An exchanger agrees on secrets with newcomers beside the ticks; see conn.Exchange. What is begun
// in one tick is taken back in the next, whether it is done by then or has to be waited for, so
// that a run over a simulated network repeats. Work that the other goroutine has not begun by then
// is done by the one that drives the server, which does all of it where there is no other.
type exchanger struct {
	begun []*exchange
	todo  chan *exchange // nil if there is no other goroutine
	alive sync.WaitGroup
}

// An exchange is one unit of that work.
type exchange struct {
	*conn.Exchange
	port  *port
	taken atomic.Bool
	done  chan struct{}
}

// exchangesTick is how many exchanges, of eight clients each, are begun in a tick: with 60 ticks a
// second, room for 1,440 newcomers, or for a third of that where the tick has to do the work
// itself.
const exchangesTick = 3

func newExchanger(workers int) *exchanger {
	e := &exchanger{}
	if workers > 1 {
		todo := make(chan *exchange, 4*exchangesTick)
		e.todo = todo
		e.alive.Go(func() {
			for x := range todo {
				x.work()
			}
		})
	}
	return e
}

// work does the exchange unless someone else has begun it.
func (x *exchange) work() {
	if x.taken.CompareAndSwap(false, true) {
		x.Do()
		close(x.done)
	}
}

// exchange takes back what was begun in the last tick and begins the next.
func (s *Server) exchange() {
	e := s.pool.beside
	for i, x := range e.begun {
		x.work()
		<-x.done
		if x.port.down == nil {
			x.port.conn.Exchanged(s.now, x.Exchange)
		}
		e.begun[i] = nil
	}
	e.begun = e.begun[:0]
	most := exchangesTick
	if e.todo == nil {
		most = 1
	}
	for i := range s.ports {
		p := s.ports[(int(s.turn)+i)%len(s.ports)] // each is first in turn
		for _, x := range p.conn.Exchanges(most - len(e.begun)) {
			e.begin(&exchange{Exchange: x, port: p, done: make(chan struct{})})
		}
	}
}

func (e *exchanger) begin(x *exchange) {
	e.begun = append(e.begun, x)
	if e.todo == nil {
		return
	}
	select {
	case e.todo <- x:
	default: // the other goroutine is far behind
	}
}

func (e *exchanger) close() {
	if e.todo != nil {
		close(e.todo)
		e.todo = nil
		e.alive.Wait()
	}
}
