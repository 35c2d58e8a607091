package server

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/replica"
)

// A pool spreads the work of a tick over cores: for each client whose turn it is, what it is shown
// and how that is coded. The goroutines are made once and wait between ticks; the one that drives
// the server works along, so a pool of one has no goroutines at all.
type pool struct {
	workers []*worker
	wake    []chan bool // for each worker but the first: true to work, closed to end
	todo    []*peer
	next    atomic.Int64
	working sync.WaitGroup
	alive   sync.WaitGroup

	beside *exchanger // of what is done while the others wait
}

// A worker is the memory of one goroutine.
type worker struct {
	finder   *interest.Finder
	encoder  *replica.Worker
	interest time.Duration // spent in this tick
	encode   time.Duration
	_        [64]byte // each has its own line of cache
}

func newPool(size int, p *replica.Protocol) *pool {
	o := &pool{beside: newExchanger(size)}
	for range size {
		o.workers = append(o.workers,
			&worker{finder: interest.NewFinder(), encoder: replica.NewWorker(p)})
	}
	for _, w := range o.workers[1:] {
		wake := make(chan bool, 1)
		o.wake = append(o.wake, wake)
		o.alive.Go(func() {
			stageSnapshots.begin()
			for range wake {
				o.work(w)
				o.working.Done()
			}
		})
	}
	return o
}

// run does the work of all peers, and returns when it is done.
func (o *pool) run(todo []*peer) {
	o.todo = todo
	o.next.Store(0)
	others := min(len(o.wake), len(todo)-1)
	for i := range others {
		o.working.Add(1)
		o.wake[i] <- true
	}
	o.work(o.workers[0])
	o.working.Wait()
	o.todo = nil
}

// work takes peers, one after the other, until none is left.
func (o *pool) work(w *worker) {
	for {
		i := int(o.next.Add(1)) - 1
		if i >= len(o.todo) {
			return
		}
		o.todo[i].look(w)
	}
}

// spent adds up and forgets what the workers have spent.
func (o *pool) spent() (look, encode time.Duration) {
	for _, w := range o.workers {
		look += w.interest
		encode += w.encode
		w.interest, w.encode = 0, 0
	}
	return look, encode
}

func (o *pool) close() {
	for _, c := range o.wake {
		close(c)
	}
	o.wake = nil
	o.alive.Wait()
	o.beside.close()
}
