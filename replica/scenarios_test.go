package replica

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/world"
)

// TestScenarios plays the conversations in testdata/scenarios. Entities are letters, and each is
// one number:
//
//	strategy NAME          begins anew, with another way to choose a base
//	put a 5                there is an a, or it changes
//	remove a               there is none any more
//	see a b                what the client is shown from now on
//	send [times=3]         the server's next packet; messages before it arrive at once
//	deliver 2 [3 ...]      packets reach the client, in this order; what it says to that is under way
//	answer                 what the client said reaches the server
//	arrived 2, lost 2      the verdict on packets reaches the server
//	forget a               the client loses what it keeps of a
//	spoil a                what the client keeps of a goes wrong
//	resume                 server and client begin anew, in the next epoch of the same world
func TestScenarios(t *testing.T) {
	simtest.Scenarios(t, func(t *testing.T) func(simtest.Line, *strings.Builder) {
		c := newConversation(t, Coeval)
		return func(l simtest.Line, out *strings.Builder) {
			if l.Verb == "strategy" {
				s, err := ParseStrategy(l.Arg(0))
				if err != nil {
					l.Fail(err.Error())
				}
				c = newConversation(t, s)
				return
			}
			play := map[string]func(simtest.Line, *strings.Builder){
				"put": c.put, "remove": c.remove, "see": c.see, "send": c.send,
				"deliver": c.deliver, "answer": c.answer,
				"arrived": c.verdict, "lost": c.verdict, "forget": c.forget, "spoil": c.spoil,
				"resume": c.resume,
			}[l.Verb]
			if play == nil {
				l.Fail("there is no such line")
			}
			play(l, out)
		}
	})
}

// A conversation is a stall whose packets are kept, and whose bases are noted.
type conversation struct {
	*stall
	SenderBases // of the stall's sender
	epoch       uint8
	shows       *world.World
	packets     map[int][]byte
	carriers    map[int]uint64
	bases       map[int32]string // by handle, in the present packet
	under       [][]byte         // what the client said
}

func newConversation(t *testing.T, s Strategy) *conversation {
	c := &conversation{stall: newStall(t, Options{Strategy: s}, SenderOptions{Idle: 1000})}
	c.begin()
	return c
}

// begin is where server and client know nothing of each other.
func (c *conversation) begin() {
	c.s = NewSender(c.pub, SenderOptions{Idle: 1000, Epoch: c.epoch})
	c.r = NewReceiver(c.pub.protocol, ReceiverOptions{Tick: c.w.Tick(), Epoch: c.epoch})
	c.SenderBases, c.s.bases = c.s.bases, c
	c.shows, c.under = c.partial(), nil
	if c.packets == nil {
		c.packets = map[int][]byte{}
	}
	c.carriers, c.bases = map[int]uint64{}, map[int32]string{}
}

// Base notes what the strategy picks.
func (c *conversation) Base(handle int32, p *Sent, b *Base) {
	c.SenderBases.Base(handle, p, b)
	sl := &c.pub.slots[c.s.at(handle).slot]
	c.bases[handle] = "anew"
	if b.n > 0 {
		_, image := sl.find(b.numbers[0])
		c.bases[handle] = fmt.Sprintf("from %d", image[0])
	} else if c.Bound(handle) {
		c.bases[handle] = "without a base"
	}
}

func name(id world.ID) string { return string(rune('a' + id.Index())) }

func id(l simtest.Line, i int) world.ID { return world.MakeID(0, 1, int(l.Arg(i)[0]-'a'), 1) }

// handle finds the handle of an entity at the client.
func (c *conversation) handle(l simtest.Line) int32 {
	h := slices.IndexFunc(c.r.entities,
		func(e *entity) bool { return e != nil && e.id == id(l, 0) })
	if h < 0 {
		l.Fail("the client does not know it")
	}
	return int32(h)
}

func (c *conversation) put(l simtest.Line, _ *strings.Builder) {
	c.stall.put(id(l, 0).Index(), int32(l.Int(1)))
}

func (c *conversation) remove(l simtest.Line, _ *strings.Builder) { c.w.Host().Lend(id(l, 0)) }

func (c *conversation) see(l simtest.Line, _ *strings.Builder) {
	c.publish()
	var ids []world.ID
	for i := range l.Args {
		ids = append(ids, id(l, i))
	}
	c.stall.see(ids...)
}

func (c *conversation) send(l simtest.Line, out *strings.Builder) {
	for range l.Number("times", 1) {
		c.sendOne(out)
	}
}

func (c *conversation) sendOne(out *strings.Builder) {
	c.publish()
	c.s.Encode(c.worker, Room{Packet: 1150, Budget: 1150})
	for _, m := range c.s.Messages() {
		fmt.Fprintf(out, "message of %d bytes", len(m))
		if m[0] == messageAdvance {
			fmt.Fprintf(out, ": new bases")
		}
		if err := c.r.Message(m); err != nil {
			fmt.Fprintf(out, "; client: %v", err)
		}
		out.WriteString("\n")
	}
	if c.s.Staged() == 0 {
		out.WriteString("nothing to say\n")
		return
	}
	f := c.s.flights.staged[0].flight
	var said []string
	for _, e := range f.Said {
		switch r := c.s.at(e.Handle); e.What {
		case Held:
			_, image := c.pub.slots[r.slot].find(e.Number)
			said = append(said, fmt.Sprintf("%s=%d %s", name(r.id), image[0], c.bases[e.Handle]))
		case Left:
			said = append(said, name(r.id)+" left")
		case Removed:
			said = append(said, name(r.id)+" was removed")
		}
	}
	if said == nil {
		said = []string{"nothing changed"}
	}
	n := int(f.Packet)
	c.carrier++
	c.packets[n], c.carriers[n] = slices.Clone(c.s.Packet(0)), c.carrier
	c.s.Sent(0, c.carrier)
	fmt.Fprintf(out, "packet %d: %s\n", n, strings.Join(said, ", "))
}

func (c *conversation) deliver(l simtest.Line, out *strings.Builder) {
	for i := range l.Args {
		if c.packets[l.Int(i)] == nil {
			l.Fail("there is no such packet")
		}
		if err := c.r.Packet(c.packets[l.Int(i)]); err != nil {
			fmt.Fprintf(out, "client: packet %d: %s\n", l.Int(i),
				strings.TrimPrefix(err.Error(), "replica: "))
		}
	}
	for _, m := range c.r.Outgoing() {
		c.under = append(c.under, slices.Clone(m))
		var r report
		in := bits.CursorOver(m[1:])
		r.fields(&in, m[0], maxHandles)
		switch {
		case m[0] == messageFresh:
			fmt.Fprintf(out, "client asks for %s anew\n", c.names(r.handles))
		case len(r.handles) > 0:
			fmt.Fprintf(out, "client says: packet %d was of no use, and doubts %s\n", r.packet,
				c.names(r.handles))
		default:
			fmt.Fprintf(out, "client says: packet %d was of no use\n", r.packet)
		}
	}
	if _, err := c.r.Apply(c.shows); err != nil {
		l.Fail(err.Error())
	}
	var shown []string
	for id := range c.shows.Entities() {
		shown = append(shown, fmt.Sprintf("%s=%d", name(id), c.shows.Host().Image(id)[0]))
	}
	slices.Sort(shown)
	if shown == nil {
		shown = []string{"nothing"}
	}
	fmt.Fprintf(out, "client shows %s\n", strings.Join(shown, ", "))
}

func (c *conversation) names(handles []int32) string {
	var list []string
	for _, h := range handles {
		list = append(list, name(c.r.entities[h].id))
	}
	return strings.Join(list, ", ")
}

func (c *conversation) answer(l simtest.Line, out *strings.Builder) {
	for _, m := range c.under {
		if err := c.s.Message(m); err != nil && !errors.Is(err, ErrMessage) {
			l.Fail(err.Error())
		} else if err != nil {
			fmt.Fprintf(out, "server: %v\n", err)
		}
	}
	c.under = nil
}

func (c *conversation) verdict(l simtest.Line, _ *strings.Builder) {
	for i := range l.Args {
		c.s.judge(c.carriers[l.Int(i)], l.Verb == "arrived")
	}
}

func (c *conversation) forget(l simtest.Line, _ *strings.Builder) { c.r.bases.Forget(c.handle(l)) }

func (c *conversation) spoil(l simtest.Line, _ *strings.Builder) {
	for _, g := range c.r.bases.(*kept).list[c.handle(l)] {
		g.image[0] ^= 64
	}
}

func (c *conversation) resume(simtest.Line, *strings.Builder) {
	c.s.Close()
	c.epoch++
	c.begin()
}
