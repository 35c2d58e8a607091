package replica

import (
	"github.com/coeval-dev/coeval/interest"
	"github.com/coeval-dev/coeval/world"
)

// view is what a client is shown: states, then entities by rising identifier, then commands. Each
// has a handle and wants to be Held; what left the view and may not have been told so is in
// leaving.
type view struct {
	list    []viewed
	old     []viewed // memory of the one before
	states  int      // how many states there are in view,
	things  int      // and where entities end
	looks   uint32
	jumps   uint64  // the publisher's, when the view was last looked over
	stale   bool    // the numbers in view are not those that were told
	relay   bool    // owners changed, so others may have to be relayed
	leaving []int32 // handles whose going has not been acknowledged
	// what came into view and left it since the client was last told of events; what came is of
	// interest only where events are saved
	came, went []world.ID
}

// viewed is what there is to know of something in view as long as it does not
// change: what is tracked is large, and lies far apart.
type viewed struct {
	id       world.ID
	handle   int32
	slot     int32
	unique   uint32
	number   uint32 // the image that the client was told, 0 if it must be told anew
	priority float32
	player   world.Player // whose command it is, if it is one
}

// Look tells the sender what its client is shown. It need not be called where
// Finder.Update says that nothing changed.
func (s *Sender) Look(v *interest.View) { s.see(v.Entries()) }

func (s *Sender) see(entries []interest.Entry) {
	s.renew()
	s.view.looks++
	old, list := s.view.list, s.view.old[:0]
	for i, at := range s.pub.states {
		if i < s.view.states {
			list = append(list, old[i])
		} else {
			list = append(list, s.enterView(at, 4))
		}
	}
	before := old[s.view.states:s.view.things]
	commands := old[s.view.things:]
	s.view.states = len(list)
	for i := range entries {
		e := &entries[i]
		for len(before) > 0 && before[0].id < e.ID {
			s.leaveView(before[0].handle)
			s.view.went = append(s.view.went, before[0].id)
			before = before[1:]
		}
		if len(before) > 0 && before[0].id == e.ID {
			v := before[0]
			v.priority = e.Priority
			list = append(list, v)
			before = before[1:]
		} else if at := s.pub.lookup(e.ID); at >= 0 {
			list = append(list, s.enterView(at, e.Priority))
			if s.pub.events.serial > 0 {
				s.view.came = append(s.view.came, e.ID)
			}
		}
	}
	for i := range before {
		s.leaveView(before[i].handle)
		s.view.went = append(s.view.went, before[i].id)
	}
	s.view.things = len(list)
	s.view.list, s.view.old = list, old
	s.relayCommands()
	for i := range commands {
		if s.at(commands[i].handle).looked != s.view.looks {
			s.leaveView(commands[i].handle)
		}
	}
}

// enterView takes something into view.
func (s *Sender) enterView(at int32, priority float32) viewed {
	h := s.handle(at)
	r := s.at(h)
	r.want = Held
	sl := &s.pub.slots[at]
	return viewed{
		id: sl.id, handle: h, slot: at, unique: sl.unique, number: r.heard(), priority: priority,
		player: sl.player}
}

func (s *Sender) leaveView(h int32) {
	r := s.at(h)
	if r.want != Held {
		return
	}
	r.want = Left
	if s.pub.slots[r.slot].unique != r.unique {
		r.want = Removed
	}
	r.waiting = 0
	if r.sends == 0 {
		r.told = r.want // it never heard of it
		return
	}
	s.view.leaving = append(s.view.leaving, h)
}

// renew finds what is in view under the same name as before and is something else, or went and came
// again. Only where a world was taken back can that be.
func (s *Sender) renew() {
	if s.view.jumps == s.pub.jumps {
		return
	}
	s.view.jumps = s.pub.jumps
	for i := range s.view.list {
		v := &s.view.list[i]
		if s.pub.slots[v.slot].unique == v.unique {
			continue
		}
		at := s.pub.command(v.player)
		if v.player == world.Nobody {
			at = s.pub.lookup(v.id)
		}
		if at < 0 {
			continue // it is gone, as will be found
		}
		s.leaveView(v.handle)
		*v = s.enterView(at, v.priority)
		s.at(v.handle).looked = s.view.looks
	}
}

// relayCommands takes the commands of those into view whose entities are, of classes that clients
// predict from commands.
func (s *Sender) relayCommands() {
	s.view.relay = false
	if len(s.pub.commands) == 0 {
		return
	}
	for _, v := range s.view.list[s.view.states:s.view.things] {
		sl := &s.pub.slots[v.slot]
		if sl.unique != v.unique || s.pub.protocol.classes[sl.class].policy.NoRelay {
			continue
		}
		m, _ := sl.now()
		if m.owner == world.Nobody || m.owner == s.options.Player {
			continue
		}
		if at := s.pub.command(m.owner); at >= 0 {
			if r := s.at(s.handle(at)); r.looked != s.view.looks {
				r.looked = s.view.looks
				s.view.list = append(s.view.list, s.enterView(at, v.priority))
			}
		}
	}
}

// clearView takes out of view what is no more, and keeps the worker's order right.
func (s *Sender) clearView(w *Worker) {
	kept := s.view.list[:0]
	states, things := s.view.states, s.view.things
	for i, v := range s.view.list {
		if s.pub.slots[v.slot].unique != v.unique {
			if i < things {
				s.view.things--
			}
			if i < states {
				s.view.states--
			}
			continue
		}
		w.inView[v.handle] = int32(len(kept))
		kept = append(kept, v)
	}
	s.view.list = kept
}
