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

// exchangesTick is how many exchanges, of six clients each, are begun in a tick at most, and
// half of that where the tick has to do the work itself. How many are depends on what else the
// door has to do.
const exchangesTick = 2

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
	most, price := exchangesTick, priceAdmit
	if e.todo == nil {
		most, price = 1, priceExchange
	}
	for i := range s.ports {
		p := s.ports[(int(s.turn)+i)%len(s.ports)] // each is first in turn
		for p.conn.Exchanges(0); len(e.begun) < most && s.door.left > 0; {
			list := p.conn.Exchanges(1)
			if len(list) == 0 {
				break
			}
			s.door.left -= price * list[0].Len()
			e.begin(&exchange{Exchange: list[0], port: p, done: make(chan struct{})})
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
