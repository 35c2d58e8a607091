package server

import (
	"cmp"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/replica"
)

// This file is how a server learns from what it sends: workers gather a share of what they encode,
// every so often tables are made of that in a goroutine that keeps to a part of a core, and if
// they are better than those in use by enough they become a generation. offering.go is how clients
// get it.

// A Learning says how a server learns better tables while it runs, from nothing but what it sends.
// The zero value is good.
type Learning struct {
	// Known are tables that were learned before, the latest first, as Keep was given them. Those of
	// another game or version, or damaged ones, are left out, and told of.
	Known [][]byte
	// Keep, if set, is given each generation of tables that was made, for Known of the next start.
	// Start what takes long and return at once.
	Keep func(tables []byte)
	// First is after how much play the first tables are made, and Every how long the longest wait
	// between two is; between them the waits double. Defaults: 15 s and 5 min.
	First, Every time.Duration
	// Gain is by what share tables must be better than those in use. Default: 0.04.
	Gain float64
	// Memory bounds what is gathered, in bytes, for each of the two halves that take turns.
	// Default: 16 MiB.
	Memory int
	// Share is what part of a core learning may take. Default: 0.2.
	Share float64
	// Rate is how many bytes of tables all clients together are sent in a second. Default: 64 KiB.
	Rate int
	// Inline learns within Tick: for simulations that are to be repeated, with Workers of 1. The
	// server stands still meanwhile, by the machine's clock and not by its own.
	Inline bool
}

func (l *Learning) fill() {
	orElse(&l.First, 15*time.Second)
	orElse(&l.Every, 5*time.Minute)
	l.Gain = cmp.Or(l.Gain, 0.04)
	orElse(&l.Memory, 16<<20)
	l.Share = min(max(cmp.Or(l.Share, 0.2), 0.01), 1)
	orElse(&l.Rate, 64<<10)
}

// A generation is a set of tables that was learned. Its number is not another's as long as any
// client is sent packets by it.
type generation struct {
	number uint8
	model  *codec.Model
	data   []byte
	hash   [32]byte
}

// learning is the learner of a server, or nil where tables are frozen. store belongs to the
// goroutine that learns while busy, and to the server otherwise.
type learning struct {
	Learning
	protocol *replica.Protocol
	workers  []*worker
	gathered []*codec.Samples // by worker
	store    *codec.Samples
	fresh    *codec.Samples // the latest, to see what tables are worth
	every    uint32         // one in so many entities is gathered
	busy     bool
	done     chan made
	over     atomic.Bool
	alive    sync.WaitGroup
	now      time.Duration
	gatherAt time.Duration
	learnAt  time.Duration
	wait     time.Duration
	began    bool

	live [2]*generation // the latest first
	last uint8          // number that was given out
	rate float64        // bytes that may be sent now
}

// made is what the goroutine has come to.
type made struct {
	model  *codec.Model
	data   []byte
	better bool
	took   time.Duration
}

// Samples that are gathered in a second, and how many are needed to learn from.
const (
	samplesRate = 1500
	fewSamples  = 400
)

// Learn has the server learn better tables for the codec from what it sends, and its clients go
// over to them. It is for before the first Tick; without it the tables are those of the title. A
// strategy that has no tables learns nothing.
func (s *Server) Learn(how Learning) {
	if s.learning != nil || !s.protocol.Learns() {
		return
	}
	l := &learning{Learning: how, protocol: s.protocol, workers: s.pool.workers, every: 1,
		done: make(chan made, 1)}
	l.fill()
	l.wait = l.First
	schema := s.protocol.Model().Schema()
	l.store, l.fresh = codec.NewSamples(schema, l.Memory), codec.NewSamples(schema, l.Memory/8)
	for _, w := range l.workers {
		x := codec.NewSamples(schema, l.Memory/4/len(l.workers))
		l.gathered = append(l.gathered, x)
		w.encoder.Learn(x, l.every)
	}
	for i := range l.Known {
		if l.live[0] != nil {
			break
		}
		m, err := s.protocol.LoadTables(l.Known[i])
		if err != nil {
			s.tell(News{Kind: TablesUnfit, Err: err})
			continue
		}
		l.adopt(m, l.Known[i])
	}
	s.learning = l
}

// adopt makes tables the latest generation. What was the one before the last is given up.
func (l *learning) adopt(m *codec.Model, data []byte) {
	l.last = l.last%(replica.TableSets-1) + 1
	l.live[1] = l.live[0]
	l.live[0] = &generation{l.last, m, data, m.Hash()}
}

// tick gathers what workers have taken, begins to learn when it is time, and says whether there is
// a new generation.
func (l *learning) tick(now time.Duration, stats *TableStats) bool {
	l.now = now
	if l.busy {
		select {
		case m := <-l.done:
			return l.finish(m, stats)
		default:
			return false
		}
	}
	if now-l.gatherAt < time.Second {
		return false
	}
	due := l.began && now >= l.learnAt
	n := 0
	for i, x := range l.gathered {
		n += x.Len()
		if due {
			l.fresh.Add(x)
		} else {
			l.store.Add(x)
		}
		x.Reset()
		l.workers[i].encoder.Learn(x, l.every)
	}
	l.pace(n, now-l.gatherAt)
	l.gatherAt = now
	if !l.began && n > 0 {
		l.began, l.learnAt = true, now+l.wait
	}
	if !due || l.store.Len() < fewSamples {
		return false
	}
	l.busy = true
	if l.Inline {
		l.learn()
		return l.finish(<-l.done, stats)
	}
	l.alive.Go(l.learn)
	return false
}

// close ends the goroutine, whatever it has come to.
func (l *learning) close() {
	if l != nil {
		l.over.Store(true)
		l.alive.Wait()
	}
}

// pace picks the share of what is encoded so that enough is gathered, and no more.
func (l *learning) pace(n int, in time.Duration) {
	total := float64(n) * float64(l.every) / max(in.Seconds(), 1)
	l.every = uint32(min(max(total/samplesRate, 1), 1<<20))
	for i, x := range l.gathered {
		l.workers[i].encoder.Learn(x, l.every)
	}
}

// learn makes tables, in a goroutine of its own.
func (l *learning) learn() {
	began := time.Now()
	worked := began
	rest := func() { // it works for a moment and then rests for several
		switch {
		case l.Inline:
			return
		case l.over.Load():
			runtime.Goexit() // nobody waits for the tables any more
		}
		if d := time.Since(worked); d > time.Millisecond {
			time.Sleep(time.Duration(float64(d) * (1/l.Share - 1)))
			worked = time.Now()
		}
		runtime.Gosched()
	}
	m := made{data: codec.Learn(l.store, codec.LearnOptions{Yield: rest})}
	var err error
	if m.model, err = l.protocol.LoadTables(m.data); err == nil {
		old := l.protocol.Model()
		if l.live[0] != nil {
			old = l.live[0].model
		}
		m.better = m.model.Cost(l.fresh) < old.Cost(l.fresh)*(1-l.Gain)
	}
	l.store.Add(l.fresh)
	l.fresh.Reset()
	if !l.Inline { // where it takes no time that counts
		m.took = time.Since(began)
	}
	l.done <- m
}

// finish takes what was made, if it is better by enough to pay for its bytes.
func (l *learning) finish(m made, stats *TableStats) bool {
	l.busy = false
	l.wait = min(2*l.wait, l.Every)
	l.learnAt = l.now + l.wait
	stats.Learned++
	stats.Took += m.took
	if !m.better {
		return false
	}
	l.adopt(m.model, m.data)
	stats.Made++
	if l.Keep != nil {
		l.Keep(m.data)
	}
	return true
}
