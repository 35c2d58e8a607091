package membership

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
)

// TestScenarios plays the conversations in testdata/scenarios. Every path takes 10 ms and loses
// nothing. What is shown is whom mirrors ask, what their programs are told, and how decrees change.
// The commands:
//
//	found NAME                      make a group
//	join NAME asks=NAME,NAME [witness] [game=NAME] [text=TEXT] [patience=DURATION]
//	crash NAME                      the machine stops, and does not come back
//	leave NAME                      leave in good order
//	dismiss NAME by=NAME            have the überserver take one out
//	cut NAME NAME                   nothing gets through between two
//	heal                            everything gets through
//	run DURATION                    let time pass
func TestScenarios(t *testing.T) {
	simtest.Scenarios(t, func(t *testing.T) func(simtest.Line, *strings.Builder) {
		p := netsim.Profile{Latency: 5 * time.Millisecond}
		net := netsim.New(netsim.Options{Seed: 1, Conditions: netsim.Conditions{Up: p, Down: p}})
		return (&scenario{sim: newSim(net, nil), actors: map[string]*actor{}}).play
	})
}

type scenario struct {
	*sim
	names  []string
	actors map[string]*actor
	out    *strings.Builder
}

// actor is a mirror, and what was shown of it.
type actor struct {
	*mirror
	events int
	asks   netip.AddrPort
	epoch  uint32
}

func (s *scenario) play(l simtest.Line, out *strings.Builder) {
	s.out = out
	switch l.Verb {
	case "found", "join":
		s.start(l)
	case "crash":
		s.actors[l.Arg(0)].ep.Restart(time.Hour)
	case "leave":
		s.actors[l.Arg(0)].node.Leave(s.net.Now())
	case "dismiss":
		s.actors[l.Options["by"]].m.Dismiss(s.net.Now(), s.actors[l.Arg(0)].id, crimp.ReasonRefused)
	case "cut":
		s.net.Cut(s.actors[l.Arg(0)].ep, s.actors[l.Arg(1)].ep)
	case "heal":
		for _, a := range s.actors {
			for _, b := range s.actors {
				s.net.Heal(a.ep, b.ep)
			}
		}
	case "run":
		for end := s.net.Now() + l.Duration(0); s.net.Now() < end; {
			if err := s.run(10 * time.Millisecond); err != nil {
				l.Fail(err.Error())
			}
			s.show()
		}
	default:
		l.Fail("there is no such command")
	}
}

func (s *scenario) start(l simtest.Line) {
	var ask []netip.AddrPort
	for who := range strings.SplitSeq(l.Options["asks"], ",") {
		if a := s.actors[who]; a != nil {
			ask = append(ask, a.ep.LocalAddr())
		}
	}
	m := s.add(func(o *Options) {
		o.Found, o.Ask, o.Witness = l.Verb == "found", ask, l.Is("witness")
		if game := l.Options["game"]; game != "" {
			o.About.Name = game
		}
		if text := l.Options["text"]; text != "" {
			o.About.Text = text
		}
		if text := l.Options["patience"]; text != "" {
			o.Patience, _ = time.ParseDuration(text)
		}
	})
	m.sending = false
	s.names = append(s.names, l.Arg(0))
	s.actors[l.Arg(0)] = &actor{mirror: m}
}

// name is what a member, or an address, is called.
func (s *scenario) name(id member.ID) string {
	return s.find(func(a *actor) bool { return a.m.self == id })
}

func (s *scenario) find(is func(a *actor) bool) string {
	if i := slices.IndexFunc(s.names, func(n string) bool { return is(s.actors[n]) }); i >= 0 {
		return s.names[i]
	}
	return "nobody"
}

func (s *scenario) say(format string, args ...any) {
	fmt.Fprintf(s.out, "%6v  %s\n", s.net.Now(), fmt.Sprintf(format, args...))
}

func (s *scenario) list(ids []member.ID) string {
	var names []string
	for _, id := range ids {
		names = append(names, s.name(id))
	}
	return strings.Join(names, " ")
}

// show tells what has happened since it was last called.
func (s *scenario) show() {
	for _, who := range s.names {
		a := s.actors[who]
		if !a.ep.Running() {
			continue
		}
		list := slices.DeleteFunc(slices.Clone(a.m.asks()),
			func(t *attempt) bool { return t.closed })
		if n := len(list); n > 0 && list[n-1].at != a.asks {
			a.asks = list[n-1].at
			s.say("%s asks %s", who,
				s.find(func(b *actor) bool { return b.ep.LocalAddr() == a.asks }))
		}
		if epoch := a.m.Epoch(); epoch != a.epoch {
			a.epoch = epoch
			d := a.m.council.Decree()
			text := fmt.Sprintf("%s leads, voters %s", s.name(d.Leader), s.list(d.Voters))
			if len(d.Witnesses) > 0 {
				text += ", witnesses " + s.list(d.Witnesses)
			}
			if len(d.Learners) > 0 {
				text += ", learners " + s.list(d.Learners)
			}
			s.say("%s is in epoch %d: %s", who, epoch, text)
		}
		for ; a.events < len(a.mirror.events); a.events++ {
			s.event(who, &a.mirror.events[a.events])
		}
	}
}

func (s *scenario) event(who string, e *crimp.Event) {
	switch e.Kind {
	case crimp.Led: // told with the epoch
	case crimp.Established:
		s.say("%s: is member %d", who, e.Member)
	case crimp.Denied, crimp.Dismissed:
		text := fmt.Sprintf("%s: %v, %v", who, e.Kind, e.Reason)
		if len(e.Data) > 0 {
			text += ": " + string(e.Data)
		}
		s.say("%s", text)
	case crimp.Left:
		s.say("%s: %s left, %v", who, s.name(e.Member), e.Reason)
	case crimp.State, crimp.CutOff, crimp.Reunited:
		s.say("%s: %v", who, e.Kind)
	default:
		s.say("%s: %v %s", who, e.Kind, s.name(e.Member))
	}
}
