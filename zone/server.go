package zone

import (
	"time"
)

// A Server is the part of one server in a cluster: it owns zones, takes over those of servers that
// are gone, and hands entities over to zones of others. It is a machine without clock, goroutine
// or randomness of its own, used from one goroutine.
type Server struct {
	opt      Options
	now      time.Duration
	ahead    time.Duration // by which other servers' clocks are ahead of this one's
	hold     Tick          // beyond which nothing is due, if it is not 0
	zones    []*owned
	followed []*owned // zones of others whose journals are followed
	peers    []*peer
	watch    watch

	memories map[ID]*memory // what this server holds for others' zones
	memory   int            // bytes of it
	ended    map[ServerID]bool

	routes map[ID]*routing
	ops    opTable
	asked  []ID // zones that a message was for and that are not here

	messages []Message
	sent     []Message
	papers   [][]byte
	notices  []Notice
	told     []Notice
	kept     []byte // bytes of notices
	seenBuf  []byte
	stats    Stats
}

// purpose says for what an operation was asked.
type purpose uint8

const (
	forNothing purpose = iota
	forPresence
	forOwnPresence
	forPeer
	forServers
	forZones
	forRoute
	forEntrySet
	forEntryGet
	forFenceLast
	forFence
	forImages
	forImage
	forRecords
	forAppend
	forLast
	forPut
	forKnown
	forBuddies
	forNamed
	forHelp
)

// New makes a server that owns nothing yet.
func New(now time.Duration, o Options) (*Server, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	s := &Server{opt: o, now: now, routes: map[ID]*routing{},
		memories: map[ID]*memory{}, ended: map[ServerID]bool{}}
	for _, id := range o.Before {
		s.ended[id] = true
	}
	s.watch.at, s.watch.listAt, s.watch.zoneAt = now, now, now+o.Silence/4
	return s, nil
}

// begins is what each call from outside begins with.
func (s *Server) begins(now time.Duration) {
	s.now = max(s.now, now)
	s.recycle()
}

// Due is the tick that is due at a time, as far as this server's clock and those of the others say.
func (s *Server) Due(now time.Duration) Tick {
	return Tick(s.held(now-s.opt.Zero+s.ahead) / s.opt.Length)
}

// Deadline is when Tick should be called next, at the latest.
func (s *Server) Deadline() time.Duration {
	for _, list := range [...][]*owned{s.zones, s.followed} {
		for _, z := range list {
			if z.stage == replaying && !z.busy && s.now >= z.after {
				return s.now
			}
		}
	}
	return s.now + s.opt.Length - s.clusterTime()%s.opt.Length
}

// Tick does what is due: it computes ticks, looks after the other servers, and tries again what
// was not answered.
func (s *Server) Tick(now time.Duration) {
	s.begins(now)
	s.look()
	for i := 0; i < len(s.zones); i++ {
		z := s.zones[i]
		if z.stage == owning {
			s.run(z)
		}
		if z.stage == owning {
			for _, st := range z.state.streams {
				s.again(z, st)
			}
			s.tendBuddies(z)
		}
		s.advance(z)
		if z.journal.flying && s.now >= z.journal.at && !z.over {
			s.append(z)
		}
		if i < len(s.zones) && s.zones[i] != z {
			i--
		}
	}
	for i := len(s.followed) - 1; i >= 0; i-- {
		s.advance(s.followed[i])
	}
}

// Ops hands out the operations that are to be done. They are good until their results.
func (s *Server) Ops() []Op { return s.ops.take() }

// Done takes what came of an operation. What it holds belongs to the server.
func (s *Server) Done(now time.Duration, r Result) {
	s.begins(now)
	a, ok := s.ops.answered(r.ID)
	if !ok {
		return
	}
	switch a.what {
	case forPresence:
		s.presenceSet(&r)
	case forOwnPresence:
		s.ownPresence(&r)
	case forPeer:
		s.peerGot(a.peer, &r)
	case forServers:
		s.serversListed(&r)
	case forZones:
		s.zonesListed(&r)
	case forRoute:
		s.routeGot(a.route, &r)
	case forNothing:
	default:
		if !a.zone.over {
			s.doneZone(a.what, a.zone, &r)
		}
	}
}

// doneZone takes the result of an operation for a zone.
func (s *Server) doneZone(what purpose, z *owned, r *Result) {
	switch what {
	case forEntrySet:
		s.entrySet(z, r)
	case forEntryGet:
		s.entryGot(z, r)
	case forFenceLast:
		s.fenceLast(z, r)
	case forFence:
		s.fenceAppended(z, r)
	case forImages:
		s.imagesFound(z, r)
	case forImage:
		s.imageGot(z, r)
	case forRecords:
		s.recordsRead(z, r)
	case forAppend:
		s.appended(z, r)
	case forLast:
		s.lastRead(z, r)
	case forPut:
		s.imagePut(z, r)
	case forKnown:
		s.imagesKnown(z, r)
	case forBuddies:
		s.buddiesSet(z, r)
	case forNamed:
		s.buddiesRead(z, r)
	case forHelp:
		s.helped(z, r)
	}
}

func (s *Server) ask(op Op, what purpose, z *owned) { s.ops.ask(op, asked{what: what, zone: z}) }

func (s *Server) tell(n Notice) { s.notices = append(s.notices, n) }

// keep copies bytes for a notice.
func (s *Server) keep(data []byte) []byte {
	at := len(s.kept)
	s.kept = append(s.kept, data...)
	return s.kept[at:len(s.kept):len(s.kept)]
}

// Notices hands out what there is to tell. They are good until the next call of the server.
func (s *Server) Notices() []Notice {
	s.told, s.notices = s.notices, s.told[:0]
	s.kept = s.kept[:0]
	return s.told
}

// Stats counts what the server has met.
func (s *Server) Stats() Stats { return s.stats }
