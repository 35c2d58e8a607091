package mirror

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/membership"
)

// A group is how this mirror reaches the others. Each attempt to join has machines and keys of its
// own.
type group struct {
	node    *crimp.Node
	council *membership.Membership
	tries   uint32
	anew    membership.Anew         // how the group begins again here, after a crash
	met     []netip.AddrPort        // where mirrors were
	wanting []member.ID             // who waits for the world
	ways    map[member.ID]member.ID // over whom each is reached, as was told
	casts   []member.ID             // who is reached by multicast, as was told
	looked  time.Duration           // steady: when that was
	signs   bool                    // what others send is to be signed
	batch   []link.Datagram
	out     []link.Datagram
}

// join makes the machines by which mirrors talk, with keys of their own for each attempt.
func (m *Mirror) join() error {
	g := &m.group
	g.tries++
	seed := sha256.Sum256(binary.BigEndian.AppendUint32(append([]byte("mirror"), m.opt.Seed[:]...),
		g.tries))
	id, err := crimp.NewIdentity(seed)
	if err != nil {
		return err
	}
	o := crimp.Options{
		Identity: id, History: m.opt.History, Carry: true, Digests: digestEvery,
		Multicast: m.opt.Multicast,
		Datagram:  min(1200, m.opt.Link.MaxDatagram()) - crimp.CarryRoom}
	o.Seed = sha256.Sum256(append([]byte("crimp"), seed[:]...))
	about, err := m.opt.About()
	if err != nil {
		return err
	}
	m.keeping.stay, m.keeping.begun = m.newStay(), false
	var remember func(*membership.Memory) uint64
	if m.keeps() {
		remember = m.rememberStay
	}
	g.council, err = membership.New(membership.Options{
		Options: o, Card: crimp.Card{Addr: m.opt.Address, Site: site(m.opt.Multicast)},
		Protocol: token.ProtocolID("mirrors of " + m.game.Name()), Keys: m.opt.Keys,
		Wall: m.opt.Wall, Silence: Silence(m.opt.History),
		Found: m.founds(), Anew: g.anew, Remember: remember, Ask: m.whom(),
		Patience: m.opt.Patience, MaxMembers: m.opt.MaxMirrors,
		About: about, Sign: g.signs,
	})
	if err != nil {
		return err
	}
	g.node, err = crimp.NewNode(o, g.council)
	return err
}

// whom lists the mirrors to ask.
func (m *Mirror) whom() []netip.AddrPort {
	ask := slices.Clone(m.opt.Ask)
	more := slices.Clone(m.group.met)
	if r := m.keeping.revival; r != nil {
		more = append(more, r.Doors()...)
	}
	for _, a := range more {
		if a.IsValid() && a != m.opt.Address && !slices.Contains(ask, a) {
			ask = append(ask, a)
		}
	}
	if len(ask) == 0 && m.keeping.revival != nil {
		ask = append(ask, m.opt.Address) // nobody else ever was there; it has nothing to say
	}
	return ask
}

// site is a number for those who have one address of multicast. That they hear each other is not
// said by it, so it does no harm if two addresses have the same.
func site(group netip.AddrPort) uint8 {
	if !group.IsValid() {
		return 0
	}
	sum := sha256.Sum256([]byte(group.String()))
	return sum[0]%255 + 1
}

// digestEvery is how often a mirror signs what it has sent: so often that what was told to one
// alone is found out within the window, before it is settled.
const digestEvery = 250 * time.Millisecond

// founds says whether this mirror begins a game. One that founded a game and lost it asks the
// others.
func (m *Mirror) founds() bool {
	return m.opt.Found && m.group.tries == 1 || m.group.anew.ID != 0
}

// receive takes in what has come.
func (m *Mirror) receive() error {
	g := &m.group
	for range mostBatches {
		n, err := m.opt.Link.Receive(g.batch)
		if err != nil {
			return fmt.Errorf("mirror: the way to other mirrors has ended: %w", err)
		}
		if n > 0 {
			g.node.Receive(m.clock.steady, m.hearReturning(g.batch[:n]))
			if err := m.events(); err != nil {
				return err
			}
		}
		if n < len(g.batch) {
			break
		}
	}
	return nil // what still waits has its turn at the next poll, after the world has had its own
}

// mostBatches is how many batches of datagrams a poll takes in at most, whatever comes.
const mostBatches = 64

// flush hands the link what there is to send.
func (m *Mirror) flush() error {
	g := &m.group
	g.out = g.node.Flush(m.clock.steady, g.out[:0])
	if r := m.keeping.revival; r != nil {
		g.out = r.Flush(g.out)
	}
	for done := 0; done < len(g.out); {
		n, err := m.opt.Link.Send(g.out[done:])
		if done += n; err == nil {
			continue
		}
		if !link.Passing(err) {
			return fmt.Errorf("mirror: the way to other mirrors has ended: %w", err)
		}
		done++ // as good as lost on the way
	}
	return nil
}

// events does what the group says.
func (m *Mirror) events() error {
	for _, e := range m.group.node.Events() {
		if err := m.event(&e); err != nil {
			return err
		}
	}
	return nil
}

func (m *Mirror) event(e *crimp.Event) error {
	switch e.Kind {
	case crimp.Established:
		m.roll.self = e.Member
		m.roster()
		m.tell(News{Kind: Established, Mirror: e.Member})
		if m.founds() {
			m.life.to(serving)
			m.begins()
		}
	case crimp.Joined:
		m.roster()
		m.met(e.Member)
		m.tell(News{Kind: MirrorJoined, Mirror: e.Member})
	case crimp.Led:
		before := m.roll.uber
		m.roll.led(e.Member, uint32(e.Seq)) // others may have been decided since
		if m.roster(); m.roll.uber != before || e.Seq <= 1 {
			m.claimAnew()
			m.tell(News{Kind: Led, Mirror: m.roll.uber})
		}
	case crimp.Left:
		m.roster()
		m.gone(e.Member)
		m.tell(News{Kind: MirrorLeft, Mirror: e.Member, Text: e.Reason.String()})
	case crimp.Delivered:
		if e.How == crimp.Lossy {
			m.lossy(e.Member, e.Data)
		} else {
			m.delivered(e.Member, e.Seq, e.Data)
		}
	case crimp.Whispered:
		m.whispered(e.Member, e.Data)
	case crimp.GaveUp:
		m.lost(e)
	case crimp.Revoked:
		m.revoked(e)
	case crimp.Reunited:
		m.life.reunited = m.clock.local
		m.life.to(reunited)
		m.clock.back()
		m.tell(News{Kind: Reunited})
	case crimp.Equivocated:
		m.stats.Equivocations++
		m.tell(News{Kind: Equivocated, Mirror: e.Member,
			Text: "it has signed two different accounts of its packets, and is put out"})
		m.settle.doubt(e.Member, m.clock.steady)
	case crimp.Disputed:
		m.stats.Disputes++
		m.tell(News{Kind: Disputed, Mirror: e.Member,
			Text: fmt.Sprintf("what it has signed of packets %d to %d is not what came", e.Seq,
				uint32(e.Seq)+e.More)})
		m.group.signs = true
		m.settle.doubt(e.Member, m.clock.steady)
	case crimp.StateWanted:
		m.group.wanting = append(m.group.wanting, e.Member)
	case crimp.State:
		if err := m.takeOver(e.Data); err != nil {
			m.tell(News{Kind: Refused, Text: "the world that came makes no sense", Err: err})
			m.again("the world that came makes no sense")
		}
	case crimp.CutOff:
		m.tell(News{Kind: CutOff, Text: m.outOfTouch()})
		m.life.to(cutOff)
	case crimp.Denied:
		return m.end(fmt.Errorf("%w: not let in: %s%s", ErrEnded, e.Reason, advice(e)))
	case crimp.Dismissed:
		if m.halt.told {
			return m.end(fmt.Errorf("%w: %w", ErrEnded, ErrCeded))
		}
		if m.life.phase == Leaving || e.Reason == crimp.ReasonClosed {
			return m.end(fmt.Errorf("%w: %s", ErrEnded, e.Reason))
		}
		m.spoil(e.Reason.String(), m.clock.steady)
		m.life.rejoinBy = m.clock.steady
	}
	return nil
}

func advice(e *crimp.Event) string {
	text := ""
	if len(e.Data) > 0 {
		text = ": " + string(e.Data)
	}
	if a := e.Reason.Advice(); a != "" {
		text += "; " + a
	}
	return text
}

// provide gives the world to newcomers. While something of one who is gone is still to come it
// waits: they would not hear it.
func (m *Mirror) provide() {
	g := &m.group
	if len(g.wanting) == 0 || m.halt.at != 0 { // who comes later would not know of the halt
		return
	}
	members := g.node.Group().Members()
	for _, p := range m.peers {
		if !slices.Contains(members, p.id) {
			return
		}
	}
	m.sendNow() // so that what counts here has been told to all
	for _, id := range g.wanting {
		if err := g.council.ProvideState(m.clock.steady, id, m.handOver(id)); err != nil &&
			!errors.Is(err, crimp.ErrNotMember) {
			m.tell(News{Kind: Refused, Mirror: id, Text: "the world could not be sent", Err: err})
		}
	}
	g.wanting = nil
}
