package mirrorlab

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/timeline"
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
	return 0, fmt.Errorf("there is no fault %q; choose %s", name,
		strings.Join(faultNames[1:], ", "))
}

// FaultResult is what came of a fault, over all the times that it was tried. Times are in
// milliseconds since it happened.
type FaultResult struct {
	Fault string `json:"fault"`
	Times int    `json:"times"`
	// Again is when players of a mirror that was killed play again: are shown their own body by
	// another mirror, in a state in which it has obeyed a command that it was given since. Lost are
	// those who did not within the time that was waited.
	Again Spread `json:"plays_again"`
	// Shown is when they were shown anything by another mirror.
	Shown Spread `json:"shown_again"`
	Lost  int    `json:"lost"`
	// Still is the longest time for which a player's game stood still: nothing new was shown of the
	// own body, or no command counted. Of all players, and of those whose mirror was not killed.
	Still       Spread `json:"stood_still"`
	StillOthers Spread `json:"stood_still_others"`
	// Led is when all mirrors that run were again in one group with one überserver.
	Led Spread `json:"one_group_again"`
	// Serving is when a mirror that joined took commands. Missed is how many ticks other mirrors'
	// leading worlds fell further behind than they had been before, at most, and Waited for how
	// long all of them were behind.
	Serving Spread  `json:"serving"`
	Missed  int     `json:"ticks_missed"`
	Waited  float64 `json:"waited_ms"`
	// Runs are the times one by one.
	Runs []FaultRun `json:"runs"`
}

// FaultRun is one of the times that a fault was tried. It can be repeated by its seed.
type FaultRun struct {
	Seed    uint64  `json:"seed" head:"seed"`
	Mirror  string  `json:"mirror" head:"mirror"`                        // to whom it happened
	At      float64 `json:"at_ms" head:"at ms" as:"%.0f"`                // when
	Again   float64 `json:"plays_again_ms" head:"plays again" as:"%.0f"` // the last
	Still   float64 `json:"stood_still_ms" head:"stood still" as:"%.0f"` // the longest
	Led     float64 `json:"led_ms" head:"one group" as:"%.0f"`           // as in FaultResult
	Serving float64 `json:"serving_ms" head:"serves" as:"%.0f"`          // as in FaultResult
	Moved   bool    `json:"another_leads" head:"another leads"`
}

// Figures that should be reached.
const (
	askedAgain   = 1200
	askedUber    = 1800
	askedStill   = 3000
	askedServing = 3000
)

// Times of a try.
const (
	faultWarm  = 4 * time.Second
	faultAfter = 8 * time.Second  // that is watched
	faultMost  = 20 * time.Second // that is waited for everyone
	faultStep  = 20 * time.Millisecond
)

// runFault tries a fault again and again, each time with another seed. The first try is what is
// told beside the fault; settled worlds are compared in all of them.
func runFault(ctx context.Context, o *Options) (*Result, error) {
	q := &FaultResult{Fault: o.Fault.String(), Times: o.Times}
	var r *Result
	var settled Settled
	for i := range o.Times {
		f := newCluster(ctx, o, o.Seed+uint64(i))
		f.r.Fault, f.r.Settled = q, settled
		err := f.suffer(o.Progress.Nth(i, o.Times),
			fmt.Sprintf("fault %v, %d of %d", o.Fault, i+1, o.Times))
		f.close()
		if err != nil {
			return nil, err
		}
		if settled = f.r.Settled; i == 0 {
			r = f.head()
		}
	}
	settled.Delay = Spread{}
	r.Settled, r.Sight, r.Rollbacks, r.Clock = settled, Sight{}, Rollbacks{}, Clocks{}
	sumUp(reflect.ValueOf(r))
	r.judgeFault(o.Fault)
	return r, nil
}

func (r *Result) judgeFault(f Fault) {
	q := r.Fault
	switch f {
	case KillMirror:
		r.target("players of a killed mirror play again, p95 ms", q.Again.P95, "<= 1200",
			q.Again.P95 <= askedAgain && q.Lost == 0 && q.Again.N > 0)
	case KillUber:
		r.target("players of a killed überserver play again, p95 ms", q.Again.P95, "<= 1800",
			q.Again.P95 <= askedUber && q.Lost == 0 && q.Again.N > 0)
		r.target("longest that a game stood still when the überserver was killed, ms", q.Still.Most,
			"<= 3000", q.Still.Most <= askedStill && q.Lost == 0 && q.Still.N > 0)
	case JoinLate:
		r.target("a mirror that joins serves after, ms at most", q.Serving.Most, "<= 3000",
			q.Serving.Most <= askedServing && q.Serving.N > 0)
		r.target("ticks missed elsewhere meanwhile", float64(q.Missed), "0", q.Missed == 0)
	}
	r.target("settled worlds that differ", float64(r.Settled.Different), "0",
		r.Settled.Different == 0 && r.Settled.Compared > 0)
}

// suffer lets everyone play, and then it happens.
func (f *cluster) suffer(p lab.Progress, what string) error {
	if err := f.assemble(f.o.serving(), f.o.Players, f.o.Mirrors*f.o.Players); err != nil {
		return err
	}
	f.sample()
	warm := faultWarm + time.Duration(f.Net.Rand().Float64()*float64(time.Second))
	if err := f.Pass(warm, p.Within(0, 0.4), what); err != nil {
		return err
	}
	f.On, f.Since = true, f.Net.Now()
	run := FaultRun{Seed: f.Net.Seed(), At: lab.Millis(f.Net.Now())}
	for _, u := range f.guests {
		u.after.begin(f.Net.Now())
	}
	if f.o.Fault == JoinLate {
		f.joined(&run)
	} else {
		f.killed(&run)
	}
	f.r.Fault.Runs = append(f.r.Fault.Runs, run)
	p.Tell(1, what)
	return f.Err
}

// killed kills a mirror and waits until its players play elsewhere.
func (f *cluster) killed(run *FaultRun) {
	q := f.r.Fault
	victim := f.uber()
	if f.o.Fault == KillMirror {
		rest := slices.DeleteFunc(slices.Clone(f.machines),
			func(s *machine) bool { return s == victim })
		victim = rest[f.Net.Rand().IntN(len(rest))]
	}
	run.Mirror = victim.name
	at := f.Net.Now()
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
			led = f.Net.Now() - at
		}
		back := !slices.ContainsFunc(theirs,
			func(u *guest) bool { return u.after.again == 0 && !u.gone })
		return back && led > 0 && f.Net.Now()-at >= faultAfter
	}
	if f.Wait(faultMost, faultStep, done) != nil {
		return
	}
	if led > 0 {
		q.Led.add(led)
		run.Led = lab.Millis(led)
		run.Moved = f.uber() != nil && victim != f.uber() && f.o.Fault == KillUber
	}
	for _, u := range f.guests {
		still := u.after.longest(f.Net.Now())
		run.Still = max(run.Still, lab.Millis(still))
		q.Still.add(still)
		if !slices.Contains(theirs, u) {
			q.StillOthers.add(still)
			continue
		}
		if u.after.again == 0 {
			q.Lost++
			continue
		}
		q.Shown.add(u.after.shown - at)
		q.Again.add(u.after.again - at)
		run.Again = max(run.Again, lab.Millis(u.after.again-at))
	}
}

// joined starts one more mirror, and waits until it serves.
func (f *cluster) joined(run *FaultRun) {
	q := f.r.Fault
	var was []timeline.Stats
	for _, s := range f.machines {
		was = append(was, s.mirror.TimelineStats())
	}
	at := f.Net.Now()
	s := f.start(machineName(len(f.machines)), f.o.Mirrors*f.o.Players)
	run.Mirror = s.name
	if f.Wait(faultMost, faultStep,
		func() bool { return s.serving > 0 && f.Net.Now()-at >= faultAfter }) != nil {
		return
	}
	if s.serving > 0 {
		q.Serving.add(s.serving - at)
		run.Serving = lab.Millis(s.serving - at)
	}
	for i, o := range f.machines[:len(was)] {
		st := o.mirror.TimelineStats()
		q.Missed = max(q.Missed, st.Behind-was[i].Behind)
		q.Waited += lab.Millis(st.Waited - was[i].Waited)
	}
	for _, u := range f.guests {
		still := u.after.longest(f.Net.Now())
		run.Still = max(run.Still, lab.Millis(still))
		q.Still.add(still)
		q.StillOthers.add(still)
	}
}

// uber finds the überserver among those that run.
func (f *cluster) uber() *machine {
	for _, s := range f.alive() {
		if s.mirror.Phase() == mirror.Serving && s.mirror.Uber() == s.mirror.ID() {
			return s
		}
	}
	return nil
}

// A recovery is how a player's game goes on after a fault.
type recovery struct {
	since time.Duration // when it happened
	news  time.Duration // when there were news of the own body
	obey  time.Duration // when a leading world obeyed
	most  time.Duration // the longest without one of them
	shown time.Duration // when there were the first news of another mirror
	first world.Tick    // at which another mirror obeyed that the command came to
	by    *machine      // that one
	again time.Duration // when that was shown
}

func (p *recovery) begin(now time.Duration) { *p = recovery{since: now, news: now, obey: now} }

// longest is the longest time for which the game stood still so far.
func (p *recovery) longest(now time.Duration) time.Duration {
	return max(p.most, now-p.news, now-p.obey)
}

// obeyed is called when the leading world of a mirror has executed a command of a player.
func (s *machine) obeyed(u *guest, x *followed, t world.Tick) {
	p := &u.after
	if p.since == 0 {
		return
	}
	if x != nil && x.entered > p.since && x.at == s.index && s.machines[u.home].dead &&
		(p.first == 0 || p.by != s) {
		p.first, p.by = t, s
	}
	if s.where(u) == s {
		p.most = max(p.most, s.Net.Now()-p.obey)
		p.obey = s.Net.Now()
	}
}

// heard is called with news of the own body.
func (f *cluster) heard(u *guest, w *world.World) {
	p := &u.after
	if p.since == 0 {
		return
	}
	p.most = max(p.most, f.Net.Now()-p.news)
	p.news = f.Net.Now()
	s := f.where(u)
	if p.again > 0 || !f.machines[u.home].dead || s == nil || s.dead {
		return
	}
	if p.shown == 0 {
		p.shown = f.Net.Now()
	}
	if p.first > 0 && p.by == s && w.Tick() >= p.first {
		p.again, u.home = f.Net.Now(), s.index
	}
}

// where is which mirror a client plays at.
func (f *cluster) where(u *guest) *machine {
	if c := u.Client.Conn(); c != nil {
		for _, s := range f.machines {
			if s.outer.PublicAddr() == c.Addr() {
				return s
			}
		}
	}
	return nil
}
