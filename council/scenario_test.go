package council

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestScenarios plays the conversations in testdata/scenarios. Messages take 10 ms. Beats are shown
// only where they say something else than the last ones of that member, and what is said again
// because it was not answered only once for each command. The commands:
//
//	voters ID... [leader=ID] [witnesses=ID,ID] [learners=ID,ID]   the first decree
//	propose ID [out=ID,ID] [votes=ID,ID]     have a leader propose, to take some out or give some a vote
//	campaign ID                              have a voter campaign now
//	cut ID...                                between those, nothing gets through; one alone hears nobody
//	mute ID                                  nothing of one gets through; it hears the others
//	heal                                     all get through to all
//	run DURATION                             let time pass
//	coup ID leader=ID [voters=ID,ID] [signed=ID,ID]   have one tell all others of a decree that makes
//	                                         another lead, with the votes of those who signed
//	banish ID to=ID                          have one tell another that it is out
func TestScenarios(t *testing.T) {
	simtest.Scenarios(t, func(t *testing.T) func(simtest.Line, *strings.Builder) {
		s := &scenario{
			t: t, cut: map[[2]member.ID]bool{}, beats: map[member.ID]string{},
			said: map[string]bool{}}
		return s.play
	})
}

type scenario struct {
	t       *testing.T
	now     time.Duration
	members []*voice
	cut     map[[2]member.ID]bool
	air     []flight
	beats   map[member.ID]string
	said    map[string]bool
	out     *strings.Builder
}

type flight struct {
	from, to member.ID
	data     []byte
}

// voice is one member, and the owner of its council.
type voice struct {
	id       member.ID
	c        *Council
	votes    []member.ID // to be given
	told     bool        // that it is out
	campaign uint64
}

func (v *voice) Report([]member.ID) []byte { return fmt.Appendf(nil, "what %d holds", v.id) }

func (v *voice) Farewell(id member.ID) []byte { return fmt.Appendf(nil, "farewell %d", id) }

func (v *voice) Compose(d *Decree, suspects []member.ID, _ []Report) Decree {
	next := d.Clone()
	next.Epoch++
	next.Leader = v.id
	gone := func(id member.ID) bool { return slices.Contains(suspects, id) }
	for _, list := range []*[]member.ID{&next.Voters, &next.Witnesses, &next.Learners} {
		*list = slices.DeleteFunc(*list, gone)
	}
	for _, id := range v.votes {
		next.Learners = slices.DeleteFunc(next.Learners, func(l member.ID) bool { return l == id })
		next.Voters = member.Insert(next.Voters, id)
	}
	v.votes = nil
	return next
}

func list(l simtest.Line, name string) (out []member.ID) {
	for text := range strings.SplitSeq(l.Options[name], ",") {
		if text != "" {
			var id member.ID
			fmt.Sscan(text, &id)
			out = append(out, id)
		}
	}
	return out
}

func args(l simtest.Line) (out []member.ID) {
	for i := range l.Args {
		out = append(out, member.ID(l.Int(i)))
	}
	return out
}

func (s *scenario) play(l simtest.Line, out *strings.Builder) {
	s.out = out
	clear(s.said)
	switch l.Verb {
	case "voters":
		d := Decree{
			Epoch: 1, Leader: member.ID(l.Number("leader", 1)), Voters: args(l),
			Witnesses: list(l, "witnesses"), Learners: list(l, "learners")}
		for _, id := range slices.Concat(d.Voters, d.Learners) {
			v := &voice{id: id}
			var err error
			if v.c, err = New(0, Options{ID: id, Owner: v, Keys: testKeys(id), Seed: 1,
				Silence: testSilence},
				d); err != nil {
				s.t.Fatal(err)
			}
			s.members = append(s.members, v)
		}
	case "propose":
		v := s.find(member.ID(l.Int(0)))
		v.votes = list(l, "votes")
		if !v.c.Propose(s.now, list(l, "out")) {
			fmt.Fprintln(out, v.id, "cannot propose")
		}
		s.look()
	case "campaign":
		v := s.find(member.ID(l.Int(0)))
		v.c.start(v.c.silentOnes(), true)
		s.look()
	case "cut":
		ids := args(l)
		for _, a := range s.members {
			for _, b := range s.members {
				if slices.Contains(ids, a.id) && (len(ids) == 1 || slices.Contains(ids, b.id)) {
					s.cut[[2]member.ID{a.id, b.id}], s.cut[[2]member.ID{b.id, a.id}] = true, true
				}
			}
		}
	case "mute":
		for _, b := range s.members {
			s.cut[[2]member.ID{member.ID(l.Int(0)), b.id}] = true
		}
	case "heal":
		clear(s.cut)
	case "coup":
		s.coup(l)
	case "banish":
		from := member.ID(l.Int(0))
		for _, to := range list(l, "to") {
			s.air = append(s.air, flight{from, to, (&message{kind: kindOut,
				epoch: s.find(to).c.Decree().Epoch + 1, rest: []byte("go")}).append(nil)})
		}
	case "trust":
		for _, v := range s.members {
			st := v.c.Stats()
			fmt.Fprintf(out, "%d: leader %d, %d unproven, %d of outsiders, %d words\n", v.id,
				v.c.Decree().Leader, st.Unproven, st.Outsiders, st.Claimed)
		}
	case "run":
		for end := s.now + l.Duration(0); s.now < end; {
			s.step()
		}
	default:
		l.Fail("there is no such command")
	}
}

// coup has a member tell the others that a decree was decided.
func (s *scenario) coup(l simtest.Line) {
	from := s.find(member.ID(l.Int(0)))
	d := from.c.Decree().Clone()
	d.Epoch++
	d.Leader = member.ID(l.Number("leader", 0))
	if v := list(l, "voters"); len(v) > 0 {
		d.Voters = v
	}
	link := linkOf(&d, ballot{1, from.id}, append(list(l, "signed"), from.id)...)
	for _, v := range s.members {
		if v != from {
			s.air = append(s.air, flight{from.id, v.id,
				(&message{kind: kindDecided, epoch: d.Epoch, link: link}).append(nil)})
		}
	}
}

func (s *scenario) find(id member.ID) *voice {
	return s.members[slices.IndexFunc(s.members, func(v *voice) bool { return v.id == id })]
}

func (s *scenario) step() {
	s.now += 10 * time.Millisecond
	air := s.air
	s.air = nil
	for _, f := range air {
		s.find(f.to).c.Receive(s.now, f.from, f.data)
		s.look()
	}
	for _, v := range s.members {
		v.c.Tick(s.now)
	}
	s.look()
}

func (s *scenario) say(format string, args ...any) {
	fmt.Fprintf(s.out, "%6v  %s\n", s.now, fmt.Sprintf(format, args...))
}

// look takes what members have learnt, and what they send.
func (s *scenario) look() {
	for _, v := range s.members {
		for _, d := range v.c.Decided() {
			s.say("%d enters epoch %d: %d leads, %s", v.id, d.Epoch, d.Leader, who(&d))
		}
		if note, out := v.c.Dismissed(); out && !v.told {
			v.told = true
			s.say("%d is out: %q", v.id, note)
		}
		if n := v.c.Stats().Campaigns; n != v.campaign {
			v.campaign = n
			s.say("%d campaigns", v.id)
		}
		for _, m := range v.c.Outgoing() {
			arrives := !s.cut[[2]member.ID{v.id, m.To}]
			s.describe(v.id, m, arrives)
			if arrives {
				s.air = append(s.air, flight{v.id, m.To, m.Data})
			}
		}
	}
}

func who(d *Decree) string {
	text := fmt.Sprint("voters ", d.Voters)
	if len(d.Witnesses) > 0 {
		text += fmt.Sprint(", witnesses ", d.Witnesses)
	}
	if len(d.Learners) > 0 {
		text += fmt.Sprint(", learners ", d.Learners)
	}
	return text
}

func (s *scenario) describe(from member.ID, out Message, arrives bool) {
	m, ok := readMessage(out.Data)
	if !ok {
		s.t.Fatalf("%d sends %x", from, out.Data)
	}
	var text string
	switch m.kind {
	case kindBeat:
		text = fmt.Sprintf("beats in epoch %d", m.epoch)
		if m.flags&flagDoubt != 0 {
			text += ", does not hear the leader"
		}
		if m.flags&flagCutOff != 0 {
			text += ", hears no quorum"
		}
		if s.beats[from] != text {
			s.beats[from] = text
			s.say("%d %s", from, text)
		}
		return
	case kindPrepare:
		text = "prepare " + m.ballot.String()
		if len(m.suspects) > 0 {
			text += fmt.Sprint(", suspects ", m.suspects)
		}
	case kindPromise:
		text = "promise " + m.ballot.String()
		if !m.claim.ballot.none() {
			text += ", has accepted " + m.claim.ballot.String()
		}
	case kindRefuse:
		text = "refuse " + m.ballot.String()
		if m.flags&refuseAlive != 0 {
			text += ", hears the leader"
		} else {
			text += ", has promised " + m.other.String()
		}
	case kindAccept:
		text = "accept " + m.ballot.String()
	case kindAccepted:
		text = "accepted " + m.ballot.String()
	case kindDecided:
		text = fmt.Sprintf("decided epoch %d", m.epoch)
	case kindHeld:
		text = fmt.Sprintf("held epoch %d", m.epoch)
	case kindOut:
		text = fmt.Sprintf("out, by epoch %d", m.epoch)
	}
	if !arrives {
		text += ", lost"
	}
	line := fmt.Sprintf("%d > %d %s", from, out.To, text)
	if !s.said[line] {
		s.said[line] = true
		s.say("%s", line)
	}
}

func (b ballot) String() string { return fmt.Sprintf("%d.%d", b.round, b.id) }
