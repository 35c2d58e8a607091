package peers

import (
	"github.com/coeval-dev/coeval/member"
	"github.com/coeval-dev/coeval/timeline/turns"
	"github.com/coeval-dev/coeval/world"
)

// LieAboutHashes has a peer tell everybody a hash that is not its world's.
func (p *Peer) LieAboutHashes() {
	p.cheats = &cheats{mark: func(_ member.ID, m *mark) { m.hash ^= 1 }}
}

// BeTwoFaced has a peer tell some members other commands than the rest, from some tick on, and sign
// to each what it was told.
func (p *Peer) BeTwoFaced(from world.Tick, victims func(member.ID) bool) {
	var other *turns.Stream
	last, image := make([]int32, p.coder.Len()), make([]int32, p.coder.Len())
	upTo := func(t world.Tick) {
		own := p.stream(p.self)
		if other == nil {
			first := max(from, world.Tick(own.Have()))
			img, h, _ := own.Before(uint64(first))
			other = turns.Resume(p.coder, uint64(first), img, h)
			copy(last, img)
		}
		for n := other.Have() + 1; n <= min(uint64(t), own.Have()); n++ {
			copy(image, own.Image(n))
			image[0] = p.coder.Least(0) // it goes as far to one side as it can
			item, err := p.coder.Append(nil, last, image)
			if err != nil {
				panic(err)
			}
			copy(last, image)
			if _, err := other.Put(n, item); err != nil {
				panic(err)
			}
		}
	}
	p.cheats = &cheats{
		item: func(to member.ID, t world.Tick, item []byte) []byte {
			if !victims(to) || t <= from {
				return item
			}
			if upTo(t); other.Holds(uint64(t)) {
				return other.Item(uint64(t))
			}
			return item
		},
		mark: func(to member.ID, m *mark) {
			if !victims(to) || m.tick <= from || other == nil || !other.Holds(uint64(m.tick)) {
				return
			}
			m.sign = p.id.signs(p.signedHead(p.self, m.tick, other.HeadAt(uint64(m.tick))))
		},
	}
}

// Damage changes a peer's world behind its back.
func (p *Peer) Damage(f func(w *world.World)) { f(p.copy.World()) }

// CommitToNothing has a peer send no seals any more.
func (p *Peer) CommitToNothing() { p.cheats = &cheats{noSeals: true} }

// Withhold has a peer reveal nothing to some members, as long as it is so.
func (p *Peer) Withhold(from func(member.ID) bool) { p.cheats = &cheats{withholds: from} }

// BeHonest ends that, and all else.
func (p *Peer) BeHonest() { p.cheats = nil }

// Voting says whether this peer has reported for a decree that is not decided.
func (p *Peer) Voting() bool { return p.limited }

// Committed is up to which tick this peer has committed to its commands, or they are decided.
func (p *Peer) Committed() world.Tick { return max(p.own.sealed, p.own.began) }

// LapsesOf lists the ticks in which commands of a member were repeated, first and last.
func (p *Peer) LapsesOf(id member.ID) (list [][2]world.Tick) {
	if p.charter == nil {
		return nil
	}
	for _, l := range p.charter.lapses {
		if l.member == id {
			list = append(list, [2]world.Tick{l.from, l.until})
		}
	}
	return list
}

// Seen is the newest command of another that is here.
func (p *Peer) Seen() (t world.Tick) {
	for _, s := range p.streams {
		sp, have := p.charter.span(s.id), world.Tick(s.Have())
		for have >= world.Tick(s.From()) && p.charter.repeats(s.id, have) {
			have-- // that is what all know
		}
		if s.id != p.self && sp != nil && have >= world.Tick(s.From()) {
			t = max(t, have)
		}
	}
	return t
}
