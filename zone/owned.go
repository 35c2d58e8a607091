package zone

import (
	"errors"
	"time"
)

// stage is how far a server is with a zone.
type stage uint8

const (
	claiming  stage = iota // write itself into the map, with the next epoch
	gathering              // ask those who hold records that the journal may lack
	fencing                // append an empty record, after which nothing of others is taken
	finding                // look which snapshots there are
	loading                // read one
	replaying              // read the records behind it and compute them again
	vouching               // note in the map at which tick it begins, and how often that was tried
	owning                 // compute ticks
	failing                // a tick failed: see what of those before it becomes durable
	giving                 // another server is to be the owner: see that all is durable, say so
	halting                // nobody is to be the owner
)

// owned is a zone that this server steps, or is about to.
type owned struct {
	id      ID
	stage   stage
	told    bool // Owned was told of it
	warm    bool // it was followed before it was claimed
	follows bool // another server owns it, and its journal is followed
	over    bool // it is not held any more, and results about it are of no interest
	busy    bool // the operation of this stage is not answered
	after   time.Duration
	wait    time.Duration // before an operation that failed is tried again

	entry   Assignment // as it is in the map
	want    Assignment // as it is being written there
	written []byte     // want, as bytes
	rev     uint64     // of entry
	from    ServerID   // from whom it is taken
	fence   fence

	images  images
	gather  gather
	buddies buddies
	replay  replay
	state   *state
	journal journal

	frame    frame
	commands [][]byte
	cmdBytes []byte
	suspects []suspect
	putBack  int   // items that were set aside and are to be tried again
	why      error // of halting
	giveTo   ServerID
}

const maxWait = time.Second

// retry has the operation of a stage tried again after a while.
func (s *Server) retry(z *owned) {
	z.busy = false
	z.wait = min(max(2*z.wait, s.opt.Resend/4), maxWait)
	z.after = s.now + z.wait
}

// enter goes on to another stage.
func (s *Server) enter(z *owned, next stage) {
	z.stage, z.busy, z.wait, z.after = next, false, 0, 0
	s.advance(z)
}

// advance does what a stage takes, unless something is under way already.
func (s *Server) advance(z *owned) {
	if z.over || z.busy || s.now < z.after {
		return
	}
	switch z.stage {
	case claiming, vouching, halting:
		s.writeEntry(z)
	case gathering:
		s.askHolders(z)
	case fencing:
		z.busy = true
		s.ask(Op{Kind: Last, Zone: z.id}, forFenceLast, z)
	case finding:
		z.busy = true
		s.ask(Op{Kind: Keys, Key: imagesOf(z.id)}, forImages, z)
	case loading:
		s.loadImage(z)
	case replaying:
		s.replaySome(z)
	case failing:
		if !z.journal.idle() || z.buddies.writing {
			s.submit(z)
		} else {
			s.reload(z, z.journal.seq)
		}
	case giving:
		if !z.journal.idle() {
			s.submit(z)
		} else {
			s.writeEntry(z)
		}
	}
}

// reload begins a zone again, from its snapshot and the records up to one.
func (s *Server) reload(z *owned, until uint64) {
	z.state, z.images.bad, z.images.pending = nil, 0, z.images.pending[:0]
	z.images.waiting = false
	z.replay = replay{until: until}
	s.enter(z, finding)
}

// ErrJournal is why a zone is halted whose records do not fit its snapshots.
var ErrJournal = errors.New(
	"zone: the journal lacks what the snapshots need, or has what does not follow from it")

// ErrDiverged is why a zone is halted that came to something else than its owner before.
var ErrDiverged = errors.New("zone: computed again, a tick came to something else")

// halt has nobody step a zone any more.
func (s *Server) halt(z *owned, why error) {
	if z.follows {
		s.unfollow(z)
		return
	}
	z.why = why
	z.want = z.entry
	z.want.Owner, z.want.Halted, z.want.Holders = 0, true, [holders]ServerID{}
	if z.state != nil {
		z.want.At = z.state.tick
	}
	s.enter(z, halting)
}

// begin owns a zone, as all there is of it is computed and the map says so.
func (s *Server) begin(z *owned) {
	for _, st := range z.state.streams {
		st.revive()
		st.live.resendAt = s.now + s.opt.Resend
	}
	z.journal.start(z.replay.until, z.state.tick)
	z.buddies = buddies{acknowledged: s.now}
	s.heard(z)
	z.replay = replay{}
	z.stage, z.busy = owning, false
	if !z.told {
		s.stats.TakenOver++
	}
	z.told = true
	s.setRoute(z.id, s.opt.Self, z.entry.Epoch)
	s.tell(Notice{Kind: Owned, Zone: z.id, Tick: z.state.tick, Epoch: z.entry.Epoch})
	for _, st := range z.state.streams {
		s.greet(z, st)
	}
}

// drop lets go of a zone.
func (s *Server) drop(z *owned) {
	z.over = true
	for i := range s.zones {
		if s.zones[i] == z {
			s.zones = append(s.zones[:i:i], s.zones[i+1:]...)
			break
		}
	}
}

// lose drops a zone that has another owner.
func (s *Server) lose(z *owned) {
	if z.told {
		s.retain(z)
		s.stats.Fenced++
		s.tell(Notice{Kind: Deposed, Zone: z.id, Tick: z.journal.durable, Epoch: z.entry.Epoch})
	} else {
		s.stats.Lost++
	}
	s.forgetRoute(z.id)
	s.drop(z)
}

func (s *Server) zone(id ID) *owned {
	lo, hi := 0, len(s.zones)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s.zones[mid].id < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(s.zones) && s.zones[lo].id == id {
		return s.zones[lo]
	}
	return nil
}
