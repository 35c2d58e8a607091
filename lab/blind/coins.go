package blind

// What follows from the seed of a sheet. A coin is the highest bit of a number that is mixed of the
// seed, what the coin is for, and the trial: SplitMix64, by Steele, Lea and Flood (2014).

func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// What chance is needed for.
const (
	forA     = iota + 1 // which side is A
	forTrial            // which is X, or comes first
	forMatch            // the matches of a trial
)

func (s *Sheet) draw(what, trial int) uint64 {
	return mix(mix(mix(s.Seed)+uint64(what)) + uint64(trial))
}

func (s *Sheet) coin(what, trial int) int { return int(s.draw(what, trial) >> 63) }

// Order is the side, 0 or 1, of each interval of a trial. In ABX A is the same side in all trials,
// so that a person can learn what it is like.
func (s *Sheet) Order(trial int) []int {
	if s.Question == ABX {
		a := s.coin(forA, 0)
		return []int{a, 1 - a, s.coin(forTrial, trial)}
	}
	first := s.coin(forTrial, trial)
	return []int{first, 1 - first}
}

// Match is the random seed of a trial's matches: in all of its intervals the same game begins.
func (s *Sheet) Match(trial int) uint64 { return s.draw(forMatch, trial) }

// Success says whether the answer to a trial counts: in ABX that it is right, in Better that it is
// for the first side.
func (s *Sheet) Success(trial int) bool {
	order, answer := s.Order(trial), s.Answers[trial]
	if s.Question == ABX {
		return order[answer] == order[2]
	}
	return order[answer] == 0
}

// Count is how many answers so far count; see Success.
func (s *Sheet) Count() (n int) {
	for i := range s.Answers {
		if s.Success(i) {
			n++
		}
	}
	return n
}
