package relay

import (
	"net/netip"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
)

// Stats count what a relay did and met, since it began.
type Stats struct {
	Created, Over uint64 // matches
	Refused       [RefusedMode + 1]uint64
	// connections that the relay ended, by reason from ReasonOffence on
	Dropped  [ReasonSilent - ReasonOffence + 1]uint64
	Offences uint64

	Rows     uint64 // closed
	Late     uint64 // of those, after their time, because an item was missing
	Repeated uint64 // seats of rows without an item
	Caught   uint64 // items taken together with another
	Packets  uint64 // of rows
	RowsSent uint64 // in them
	RowBytes uint64 // of the messages in them
	Items    uint64 // that have come and were new
	ItemIn   uint64 // bytes of the messages that brought items

	Carried, CarriedBytes uint64 // datagrams for others
	Strangers             uint64 // for somebody who is not in the match
	OverRate              uint64 // and more than one may send
	Words                 uint64
	Flooded               uint64 // packets of items beyond all measure, not looked at
	Stalls                uint64 // of the relay itself
}

func (s *Stats) count(r conn.Reason) {
	if r >= ReasonOffence && int(r-ReasonOffence) < len(s.Dropped) {
		s.Dropped[r-ReasonOffence]++
	}
}

// Stats tells what the relay did and met so far.
func (s *Server) Stats() Stats { return s.stats }

// Status is what there is now.
type Status struct {
	Matches, Members, Watching, Playing int
	Conns                               []conn.Stats // of each link
	Ledger                              conn.Ledger
	Links                               link.Counters
	Places                              link.Places
}

// Status tells what there is now.
func (s *Server) Status() (out Status) {
	out.Matches = len(s.matches)
	for _, m := range s.matches {
		out.Members += len(m.peers)
		for _, p := range m.peers {
			if p.entry.Watch {
				out.Watching++
			} else if p.playing {
				out.Playing++
			}
		}
	}
	for _, p := range s.ports {
		out.Conns = append(out.Conns, p.conn.Stats())
		l := p.conn.Ledger()
		l.Sent[conn.SentAnswer] = link.Own(p.link).SentBytes
		out.Ledger.Add(&l)
		out.Links = out.Links.Add(p.link.Counters())
		if p.keeper != nil {
			out.Places = out.Places.Add(p.keeper.Places())
		}
	}
	return out
}

// NewsKind says what News is about.
type NewsKind uint8

// What a relay tells of.
const (
	NewsCreated  NewsKind = iota // a match
	NewsOver                     // a match
	NewsEntered                  // a member came
	NewsGone                     // a member went
	NewsDenied                   // somebody was not let in
	NewsDropped                  // a connection was ended by the relay
	NewsLinkDown                 // a link has ended
)

var newsNames = [...]string{"created", "over", "entered", "gone", "denied", "dropped", "link down"}

func (k NewsKind) String() string {
	if int(k) < len(newsNames) {
		return newsNames[k]
	}
	return "unknown news"
}

// News is something that happened, for logs.
type News struct {
	Kind   NewsKind
	Code   Code
	Peer   About
	Reason conn.Reason
	Why    Refusal
	Text   string
	Err    error
}

// About is who a News is about.
type About struct {
	Member member.ID
	Name   string
	Addr   netip.AddrPort
}

func (s *Server) tell(n News) {
	if s.opt.News != nil {
		s.opt.News(n)
	}
}
