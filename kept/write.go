package kept

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/coeval-dev/coeval/world"
)

// This file is about jobs: how they are made, handed out and taken back.

// A queue has shadows in the order in which they came.
type queue struct {
	list []*shadow
	head int
}

func (q *queue) len() int { return len(q.list) - q.head }

func (q *queue) push(s *shadow) {
	if q.head > 64 && q.head*2 > len(q.list) {
		n := copy(q.list, q.list[q.head:])
		clear(q.list[n:])
		q.list, q.head = q.list[:n], 0
	}
	q.list = append(q.list, s)
}

func (q *queue) oldest() *shadow {
	if q.len() == 0 {
		return nil
	}
	return q.list[q.head]
}

func (q *queue) pop() *shadow {
	s := q.list[q.head]
	q.list[q.head] = nil
	q.head++
	return s
}

// job makes a job, or takes one that was done before.
func (d *Desk) job(k jobKind) *Job {
	var j *Job
	if n := len(d.free); n > 0 {
		j, d.free = d.free[n-1], d.free[:n-1]
	} else {
		j = new(Job)
	}
	*j = Job{kind: k, plan: d.plan, tick: d.tick, books: d.books, rows: j.rows[:0],
		fences: j.fences[:0], drop: j.drop[:0], skip: j.skip[:0], ids: j.ids[:0],
		of: j.of[:0], seen: j.seen.reset(), ending: ending{lost: j.lost[:0]}}
	return j
}

func (d *Desk) push(j *Job) {
	j.state = jobWaits
	if j.kind == jobWrite {
		d.writes++
	}
	d.jobs = append(d.jobs, j)
}

// recycle keeps a job to be used again. Only those of rows are many.
func (d *Desk) recycle(j *Job) {
	if j.kind == jobWrite && len(d.free) < mostJobs {
		j.state = jobIdle
		d.free = append(d.free, j)
	}
}

// seal makes jobs of what has changed long enough ago.
func (d *Desk) seal() {
	if !d.ready {
		return
	}
	for d.left.len() > 0 && d.writes < mostJobs {
		d.batch(&d.left)
	}
	// One batch in a tick, so that none is longer than others where the store was slow for a while;
	// more only if that were too few to write all of it within a second.
	most := 1 + d.changed.len()/(int(d.rate)*d.opt.Batch)
	for n := d.changed.len(); n > 0 && d.writes < mostJobs && most > 0; n -= d.opt.Batch {
		most--
		if o := d.changed.oldest(); o == nil || !o.gone && o.dirty && d.tick < o.due {
			return
		}
		d.batch(&d.changed)
	}
}

// batch makes a job of the first in a queue.
func (d *Desk) batch(q *queue) {
	j := d.job(jobWrite)
	for n := q.len(); n > 0 && len(j.of) < d.opt.Batch; n-- {
		s := q.oldest()
		if q == &d.changed {
			switch {
			case s.gone || !s.dirty: // it is in the other queue, or was written
				q.pop()
				continue
			case d.tick < s.due:
				n = 1
				continue
			}
		}
		q.pop()
		switch {
		case s.spent:
			s.dirty = false
			d.forgetKey(s)
		case s.frozen == d.tick && !s.gone: // not before the request is answered
			s.due = d.tick + 1
			q.push(s)
		case s.dirty:
			if s.looked != d.tick {
				d.refresh(s)
			}
			d.add(j, s)
		}
	}
	if len(j.of) == 0 {
		d.recycle(j)
		return
	}
	d.push(j)
}

// add puts a row into a job.
func (d *Desk) add(j *Job, s *shadow) {
	if s.job != nil {
		s.job.drop[s.row] = true // this one is newer
	}
	j.seen.add(s)
	j.drop, j.of = append(j.drop, false), append(j.of, s)
	s.dirty, s.job, s.row, s.wrote = false, j, len(j.of)-1, d.tick
	if s.gone {
		d.forgetKey(s)
	}
}

// write has a shadow written before all jobs that come after.
func (d *Desk) write(s *shadow) {
	j := d.job(jobWrite)
	d.add(j, s)
	d.push(j)
}

func (d *Desk) forgetKey(s *shadow) {
	if d.keys[s.key] == s {
		delete(d.keys, s.key)
	}
}

// away is for how long a desk that does not lead remembers those who left, to write them if it has
// to take over.
const away = 10 // seconds

// forget drops what the one that leads has written by now.
func (d *Desk) forget() {
	for d.changed.len() > 0 && d.changed.oldest().since+away*d.rate < d.tick {
		if s := d.changed.pop(); !s.gone {
			s.dirty = false
		}
	}
	for d.left.len() > 0 && d.left.oldest().since+away*d.rate < d.tick {
		s := d.left.pop()
		s.dirty = false
		d.forgetKey(s)
	}
}

// Take gives the job that is to be run next, or nil. Durable is up to which tick the world is safe:
// nothing is written that follows from a later one. Requests go first.
func (d *Desk) Take(durable world.Tick) *Job {
	d.beginPrune(durable)
	ready := func(j *Job) bool {
		if j.kind == jobClaim {
			return j.now < d.tick // once a tick
		}
		return j.tick <= durable && d.ready
	}
	var j *Job
	switch {
	case d.fenced:
		return nil
	case len(d.first) > 0 && ready(d.first[0]):
		j, d.first = d.first[0], d.first[1:]
	case len(d.jobs) > 0 && ready(d.jobs[0]):
		j, d.jobs = d.jobs[0], d.jobs[1:]
	default:
		return nil
	}
	j.state, j.game, j.now, j.pruned = jobRuns, d.fence, d.tick, d.prune.done
	j.skip = append(j.skip[:0], j.drop...)
	d.running += j.count()
	return j
}

// Wanted is up to which tick the world has to be safe for what people wait for, requests and loads,
// or 0 if there is nothing: for whoever could see to it sooner. On mirrors all must, so those that
// do not lead say it too.
func (d *Desk) Wanted() (t world.Tick) {
	if !d.leads {
		return d.awaited
	}
	for _, list := range [][]*Job{d.first, d.jobs} {
		for _, j := range list {
			if j.kind == jobLoad || j.kind == jobDo || j.kind == jobClaim {
				t = max(t, j.tick)
			}
		}
	}
	return t
}

// Done takes a job back that was run, with the error that it gave. After an error it is the next
// one again.
func (d *Desk) Done(j *Job, err error) {
	d.running -= j.count()
	if err != nil {
		d.stats.Retries++
		j.state = jobWaits
		if j.kind == jobDo {
			d.first = slices.Insert(d.first, 0, j)
		} else {
			d.jobs = slices.Insert(d.jobs, 0, j)
		}
		return
	}
	if j.kind == jobWrite {
		d.writes--
	}
	if j.fenced {
		d.refused(j)
		d.release(j)
		return
	}
	switch j.kind {
	case jobClaim:
		d.claiming = false
		switch {
		case j.game.Subject != d.fence.Subject || d.opt.Led && j.game.Epoch != d.fence.Epoch:
		case j.behind:
			d.stats.Retries++
		default:
			d.fence, d.ready, d.prune.done = j.game, d.leads, j.pruned
		}
	case jobLoad:
		d.loadDone(j)
	case jobWrite:
		d.stats.Writes++
		d.stats.Rows += uint64(j.count() - len(j.lost))
		d.loseAll(j)
	case jobDo:
		if d.stats.Requests++; j.again {
			d.stats.Again++
		}
		d.loseAll(j)
		d.answer(j.to, j.answer)
	case jobPrune:
		d.pruneDone(j)
	}
	d.release(j)
	d.recycle(j)
}

// refused takes that another process writes for the world, unless this one leads by a newer decree.
func (d *Desk) refused(j *Job) {
	d.claiming = d.claiming && j.kind != jobClaim
	if j.game != d.fence || d.fenced {
		return
	}
	d.fenced = true
	d.news = append(d.news, News{Text: "another process writes for this world: what is played " +
		"here from now on is not kept"})
}

// release has shadows forget the job that had their rows.
func (d *Desk) release(j *Job) {
	for i, s := range j.of {
		if s != nil && s.job == j && s.row == i {
			s.job = nil
		}
		j.of[i] = nil
	}
}

// loadDone tells the world what an entity is.
func (d *Desk) loadDone(j *Job) {
	if d.stats.Loads++; j.failed != "" {
		d.stats.Failed++
		d.news = append(d.news, News{Key: j.rows[0].Key, Entity: j.id,
			Text: fmt.Sprintf("it cannot be loaded: %s", j.failed)})
	}
	if len(j.books) > len(d.books) {
		d.books = maps.Clone(j.books)
	}
	a := d.loading[j.id]
	if a == nil || a.answer.to.Tick != j.asked {
		return
	}
	said := keptLoaded{j.epoch, j.failed, j.patch}
	a.done, a.again = true, d.tick+2*d.rate
	a.answer.tell = func(in *world.Inputs, to world.Name) error {
		return world.TellAnswer(in, to, said)
	}
	d.tell(a.answer)
}

// loseAll tells the world which entities another session has by now.
func (d *Desk) loseAll(j *Job) {
	for _, i := range j.lost {
		d.stats.Lost++
		said := keptLost{j.fences[i].Epoch}
		if s := j.of[i]; s != nil && s.fence == j.fences[i] {
			if s.spent {
				continue
			}
			s.spent = true
		}
		d.news = append(d.news, News{Key: j.rows[i].Key, Entity: j.ids[i],
			Text: "another session has taken it over: what is played here is not kept any more"})
		d.tell(telling{world.Name{By: j.ids[i]}, func(in *world.Inputs, to world.Name) error {
			return world.TellAnswer(in, to, said)
		}})
	}
}

// Work does all jobs that there are, at once, with a store that never is away: for a game alone.
func (d *Desk) Work(ctx context.Context, s Store) error {
	for {
		j := d.Take(d.tick)
		if j == nil {
			return nil
		}
		err := j.Run(ctx, s)
		if d.Done(j, err); err != nil {
			return err
		}
	}
}

// Flush makes jobs of all that is not written, but for the parties of requests that are pending,
// and says how many rows are on their way. It is for the end: call it after the last tick, and do
// the jobs, until nothing is left.
func (d *Desk) Flush() (left int) {
	if d.leads && !d.fenced && d.ready {
		d.refreshAll()
		for i := range d.tables {
			for _, s := range d.tables[i].live {
				if s.dirty && s.frozen != d.tick && !s.spent {
					d.write(s)
				}
			}
		}
		for d.left.len() > 0 {
			d.batch(&d.left)
		}
	}
	if d.fenced {
		return 0
	}
	for _, j := range d.jobs {
		left += j.count()
	}
	return left + d.running
}
