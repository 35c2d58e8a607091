package relay_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/relay"
)

var none [relay.SecretSize]byte

func quiet(seed uint64) *netsim.Net {
	return netsim.New(netsim.Options{Seed: seed, Conditions: netsim.Cable})
}

// until runs until something is so, and fails the test if it does not become so.
func (w *town) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	w.net.RunUntil(30*time.Second, func() bool { return w.err != nil || done() })
	if w.err != nil {
		t.Fatal(w.err)
	}
	if !done() {
		t.Fatalf("after 30 s: not %s", what)
	}
}

// refusal is what a person was told last.
func (p *person) refusal() relay.Refusal {
	if len(p.refused) == 0 {
		return 0
	}
	return p.refused[len(p.refused)-1].Why
}

func TestCodes(t *testing.T) {
	c, err := relay.ParseCode(" k7qf-3m9p")
	if err != nil || c.String() != "K7QF-3M9P" {
		t.Errorf("%v, %v", c, err)
	}
	for _, bad := range []string{
		"", "K7QF-3M9", "K7QF-3M9PX", "K7QF-3M0P", "K7QF-3MIP", "K7QF–3M9P"} {
		if c, err := relay.ParseCode(bad); err == nil {
			t.Errorf("%q is the code %v", bad, c)
		}
	}
}

// Members are told of each other, with what each said of itself and where the relay sees it.
func TestMeeting(t *testing.T) {
	w := newTown(quiet(1), relay.Limits{})
	ann, bob := w.person("ann"), w.person("bob")
	local := netip.MustParseAddrPort("192.168.1.7:4000")
	ann.create(relay.Match{Game: game, Seats: 2, Mode: relay.Mesh, Params: []byte("level 3")},
		relay.Entry{Key: []byte("ann's key"), Locals: []netip.AddrPort{local}})
	w.until(t, "created", func() bool { return ann.in != nil })
	bob.mode = relay.Mesh
	bob.join(ann.in.Code, none, relay.Entry{Key: []byte("bob's key")})
	w.until(t, "met", func() bool { return bob.peers["ann"] != nil && ann.peers["bob"] != nil })
	p := bob.peers["ann"]
	if p.Member != 1 || p.Player != 1 || string(p.Key) != "ann's key" || len(p.Locals) != 1 ||
		p.Locals[0] != local || p.Public != ann.at.PublicAddr() {
		t.Errorf("bob is told of ann: %+v", p)
	}
	if p := ann.peers["bob"]; p.Member != 2 || p.Player != 2 || p.Public != bob.at.PublicAddr() {
		t.Errorf("ann is told of bob: %+v", p)
	}
	if string(bob.in.Match.Params) != "level 3" || bob.in.Self != 2 {
		t.Errorf("bob is told: %+v", bob.in)
	}
	// Words come to the others, in order; addresses can be told anew.
	for i := range 3 {
		if err := ann.client.Word(fmt.Appendf(nil, "%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := bob.client.SetLocals([]netip.AddrPort{local}); err != nil {
		t.Fatal(err)
	}
	w.until(t, "said", func() bool {
		return len(bob.words) == 3 && len(ann.peers["bob"].Locals) == 1
	})
	if got := strings.Join(bob.words, " "); got != "1:0 1:1 1:2" || len(ann.words) != 0 {
		t.Errorf("bob heard %s, ann %v", got, ann.words)
	}
}

// Each reason not to let somebody in is told in words, and whoever is refused may ask again.
func TestRefusals(t *testing.T) {
	w := newTown(quiet(2), relay.Limits{Matches: 2, Watchers: 1, CodeLife: 12 * time.Second})
	ann, bob, cid := w.person("ann"), w.person("bob"), w.person("cid")
	ann.create(relay.Match{Game: game, Seats: 1}, relay.Entry{})
	w.until(t, "created", func() bool { return ann.in != nil })
	code := ann.in.Code
	expect := func(p *person, want relay.Refusal, text string) {
		t.Helper()
		had := len(p.refused)
		w.until(t, "refused", func() bool { return len(p.refused) > had })
		if e := p.refused[had]; e.Why != want || !strings.Contains(e.Text, text) {
			t.Errorf("%s: %v: %q, want %v", p.name, e.Why, e.Text, want)
		}
	}
	wrong, _ := relay.ParseCode("22222222")
	bob.join(wrong, none, relay.Entry{})
	expect(bob, relay.RefusedUnknown, "no match")
	if err := bob.client.Join(code, "tag 2", relay.Rows, none, relay.Entry{}); err != nil {
		t.Fatal(err)
	}
	expect(bob, relay.RefusedGame, `plays "tag 1", this program "tag 2"`)
	if bob.refused[1].Theirs != game {
		t.Errorf("the match's game is told as %q", bob.refused[1].Theirs)
	}
	bob.join(code, none, relay.Entry{})
	expect(bob, relay.RefusedFull, "all 1 seats")
	bob.join(code, none, relay.Entry{Watch: true})
	w.until(t, "watching", func() bool { return bob.in != nil })
	cid.join(code, none, relay.Entry{Watch: true})
	expect(cid, relay.RefusedFull, "as many watch")
	cid.create(relay.Match{Game: game, Seats: 2}, relay.Entry{})
	w.until(t, "a second match", func() bool { return cid.in != nil })
	dan := w.person("dan")
	dan.create(relay.Match{Game: game}, relay.Entry{})
	expect(dan, relay.RefusedBusy, "as many matches")
	w.net.Run(12 * time.Second)
	dan.connect() // it was dropped for asking for nothing
	dan.join(cid.in.Code, none, relay.Entry{})
	expect(dan, relay.RefusedExpired, "expired")
	s := w.relay.Stats()
	for _, r := range []relay.Refusal{relay.RefusedUnknown, relay.RefusedGame, relay.RefusedBusy,
		relay.RefusedExpired} {
		if s.Refused[r] != 1 {
			t.Errorf("%v was counted %d times", r, s.Refused[r])
		}
	}
}

// A code says of which mode its match is to one who asks, and who joins in another is not let in
// and takes no seat. To ask makes nobody a member.
func TestModes(t *testing.T) {
	w := newTown(quiet(6), relay.Limits{Guesses: 3})
	ann, bob, cid := w.person("ann"), w.person("bob"), w.person("cid")
	ann.create(relay.Match{Game: game, Seats: 2, Mode: relay.Mesh}, relay.Entry{})
	bob.create(relay.Match{Game: game, Seats: 2}, relay.Entry{})
	w.until(t, "created", func() bool { return ann.in != nil && bob.in != nil })
	for _, c := range []struct {
		of   *person
		want relay.Mode
	}{{ann, relay.Mesh}, {bob, relay.Rows}} {
		had := len(cid.found)
		if err := cid.client.Look(c.of.in.Code, game); err != nil {
			t.Fatal(err)
		}
		w.until(t, "found", func() bool { return len(cid.found) > had })
		if got := cid.found[had]; got != c.want {
			t.Errorf("the code of %s is of %v", c.of.name, got)
		}
		cid.mode = relay.Mesh - c.want
		cid.join(c.of.in.Code, none, relay.Entry{})
		w.until(t, "refused", func() bool { return cid.refusal() != 0 })
		if e := cid.refused[0]; e.Why != relay.RefusedMode ||
			!strings.Contains(e.Text, "is of mode "+c.want.String()) {
			t.Errorf("%v: %q", e.Why, e.Text)
		}
		cid.refused = nil
		if len(c.of.peers) != 0 {
			t.Errorf("%s is told of %v", c.of.name, c.of.peers)
		}
	}
	if n := w.relay.Stats().Refused[relay.RefusedMode]; n != 2 {
		t.Errorf("%d refusals were counted", n)
	}
	cid.mode = relay.Rows
	cid.join(bob.in.Code, none, relay.Entry{})
	w.until(t, "cid is in", func() bool { return cid.in != nil })
	// A code cannot be guessed by asking, and another game's code is not told of.
	eve := w.person("eve")
	if err := eve.client.Look(bob.in.Code, "tag 2"); err != nil {
		t.Fatal(err)
	}
	w.until(t, "refused", func() bool { return eve.refusal() == relay.RefusedGame })
	wrong, _ := relay.ParseCode("22222222")
	for range 4 {
		had := len(eve.refused)
		if err := eve.client.Look(wrong, game); err != nil {
			t.Fatal(err)
		}
		w.until(t, "refused", func() bool { return len(eve.refused) > had })
	}
	if eve.refusal() != relay.RefusedGuessing || len(eve.found) != 0 {
		t.Errorf("after four guesses: %v, %v", eve.refusal(), eve.found)
	}
}

// A relay of another version says so, rather than take what it does not know.
func TestOldRelay(t *testing.T) {
	w := newTown(quiet(7), relay.Limits{})
	o := conn.ServerOptions{Keys: []token.Key{w.key}}
	o.Protocol, o.Version, o.Channels = relay.Protocol, relay.Version-1, relay.Channels()
	o.Wall = wall
	w.seeds.Read(o.Seed[:])
	old, err := conn.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	at := w.net.Endpoint("old relay")
	batch := make([]link.Datagram, 16)
	at.Every(2*time.Millisecond, func() {
		n, _ := at.Receive(batch)
		old.Receive(w.net.Now(), batch[:n])
		old.Events()
		_, _ = at.Send(old.Flush(w.net.Now(), nil))
	})
	bob := w.person("bob")
	w.at = at
	bob.connect()
	bob.join(relay.Code([]byte("K7QF3M9P")), none, relay.Entry{})
	w.until(t, "ended", func() bool { return len(bob.ended) > 0 })
	if text := relay.ReasonText(bob.ended[0].Reason); !strings.Contains(text, "version") {
		t.Errorf("bob is told %q", text)
	}
}

// Whoever tries codes is stopped after a few, by address, and others join meanwhile.
func TestGuessing(t *testing.T) {
	w := newTown(quiet(3), relay.Limits{Guesses: 5})
	ann, bob, eve := w.person("ann"), w.person("bob"), w.person("eve")
	ann.create(relay.Match{Game: game, Seats: 2}, relay.Entry{})
	w.until(t, "created", func() bool { return ann.in != nil })
	guess, _ := relay.ParseCode("22222222")
	for i := range 6 {
		eve.join(guess, none, relay.Entry{})
		w.until(t, "refused", func() bool { return len(eve.refused) == i+1 })
	}
	if eve.refused[4].Why != relay.RefusedUnknown || eve.refusal() != relay.RefusedGuessing {
		t.Errorf("after six guesses: %v", eve.refusal())
	}
	// Now not even the right one helps, for a while, nor a new connection.
	eve.client.Close()
	eve.connect()
	eve.join(ann.in.Code, none, relay.Entry{})
	w.until(t, "refused", func() bool { return len(eve.refused) == 7 })
	if eve.refusal() != relay.RefusedGuessing {
		t.Errorf("the right code after too many wrong ones: %v", eve.refusal())
	}
	bob.join(ann.in.Code, none, relay.Entry{})
	w.until(t, "bob is in", func() bool { return bob.in != nil })
	w.net.Run(15 * time.Second)
	eve.connect()
	eve.join(ann.in.Code, none, relay.Entry{Watch: true})
	w.until(t, "eve is in", func() bool { return eve.in != nil })
}

// One address may have so many matches, and connections.
func TestCrowds(t *testing.T) {
	w := newTown(quiet(4), relay.Limits{MatchesPerAddress: 2, PerAddress: 3})
	var own []*person
	for i := range 4 {
		at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 9, 9, 9}), uint16(9000+i))
		own = append(own, w.personAt(fmt.Sprintf("%c", 'a'+i), at))
	}
	for _, p := range own {
		p.create(relay.Match{Game: game}, relay.Entry{})
	}
	w.net.Run(3 * time.Second)
	in, crowded, out := 0, 0, 0
	for _, p := range own {
		switch {
		case p.in != nil:
			in++
		case p.refusal() == relay.RefusedCrowded:
			crowded++
		case len(p.ended) == 1 && p.ended[0].Reason == conn.ReasonCrowded:
			out++
		}
	}
	if in != 2 || crowded != 1 || out != 1 {
		t.Errorf("of four from one address %d have a match, %d none, %d no connection", in, crowded,
			out)
	}
}

// A megabyte is carried within a second and a half, and nothing to strangers, nor more than
// allowed.
func TestCarry(t *testing.T) {
	w := newTown(quiet(5), relay.Limits{})
	ann, bob, eve := w.person("ann"), w.person("bob"), w.person("eve")
	w.match(relay.Match{Seats: 2, Mode: relay.Mesh}, ann, bob)
	eve.create(relay.Match{Game: game, Mode: relay.Mesh}, relay.Entry{})
	w.until(t, "all in", func() bool { return bob.in != nil && eve.in != nil })
	w.net.SetPath(ann.at, w.at, netsim.Profile{Latency: 25 * time.Millisecond})
	if err := eve.client.Carry(2, []byte("psst")); err != nil { // a number of another match
		t.Fatal(err)
	}
	size := ann.client.MaxCarry()
	began, total := w.net.Now(), 0
	stop := ann.at.Every(5*time.Millisecond, func() {
		for range 5 {
			if total < 1<<20 && ann.client.Carry(2, bytes.Repeat([]byte{7}, size)) == nil {
				total += size
			}
		}
		ann.out = ann.client.Flush(w.net.Now(), ann.out[:0])
		link.SendAll(ann.at, ann.out)
	})
	w.until(t, "carried", func() bool { return total >= 1<<20 })
	w.net.Run(200 * time.Millisecond)
	stop.Stop()
	got := 0
	for _, b := range bob.carried {
		got += len(b)
	}
	if took := w.net.Now() - began; got < 1<<20 || took > 1500*time.Millisecond {
		t.Errorf("%d of %d bytes in %v", got, total, took)
	}
	if s := w.relay.Stats(); s.Strangers != 1 || s.OverRate != 0 {
		t.Errorf("%d to strangers, %d beyond the rate", s.Strangers, s.OverRate)
	}
	// What comes after that is held to the rate.
	bob.carried = nil
	stop = ann.at.Every(5*time.Millisecond, func() { _ = ann.client.Carry(2, make([]byte, 1000)) })
	w.net.Run(10 * time.Second)
	stop.Stop()
	if n := len(bob.carried); n > 10*64+530 || w.relay.Stats().OverRate == 0 {
		t.Errorf("%d bytes in ten seconds after a burst", 1000*n)
	}
}

// A parrot is a witness that repeats what it hears to everybody, and counts its turns.
type parrot struct {
	members map[member.ID]string
	heard   []string
	turns   int
}

func (p *parrot) Met(_ time.Duration, m *relay.Peer) { p.members[m.Member] = m.Name }
func (p *parrot) Gone(_ time.Duration, id member.ID) { delete(p.members, id) }
func (p *parrot) Hear(_ time.Duration, _ member.ID, b []byte) {
	p.heard = append(p.heard, string(b))
}
func (p *parrot) Tick(_ time.Duration, say func(member.ID, []byte)) {
	p.turns++
	for _, text := range p.heard {
		for id := range p.members {
			say(id, []byte(text))
		}
	}
	p.heard = nil
}

// A witness hears what members say to it, answers, and has turns of its own.
func TestWitness(t *testing.T) {
	w := newTown(quiet(6), relay.Limits{})
	polly := &parrot{members: map[member.ID]string{}}
	w.voter = func(relay.Code, *relay.Match) relay.Voter { return polly }
	w.open()
	ann, bob := w.person("ann"), w.person("bob")
	w.match(relay.Match{Seats: 2, Mode: relay.Mesh}, ann, bob)
	w.until(t, "both in", func() bool { return bob.in != nil && ann.peers["bob"] != nil })
	if !ann.in.Witness || len(polly.members) != 2 {
		t.Errorf("there is a witness: %v, which knows %v", ann.in.Witness, polly.members)
	}
	if err := ann.client.Vote([]byte("aye")); err != nil {
		t.Fatal(err)
	}
	w.until(t, "answered", func() bool { return len(bob.voted) == 1 && len(ann.voted) == 1 })
	turns := polly.turns
	w.net.Run(time.Second)
	if n := polly.turns - turns; n < 15 || n > 25 || bob.voted[0] != "aye" {
		t.Errorf("%d turns in a second, and it said %q", n, bob.voted)
	}
	bob.client.Close()
	w.until(t, "bob is gone", func() bool { return len(polly.members) == 1 })
}
