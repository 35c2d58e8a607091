package relay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/netsim/simtest"
	"github.com/coeval-dev/coeval/topology/relay"
)

// Everyone gets the same rows, at the pace of the match, whatever the network does.
func TestRowsAreTheSame(t *testing.T) {
	for _, c := range []netsim.Conditions{netsim.LAN, netsim.WiFi, netsim.LTE, netsim.Awful} {
		t.Run(c.Name, func(t *testing.T) {
			simtest.Run(t, 1, func(n *netsim.Net) error {
				n.Use(c)
				w := newTown(n, relay.Limits{})
				var people []*person
				for i := range 4 {
					people = append(people, w.person(fmt.Sprintf("%cnn", 'a'+i)))
				}
				w.match(relay.Match{Seats: 4, Start: 4}, people...)
				n.Run(5 * time.Second)
				if err := w.same(people...); err != nil {
					return err
				}
				for _, p := range people {
					if len(p.rows) < 120 {
						return fmt.Errorf("%s has only %d rows", p.name, len(p.rows))
					}
				}
				return nil
			})
		})
	}
}

// gap is the longest time between two rows that somebody was handed, from some row on.
func (p *person) gap(from uint32) (most time.Duration) {
	for i := 1; i < len(p.came); i++ {
		if p.first+uint32(i) > from {
			most = max(most, p.came[i]-p.came[i-1])
		}
	}
	return most
}

func (p *person) next() uint32 { return p.first + uint32(len(p.rows)) }

// has says which of somebody's rows contain a text.
func (p *person) has(text string) (list []uint32) {
	for i, row := range p.rows {
		if strings.Contains(row, text) {
			list = append(list, p.first+uint32(i))
		}
	}
	return list
}

// playing has some people play a match, in which there is room for more.
func playing(t *testing.T, w *town, m relay.Match, people ...*person) {
	t.Helper()
	m.Start = uint8(len(people))
	w.match(m, people...)
	for _, p := range people {
		w.until(t, p.name+" plays", func() bool { return p.plays && len(p.rows) > 30 })
	}
}

// Somebody who is cut off stops the others for no longer than the patience, is absent after a
// while, and has left after the grace; the pace of the rows is kept.
func TestCutOff(t *testing.T) {
	w := newTown(quiet(1), relay.Limits{})
	ann, bob, cid := w.person("ann"), w.person("bob"), w.person("cid")
	const patience = 80 * time.Millisecond
	playing(t, w, relay.Match{Seats: 4, Patience: patience, Grace: 3 * time.Second}, ann, bob, cid)
	from, at := ann.next(), w.net.Now()
	w.net.Cut(bob.at, w.at)
	w.net.Run(8 * time.Second)
	if most := ann.gap(from); most > patience+40*time.Millisecond {
		t.Errorf("ann was stopped for %v", most)
	}
	if got, want := int(ann.next()-from), int((w.net.Now()-at)*60/time.Second); got < want-12 {
		t.Errorf("%d rows in a time of %d", got, want)
	}
	absent, left := ann.has("absent:2:2"), ann.has("left:2:2")
	if len(absent) != 1 || len(left) != 1 || left[0]-absent[0] != 180 {
		t.Errorf("bob is absent in rows %v, and left in %v", absent, left)
	}
	if n := len(ann.has("2(2)*0")); n < 100 || n > 130 {
		t.Errorf("bob's command was repeated %d times", n)
	}
	if err := w.same(w.people...); err != nil {
		t.Error(err)
	}
	// The seat is free for another.
	dan := w.person("dan")
	dan.join(ann.in.Code, none, relay.Entry{})
	w.until(t, "dan plays", func() bool { return len(ann.has("joined:2:4")) == 1 })
}

// Somebody whose packets are held up for a moment is caught up with: nothing of a stream is lost.
func TestLateItems(t *testing.T) {
	w := newTown(quiet(2), relay.Limits{})
	ann, bob := w.person("ann"), w.person("bob")
	bob.item = func(n uint32) []byte { return fmt.Appendf(nil, "%d", n) }
	playing(t, w, relay.Match{Seats: 2, Patience: 20 * time.Millisecond}, ann, bob)
	var items []string
	ann.onRow = func(r *relay.Row) {
		for i := range r.Seats {
			for item := range r.Seats[i].Items {
				if r.Seats[i].Player() == 2 {
					items = append(items, string(item))
				}
			}
		}
	}
	before := len(ann.rows)
	w.net.CutOneWay(bob.at, w.at)
	w.net.Run(300 * time.Millisecond)
	w.net.Heal(bob.at, w.at)
	w.net.Run(2 * time.Second)
	if len(ann.has("2(2)*0")) == 0 || len(ann.has("2(2)*15")) == 0 {
		t.Error("nothing was late: ", ann.rows[before:])
	}
	// The items are those that bob sent, none left out, from some number on.
	found := false
	for from := uint32(0); from < 200 && !found; from++ {
		found = true
		for i, item := range items {
			found = found && item == string(bob.item(from+uint32(i)))
		}
	}
	if !found {
		t.Errorf("not what bob sent: %q", items)
	}
	last := ann.rows[len(ann.rows)-30:]
	for _, row := range last {
		if !strings.Contains(row, "2(2)*1") {
			t.Errorf("after all is well: %s", row)
		}
	}
	if bob.client.Owed() != 0 {
		t.Errorf("bob owes %d rows", bob.client.Owed())
	}
	if err := w.same(ann, bob); err != nil {
		t.Error(err)
	}
}

// A player who crashes comes back to the same seat with another number, and nobody waits.
func TestReturn(t *testing.T) {
	w := newTown(quiet(3), relay.Limits{})
	ann, bob := w.person("ann"), w.person("bob")
	playing(t, w, relay.Match{Seats: 2}, ann, bob)
	secret := bob.in.Secret
	was, first := bob.rows, bob.first
	w.net.Run(time.Second)
	from := ann.next()
	bob.connect() // crashed, and started again
	wrong := secret
	wrong[3]++
	bob.join(ann.in.Code, wrong, relay.Entry{})
	w.until(t, "refused", func() bool { return bob.refusal() == relay.RefusedFull })
	bob.join(ann.in.Code, secret, relay.Entry{From: first + uint32(len(was)), Again: true})
	w.until(t, "bob plays again", func() bool { return len(ann.has("returned:2:3")) == 1 })
	w.net.Run(time.Second)
	if bob.in.Player != 2 || bob.in.Self != 3 || bob.in.First != first+uint32(len(was)) {
		t.Errorf("bob is back as %+v", bob.in)
	}
	if err := w.same(ann, bob); err != nil {
		t.Error(err)
	}
	if most := ann.gap(from); most > 140*time.Millisecond {
		t.Errorf("ann was stopped for %v", most)
	}
	if len(ann.has("absent:2:2")) != 1 {
		t.Error("bob was never absent")
	}
}

// Whoever leaves does so with the next row; a newcomer watches first and is not waited for;
// somebody who watches follows with the delay asked for.
func TestComingAndGoing(t *testing.T) {
	w := newTown(quiet(4), relay.Limits{})
	ann, bob := w.person("ann"), w.person("bob")
	playing(t, w, relay.Match{Seats: 3}, ann, bob)
	w.net.Run(2 * time.Second)
	cid := w.person("cid")
	cid.submits = false // it has no world yet
	cid.join(ann.in.Code, none, relay.Entry{})
	eve := w.person("eve")
	eve.join(ann.in.Code, none, relay.Entry{Watch: true, Delay: time.Second})
	w.until(t, "cid is told rows", func() bool { return len(cid.rows) > 100 })
	if n := len(cid.has("joined")); n != 0 {
		t.Errorf("cid joined before its first item")
	}
	from := ann.next()
	cid.submits = true
	w.until(t, "cid plays", func() bool { return cid.plays })
	w.net.Run(time.Second)
	if most := ann.gap(from); most > 60*time.Millisecond {
		t.Errorf("ann was stopped for %v when cid joined", most)
	}
	if behind := int(ann.next()) - int(eve.next()); behind < 60 || behind > 72 {
		t.Errorf("eve is %d rows behind", behind)
	}
	if err := bob.client.Leave(); err != nil {
		t.Fatal(err)
	}
	w.until(t, "bob left", func() bool { return len(ann.has("left:2:2")) == 1 })
	w.net.Run(2 * time.Second)
	if err := w.same(w.people...); err != nil {
		t.Error(err)
	}
	if s := w.relay.Status(); s.Matches != 1 || s.Members != 3 || s.Watching != 1 ||
		s.Playing != 2 {
		t.Errorf("%+v", s)
	}
}

// A relay that is started anew knows nothing of its matches. Everyone is told that the match is
// over.
func TestRelayRestarts(t *testing.T) {
	w := newTown(quiet(5), relay.Limits{})
	ann, bob := w.person("ann"), w.person("bob")
	playing(t, w, relay.Match{Seats: 2}, ann, bob)
	w.open() // crashed, and started again
	w.until(t, "both know", func() bool { return len(ann.ended) == 1 && len(bob.ended) == 1 })
	if r := ann.ended[0].Reason; r != conn.ReasonTimeout && r != conn.ReasonNoAcks {
		t.Errorf("ann is told %v", r)
	}
	code, secret := ann.in.Code, ann.in.Secret
	ann.connect()
	ann.join(code, secret, relay.Entry{})
	w.until(t, "refused", func() bool { return ann.refusal() == relay.RefusedUnknown })
	// One that stops in good order says so at once.
	ann.create(relay.Match{Game: game}, relay.Entry{})
	w.until(t, "in", func() bool { return ann.in != nil })
	w.relay.Shutdown("for tonight")
	w.until(t, "told", func() bool { return len(ann.ended) == 2 })
	if e := ann.ended[1]; e.Reason != conn.ReasonClosing || e.Text != "for tonight" {
		t.Errorf("ann is told %v: %q", e.Reason, e.Text)
	}
}

// Whoever stays connected and sends nothing loses the seat after the grace, and is told why.
func TestIdle(t *testing.T) {
	w := newTown(quiet(7), relay.Limits{})
	ann, bob := w.person("ann"), w.person("bob")
	playing(t, w, relay.Match{Seats: 2, Grace: 2 * time.Second}, ann, bob)
	bob.submits = false
	w.net.Run(3 * time.Second)
	if len(ann.has("absent:2:2")) != 1 || bob.over {
		t.Error("bob is not absent, or gone too soon")
	}
	bob.submits = true // in time
	w.until(t, "bob plays on", func() bool { return len(ann.has("returned:2:2")) == 1 })
	bob.submits = false
	w.until(t, "bob is dropped", func() bool { return bob.over })
	if bob.ended[0].Reason != relay.ReasonSilent || len(ann.has("left:2:2")) != 1 {
		t.Errorf("%v", bob.ended[0].Reason)
	}
	if err := w.same(ann, bob); err != nil {
		t.Error(err)
	}
}

// A match that everybody has left is over after its grace, and its code unknown.
func TestDeserted(t *testing.T) {
	w := newTown(quiet(6), relay.Limits{})
	ann, bob := w.person("ann"), w.person("bob")
	playing(t, w, relay.Match{Seats: 2, Grace: time.Second}, ann, bob)
	code := ann.in.Code
	_ = bob.client.Leave()
	ann.client.Close()
	w.net.Run(20 * time.Second)
	if s := w.relay.Status(); s.Matches != 0 || s.Members != 0 {
		t.Errorf("%+v", s)
	}
	bob.connect()
	bob.join(code, none, relay.Entry{})
	w.until(t, "refused", func() bool { return bob.refusal() == relay.RefusedUnknown })
}
