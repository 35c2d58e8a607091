package sound

import "math"

// A Sound is one of the noises.
type Sound uint8

// The noises.
const (
	Bolt   Sound = iota // the blaster
	Launch              // a rocket leaves
	Beam                // the rail gun
	Burst               // a rocket ends
	Spark               // something hits a wall
	Hit                 // one's own shot hits someone
	Hurt                // one is hit
	Death
	Kill // one's own
	Health
	Ammo
	Door
	Appear
	Step
	Chat
	Begin
	Over
	Sounds // how many there are
)

// Rate is how many samples there are in a second.
const Rate = 32000

// A voice computes a noise, sample by sample: n is a source of hiss, t is in seconds, x from 0 at
// its beginning to 1 at its end.
type voice func(n *noise, t, x float64) float64

// recipes say how long each noise is and what it is made of.
var recipes = [Sounds]struct {
	seconds float64
	voice   voice
}{
	Bolt: {0.16, func(n *noise, t, x float64) float64 {
		return fade(x, 3) * (0.6*square(sweep(t, 1500, 260, 14)) + 0.25*n.high()*fade(x, 12))
	}},
	Launch: {0.55, func(n *noise, t, x float64) float64 {
		return fade(x, 2) * (0.8*n.low(0.06+0.12*(1-x)) + 0.4*sine(sweep(t, 170, 60, 5)))
	}},
	Beam: {0.75, func(n *noise, t, x float64) float64 {
		ring := sine(sweep(t, 2400, 520, 6)) + 0.5*sine(sweep(t, 3610, 770, 6)) +
			0.4*sine(sweep(t, 1210, 300, 5))
		return 0.42*fade(x, 3.2)*ring + 0.7*fade(x, 22)*n.high()
	}},
	Burst: {1.1, func(n *noise, t, x float64) float64 {
		rumble := fade(x, 2.6) * n.low(0.02+0.22*fade(x, 7))
		return math.Tanh(2.4 * (rumble + 0.9*fade(x, 6)*sine(sweep(t, 120, 34, 7))))
	}},
	Spark: {0.12, func(n *noise, t, x float64) float64 {
		return fade(x, 5) * (0.5*n.high() + 0.2*sine(t*3100))
	}},
	Hit: {0.09, func(_ *noise, t, x float64) float64 { return fade(x, 3) * 0.5 * sine(t*1760) }},
	Hurt: {0.22, func(n *noise, t, x float64) float64 {
		return fade(x, 4) * (0.8*sine(sweep(t, 190, 70, 12)) + 0.5*n.low(0.15))
	}},
	Death: {0.8, func(n *noise, t, x float64) float64 {
		return fade(x, 2) * (0.5*saw(sweep(t, 330, 50, 3)) + 0.4*n.low(0.1))
	}},
	Kill:   {0.35, chime(523.25, 783.99, 1046.5)},
	Health: {0.3, chime(392, 587.33)},
	Ammo: {0.2, func(n *noise, t, x float64) float64 {
		click := fade(math.Mod(x*2, 1), 14)
		return 0.5*click*n.high() + 0.25*fade(x, 4)*square(t*220)
	}},
	Door: {0.5, func(n *noise, t, x float64) float64 {
		return math.Sin(math.Pi*x) * (0.35*n.low(0.05) + 0.2*saw(t*(70+40*x)))
	}},
	Appear: {0.6, func(_ *noise, t, x float64) float64 {
		return 0.35 * math.Sin(math.Pi*math.Sqrt(x)) * (sine(sweep(t, 220, 1320, -3)) +
			0.5*sine(sweep(t, 330, 1980, -3)))
	}},
	Step:  {0.07, func(n *noise, _, x float64) float64 { return 0.6 * fade(x, 5) * n.low(0.08) }},
	Chat:  {0.12, chime(880)},
	Begin: {0.9, chime(261.63, 329.63, 392, 523.25)},
	Over:  {1.2, chime(523.25, 392, 329.63, 261.63)},
}

// Samples computes a noise.
func Samples(s Sound) []float32 {
	r := &recipes[s]
	n := &noise{state: 2463534242 + uint32(s)*7919}
	out := make([]float32, int(r.seconds*Rate))
	for i := range out {
		x := float64(i) / float64(len(out))
		// so that nothing clicks
		ends := min(1, float64(i)/(Rate/1000), float64(len(out)-i)/(Rate/100))
		out[i] = float32(max(-1, min(1, r.voice(n, float64(i)/Rate, x)*ends)))
	}
	return out
}

// fade falls from 1 to nearly 0, the faster the larger the speed.
func fade(x, speed float64) float64 { return math.Exp(-speed * x) }

// sweep is the phase of a tone that goes from one pitch to another.
func sweep(t, from, to, speed float64) float64 {
	if speed < 0 { // it lingers at the first
		return t*from + (to-from)*t*t/2
	}
	return t*to + (from-to)*(1-math.Exp(-speed*t))/speed
}

func sine(phase float64) float64   { return math.Sin(2 * math.Pi * phase) }
func square(phase float64) float64 { return math.Tanh(4 * sine(phase)) }
func saw(phase float64) float64    { return 2*(phase-math.Floor(phase)) - 1 }

// chime plays tones one after the other.
func chime(pitches ...float64) voice {
	return func(_ *noise, t, x float64) float64 {
		k := min(int(x*float64(len(pitches))), len(pitches)-1)
		at := x*float64(len(pitches)) - float64(k)
		p := t * pitches[k]
		return 0.4 * fade(at, 2.5) * (sine(p) + 0.3*sine(2*p) + 0.15*sine(3*p))
	}
}

// noise is a source of hiss, the same each time.
type noise struct {
	state uint32
	held  float64
}

func (n *noise) high() float64 {
	n.state ^= n.state << 13
	n.state ^= n.state >> 17
	n.state ^= n.state << 5
	return float64(n.state)/(1<<31) - 1
}

// low is a rumble; the smaller the share, the deeper.
func (n *noise) low(share float64) float64 {
	n.held += (n.high() - n.held) * share
	return n.held / math.Sqrt(share) * 0.6
}
