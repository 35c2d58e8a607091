package kept

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// Options say how a desk works. The zero value is a game of its own.
type Options struct {
	// Owner is who claims, for people to read: a server's name.
	Owner string
	// World is the number of a world that has none yet: drawn at random, so that no other has it.
	World uint64
	// Every is once in how many ticks an entity is written, if it changed, with all that changed
	// meanwhile. Default: a second. Below zero, in each.
	Every int
	// Batch is how many rows are written at once. Default: 500, which is some milliseconds in a
	// database, so that requests are not kept waiting.
	Batch int
	// Prune is once in how many ticks answers are forgotten for which nobody can ask again, if
	// there are new ones. Default: ten seconds. Below zero, never.
	Prune int
	// Led says that the number of the fence is given by SetEpoch, as on mirrors, and not claimed.
	Led bool
}

// mostJobs is how many batches may wait; what changes meanwhile stays where it is, and is
// coalesced.
const mostJobs = 4

// A Desk stands between a world and its store. Each tick it looks at the world, and finds what is
// to be loaded, executed and written: jobs for a store, which others run. What came of them it puts
// among the inputs of later ticks. So whatever the store does, the world follows from its inputs.
//
// Its methods belong to one goroutine at a time; only Job.Run may run beside them.
type Desk struct {
	plan     *plan
	opt      Options
	rate     world.Tick
	fence    Fence
	fenced   bool
	leads    bool
	ready    bool // the fence is the store's, and all that was executed before is known
	claiming bool
	tick     world.Tick
	last     *world.World // that was seen at that tick
	world    uint64

	tables  []shadows
	changed queue // shadows that are dirty, the one that is so for longest first
	left    queue // those whose entities are gone
	keys    map[Key]*shadow
	books   map[uint64]*Schema

	asked   map[world.Name]*asking // requests that are pending
	loading map[world.ID]*asking   // entities that are wanted
	first   []*Job                 // requests
	jobs    []*Job                 // all others, in order
	writes  int                    // of them that write, and that run
	running int                    // rows of those that run
	free    []*Job
	told    []telling
	greeted map[world.Player]greeting
	known   []string   // accounts by player, as the world has them
	awaited world.Tick // where another leads: what it has to be safe for
	prune   pruning
	news    []News
	stats   Stats
}

// An asking is a question to the store that the world has, too.
type asking struct {
	answer telling
	done   bool
	again  world.Tick // when the answer is told again, if the world has not heard it
	seen   world.Tick
}

type greeting struct {
	account string
	at      world.Tick
}

// A telling is an input for the world.
type telling struct {
	to   world.Name
	tell func(in *world.Inputs, to world.Name) error
}

// Stats count what a desk has done.
type Stats struct {
	Loads, Failed    uint64 // entities that were loaded, and that could not be
	Rows, Writes     uint64 // rows that were written, and in how many transactions
	Requests, Again  uint64 // that were executed, and that had been before
	Lost             uint64 // rows that were refused, as another session has them
	Retries          uint64 // of jobs, as the store was away
	Prunes           uint64 // how often answers were forgotten
	Waiting, Pending int    // rows that are not written yet, and requests
	Oldest           world.Tick
	Fenced           bool
}

// News is something that people should know.
type News struct {
	Key    Key
	Entity world.ID // whose owner is to be told, or None
	Text   string
}

// NewDesk makes the desk of a game, or gives nil if nothing is kept of it.
func NewDesk(g *world.Game, o Options) (*Desk, error) {
	p, err := planOf(g)
	if p == nil || err != nil {
		return nil, err
	}
	if o.Every == 0 {
		o.Every = g.Rate()
	}
	if o.Prune == 0 {
		o.Prune = 10 * g.Rate()
	}
	if o.Batch <= 0 {
		o.Batch = 500
	}
	d := &Desk{plan: p, opt: o, rate: world.Tick(g.Rate()), keys: map[Key]*shadow{},
		asked: map[world.Name]*asking{}, loading: map[world.ID]*asking{},
		greeted: map[world.Player]greeting{}}
	for _, c := range p.classes {
		d.tables = append(d.tables,
			shadows{class: c, spare: reflect.New(c.typ).UnsafePointer()})
	}
	return d, nil
}

// Open tells a store what this game's rows mean, and learns what others have told it. It is to be
// called before the first tick; an error is that the store cannot be used.
func (d *Desk) Open(ctx context.Context, s Store) error {
	mine, err := Schemas(d.plan.game)
	if err != nil {
		return err
	}
	for hash, text := range mine {
		if err := s.Schema(ctx, hash, text); err != nil {
			return fmt.Errorf("kept: %w", err)
		}
	}
	texts, err := s.Schemas(ctx)
	if err != nil {
		return fmt.Errorf("kept: %w", err)
	}
	d.books = readSchemas(texts)
	return nil
}

// SetEpoch says whether this desk is the one that has jobs done for the world, and by which epoch:
// on mirrors, the number of the decree by which this one leads.
func (d *Desk) SetEpoch(leads bool, epoch uint64) {
	if leads && (!d.leads || epoch != d.fence.Epoch) {
		d.fenced, d.ready, d.prune = false, false, pruning{}
		for i := range d.tables { // what the one before had written is not known
			for _, s := range d.tables[i].live {
				s.doubt = true
			}
		}
		clear(d.asked)
		clear(d.loading)
	}
	d.leads, d.fence.Epoch = leads, epoch
	d.ready = d.ready && leads
}

// Begin says that another world follows. What was seen of the one before is still written.
func (d *Desk) Begin() {
	d.refreshAll()
	for i := range d.tables {
		t := &d.tables[i]
		for _, s := range t.live {
			d.lose(t, s)
		}
		t.live = t.live[:0]
	}
	d.last = nil
	clear(d.asked)
	clear(d.loading)
	clear(d.greeted)
	d.first = slices.DeleteFunc(d.first, func(j *Job) bool { return j.state != jobRuns })
	for _, j := range d.jobs { // the world that follows is safe no sooner than what was before
		j.tick = min(j.tick, 1)
	}
	d.told, d.tick, d.world, d.ready = d.told[:0], 0, 0, false
	d.opt.World += 2 // its ticks are counted anew, so it has to have a number of its own
	d.prune = pruning{}
	if !d.opt.Led {
		d.fence = Fence{}
	}
}

// Tick looks at a world after a tick that is settled. Until the next tick the desk may look at it
// again, in Begin and Flush.
func (d *Desk) Tick(w *world.World) {
	d.tick = w.Tick()
	if !d.opt.Led {
		d.leads = true
	}
	d.found(w)
	d.look(w)
	d.freeze(w)
	if d.leads && !d.fenced {
		d.requests(w)
		d.notePrune(w)
		for id, a := range d.loading {
			if a.seen != d.tick {
				delete(d.loading, id)
			}
		}
		d.seal()
	} else {
		d.forget()
		d.await(w)
	}
}

// await finds up to which tick the world has to be safe for the one who leads to do what people
// wait for. A request that is pending for long may have been taken over by another, who needs a
// later tick than the first.
func (d *Desk) await(w *world.World) {
	d.awaited = 0
	note := func(t world.Tick) {
		if d.tick >= t+2*d.rate {
			t = d.tick - d.tick%max(d.rate/4, 1)
		}
		d.awaited = max(d.awaited, t)
	}
	for id := range world.All[request](w) {
		note(w.Origin(id).Tick)
	}
	for i := range d.tables {
		t := &d.tables[i]
		for _, id := range t.wanted {
			if at := w.Host().Memory(id); at != nil && t.class.markOf(at).state == wanted {
				note(t.class.markOf(at).asked)
			}
		}
	}
}

// found sees that the world has a number, and the desk a fence for it.
func (d *Desk) found(w *world.World) {
	number := world.StateOf[clerk](w).World
	if number == 0 {
		if d.leads && (d.tick == 1 || d.tick%d.rate == 0) {
			born := keptWorld{max(d.opt.World, 1)}
			d.tell(telling{world.Name{}, func(in *world.Inputs, to world.Name) error {
				return world.TellAnswer(in, to, born)
			}})
		}
		return
	}
	if number != d.world {
		d.world = number
		d.fence.Subject = subjectOf(number)
	}
	if d.leads && !d.ready && !d.fenced && !d.claiming {
		d.claiming = true
		j := d.job(jobClaim)
		j.owner = d.opt.Owner
		j.state = jobWaits
		d.jobs = slices.Insert(d.jobs, 0, j) // what is left of a world before waits for it
	}
}

// subjectOf is what the one process that writes for a world has a fence for.
func subjectOf(number uint64) string { return fmt.Sprintf("game/%016x", number) }

// lose notes that an entity is gone. What was seen of it last is written soon.
func (d *Desk) lose(t *shadows, s *shadow) {
	t.leave(s)
	s.gone, s.spent = true, s.spent || s.frozen != 0 && s.frozen+1 >= d.tick
	if !s.dirty {
		s.dirty, s.since = true, d.tick
	}
	d.left.push(s) // and where it is in changed, it is passed over
}

// want asks for what an entity is to be.
func (d *Desk) want(t *shadows, id world.ID, m *Mark) {
	if m.of == "" || !d.leads || d.fenced {
		return
	}
	if a := d.loading[id]; a != nil && a.answer.to.Tick == m.asked {
		d.repeat(a)
		return
	}
	key := Key{t.class.Class, t.class.Scope, m.of}
	if !d.ready {
		return
	}
	if s := d.keys[key]; s != nil && !s.spent && s.frozen+1 < d.tick {
		if d.refresh(s); s.dirty {
			d.write(s) // before it is read
		}
	}
	d.loading[id] = &asking{seen: d.tick, answer: telling{to: world.Name{By: id, Tick: m.asked}}}
	j := d.job(jobLoad)
	j.rows = append(j.rows, Row{Key: key})
	j.id, j.asked = id, m.asked
	j.name = Name{d.world, m.asked, id, loadOrdinal}
	d.push(j)
}

// loadOrdinal is that of the names by which accounts are claimed: no entity asks for so much at a
// tick.
const loadOrdinal = 1<<16 - 1

// repeat tells an answer again if the world has not heard it after a while.
func (d *Desk) repeat(a *asking) {
	a.seen = d.tick
	if a.done && d.tick >= a.again {
		a.again = d.tick + 2*d.rate
		d.tell(a.answer)
	}
}

// freeze notes what is not to be written as a request is pending.
func (d *Desk) freeze(w *world.World) {
	for _, r := range world.All[request](w) {
		for _, party := range r.Parties {
			if s := d.shadowOf(party); s != nil {
				d.refresh(s)
				s.frozen, s.doubt = d.tick, true // the request changes what the store has
			}
		}
	}
}

// requests finds those that are new.
func (d *Desk) requests(w *world.World) {
	if !d.ready {
		return
	}
	for id, r := range world.All[request](w) {
		name := w.Origin(id)
		if a := d.asked[name]; a != nil {
			d.repeat(a)
		} else if int(r.Kind) < len(d.plan.kinds) {
			d.asked[name] = &asking{seen: d.tick}
			d.request(r, name)
		}
	}
	for name, a := range d.asked {
		if a.seen != d.tick {
			delete(d.asked, name)
		}
	}
}

func (d *Desk) shadowOf(id world.ID) *shadow {
	if id == world.None {
		return nil
	}
	for i := range d.tables {
		if t := &d.tables[i]; t.class.info.Number() == id.Class() {
			return t.find(id)
		}
	}
	return nil
}

// request makes the job of a request: with its parties as they are now, so that nothing of them
// that waits to be written may be written after it.
func (d *Desk) request(r *request, name world.Name) {
	j := d.job(jobDo)
	j.to, j.request, j.data = name, d.plan.kinds[r.Kind], []byte(r.Data)
	j.name = Name{d.world, name.Tick, name.By, name.Ordinal}
	for _, party := range r.Parties {
		if party == world.None {
			break
		}
		s := d.shadowOf(party)
		if s == nil { // it has left: then only what was done before counts
			j.short = true
			j.rows, j.ids, j.of = append(j.rows, Row{}), append(j.ids, party), append(j.of, nil)
			j.fences, j.drop = append(j.fences, Fence{}), append(j.drop, false)
			continue
		}
		if s.job != nil {
			s.job.drop[s.row] = true
		}
		table := slices.IndexFunc(d.tables, func(t shadows) bool { return t.class == s.class })
		j.rows = append(j.rows,
			Row{s.key, s.class.hash, s.append(nil, d.tables[table].spare)})
		j.ids, j.of = append(j.ids, party), append(j.of, s)
		j.fences, j.drop = append(j.fences, s.fence), append(j.drop, false)
	}
	j.state = jobWaits
	d.first = append(d.first, j)
}

// answer tells the world what came of a request, until it has heard it.
func (d *Desk) answer(name world.Name, data []byte) {
	a := d.asked[name]
	if a == nil {
		return // the world has it from another
	}
	said := keptAnswer{data}
	a.done, a.again = true, d.tick+2*d.rate
	a.answer = telling{name, func(in *world.Inputs, to world.Name) error {
		return world.TellAnswer(in, to, said)
	}}
	d.tell(a.answer)
}

func (d *Desk) tell(t telling) { d.told = append(d.told, t) }

// Meet is told who sits where, by the one who serves them: the world learns of each player's
// account. The world is the newest that there is, settled or not.
func (d *Desk) Meet(w *world.World, each func(yield func(p world.Player, account string) bool)) {
	clear(d.known)
	for id, g := range world.All[guest](w) {
		p := int(w.Owner(id))
		for p >= len(d.known) {
			d.known = append(d.known, "")
		}
		d.known[p] = g.Account
	}
	for p, account := range each {
		if int(p) < len(d.known) && d.known[p] == account || account == "" || !w.Present(p) {
			continue
		}
		if g := d.greeted[p]; g.account == account && w.Tick() < g.at+d.rate && w.Tick() >= g.at {
			continue
		}
		d.greeted[p] = greeting{account, w.Tick()}
		said := keptGuest{uint16(p), account[:min(len(account), maxName)]}
		d.tell(telling{world.Name{Ordinal: uint16(p)},
			func(in *world.Inputs, to world.Name) error { return world.TellAnswer(in, to, said) }})
	}
}

// Answers says whether there is something to tell the world.
func (d *Desk) Answers() bool { return len(d.told) > 0 }

// Tell puts what the store has answered among the inputs of a tick. What does not come in, as it
// could not be taken, is told again later.
func (d *Desk) Tell(in *world.Inputs) error {
	var wrong []error
	n := min(len(d.told), mostTold)
	for _, t := range d.told[:n] {
		wrong = append(wrong, t.tell(in, t.to))
	}
	d.told = slices.Delete(d.told, 0, n)
	return errors.Join(wrong...)
}

// mostTold is how much is told in a tick, of the 1024 that a world takes; the rest is told later.
const mostTold = 256

// News gives what people should know, once.
func (d *Desk) News() []News {
	list := d.news
	d.news = nil
	return list
}

// Stats says how the desk does.
func (d *Desk) Stats() Stats {
	s := d.stats
	s.Waiting, s.Pending, s.Fenced = d.changed.len()+d.left.len(), len(d.asked), d.fenced
	if o := d.changed.oldest(); o != nil {
		s.Oldest = d.tick - min(o.since, d.tick)
	}
	return s
}
