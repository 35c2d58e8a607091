package survey

import "time"

// Options say how a survey is done. Places has no default.
type Options struct {
	// Places is how many there are. They are numbered from 0.
	Places int
	// Aside, if set, says of places that they are not chosen from: they are measured, as far as
	// Least says, and come in the ranking where they belong.
	Aside func(place int) bool
	// Within is how much farther than the best the first may be. Default: 3 ms.
	Within time.Duration
	// Budget is how long the survey may take. Default: 1.7 s.
	Budget time.Duration
	// Every is the time between two probes of a place, and Gap that between any two. Defaults:
	// 25 ms and 500 µs.
	Every, Gap time.Duration
	// Least is how many probes a place gets that is surely not the nearest, and Most how many any
	// gets. Defaults: 5 and 60.
	Least, Most int
}

// Defaults of Options.
const (
	defaultWithin = 3 * time.Millisecond
	defaultBudget = 1700 * time.Millisecond
	defaultEvery  = 25 * time.Millisecond
	defaultGap    = 500 * time.Microsecond
	defaultLeast  = 5
	defaultMost   = 60
)

// A Probe is one question to a place. Numbers count up from 0 at each place.
type Probe struct {
	Place, Number int
}

// A Survey is one that is going on. Times are of the caller's clock, and do not go back.
type Survey struct {
	opt    Options
	begun  bool
	begin  time.Duration
	next   time.Duration // no probe before
	turn   int           // the place that is looked at first
	places []place
	judged bool // no answer has come since places were left alone
	ended  bool
}

// New makes a survey. It begins with the first call of Next.
func New(o Options) *Survey {
	def := func(d *time.Duration, by time.Duration) {
		if *d <= 0 {
			*d = by
		}
	}
	def(&o.Within, defaultWithin)
	def(&o.Budget, defaultBudget)
	def(&o.Every, defaultEvery)
	def(&o.Gap, defaultGap)
	if o.Least <= 0 {
		o.Least = defaultLeast
	}
	if o.Most <= 0 {
		o.Most = defaultMost
	}
	o.Least = min(o.Least, o.Most)
	s := &Survey{opt: o, places: make([]place, max(o.Places, 0))}
	for i := range s.places {
		s.places[i].init(o.Most)
		s.places[i].aside = o.Aside != nil && o.Aside(i)
	}
	return s
}

// Next is a probe to send now, if one is due. The caller sends it at once, and asks again.
func (s *Survey) Next(now time.Duration) (p Probe, ok bool) {
	if !s.begun {
		s.begun, s.begin, s.next = true, now, now
	}
	if s.Done(now) || now < s.next {
		return p, false
	}
	for k := range s.places {
		i := (s.turn + k) % len(s.places)
		x := &s.places[i]
		if !s.wants(x) || x.due > now {
			continue
		}
		p = Probe{i, len(x.sent)}
		x.sent = append(x.sent, now)
		x.due = now + s.opt.Every
		s.next = now + s.opt.Gap
		s.turn = (i + 1) % len(s.places)
		return p, true
	}
	return p, false
}

// wants says whether a place is to be asked again.
func (s *Survey) wants(x *place) bool {
	return len(x.sent) < s.opt.Least || !x.out && !x.aside && !s.spent(x)
}

// Answered is called when the answer to a probe came, with how long it lay at the other end, which
// is no part of the way. Answers that nobody asked for, and second ones, count for nothing; it says
// whether this one does.
func (s *Survey) Answered(p Probe, now, held time.Duration) bool {
	if p.Place < 0 || p.Place >= len(s.places) || p.Number < 0 ||
		p.Number >= len(s.places[p.Place].sent) || s.ended {
		return false
	}
	x := &s.places[p.Place]
	if x.answered[p.Number] {
		return false
	}
	x.answered[p.Number] = true
	x.add(now - x.sent[p.Number] - max(held, 0))
	s.judged = false
	return true
}

// Wake is when Next or Done may say something else than before, if nothing comes until then.
func (s *Survey) Wake(now time.Duration) time.Duration {
	if !s.begun {
		return now
	}
	at := s.begin + s.opt.Budget
	asks := false
	for i := range s.places {
		x := &s.places[i]
		if s.wants(x) {
			at, asks = min(at, max(x.due, s.next)), true
		}
	}
	if !asks { // what is still out is waited for
		for i := range s.places {
			if end, waits := s.places[i].waits(now); waits {
				at = min(at, end)
			}
		}
	}
	return max(at, now)
}

// Done says whether the survey has ended.
func (s *Survey) Done(now time.Duration) bool {
	if s.ended || len(s.places) == 0 {
		return true
	}
	if !s.begun {
		return false
	}
	if now-s.begin >= s.opt.Budget || s.sure(now) {
		s.ended = true
	}
	return s.ended
}

// Progress is how much of the survey is done, from 0 to 1.
func (s *Survey) Progress(now time.Duration) float64 {
	if s.ended || len(s.places) == 0 {
		return 1
	}
	if !s.begun {
		return 0
	}
	return min(float64(now-s.begin)/float64(s.opt.Budget), 1)
}
