package zone

import "time"

// routing is what is known of a zone's owner.
type routing struct {
	owner ServerID // zero if it is not known
	epoch uint64
	asked time.Duration // when the map was asked last
	busy  bool

	lonely bool // nobody who is known to be there owns it, since:
	since  time.Duration
}

// route gives the owner of a zone. If it is not known, the map is asked.
func (s *Server) route(id ID) (ServerID, bool) {
	if r := s.routes[id]; r != nil && r.owner != 0 {
		return r.owner, true
	}
	s.askRoute(id)
	return 0, false
}

// Owner says which server owns a zone, as far as is known here, to reach it. If it is not known,
// it will be soon after.
func (s *Server) Owner(id ID) (ServerID, bool) { return s.route(id) }

// setRoute learns who owns a zone, if it is news.
func (s *Server) setRoute(id ID, owner ServerID, epoch uint64) {
	r := s.routes[id]
	if r == nil {
		if len(s.routes) >= maxRoutes {
			return
		}
		r = &routing{asked: -maxWait}
		s.routes[id] = r
	}
	if epoch > r.epoch || epoch == r.epoch && r.owner == 0 {
		r.owner, r.epoch = owner, epoch
	}
}

func (s *Server) forgetRoute(id ID) {
	if r := s.routes[id]; r != nil {
		r.owner = 0
	}
}

// askRoute asks the map for the owner of a zone, not too often.
func (s *Server) askRoute(id ID) {
	s.setRoute(id, 0, 0)
	r := s.routes[id]
	if r == nil || r.busy || s.now-r.asked < s.opt.Resend/2 {
		return
	}
	r.busy, r.asked = true, s.now
	s.ops.ask(Op{Kind: MapGet, Key: ZoneKey(id)}, asked{what: forRoute, route: id})
}

func (s *Server) routeGot(id ID, res *Result) {
	r := s.routes[id]
	r.busy = false
	if res.Outcome != OK {
		return
	}
	a, err := ReadAssignment(res.Data)
	if err != nil || a.Epoch < r.epoch {
		return
	}
	r.epoch, r.owner = a.Epoch, a.Owner
	s.consider(id, a, res.Revision)
}
