//go:build !js

package host

import (
	"crypto/rand"
	"net/netip"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/topology/drive"
)

// Players are known by numbers that say where they live: the shore from 1 on in the highest byte, and below it whether it is a bot.
const (
	homeShift = 56
	botBit    = 1 << 55
)

func homeOf(client uint64) int { return int(client>>homeShift) - 1 }

func isBot(client uint64) bool { return client&botBit != 0 }

// token lets a player in at every mirror.
func (f *demoMirrors) token(client uint64) (token.Token, error) {
	return token.Issue(f.key, token.Grant{Protocol: token.ProtocolID(f.title.Name()), Client: client, Expires: time.Now().Add(tokenLife).Unix()}, rand.Reader)
}

// mirrorBots are the bots of a demo with mirrors: whole clients, spread over the shores, driven by one goroutine.
type mirrorBots struct {
	fleet *demoMirrors
	list  []*mirrorBot
}

type mirrorBot struct {
	demoBot
	number int
	again  time.Duration // when to come again, if it was lost
}

func newMirrorBots(f *demoMirrors, n int) *mirrorBots {
	b := &mirrorBots{fleet: f}
	for i := range n {
		b.list = append(b.list, &mirrorBot{number: i, demoBot: demoBot{brain: f.title.NewBot(f.seed + uint64(i))}})
	}
	return b
}

// botPatience is how long a bot tries each mirror before it tries the next.
const botPatience = 2 * time.Second

// join makes a bot's client, which goes to the mirror on its own shore first.
func (b *mirrorBots) join(x *mirrorBot) error {
	f := b.fleet
	home := x.number % len(f.nodes)
	t, err := f.token(uint64(home+1)<<homeShift | botBit | uint64(x.number))
	if err != nil {
		return err
	}
	o := client.Options{
		Title: f.title, Style: predict.None, Token: t, Name: botName(x.number), ConnectTimeout: botPatience,
		Link: f.sea.open(netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, 0, byte(x.number + 1)}), 5000), home),
	}
	for i := range f.nodes {
		o.Servers = append(o.Servers, mirrorPublic((home+i)%len(f.nodes)))
	}
	x.client, err = client.New(o)
	return err
}

// run lets them play until the demo ends. One that has lost all mirrors comes again.
func (b *mirrorBots) run() {
	_ = drive.Loop{Step: b.fleet.title.Game.TickLength(), Tick: b.tick}.Run(b.fleet.ending) // it ends with the demo
	for _, x := range b.list {
		if x.client != nil {
			_ = x.client.Close()
		}
	}
}

func (b *mirrorBots) tick(now time.Duration) error {
	for _, x := range b.list {
		switch {
		case x.client == nil && now >= x.again:
			x.again = now + time.Second
			if b.join(x) != nil {
				x.client = nil
			}
		case x.client != nil && x.client.Frame(now, x.command).Ended:
			_ = x.client.Close()
			x.client, x.again = nil, now+time.Second
		}
	}
	return nil
}
