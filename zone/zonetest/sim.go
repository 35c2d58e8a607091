package zonetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/coeval-dev/coeval/internal/heap"
	"github.com/coeval-dev/coeval/zone"
	"github.com/coeval-dev/coeval/zone/zonetest/audit"
)

// Options say what a run is.
type Options struct {
	Seed                   uint64
	Servers, Zones, Tokens int
	// MovePer and ActPer are of Rules.
	MovePer, ActPer uint64
	// For is how long tokens move, after a second in which servers start.
	For time.Duration
	// Every is how long it takes on average from one fault to the next. Zero is for none.
	Every time.Duration
	Odds  Odds
	// Skew is by how much clocks of servers are apart at most.
	Skew time.Duration
	// CrashAt kills the server that does the nth thing, an operation or a message, before it is
	// done, or after it. Zero is for none.
	CrashAt    int
	CrashAfter bool
	// Unfenced has the journal take whatever anyone appends, and Hasty acknowledges appends
	// before they are durable: the audit must find what that does.
	Unfenced, Hasty bool
	// Panics is of Rules.
	Panics func(id zone.ID, in *zone.Input) bool
	// Standby is of zone.Options.
	Standby bool
	// Buddies is of zone.Options. Liars say of other servers that they have ended, so that nobody
	// waits for what they hold: the audit must find what that does.
	Buddies, Liars bool
	// NoReplay leaves out computing everything once more for the audit.
	NoReplay bool
}

// Report is what came of a run.
type Report struct {
	Audit     *audit.Audit
	Stats     zone.Stats // of all servers
	Late      [zone.MaxMissed + 2]uint64
	TakeOvers []time.Duration // from a server's death until a zone of it was durable again
	Crashes   int
	Faults    map[string]int
	Actions   int // operations and messages
	Halted    []error
	Stuck     []string // zones that did not come to an end
	Cost      Cost
	Zoneticks uint64
	Notices   map[zone.NoticeKind]int
}

// Cost is what servers sent and asked for.
type Cost struct {
	Messages, MessageBytes, Appends, AppendBytes, MapOps, MapBytes, StoreBytes uint64
}

// Sim is a run: some servers in virtual time.
type Sim struct {
	opt    Options
	rules  Rules
	now    time.Duration
	order  uint64
	queue  heap.Heap[time.Duration, func()]
	chance *rand.Rand
	kept   *kept
	nodes  []*node
	stalls stalls
	faulty bool
	lives  uint64
	down   map[zone.ID]time.Duration
	causes causes
	killed time.Duration
	report Report

	settled zone.Tick // when all had a snapshot after which nothing moved
}

// node is the place of a server, in which one after the other lives.
type node struct {
	slot    int
	life    uint64
	id      zone.ServerID
	alive   bool
	machine *zone.Server
	skew    time.Duration
	sim     *Sim
	paused  time.Duration // until when it does nothing
	owns    map[zone.ID]bool
	cut     struct {
		kept, maps time.Duration   // until when it reaches nothing that is kept, or no map
		to         []time.Duration // until when messages to each other node are lost
	}
}

func (n *node) clock() time.Duration { return n.sim.now + n.skew }

// New sets a run up: zones in a ring of rows, tokens spread over them.
func New(o Options) *Sim {
	s := &Sim{opt: o, chance: rand.New(rand.NewPCG(o.Seed, 24)), down: map[zone.ID]time.Duration{}}
	s.kept = newKept(func() time.Duration { return s.now })
	s.kept.unfenced = o.Unfenced
	s.rules = Rules{Neighbours: s.neighbours, MovePer: o.MovePer, ActPer: o.ActPer,
		Panics: o.Panics}
	s.rules.Quiet = zone.Tick((o.For + o.Skew) * 60 / time.Second)
	s.report.Audit = audit.New(&game{s})
	s.report.Faults = map[string]int{}
	s.report.Notices = map[zone.NoticeKind]int{}
	s.kept.appended = func(id zone.ID, r zone.Record) {
		s.report.Audit.Record(uint32(id), r.Sequence, r.Data)
	}
	if o.Buddies {
		s.causes = causes{audit: s.report.Audit, sent: map[[2]uint32]uint64{}}
		s.kept.appended = s.causes.record
	}
	for i := range o.Zones {
		id := zone.ID(i + 1)
		b := NewTokens(id, &s.rules)
		for t := range o.Tokens {
			b.Add(Token{ID: uint64(i*o.Tokens+t) + 1, Value: 1000})
		}
		key, data := zone.Found(id, 0, b)
		s.kept.store[key] = data
		s.report.Audit.Found(data)
		var a zone.Assignment
		s.kept.set(&zone.Op{Kind: zone.MapSet, Key: zone.ZoneKey(id), Data: a.Append(nil)})
	}
	for i := range o.Servers {
		n := &node{slot: i, sim: s}
		n.cut.to = make([]time.Duration, o.Servers)
		if o.Skew > 0 {
			n.skew = time.Duration(s.chance.Int64N(int64(o.Skew)))
		}
		s.nodes = append(s.nodes, n)
		s.start(n)
	}
	return s
}

// neighbours of a zone are those beside it and those a row away, in a ring.
func (s *Sim) neighbours(id zone.ID) (list []zone.ID) {
	n := s.opt.Zones
	for _, step := range [...]int{1, n - 1, n / 2, n - n/2} {
		next := zone.ID((int(id)-1+step)%n + 1)
		seen := next == id
		for _, l := range list {
			seen = seen || l == next
		}
		if !seen {
			list = append(list, next)
		}
	}
	return list
}

func (s *Sim) at(t time.Duration, do func()) {
	s.order++
	s.queue = s.queue.Push(heap.Item[time.Duration, func()]{Key: max(t, s.now), Order: s.order,
		Value: do})
}

// forNode has something happen to a server, unless it has died by then, and not before it runs.
func (s *Sim) forNode(n *node, life uint64, t time.Duration, do func()) {
	s.at(t, func() {
		switch {
		case !n.alive || n.life != life:
		case n.paused > s.now:
			s.forNode(n, life, n.paused, do)
		default:
			do()
		}
	})
}

func (s *Sim) start(n *node) {
	was := n.id
	s.lives++
	n.life, n.alive, n.owns = s.lives, true, map[zone.ID]bool{}
	n.id = zone.ServerID(mix(s.opt.Seed, n.life, 7))
	before := []zone.ServerID{was}
	for life := uint64(1); s.opt.Liars && life < 16; life++ {
		before = append(before, zone.ServerID(mix(s.opt.Seed, life, 7)))
	}
	m, err := zone.New(n.clock(), zone.Options{Self: n.id, Standby: s.opt.Standby,
		Buddies: s.opt.Buddies, Before: before,
		Body: func(id zone.ID) zone.Body { return NewTokens(id, &s.rules) }})
	if err != nil {
		panic(err)
	}
	n.machine = m
	s.tick(n, n.life)
}

func (s *Sim) tick(n *node, life uint64) {
	s.forNode(n, life, s.now, func() {
		n.machine.Tick(n.clock())
		s.drain(n)
		if n.alive && n.life == life {
			wait := max(n.machine.Deadline()-n.clock(), time.Millisecond)
			s.at(s.now+wait, func() { s.tick(n, life) })
		}
	})
}

// kill ends a server at once.
func (s *Sim) kill(n *node) {
	if !n.alive {
		return
	}
	s.collect(n)
	n.alive = false
	s.report.Crashes++
	for id := range n.owns {
		if _, ok := s.down[id]; !ok {
			s.down[id] = s.now
		}
	}
	for _, j := range s.kept.journals {
		if last, ok := j.last(); ok && s.opt.Hasty {
			j.promised = last.Sequence
		}
	}
}

// step counts what servers do, and kills the one that does the nth thing.
func (s *Sim) step(n *node, do func()) bool {
	s.report.Actions++
	if s.report.Actions == s.opt.CrashAt {
		if s.opt.CrashAfter {
			do()
		}
		s.kill(n)
		s.at(s.now+500*time.Millisecond, func() { s.start(n) })
		return false
	}
	do()
	return true
}

// drain carries out what a machine wants.
func (s *Sim) drain(n *node) {
	for _, op := range n.machine.Ops() {
		if !s.step(n, func() { s.submit(n, op) }) {
			return
		}
	}
	for _, m := range n.machine.Messages() {
		if !s.step(n, func() { s.send(n, m) }) {
			return
		}
	}
	for _, note := range n.machine.Notices() {
		s.note(n, &note)
	}
}

func (s *Sim) note(n *node, note *zone.Notice) {
	s.report.Notices[note.Kind]++
	switch note.Kind {
	case zone.Owned:
		n.owns[note.Zone] = true
	case zone.Deposed:
		delete(n.owns, note.Zone)
	case zone.Durable:
		if since, ok := s.down[note.Zone]; ok {
			s.report.TakeOvers = append(s.report.TakeOvers, s.now-since)
			delete(s.down, note.Zone)
		}
	case zone.Halted:
		delete(n.owns, note.Zone)
		s.report.Halted = append(s.report.Halted,
			fmt.Errorf("zone %d at tick %d: %w", note.Zone, note.Tick, note.Err))
	}
}

// Run plays it to its end.
func (s *Sim) Run() *Report {
	s.faulty = true
	if s.opt.Every > 0 {
		s.at(2*time.Second, s.fault)
	}
	end := time.Second + s.opt.For
	s.at(end, s.heal)
	for s.until(end); !s.over(); s.until(s.now + time.Second/4) {
		if s.now > end+time.Minute {
			s.report.Stuck = s.behind()
			break
		}
	}
	var last [][]byte
	for i := range s.opt.Zones {
		last = append(last, s.kept.newest(zone.ID(i+1)))
	}
	s.causes.end()
	s.report.Audit.Finish(last)
	for _, n := range s.nodes {
		s.collect(n)
	}
	return &s.report
}

// over says that all has arrived: each zone has a snapshot of a time when all had one from which
// nothing was waiting. One such for each is not enough, as what one zone had sent by its snapshot
// another may have taken, and forwarded, after its own.
func (s *Sim) over() bool {
	if len(s.behind()) > 0 {
		return false
	}
	if s.settled == 0 {
		for _, n := range s.nodes {
			s.settled = max(s.settled, n.machine.Due(n.clock()))
		}
	}
	return len(s.behind()) == 0
}

func (s *Sim) behind() (list []string) {
	for i := range s.opt.Zones {
		id := zone.ID(i + 1)
		shot, err := audit.ReadSnapshot(s.kept.newest(id))
		quiet := max(s.rules.Quiet, s.settled) + 120
		if err != nil || zone.Tick(shot.Tick) < quiet ||
			len(shot.Waiting)+len(shot.Held) > 0 {
			list = append(list, fmt.Sprintf("zone %d at tick %d of %d, %d items not taken", id,
				shot.Tick, quiet, len(shot.Waiting)+len(shot.Held)))
		}
	}
	return list
}

func (s *Sim) until(end time.Duration) {
	for len(s.queue) > 0 && s.queue[0].Key <= end {
		var next heap.Item[time.Duration, func()]
		next, s.queue = s.queue.Pop()
		s.now = next.Key
		next.Value()
	}
	s.now = end
}
