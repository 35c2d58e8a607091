package seamless

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/world"
	"github.com/coeval-dev/coeval/zone"
)

// bots play for players whose entities are in this server's zones.
type bots struct {
	which func(world.Player) bool
	minds map[world.Player]game.Bot
	ticks map[zone.ID]world.Tick // for which they have played
	in    *world.Inputs
	image []int32
	buf   []byte
}

func (b *bots) open(o *Options) {
	schema := o.Title.Game.Commands()
	if o.Bots == nil || schema == nil {
		return
	}
	b.which, b.minds = o.Bots, map[world.Player]game.Bot{}
	b.ticks, b.in = map[zone.ID]world.Tick{}, o.Title.Game.NewInputs()
	b.image = make([]int32, len(schema.Slots))
}

// play gives commands for the next tick of each zone. A bot that goes to a zone of another server
// is another one there, which thinks anew.
func (b *bots) play(n *node) {
	if b.which == nil {
		return
	}
	for _, v := range n.zones.Zones() {
		body := v.Body.(*body)
		if b.ticks[v.Zone] == body.w.Tick() {
			continue
		}
		b.ticks[v.Zone] = body.w.Tick()
		for who := range body.w.Players {
			if !body.players.here(who) || !b.which(who) {
				continue
			}
			mind := b.minds[who]
			if mind == nil {
				mind = n.opt.Title.NewBot(uint64(who) | uint64(v.Zone)<<32)
				b.minds[who] = mind
			}
			b.in.Reset()
			if mind(body.w, who, body.w.Tick()+1, b.in) != nil || !b.in.Image(who, b.image) {
				continue
			}
			b.buf = writeCommand(b.buf[:0], who, b.image)
			_ = n.zones.Command(v.Zone, b.buf)
		}
	}
}
