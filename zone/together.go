package zone

// What acted together in a tick crosses together: all entities that leave for one zone in one tick,
// and the actions between them, are taken in by one tick there.

// together says of each item that a tick puts out whether an entity follows for the same zone.
func (s *state) together() {
	for i := len(s.out.items) - 1; i >= 0; i-- {
		o := &s.out.items[i]
		st := s.streams.open(o.to)
		if st == nil {
			continue // which is an error
		}
		o.more = st.since > 0 && st.since < maxTogether && st.sinceLen < maxTogetherLen
		switch {
		case o.more:
			st.since++
			st.sinceLen += 48 + len(o.data)
		case o.kind == handOver:
			st.since, st.sinceLen = 1, 48+len(o.data)
		default:
			st.since, st.sinceLen = 0, 0
		}
	}
	for _, st := range s.streams {
		st.since, st.sinceLen = 0, 0
	}
}

// group gives the number behind those that are to be taken together with one that waits, and
// whether all of them are there and fit into a frame. If there is nothing else in that, they do.
func (st *stream) group(from uint64, f *frame, size int) (until uint64, fits bool) {
	in, all := &st.live.inbox, 0
	for until = from; until < in.end(); {
		i := in.at(until)
		all += i.size()
		until++
		if !i.more {
			n := len(f.taken) + int(until-from)
			return until, n <= maxTaken && (size == 0 || until == from+1 || size+all <= maxTakenLen)
		}
	}
	// The rest is on its way, unless there is no room for more of them.
	return until, in.len() >= maxInbox || st.live.inboxBytes > maxInboxLen
}
