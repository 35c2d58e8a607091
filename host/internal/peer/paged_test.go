//go:build !js

package peer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/hud"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

const wall = 1_800_000_000

// A booth is a relay to which pages come, in virtual time.
type booth struct {
	t     *testing.T
	net   *netsim.Net
	at    *netsim.Endpoint
	relay *relay.Server
	key   token.Key
	count uint64
	mute  error // in place of tokens
	pages []*visitor
}

// A visitor is one page.
type visitor struct {
	*Paged
	booth *booth
	end   *netsim.Endpoint
	o     PagedOptions
	view  client.View
	words string
}

func newBooth(t *testing.T, seed uint64) *booth {
	t.Helper()
	n := netsim.New(netsim.Options{Seed: seed})
	b := &booth{t: t, net: n, at: n.Endpoint("relay"), key: token.Key{7}}
	var err error
	b.relay, err = relay.New(relay.Options{Links: []link.Link{b.at}, Keys: []token.Key{b.key},
		Conn: conn.Options{Wall: wall, Timeout: 5 * time.Second, Seed: [32]byte{1}}})
	if err != nil {
		t.Fatal(err)
	}
	b.at.Every(2*time.Millisecond, func() {
		if err := b.relay.Tick(n.Now()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *booth) token(context.Context) (token.Token, error) {
	if b.mute != nil {
		return token.Token{}, b.mute
	}
	b.count++
	sum := sha256.Sum256([]byte(fmt.Sprint(b.count)))
	return token.Issue(b.key, token.Grant{Protocol: relay.Protocol, Client: b.count,
		Expires: wall + 100_000}, strings.NewReader(strings.Repeat(string(sum[:]), 9)))
}

// open opens a page, which is drawn sixty times a second.
func (b *booth) open(name string, change func(o *PagedOptions)) *visitor {
	b.t.Helper()
	x := &visitor{booth: b, end: b.net.Endpoint(name)}
	b.net.Connect(x.end, b.at, netsim.Cable)
	x.o = PagedOptions{Title: pong.Title, Name: name, Style: peers.Rollback(), Wall: wall,
		Token: b.token,
		Join: func(ctx context.Context) (e client.Entry, err error) {
			e.Link, e.Servers = x.end, []netip.AddrPort{b.at.PublicAddr()}
			e.Token, err = b.token(ctx)
			return e, err
		}}
	change(&x.o)
	x.load()
	b.pages = append(b.pages, x)
	bot := x.o.Title.NewBot(uint64(len(b.pages)))
	x.end.Every(time.Second/60, func() {
		if x.Paged == nil {
			return
		}
		x.view = x.Frame(b.net.Now(), func(t world.Tick, me world.Player, w *world.World,
			in *world.Inputs) {
			_ = bot(w, me, t, in)
		})
		for _, w := range x.view.Words {
			x.words += w.Text + "\n"
		}
		if x.asking != nil { // whoever is asked answers at once, in this time
			w := <-x.asking
			x.asking <- w
		}
	})
	return x
}

func (x *visitor) load() {
	x.booth.t.Helper()
	var err error
	if x.Paged, err = NewPaged(x.o); err != nil {
		x.booth.t.Fatal(err)
	}
}

// reload loads a page anew, with what it kept.
func (x *visitor) reload() {
	x.booth.t.Helper()
	x.o.Found, x.o.Code, x.o.Back = nil, x.Code(), x.Kept()
	x.load()
}

func (b *booth) until(what string, most time.Duration, so func() bool) {
	b.t.Helper()
	if b.net.RunUntil(most, so); !so() {
		for _, x := range b.pages {
			b.t.Logf("%s: %q over %q line %q", x.o.Name, x.view.Status, x.Over(), x.Line())
		}
		b.t.Fatalf("seed %d, at %v: not so: %s", b.net.Seed(), b.net.Now(), what)
	}
}

func founds(start int) func(o *PagedOptions) {
	return func(o *PagedOptions) {
		o.Found = &peers.Match{Seats: 3, Start: start, Grace: time.Minute}
		o.Level = game.Level{Seed: 5, Secret: 6}
	}
}

func joins(code string) func(o *PagedOptions) { return func(o *PagedOptions) { o.Code = code } }

// same says how many settled worlds two pages have in common, and whether all are the same.
func same(t *testing.T, a, b *visitor) (n int) {
	t.Helper()
	for _, x := range a.tally.marks {
		for _, y := range b.tally.marks {
			if x == y {
				n++
			} else if before, _, _ := strings.Cut(x, ":"); strings.HasPrefix(y, before+":") {
				t.Errorf("%s and %s", x, y)
			}
		}
	}
	return n
}

// TestPaged: pages found a match, join it, return to the same body after they are loaded anew and
// after they were cut off, watch, and leave.
func TestPaged(t *testing.T) {
	b := newBooth(t, 3)
	ann := b.open("ann", founds(2))
	b.until("there is a code", 2*time.Second, func() bool { return ann.Code() != "" })
	b.until("it waits", time.Second, func() bool {
		return strings.Contains(ann.view.Status, "begins when 2 are here; now 1")
	})
	ann.reload() // nobody else has the world, which has not begun
	b.until("it waits again", 2*time.Second, func() bool {
		return strings.Contains(ann.view.Status, "now 1")
	})
	bob := b.open("bob", joins(strings.ToLower(ann.Code())))
	play := func(list ...*visitor) func() bool {
		return func() bool {
			for _, x := range list {
				if !x.Playing() || x.view.Status != "" {
					return false
				}
			}
			return true
		}
	}
	b.until("both play", 3*time.Second, play(ann, bob))
	me := bob.view.Me
	watcher := b.open("wim", func(o *PagedOptions) { o.Code, o.Watch = ann.Code(), true })
	b.until("they settle the same", 5*time.Second, func() bool {
		return same(t, ann, bob) > 2 && play(watcher)() && same(t, ann, watcher) > 1
	})
	if watcher.Kept() != "" || !strings.Contains(watcher.Line(), "you watch") {
		t.Errorf("who watches keeps %q and says %q", watcher.Kept(), watcher.Line())
	}
	bob.reload()
	b.until("bob plays again", 5*time.Second, play(bob))
	b.until("bob settles the same", 5*time.Second, func() bool { return same(t, ann, bob) > 1 })

	// Cut off from the relay and from where tokens come from, for longer than connections last.
	b.net.Cut(bob.end, b.at)
	b.mute = errors.New("no way there")
	b.until("it is told", 40*time.Second, func() bool {
		return strings.Contains(bob.view.Status, "no way there; trying again") &&
			strings.Contains(ann.Line(), "bob (away)")
	})
	if !play(ann)() {
		t.Errorf("ann waits: %q", ann.view.Status)
	}
	b.mute = nil
	b.net.Heal(bob.end, b.at)
	b.until("bob is back", 15*time.Second, play(bob))
	if bob.view.Me != me || !strings.Contains(ann.words, "bob is gone; the body waits\nbob plays") {
		t.Errorf("bob was %d and is %d; ann was told\n%s", me, bob.view.Me, ann.words)
	}

	bob.SetStyle("")
	b.until("lock step", time.Second, func() bool {
		return strings.Contains(bob.Line(), "you, ann · lock step")
	})
	bob.SetStyle("rollback")
	bob.Later(+3)
	b.until("a longer delay", time.Second, func() bool {
		return strings.Contains(bob.Line(), "rollback, delay 5")
	})
	for _, f := range bob.Facts(&hud.Moment{}, false) {
		if f[0] == "" || f[1] == "" {
			t.Errorf("a fact is %q", f)
		}
	}
	bob.Leave()
	b.until("bob has left", 3*time.Second, func() bool {
		return bob.view.Ended && strings.Contains(ann.words, "bob has left")
	})
	if got := bob.Over(); got != "You have left the match." {
		t.Errorf("bob is told %q", got)
	}
	if s := ann.match.Stats(); s.Differed != 0 || s.Compared == 0 {
		t.Errorf("%+v", s)
	}
}

// TestPagedIsRefused: what does not work is said in words that help.
func TestPagedIsRefused(t *testing.T) {
	b := newBooth(t, 4)
	ann := b.open("ann", founds(1))
	b.until("ann plays", 3*time.Second, func() bool { return ann.Playing() })
	for _, x := range []struct {
		change func(o *PagedOptions)
		says   string
	}{
		{joins("2222-2222-" + ann.Code()[10:]), "There is no match with this code, or it is over."},
		{func(o *PagedOptions) { o.Code, o.Title = ann.Code(), arena.Title }, "another version of"},
		{joins(ann.Code()), ""}, {joins(ann.Code()), ""},
		{joins(ann.Code()), "The match is full: all 3 seats of the match are taken. You can watch"},
	} {
		p := b.open(fmt.Sprint("p", len(b.pages)), x.change)
		b.until(x.says, 5*time.Second, func() bool { return p.Playing() || p.Over() != "" })
		if got := p.Over(); !strings.Contains(got, x.says) || (got == "") != (x.says == "") ||
			got != p.view.Status {
			t.Errorf("it says %q, want %q", got, x.says)
		}
	}
	if _, err := NewPaged(PagedOptions{Title: pong.Title, Code: "K7QF"}); err == nil {
		t.Error("half a code is taken")
	}
	// What was kept may be anything.
	for _, kept := range []string{"", "zz", ann.Kept()[2:], ann.Kept() + "00", "é"} {
		p, err := NewPaged(PagedOptions{Title: pong.Title, Code: ann.Code(), Back: kept})
		if err != nil || p.back != [relay.SecretSize]byte{} {
			t.Errorf("%q: %v", kept, err)
		}
	}
	// The first half of the code is the relay's, so it lets this one in; nobody else does.
	p := b.open("wrong", func(o *PagedOptions) {
		o.Code, o.Watch = ann.Code()[:10]+"2222-2222", true
	})
	b.until("it is told what may be wrong", 15*time.Second, func() bool {
		return strings.Contains(p.view.Status, "check the second half of the code")
	})
	b.until("it gives up", 90*time.Second, func() bool {
		return strings.Contains(p.Over(), "Check the second half")
	})
	b.mute = errors.New("the relay does not answer")
	dan := b.open("dan", joins(ann.Code()))
	b.until("it tries again", time.Second, func() bool {
		return dan.view.Status == "the relay does not answer; trying again"
	})
	dan.Leave()
	b.until("it is over", time.Second, func() bool { return dan.view.Ended })
}
