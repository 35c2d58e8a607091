package crimp

import (
	"math"
	"time"
)

// forwarding is what is sent in advance against loss, and why.
//
// Two ways are there. A packet can repeat its predecessors, as the paper proposes: simple,
// and what is lost is there again with the very next packet; it suits small packets
// at a slow clock. Or parity is sent over a window of packets: far fewer bytes, and it
// helps only when the window is complete; it suits large packets at a fast clock.
type forwarding struct {
	opt   *Forward
	mode  ForwardMode // in use: none, repeat or parity
	depth int
	// Contents of our last packets, to be repeated.
	kept [maxDepth + 1][]byte

	base, extra float64 // bytes sent of late, and bytes of redundancy
	window      window
	closeAt     time.Duration // when an unfinished window is closed
	codes       [maxWindow + 1][maxParity + 1]*code
	reviewAt    time.Duration
	packets     int // a window in use, and its parity
	parity      int
}

func (f *forwarding) init(o *Options) {
	f.opt = &o.Forward
	f.closeAt = never
	f.mode = o.Forward.Mode
	f.depth, f.packets, f.parity = o.Forward.Depth, o.Forward.Window, o.Forward.Parity
	if f.mode == ForwardAuto {
		f.mode = ForwardNone
	}
}

// SetAllowance changes Forward.Allowance: less is sent in advance where a line has no room for it.
func (g *Group) SetAllowance(share float64) {
	if share >= 0 && share <= 100 {
		g.opt.Forward.Allowance = share
	}
}

// contentOf is the memory for a packet's content, or the content.
func (f *forwarding) contentOf(s Sequence) []byte { return f.kept[int(s)%len(f.kept)] }

func (f *forwarding) keep(s Sequence, content []byte) { f.kept[int(s)%len(f.kept)] = content }

func (f *forwarding) sentBytes(base, extra int) {
	f.base += (float64(base) - f.base) / 32
	f.extra += (float64(extra) - f.extra) / 32
}

// choose says how many predecessors a packet carries, or that it belongs to a window
// of parity.
func (f *forwarding) choose(g *Group, s Sequence) (depth int, window byte) {
	if g.members < 2 {
		return 0, 0
	}
	if f.opt.Mode == ForwardAuto && g.now >= f.reviewAt && f.window.count == 0 {
		f.reviewAt = g.now + 100*time.Millisecond
		f.review(g)
	}
	switch f.mode {
	case ForwardRepeat:
		return f.depth, 0
	case ForwardParity:
		return 0, byte(f.packets<<3 | f.parity)
	}
	return 0, 0
}

const (
	// residue is the share of packets that may stay lost in spite of redundancy. They are
	// asked for.
	residue = 0.005
	// noLoss is the loss below which redundancy is not worth its bytes.
	noLoss = 0.004
	// fastClock is the period below which a window of parity is soon complete.
	fastClock = 8 * time.Millisecond
)

// review chooses by the loss that members report.
func (f *forwarding) review(g *Group) {
	loss := 0.0
	for _, p := range g.peers {
		if p.present && g.now-p.lossAt < 5*time.Second {
			loss = max(loss, float64(p.lossSeen)/255)
		}
	}
	if g.self.next < lossMemory {
		loss = max(loss, 0.02) // too early to tell; one predecessor costs little
	}
	if loss < noLoss {
		f.mode = ForwardNone
		return
	}
	loss = min(loss, 0.5)
	// So many in a row are lost less often than residue.
	want := int(math.Ceil(math.Log(residue)/math.Log(loss))) - 1
	want = min(max(want, 1), maxDepth)
	content := float64(len(f.contentOf(g.self.next-1))) + 1
	size := max(f.base, content+headerSize+dataFixed+sealSize)
	afford := int(f.opt.Allowance * size / content)
	room := (g.opt.Datagram - int(size)) / int(content+1)
	fast := g.beat.period > 0 && g.beat.period < fastClock
	if can := min(afford, room); can >= 1 && (!fast || can >= want) {
		f.mode, f.depth = ForwardRepeat, min(want, can)
		return
	}
	// Enough parity that more are lost of a window less often than residue, roughly: two
	// deviations above the mean.
	f.packets = f.opt.Window
	n := float64(f.packets)
	parity := int(math.Ceil(float64(n*loss) + 2*math.Sqrt(float64(n*loss)*(1-loss))))
	parity = min(parity, int(f.opt.Allowance*n), maxParity)
	if parity < 1 {
		f.mode = ForwardNone
		return
	}
	f.mode, f.parity = ForwardParity, parity
}

// awaitForward decides whether a lost packet is likely to come by itself sooner than it
// would if it were asked for.
func (g *Group) awaitForward(p *peer, l *loss) bool {
	var last, next Sequence
	switch {
	case p.repeat > 0:
		last = l.seq + Sequence(p.repeat)
		next = max(p.anchor, l.seq) + 1
	case p.packets > 0:
		n := Sequence(p.packets)
		last = (l.seq+n-1)/n*n + 1 // the parity follows the last of the window
		next = last
	default:
		return false
	}
	if p.anchor >= last {
		return false
	}
	round := 2 * p.delay.oneWay()
	if p.period == 0 {
		l.await, l.due = last, g.now+round/4+5*time.Millisecond
		return true
	}
	if p.expected(next)-g.now > round {
		return false
	}
	l.await = last
	l.due = p.expected(last) + p.margin()
	return true
}
