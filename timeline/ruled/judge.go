package ruled

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// rulings hold what was ruled, by tick, from the first that is not settled on, in a ring; and what
// came before its term was known.
type rulings struct {
	ring  []Ruling // of tick 0 where there is none
	early []*Ruling
}

func newRulings(ticks int) rulings { return rulings{ring: make([]Ruling, ticks)} }

// slot is where the ruling for a tick stands, or will.
func (s *rulings) slot(n world.Tick) *Ruling { return &s.ring[int(n%world.Tick(len(s.ring)))] }

// at gives the ruling for a tick, or nil if there is none.
func (s *rulings) at(n world.Tick) *Ruling {
	if r := s.slot(n); r.Tick == n && n > 0 {
		return r
	}
	return nil
}

// drop gives up what was ruled for ticks after one.
func (s *rulings) drop(after world.Tick) {
	for i := range s.ring {
		if s.ring[i].Tick > after {
			s.ring[i].Tick = 0
		}
	}
}

// terms say who rules when. Each term begins after the last tick of the one before.
type terms struct {
	term   uint32     // the present one
	from   world.Tick // it rules the ticks after this one
	self   bool       // this mirror is its judge
	active bool       // and has begun to rule
	ended  []ended    // earlier ones with ticks that are not settled
}

type ended struct {
	term  uint32
	until world.Tick
}

// of is the term that rules a tick.
func (s *terms) of(n world.Tick) uint32 {
	for _, e := range s.ended {
		if n <= e.until {
			return e.term
		}
	}
	return s.term
}

// next begins a term.
func (s *terms) next(self bool, from world.Tick) {
	if from > s.from {
		s.ended = append(s.ended, ended{s.term, from})
	}
	s.term, s.from, s.self, s.active = s.term+1, from, self, false
}

func (s *terms) trim(settled world.Tick) {
	for len(s.ended) > 0 && s.ended[0].until <= settled {
		s.ended = slices.Delete(s.ended, 0, 1)
	}
}

// Rule takes in what the judge ruled, in whatever order it comes; the ruling is copied. It is
// OnTime if it was taken in, Duplicate if it was there already, and Superseded if it is of a judge
// who was not the judge any more, or not yet, at its tick. What comes before SetJudge has told of
// its term is kept, within limits. An error means that the ruling was refused: with ErrAhead if
// there is no room for it, so that it has to be submitted again later; with ErrMirror if it is not
// to be believed.
func (t *Timeline) Rule(_ time.Duration, r *Ruling) (timeline.Fate, error) {
	if r == nil || r.Tick == 0 || r.schema != t.Game.Commands() {
		return t.Refuse(
			errors.New("timeline: a ruling for nothing, or for another game; make it by " +
				"ParseRuling with this one"))
	}
	if r.Tick >= t.Done()+world.Tick(len(t.rulings.ring)) {
		return t.Refuse(
			fmt.Errorf("timeline: ruling for tick %d: %w: there is room up to tick %d; advance "+
				"first", r.Tick, timeline.ErrAhead, t.Done()+world.Tick(len(t.rulings.ring))-1))
	}
	if r.Term > t.terms.term {
		return t.foresee(r)
	}
	if r.Tick <= t.trail.Tick() {
		t.Count(timeline.Duplicate)
		return timeline.Duplicate, nil
	}
	if r.Term != t.terms.of(r.Tick) {
		t.Count(timeline.Superseded)
		return timeline.Superseded, nil
	}
	if there := t.rulings.at(r.Tick); there != nil {
		if there.Equal(r) {
			t.Counts.Duplicates++
			return timeline.Duplicate, nil
		}
		t.Counts.Conflicts++
		return t.Refuse(fmt.Errorf("timeline: tick %d was ruled in two ways in term %d: %w", r.Tick,
			r.Term, timeline.ErrMirror))
	}
	if t.terms.self && r.Term == t.terms.term {
		return t.Refuse(
			fmt.Errorf("timeline: a ruling for tick %d in term %d: %w: this mirror is the judge",
				r.Tick, r.Term, timeline.ErrMirror))
	}
	t.rulings.slot(r.Tick).copyFrom(r)
	t.Counts.Rulings++
	return timeline.OnTime, nil
}

// foresee keeps a ruling of a term that is not known yet.
func (t *Timeline) foresee(r *Ruling) (timeline.Fate, error) {
	if slices.ContainsFunc(t.rulings.early, r.Equal) {
		t.Count(timeline.Duplicate)
		return timeline.Duplicate, nil
	}
	if len(t.rulings.early) >= len(t.rulings.ring) {
		return t.Refuse(
			fmt.Errorf("timeline: ruling for tick %d in term %d: %w: the present term is %d, and "+
				"enough is kept for later ones; call SetJudge", r.Tick, r.Term, timeline.ErrAhead,
				t.terms.term))
	}
	kept := new(Ruling)
	kept.copyFrom(r)
	t.rulings.early = append(t.rulings.early, kept)
	return timeline.OnTime, nil
}

// SetJudge begins the next term: another mirror is the judge, or the same again, for the ticks
// after from. All mirrors must call it in the same order with the same ticks; when, does not
// matter, as rulings say of which term they are: those of earlier terms for later ticks are void,
// wherever they come. The new judge goes on as soon as it has every ruling up to from. That tick
// must be the last up to which those who stay have every ruling between them, so that they can get
// from each other what they lack, and from when it was decided nobody may listen to what an earlier
// judge says for later ticks, until SetJudge sees to it.
//
// If a tick after from is settled already, it refuses with timeline.ErrSettled, and that mirror has
// to start anew from another's settled world; a program that holds ticks until enough mirrors have
// their rulings rules that out. An error means that nothing was changed.
func (t *Timeline) SetJudge(_ time.Duration, self bool, from world.Tick) error {
	switch {
	case from < t.Done():
		return fmt.Errorf(
			"timeline: the judge changes after tick %d, and tick %d is %w; start anew from "+
				"another mirror's settled world", from, t.Done(), timeline.ErrSettled)
	case from < t.terms.from:
		return fmt.Errorf(
			"timeline: the judge changes after tick %d, and the last change was after tick %d; "+
				"changes follow each other", from, t.terms.from)
	case from >= t.Done()+world.Tick(len(t.rulings.ring)):
		return fmt.Errorf(
			"timeline: the judge changes after tick %d: %w: there is room up to tick %d", from,
			timeline.ErrAhead, t.Done()+world.Tick(len(t.rulings.ring))-1)
	}
	t.terms.next(self, from)
	t.terms.trim(t.Done())
	t.made = 0
	t.rulings.drop(from)
	t.ruled = min(t.ruled, from)
	if t.trail.Tick() > from {
		t.Copy(t.trail, t.final)
	}
	early := t.rulings.early
	t.rulings.early = nil
	for _, r := range early {
		// What is void by now, or ruled in two ways, is counted like what comes later.
		_, _ = t.Rule(0, r)
	}
	return nil
}

// Judge says whether this mirror is the judge, and Term in which term.
func (t *Timeline) Judge() bool { return t.terms.self }

// Term is the number of the present judge's term.
func (t *Timeline) Term() uint32 { return t.terms.term }

// Terms tells the term that rules the tick after the settled one, and after which ticks later terms
// begin: a mirror that joins there is made with the term, and then told of the changes by SetJudge.
func (t *Timeline) Terms() (term uint32, changes []world.Tick) {
	term = t.terms.of(t.Done() + 1)
	next := term
	for _, e := range t.terms.ended {
		for ; next < e.term; next++ { // those that ruled no tick at all
			changes = append(changes, changes[len(changes)-1])
		}
		changes = append(changes, e.until)
		next++
	}
	for ; next < t.terms.term; next++ {
		changes = append(changes, t.terms.from)
	}
	return term, changes
}

// Have is the tick up to which every ruling is here: what a program tells the other mirrors, with
// the term, so that they know what may be settled. What a mirror has that is in another term counts
// only up to the tick where the two part, since beyond it its rulings may be void.
func (t *Timeline) Have() world.Tick {
	n := t.trail.Tick()
	for t.rulings.at(n+1) != nil {
		n++
	}
	return n
}

// PendingRulings goes through the rulings that are known for ticks that are not settled, for a
// mirror that joins.
func (t *Timeline) PendingRulings(yield func(*Ruling) bool) {
	for n := t.Done() + 1; n < t.Done()+world.Tick(len(t.rulings.ring)); n++ {
		if r := t.rulings.at(n); r != nil && !yield(r) {
			return
		}
	}
}

// Rulings goes through what the last Advance ruled, in order. Send it to all other mirrors,
// reliably. Where the judge is not, there is nothing.
func (t *Timeline) Rulings(yield func(*Ruling) bool) {
	if t.made == 0 {
		return
	}
	for n := t.made; n <= t.lead.Tick(); n++ {
		if r := t.rulings.at(n); r != nil && !yield(r) {
			return
		}
	}
}

// preside lets the judge begin once it has every ruling up to its term: what it has shown since
// then was a guess, and now becomes what it rules.
func (t *Timeline) preside() {
	if t.Err != nil || !t.terms.self || t.terms.active || t.trail.Tick() < t.terms.from {
		return
	}
	t.terms.active = true
	if t.ruled < t.lead.Tick() {
		t.recover()
	}
}

// rule makes the ruling for a tick out of what has come in. Who is not there has nothing to say,
// who is there cannot come, and who is not cannot go.
func (t *Timeline) rule(n world.Tick, in *world.Inputs) *Ruling {
	r := t.rulings.slot(n)
	r.reset(t.Game)
	r.Term, r.Tick = t.terms.term, n
	for _, p := range in.Leaves() {
		if t.lead.Present(p) {
			r.Leaves = append(r.Leaves, p)
		}
	}
	for _, p := range in.Joins() {
		if !t.lead.Present(p) || timeline.Listed(r.Leaves, p) {
			r.Joins = append(r.Joins, p)
		}
	}
	for _, p := range in.Players() {
		if timeline.Listed(r.Joins, p) || t.lead.Present(p) && !timeline.Listed(r.Leaves, p) {
			t.base(t.lead, p)
			in.Image(p, t.Book.Image())
			t.changes = t.changes[:0]
			for i, v := range t.Book.Image() {
				if v != t.image[i] {
					t.changes = append(t.changes, Change{uint16(i), v})
				}
			}
			c := r.execute(p, t.changes...)
			c.Sight, c.Shown = in.Sight(p)
		}
	}
	for told, data := range in.Tellings {
		r.Tellings = append(r.Tellings, Telling{told, data})
	}
	t.made = cmp.Or(t.made, n)
	t.Counts.Rulings++
	return r
}

// base makes t.image what a player's command in a ruling differs from: that of the tick before,
// given or repeated, or that of nobody if the player was not there.
func (t *Timeline) base(w *world.World, p world.Player) {
	if w.Host().CommandImage(p, t.image) {
		return
	}
	for i := range t.image {
		t.image[i] = t.Game.Commands().Slots[i].Absent
	}
}

// resolve makes in what a ruling tells a world that has come to the tick before. If the ruling
// makes no sense, this is the end.
func (t *Timeline) resolve(in *world.Inputs, r *Ruling, w *world.World) bool {
	in.Reset()
	for _, p := range r.Leaves {
		in.Leave(p)
	}
	for _, p := range r.Joins {
		in.Join(p)
	}
	for i := range r.Commands {
		c := &r.Commands[i]
		t.base(w, c.Player)
		for _, k := range c.Changes {
			t.image[k.Slot] = k.Value
		}
		err := in.GiveImage(c.Player, t.image)
		if err == nil && c.Shown {
			err = in.Show(c.Player, c.Sight)
		}
		if err != nil {
			return t.senseless(r, err)
		}
	}
	for i := range r.Tellings {
		if err := in.Tell(r.Tellings[i].Told, r.Tellings[i].Data); err != nil {
			return t.senseless(r, err)
		}
	}
	return true
}

// senseless ends it, because of a ruling that makes no sense.
func (t *Timeline) senseless(r *Ruling, err error) bool {
	t.Err = fmt.Errorf("timeline: the ruling for tick %d in term %d: %w: %w; start anew from "+
		"another mirror's settled world", r.Tick, r.Term, timeline.ErrMirror, err)
	return false
}
