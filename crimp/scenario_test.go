package crimp

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestScenarios plays the conversations in testdata/scenarios. Datagrams go to all, and take 10 ms.
// Control packets are shown only if they ask for something. The commands:
//
//	group NAME... [order=ORDER] [forward=none|repeat|parity] [history=DURATION] [linger]
//	send NAME TEXT...        multicast a message
//	lose NAME OF/SEQ [times=N]   have a member not get a packet, as first sent or repaired, N times or once
//	cut NAME                 nothing gets to the member or from it
//	heal NAME                it does again
//	depart NAME              the others agree on what counts of a member, and go on without it
//	run DURATION             let time pass
func TestScenarios(t *testing.T) {
	simtest.Scenarios(t, func(t *testing.T) func(simtest.Line, *strings.Builder) {
		return (&scenario{t: t, lose: map[loseKey]int{}, cut: map[string]bool{}}).play
	})
}

type scenario struct {
	t      *testing.T
	now    time.Duration
	roster Roster
	names  []string // by id, from 1
	groups map[string]*Group
	linger bool // what a silent member sent is kept beyond the history
	lose   map[loseKey]int
	cut    map[string]bool
	air    []flight
	out    *strings.Builder
}

type loseKey struct {
	at string
	of name
}

type flight struct {
	from string
	data []byte
}

func (s *scenario) play(l simtest.Line, out *strings.Builder) {
	s.out = out
	switch l.Verb {
	case "group":
		s.group(l)
	case "send":
		if _, err := s.groups[l.Arg(0)].Send(s.now,
			[]byte(strings.Join(l.Args[1:], " "))); err != nil {
			fmt.Fprintln(out, err)
		}
	case "lose":
		of, seq, _ := strings.Cut(l.Arg(1), "/")
		key := loseKey{l.Arg(0), name{member: s.id(of)}}
		fmt.Sscan(seq, &key.of.seq)
		s.lose[key] = l.Number("times", 1)
	case "cut", "heal":
		s.cut[l.Arg(0)] = l.Verb == "cut"
	case "depart":
		s.depart(l.Arg(0))
	case "run":
		for end := s.now + l.Duration(0); s.now < end; {
			s.step()
		}
	default:
		l.Fail("there is no such command")
	}
}

func (s *scenario) id(who string) member.ID { return member.ID(slices.Index(s.names, who) + 1) }

func (s *scenario) name(id member.ID) string { return s.names[id-1] }

func (s *scenario) group(l simtest.Line) {
	s.names, s.groups, s.linger = l.Args, map[string]*Group{}, l.Is("linger")
	s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == "linger" })
	s.roster = Roster{Group: 77, Epoch: 1, Key: [16]byte{9}}
	o := Options{
		Multicast: testGroupAddr, Forward: Forward{
			Mode: ForwardNone, Window: 4, Parity: 1, Depth: 1}}
	for i, mode := range []string{"", "none", "repeat", "parity"} {
		if l.Options["forward"] == mode && mode != "" {
			o.Forward.Mode = ForwardMode(i)
		}
	}
	for i := range orders {
		if strings.ReplaceAll(i.String(), " ", "-") == l.Options["order"] {
			o.Order = i
		}
	}
	if text := l.Options["history"]; text != "" {
		var err error
		if o.History, err = time.ParseDuration(text); err != nil {
			l.Fail(err.Error())
		}
	}
	for i := range s.names {
		s.roster.Members = append(s.roster.Members,
			Member{ID: member.ID(i + 1),
				Card: testIdentity(2, uint64(i)).Card(netip.AddrPort{}, 1)})
	}
	for i, who := range s.names {
		o.Seed, o.Identity = testSeed(1, uint64(i)), testIdentity(2, uint64(i))
		g, err := NewGroup(o)
		if err == nil {
			err = g.SetRoster(0, s.roster)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		if s.linger {
			g.Linger(10 * time.Second)
		}
		g.Events()
		s.groups[who] = g
	}
}

// depart does what an authority does when a member is gone.
func (s *scenario) depart(who string) {
	var reports []Cut
	for _, other := range s.names {
		if g := s.groups[other]; other != who && !s.cut[other] {
			c, _ := g.Freeze(s.id(who))
			s.say("%s holds of %s all up to %d, and %v", other, who, c.Seq, c.Also)
			reports = append(reports, c)
		}
	}
	s.roster.Epoch++
	s.roster.Members = slices.DeleteFunc(s.roster.Members,
		func(m Member) bool { return m.ID == s.id(who) })
	d := Agree(s.id(who), ReasonSilent, reports)
	s.say("agreed: %s counts up to %d, without %v", who, d.Last, d.Lost)
	s.roster.Gone = []Departure{d}
	for _, other := range s.names {
		if other != who {
			if err := s.groups[other].SetRoster(s.now, s.roster); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	s.look()
}

func (s *scenario) step() {
	s.now += 10 * time.Millisecond
	air := s.air
	s.air = nil
	for _, f := range air {
		for _, who := range s.names {
			if who == f.from || s.cut[who] || s.cut[f.from] || s.lost(who, f.data) {
				continue
			}
			s.groups[who].Receive(s.now, []link.Datagram{{Data: bytes.Clone(f.data)}})
			s.look()
		}
	}
	for _, who := range s.names {
		g := s.groups[who]
		g.Tick(s.now)
		s.look()
		for _, d := range g.Flush(s.now, nil) {
			s.describe(who, d.Data)
			s.air = append(s.air, flight{who, bytes.Clone(d.Data)})
		}
	}
}

func (s *scenario) say(format string, args ...any) {
	fmt.Fprintf(s.out, "%6v  %s\n", s.now, fmt.Sprintf(format, args...))
}

// lost reports whether a member does not get a data packet, as the scenario wants.
func (s *scenario) lost(who string, b []byte) bool {
	if b[0] == kindRepair {
		b = b[repairPrefix:]
	}
	h, _ := readHeader(b)
	key := loseKey{who, name{h.member, Sequence(h.number)}}
	if h.kind != kindData || s.lose[key] == 0 {
		return false
	}
	s.lose[key]--
	s.say("%s does not get %s/%d", who, s.name(h.member), h.number)
	return true
}

// describe shows a datagram as it goes out.
func (s *scenario) describe(from string, b []byte) {
	what := ""
	if b[0] == kindRepair {
		b, what = b[repairPrefix:], "repair of "
	}
	h, _ := readHeader(b)
	switch h.kind {
	case kindData:
		s.say("%s > all  %s%s/%d", from, what, s.name(h.member), h.number)
	case kindParity, kindControl:
		g := s.groups[from]
		body, ok := g.open(g.sending, &h, bytes.Clone(b))
		var c controlBody
		switch {
		case !ok:
			s.t.Fatalf("%s sends what nobody can open", from)
		case h.kind == kindParity:
			first, packets := be.Uint32(body), uint32(body[4]>>3)
			s.say("%s > all  parity of %s/%d to %d", from, from, first, first+packets-1)
		case !readControl(body, &c):
			s.t.Fatalf("%s sends what nobody can read", from)
		}
		for _, r := range c.requests {
			s.say("%s > all  asks for %s/%d%s, attempt %d", from, s.name(r.member), r.first,
				more(uint32(r.more)), r.attempt)
		}
	}
}

func more(n uint32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// look shows what members are told.
func (s *scenario) look() {
	for _, who := range s.names {
		for _, e := range s.groups[who].Events() {
			text := fmt.Sprintf("%s: %v %s/%d%s", who, e.Kind, s.name(e.Member), e.Seq,
				more(e.More))
			switch {
			case e.Kind == Delivered:
				text += fmt.Sprintf(" %q", e.Data)
				if e.How != First {
					text += fmt.Sprintf(", %v", e.How)
				}
			case e.Kind == GaveUp && e.How == Agreed:
				text += ", as agreed"
			}
			s.say("%s", text)
		}
	}
}
