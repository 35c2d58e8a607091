package zone

import "time"

// Hold has no tick beyond one be due, until it is called with 0: the world is paused. What was
// computed by then becomes durable, and what is under way arrives. All servers of a cluster have to
// be told the same tick, before it is due.
func (s *Server) Hold(last Tick) { s.hold = last }

// Shift has all ticks be due later by some time. A world that was held goes on where it was if all
// servers are told the same, and then to hold it no more.
func (s *Server) Shift(by time.Duration) { s.opt.Zero += by }

// held bounds a time of the cluster by where it is held.
func (s *Server) held(t time.Duration) time.Duration {
	if s.hold > 0 {
		t = min(t, time.Duration(s.hold)*s.opt.Length)
	}
	return max(t, 0)
}
