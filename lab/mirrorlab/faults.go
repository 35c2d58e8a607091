package mirrorlab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/topology/mirror"
	"github.com/coeval-dev/coeval/world"
)

// Fault is something that happens to mirrors.
type Fault uint8

// The faults that can be tried.
const (
	NoFault    Fault = iota
	KillMirror       // kill -9 of a mirror that is not the überserver
	KillUber         // kill -9 of the überserver
	JoinLate         // a mirror joins a game in progress
	faults
)

var faultNames = [faults]string{"none", "mirror", "uber", "join"}

func (f Fault) String() string {
	if f < faults {
		return faultNames[f]
	}
	return "unknown fault"
}

// ParseFault finds a fault by its name. The error for a wrong one lists them all.
func ParseFault(name string) (Fault, error) {
	if i := slices.Index(faultNames[:], name); i >= 0 {
		return Fault(i), nil
	}
	return 0, fmt.Errorf("there is no fault %q; choose %s", name, strings.Join(faultNames[1:], ", "))
}

// FaultResult is what came of a fault, over all the times that it was tried. Times are in milliseconds since it happened.
type FaultResult struct {
	Fault string `json:"fault"`
	Times int    `json:"times"`
	// Again is when players of a mirror that was killed play again: are shown their own body by another mirror, in a state in which it has obeyed a command that it
	// was given since. Lost are those who did not within the time that was waited.
	Again Spread `json:"plays_again"`
	// Shown is when they were shown anything by another mirror.
	Shown Spread `json:"shown_again"`
	Lost  int    `json:"lost"`
	// Still is the longest time for which a player's game stood still: nothing new was shown of the own body, or no command counted. Of all players, and of those
	// whose mirror was not killed.
	Still       Spread `json:"stood_still"`
	StillOthers Spread `json:"stood_still_others"`
	// Led is when all mirrors that run were again in one group with one überserver.
	Led Spread `json:"one_group_again"`
	// Serving is when a mirror that joined took commands. Missed is how many ticks other mirrors' leading worlds fell further behind than they had been before, at
	// most, and Waited for how long all of them were behind.
	Serving Spread  `json:"serving"`
	Missed  int     `json:"ticks_missed"`
	Waited  float64 `json:"waited_ms"`
	// Runs are the times one by one.
	Runs []FaultRun `json:"runs"`
}

// FaultRun is one of the times that a fault was tried. It can be repeated by its seed.
type FaultRun struct {
	Seed    uint64  `json:"seed"`
	Mirror  string  `json:"mirror"`         // to whom it happened
	At      float64 `json:"at_ms"`          // when
	Again   float64 `json:"plays_again_ms"` // the last
	Still   float64 `json:"stood_still_ms"` // the longest
	Led     float64 `json:"led_ms"`         // as in FaultResult
	Serving float64 `json:"serving_ms"`     // as in FaultResult
	Moved   bool    `json:"another_leads"`  // another leads
}

// Figures that should be reached.
const (
	askedAgain   = 2000
	askedStill   = 3000
	askedServing = 3000
)

// Times of a try.
const (
	faultWarm  = 4 * time.Second
	faultAfter = 8 * time.Second  // that is watched
	faultMost  = 20 * time.Second // that is waited for everyone
)

// faulted collects over all tries.
type faulted struct {
	again, shown, still, others, led, serving tally
	result                                    FaultResult
}

// runFault tries a fault again and again, each time with another seed.
func runFault(ctx context.Context, o *Options) (*Result, error) {
	x := &faulted{result: FaultResult{Fault: o.Fault.String(), Times: o.Times}}
	var r *Result
	for i := range o.Times {
		tell := func(done float64) {
			if o.Progress != nil {
				o.Progress((float64(i)+done)/float64(o.Times), fmt.Sprintf("fault %v, %d of %d", o.Fault, i+1, o.Times))
			}
		}
		f := newFleet(o, o.Seed+uint64(i))
		err := f.suffer(ctx, x, tell)
		f.close()
		if err != nil {
			return nil, err
		}
		h := f.head()
		h.Series = f.series
		h.Settled = f.worlds.result()
		if r == nil {
			r = h
			continue
		}
		r.Settled.Ticks += h.Settled.Ticks
		r.Settled.Compared += h.Settled.Compared
		if r.Settled.Different += h.Settled.Different; r.Settled.First == "" {
			r.Settled.First = h.Settled.First
		}
	}
	q := &x.result
	q.Again, q.Shown, q.Still, q.StillOthers, q.Led, q.Serving = x.again.spread(), x.shown.spread(), x.still.spread(), x.others.spread(), x.led.spread(), x.serving.spread()
	r.Fault = q
	r.judgeFault(o.Fault)
	return r, nil
}

func (r *Result) judgeFault(f Fault) {
	q := r.Fault
	switch f {
	case KillMirror:
		r.target("players of a killed mirror play again, p95 ms", q.Again.P95, "<= 2000", q.Again.P95 <= askedAgain && q.Lost == 0 && q.Again.N > 0)
	case KillUber:
		r.target("longest that a game stood still when the überserver was killed, ms", q.Still.Most, "<= 3000", q.Still.Most <= askedStill && q.Lost == 0 && q.Still.N > 0)
	case JoinLate:
		r.target("a mirror that joins serves after, ms at most", q.Serving.Most, "<= 3000", q.Serving.Most <= askedServing && q.Serving.N > 0)
		r.target("ticks missed elsewhere meanwhile", float64(q.Missed), "0", q.Missed == 0)
	}
	r.target("settled worlds that differ", float64(r.Settled.Different), "0", r.Settled.Different == 0 && r.Settled.Compared > 0)
}

// suffer lets everyone play, and then it happens.
func (f *fleet) suffer(ctx context.Context, x *faulted, tell func(float64)) error {
	mirrors := f.o.Mirrors
	if f.o.Fault == JoinLate {
		mirrors--
	}
	if err := f.assemble(ctx, mirrors, f.o.Players, f.o.Mirrors*f.o.Players); err != nil {
		return err
	}
	f.sample()
	warm := faultWarm + time.Duration(f.net.Rand().Float64()*float64(time.Second))
	if err := f.pass(ctx, warm, func(d float64) { tell(0.4 * d) }); err != nil {
		return err
	}
	f.on = true
	run := FaultRun{Seed: f.net.Seed(), At: millis(f.net.Now())}
	for _, u := range f.guests {
		u.pulse.begin(f.net.Now())
	}
	var err error
	if f.o.Fault == JoinLate {
		err = f.joined(ctx, x, &run)
	} else {
		err = f.killed(ctx, x, &run)
	}
	x.result.Runs = append(x.result.Runs, run)
	tell(1)
	return err
}

// killed kills a mirror and waits until its players play elsewhere.
func (f *fleet) killed(ctx context.Context, x *faulted, run *FaultRun) error {
	victim := f.uber()
	if f.o.Fault == KillMirror {
		rest := slices.DeleteFunc(slices.Clone(f.ships), func(s *ship) bool { return s == victim })
		victim = rest[f.net.Rand().IntN(len(rest))]
	}
	run.Mirror = victim.name
	at := f.net.Now()
	victim.kill()
	var theirs []*guest
	for _, u := range f.guests {
		if u.home == victim.index {
			theirs = append(theirs, u)
		}
	}
	led := time.Duration(0)
	done := func() bool {
		if led == 0 && f.whole() {
			led = f.net.Now() - at
		}
		back := !slices.ContainsFunc(theirs, func(u *guest) bool { return u.pulse.again == 0 && !u.gone })
		return back && led > 0 && f.net.Now()-at >= faultAfter
	}
	if err := f.wait(ctx, faultMost, done); err != nil {
		return err
	}
	if led > 0 {
		x.led.add(led)
		run.Led = millis(led)
		run.Moved = f.uber() != nil && victim != f.uber() && f.o.Fault == KillUber
	}
	for _, u := range f.guests {
		still := u.pulse.longest(f.net.Now())
		run.Still = max(run.Still, millis(still))
		x.still.add(still)
		if !slices.Contains(theirs, u) {
			x.others.add(still)
			continue
		}
		if u.pulse.again == 0 {
			x.result.Lost++
			continue
		}
		x.shown.add(u.pulse.shown - at)
		x.again.add(u.pulse.again - at)
		run.Again = max(run.Again, millis(u.pulse.again-at))
	}
	return nil
}

// joined starts one more mirror, and waits until it serves.
func (f *fleet) joined(ctx context.Context, x *faulted, run *FaultRun) error {
	type before struct {
		behind int
		waited time.Duration
	}
	var was []before
	for _, s := range f.ships {
		st := s.mirror.TimelineStats()
		was = append(was, before{st.Behind, st.Waited})
	}
	at := f.net.Now()
	s, err := f.launch(shipName(len(f.ships)), f.o.Mirrors*f.o.Players)
	if err != nil {
		return err
	}
	run.Mirror = s.name
	if err := f.wait(ctx, faultMost, func() bool { return s.serving > 0 && f.net.Now()-at >= faultAfter }); err != nil {
		return err
	}
	if s.serving > 0 {
		x.serving.add(s.serving - at)
		run.Serving = millis(s.serving - at)
	}
	for i, o := range f.ships[:len(was)] {
		st := o.mirror.TimelineStats()
		if st.Behind > was[i].behind {
			x.result.Missed = max(x.result.Missed, st.Behind-was[i].behind)
		}
		x.result.Waited += millis(st.Waited - was[i].waited)
	}
	for _, u := range f.guests {
		still := u.pulse.longest(f.net.Now())
		run.Still = max(run.Still, millis(still))
		x.still.add(still)
		x.others.add(still)
	}
	return nil
}

// wait lets time go by until something is so, or for as long as it is worth waiting.
func (f *fleet) wait(ctx context.Context, most time.Duration, done func() bool) error {
	for end := f.net.Now() + most; f.net.Now() < end && f.err == nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.net.Run(20 * time.Millisecond)
		if done() {
			break
		}
	}
	return f.err
}

// uber finds the überserver among those that run.
func (f *fleet) uber() *ship {
	for _, s := range f.alive() {
		if s.mirror.Phase() == mirror.Serving && s.mirror.Uber() == s.mirror.ID() {
			return s
		}
	}
	return nil
}

// A pulse is how a player's game goes on after a fault.
type pulse struct {
	since time.Duration // when it happened
	news  time.Duration // when there were news of the own body
	obey  time.Duration // when a leading world obeyed
	most  time.Duration // the longest without one of them
	shown time.Duration // when there were the first news of another mirror
	first world.Tick    // at which that obeyed
	again time.Duration // when that was shown
}

func (p *pulse) begin(now time.Duration) { *p = pulse{since: now, news: now, obey: now} }

// longest is the longest time for which the game stood still so far.
func (p *pulse) longest(now time.Duration) time.Duration {
	return max(p.most, now-p.news, now-p.obey)
}

// obeyed is called when the leading world of a mirror has executed a command of a player.
func (s *ship) obeyed(u *guest, x *order, t world.Tick) {
	p := &u.pulse
	if p.since == 0 || s.where(u) != s {
		return
	}
	p.most = max(p.most, s.net.Now()-p.obey)
	p.obey = s.net.Now()
	if p.first == 0 && x.entered > p.since && s.ships[u.home].dead {
		p.first = t
	}
}

// heard is called with news of the own body.
func (f *fleet) heard(u *guest, w *world.World) {
	p := &u.pulse
	if p.since == 0 {
		return
	}
	p.most = max(p.most, f.net.Now()-p.news)
	p.news = f.net.Now()
	s := f.where(u)
	if p.again > 0 || !f.ships[u.home].dead || s == nil || s.dead {
		return
	}
	if p.shown == 0 {
		p.shown = f.net.Now()
	}
	if p.first > 0 && w.Tick() >= p.first {
		p.again, u.home = f.net.Now(), s.index
	}
}

// where is which mirror a client plays at.
func (f *fleet) where(u *guest) *ship {
	if c := u.client.Conn(); c != nil {
		for _, s := range f.ships {
			if s.dock.PublicAddr() == c.Addr() {
				return s
			}
		}
	}
	return nil
}
