package mirror

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/timeline/ruled"
	"github.com/coeval-dev/coeval/world"
)

// This file is what comes into a mirrored world beside commands: what players were shown, and what
// a mirror's own program tells the game. Both are stamped and passed on as commands are, so that
// all mirrors settle the same.

// sightSlack is by how many sixteenths of a tick what a player is shown may change before the
// others are told. A copy of the world that guesses a command also guesses that it is seen as
// before, so it is worth to say the same for as long as it makes no difference.
const sightSlack = 8

// A said is what was last said to be shown to a player, and with the command of which tick.
type said struct {
	ago  uint16
	tick world.Tick
}

// sightAgain is how long it counts: another mirror may have spoken for the player since.
const sightAgain = 4 * time.Second

// says gives what to say of what was shown with a command: nothing, where that is what was said
// last.
func (m *Mirror) says(p world.Player, t world.Tick, s world.Sight) (world.Sight, bool) {
	if !m.codec.rewinds {
		return world.Sight{}, false
	}
	last, known := m.in.said[p]
	off := max(s.Ago, last.ago) - min(s.Ago, last.ago)
	if s.Claimed == 0 {
		s.Base = 0 // it counts with claims alone
		if known && off <= sightSlack && (s.Ago == 0) == (last.ago == 0) &&
			t < last.tick+m.ticks(sightAgain) {
			return world.Sight{}, false
		}
	}
	if m.in.said == nil {
		m.in.said = map[world.Player]said{}
	}
	m.in.said[p] = said{s.Ago, t}
	return s, true
}

// errIdle says that a mirror cannot tell its game anything now.
var errIdle = errors.New("mirror: it takes no part in a game at present, so nothing can be told; " +
	"try again when it serves")

// input stamps an input of another kind than commands, for the first tick that is open, and passes
// it on. What is too long for a packet goes in parts.
func (m *Mirror) input(t world.Told, data []byte) error {
	in := &m.in
	if err := m.game.CheckTold(t, data); err != nil {
		return err
	}
	if m.life.phase != Serving || !in.started || m.line == nil || !m.goesOn() || m.halt.at != 0 {
		return errIdle
	}
	data = slices.Clone(data)
	it := item{kind: itemTell, tick: max(in.open(), in.from+1), told: t, data: data}
	if m.line.Waits() {
		in.moves = append(in.moves, it)
		return nil
	}
	m.queue(it)
	return nil
}

// roomForTold is what of a packet is left for something told beside its header and key.
const roomForTold = 256

// addLong adds an item whose data may be too long for a packet of so many bytes: what does not fit
// goes before it, in parts.
func (in *ingress) addLong(it item, most int) *item {
	most -= roomForTold
	for ; len(it.data) > most; it.data = it.data[most:] {
		in.add(item{kind: itemPart, data: it.data[:most]})
	}
	return in.add(it)
}

// maxParts bounds what a mirror may say in parts.
const maxParts = ruled.MaxRuling

// part keeps the first bytes of what a mirror is about to say.
func (m *Mirror) part(p *peer, data []byte) {
	if len(p.parts)+len(data) > maxParts {
		p.parts = nil
		m.refuse(p.id, fmt.Errorf("it says more than %d bytes at once", maxParts))
		return
	}
	p.parts = append(p.parts, data...)
}

// whole puts an item's data behind the parts that came before it.
func (p *peer) whole(data []byte) []byte {
	all := append(p.parts, data...)
	p.parts = nil
	return all
}

// told takes what another mirror tells, in order.
func (m *Mirror) told(p *peer, it *item) {
	c := timeline.Command{Kind: timeline.Tell, Tick: it.tick, Origin: p.id, Seq: it.seq,
		Told: it.told, Data: p.whole(it.data)}
	if !m.line.Waits() {
		m.command(p, c)
	} else if m.counts(p, c) == counts {
		p.submitted++
		c.Seq = p.submitted
		m.submit(c)
	}
}

// tell is an item as the command that it is.
func (it *item) tell(from member.ID, seq uint32) timeline.Command {
	return timeline.Command{
		Kind: timeline.Tell, Tick: it.tick, Origin: from, Seq: seq, Told: it.told, Data: it.data}
}
