package zonetest

import (
	"slices"
	"time"
)

// some draws a time up to a limit.
func (s *Sim) some(most time.Duration) time.Duration {
	return time.Duration(s.chance.Int64N(int64(most)))
}

// fault has one thing go wrong, and plans the next.
func (s *Sim) fault() {
	if !s.faulty {
		return
	}
	n := s.nodes[s.chance.IntN(len(s.nodes))]
	until := s.now + s.some(5*time.Second)
	kind := ""
	switch s.chance.IntN(12) {
	case 0, 1, 2, 3:
		if s.opt.Buddies && s.now < s.killed+12*time.Second {
			break // of those who hold the same, one dies at a time
		}
		kind, s.killed = "kill", s.now
		s.killAndRestart(n, s.some(4*time.Second))
	case 4, 5:
		kind = "pause"
		n.paused = until
	case 6:
		kind = "cut from all that is kept"
		n.cut.kept = until
	case 7:
		kind = "cut from the map and the others"
		n.cut.maps = until
		s.cutOff(n, until)
	case 8:
		kind = "cut one way"
		n.cut.to[s.chance.IntN(len(s.nodes))] = until
	case 9:
		kind = "cut from the others"
		s.cutOff(n, until)
	case 10:
		kind = "the map is away"
		s.stalls.away = until
	case 11:
		kind = "nine seconds' stall"
		switch s.chance.IntN(3) {
		case 0:
			s.stalls.journal = s.now + 9*time.Second
		case 1:
			s.stalls.maps = s.now + 9*time.Second
		case 2:
			s.stalls.store = s.now + 9*time.Second
		}
	}
	if kind != "" {
		s.report.Faults[kind]++
	}
	s.at(s.now+s.opt.Every/2+s.some(s.opt.Every), s.fault)
}

func (s *Sim) killAndRestart(n *node, after time.Duration) {
	if !n.alive {
		return
	}
	s.kill(n)
	s.at(s.now+after, func() {
		if !n.alive {
			n.paused = 0
			s.start(n)
		}
	})
}

// cutOff separates a server from the others, both ways.
func (s *Sim) cutOff(n *node, until time.Duration) {
	for _, other := range s.nodes {
		n.cut.to[other.slot] = until
		other.cut.to[n.slot] = until
	}
}

// heal ends all faults.
func (s *Sim) heal() {
	s.faulty = false
	s.stalls = stalls{}
	for _, n := range s.nodes {
		n.cut.kept, n.cut.maps = 0, 0
		clear(n.cut.to)
		if n.paused > s.now {
			n.paused = s.now
		}
	}
}

// together cuts some servers off from all that is kept, and from all others but one, and not from
// each other.
func (s *Sim) together(until time.Duration, but int, slots ...int) {
	for _, i := range slots {
		n := s.nodes[i]
		n.cut.kept, n.cut.maps = until, until
		for _, other := range s.nodes {
			if other.slot != but && !slices.Contains(slots, other.slot) {
				n.cut.to[other.slot] = until
				other.cut.to[i] = until
			}
		}
	}
}
