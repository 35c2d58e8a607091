package lbrm

import (
	"net/netip"
	"time"
)

// gaps is what of a source has come and what is missing, for receivers and logs alike.
type gaps struct {
	session uint32
	begun   bool
	top     uint64 // the highest number that is known of
	low     uint64 // all up to here came or is of no interest
	missing []gap  // in order
}

type gap struct {
	seq   uint64
	at    time.Duration // when it is asked for
	tries int
}

// maxMissing bounds what is asked for: what is further behind is given up.
const maxMissing = 4096

// begin is for the first packet of a source: what was said before it matters for so many.
func (g *gaps) begin(session uint32, seq, history uint64) {
	*g = gaps{session: session, begun: true}
	g.low = seq - min(seq, history)
	g.top = g.low
}

// upTo notes that there are packets up to one.
func (g *gaps) upTo(seq uint64, now time.Duration) {
	if seq <= g.top {
		return
	}
	for n := max(g.top, seq-min(seq, maxMissing)) + 1; n <= seq; n++ {
		g.missing = append(g.missing, gap{seq: n, at: now})
	}
	g.top = seq
	if n := len(g.missing) - maxMissing; n > 0 {
		g.missing = g.missing[n:]
	}
}

// take notes that a packet came, and says whether it is new.
func (g *gaps) take(seq uint64, now time.Duration) bool {
	g.upTo(seq, now)
	for i := range g.missing {
		if g.missing[i].seq == seq {
			g.missing = append(g.missing[:i], g.missing[i+1:]...)
			return true
		}
	}
	return false
}

// safe is up to which number all has come.
func (g *gaps) safe() uint64 {
	if len(g.missing) > 0 {
		return g.missing[0].seq - 1
	}
	return g.top
}

// ask gives what is to be asked for now, and where by how often it was asked for in vain; what was
// asked for often enough is given up.
func (g *gaps) ask(
	now, again time.Duration, most int, to func(tries int) netip.AddrPort,
	say func(netip.AddrPort, []uint64),
) (gaveUp []uint64) {
	var list [2]struct {
		to  netip.AddrPort
		seq []uint64
	}
	kept := g.missing[:0]
	for _, m := range g.missing {
		if now >= m.at {
			if m.tries >= most {
				gaveUp = append(gaveUp, m.seq)
				continue
			}
			at := to(m.tries)
			for i := range list {
				l := &list[i]
				if (l.to == at || len(l.seq) == 0) && len(l.seq) < maxAsked {
					l.to, l.seq = at, append(l.seq, m.seq)
					m.tries++
					m.at = now + again<<min(m.tries, 4)
					break
				}
			}
		}
		kept = append(kept, m)
	}
	g.missing = kept
	for _, l := range list {
		if len(l.seq) > 0 {
			say(l.to, l.seq)
		}
	}
	return gaveUp
}
