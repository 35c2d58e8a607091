package predict

import "github.com/coeval-dev/coeval/world"

// past is a ring of the worlds of recent ticks, as they were predicted, and of what went into each.
type past struct {
	now world.Tick // the newest
	// up to which they follow from what is known; those after are to be computed again
	valid   world.Tick
	worlds  []*world.World
	inputs  []*world.Inputs
	for_    []world.Tick // the tick that each of the inputs is for
	scratch *world.Inputs

	sent   []world.Tick // the tick that each of the commands is for
	images []int32      // the player's own commands
	size   int          // of one
	list   [][]int32
}

// init makes room for n worlds, which are like the one given, what went into them, and commands of
// a size.
func (p *past) init(w *world.World, n, size int) {
	p.worlds, p.inputs, p.for_ = make([]*world.World, n), make([]*world.Inputs, n),
		make([]world.Tick, n)
	p.scratch = w.Game().NewInputs()
	for i := range p.worlds {
		p.worlds[i] = w.Host().Clone()
	}
	for i := range p.inputs {
		p.inputs[i] = w.Game().NewInputs()
	}
	p.remember(n, size)
}

// initPlain makes room for commands alone.
func (p *past) initPlain(g *world.Game, size int) {
	p.inputs, p.for_ = []*world.Inputs{g.NewInputs()}, make([]world.Tick, 1)
	p.remember(maxRepeats+1, size)
}

func (p *past) remember(n, size int) {
	p.sent, p.images, p.size = make([]world.Tick, n), make([]int32, n*size), size
}

// at is the world of a tick.
func (p *past) at(t world.Tick) *world.World { return p.worlds[t%world.Tick(len(p.worlds))] }

// in is what goes into a tick.
func (p *past) in(t world.Tick) *world.Inputs {
	i := t % world.Tick(len(p.inputs))
	if p.for_[i] != t {
		p.inputs[i].Reset()
		p.for_[i] = t
	}
	return p.inputs[i]
}

// has says whether the world of a tick is kept.
func (p *past) has(t world.Tick) bool {
	return t <= p.now && p.now-t < world.Tick(len(p.worlds)) && p.at(t).Tick() == t
}

// keep remembers the player's own command, to be sent.
func (p *past) keep(t world.Tick, in *world.Inputs, me world.Player) {
	i := t % world.Tick(len(p.sent))
	p.sent[i] = 0
	if in.Image(me, p.image(i)) {
		p.sent[i] = t
	}
}

func (p *past) image(i world.Tick) []int32 { return p.images[int(i)*p.size : (int(i)+1)*p.size] }

// commands are the player's last, the oldest first, without a gap.
func (p *past) commands(most int) [][]int32 {
	n := world.Tick(0)
	for most = min(most, len(p.sent)-1); n < p.now && int(n) < most &&
		p.sent[(p.now-n)%world.Tick(len(p.sent))] == p.now-n; {
		n++
	}
	p.list = p.list[:0]
	for ; n > 0; n-- {
		p.list = append(p.list, p.image((p.now-n+1)%world.Tick(len(p.sent))))
	}
	return p.list
}
