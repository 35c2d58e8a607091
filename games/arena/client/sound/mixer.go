package sound

import (
	"encoding/binary"
	"math"
	"sync"
)

// A Source is where a noise comes from: how loud it is on either side, and how much its pitch
// differs.
type Source struct{ Left, Right, Pitch float32 }

// Here is a noise in one's own head.
func Here(volume float64) Source { return Source{float32(volume), float32(volume), 1} }

// At is a noise so far to the right and below, as one hears it who stands in the middle. Beyond
// reach it is not heard.
func At(dx, dy, volume, reach float64) Source {
	d := math.Hypot(dx, dy)
	if d >= reach {
		return Source{}
	}
	near := 1 - d/reach
	volume *= near * near
	side := dx / (d + 4) // close by, sides do not matter much
	return Source{
		float32(volume * math.Sqrt((1-side)/2) * math.Sqrt2),
		float32(volume * math.Sqrt((1+side)/2) * math.Sqrt2), 1}
}

// Detune changes the pitch, so that the same noise twice does not sound like a machine.
func (p Source) Detune(by float64) Source {
	p.Pitch = float32(1 + by)
	return p
}

// A Mixer adds up what is heard at a time. Read gives it to whatever plays it, from any goroutine:
// an endless stream of 32-bit floats, left and right in turn.
type Mixer struct {
	mu      sync.Mutex
	bank    [Sounds][]float32
	playing []sounding
	volume  float32
	sum     []float32
}

type sounding struct {
	samples []float32
	at      float32
	source  Source
}

// most is how many noises sound at once; the oldest give way.
const most = 24

// NewMixer computes all noises.
func NewMixer() *Mixer {
	m := &Mixer{playing: make([]sounding, 0, most), volume: 0.6}
	for s := range Sounds {
		m.bank[s] = Samples(s)
	}
	return m
}

// Play begins a noise.
func (m *Mixer) Play(s Sound, p Source) {
	if s >= Sounds || p.Left+p.Right < 0.004 || p.Pitch <= 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.playing) == most {
		copy(m.playing, m.playing[1:])
		m.playing = m.playing[:most-1]
	}
	m.playing = append(m.playing, sounding{m.bank[s], 0, p})
}

// SetVolume sets how loud everything is, from 0 to 1.
func (m *Mixer) SetVolume(v float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.volume = float32(max(0, min(1, v)))
}

// Read mixes the next samples.
func (m *Mixer) Read(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	frames := len(b) / 8
	if cap(m.sum) < 2*frames {
		m.sum = make([]float32, 2*frames)
	}
	sum := m.sum[:2*frames]
	clear(sum)
	kept := m.playing[:0]
	for _, v := range m.playing {
		if v.mix(sum) {
			kept = append(kept, v)
		}
	}
	m.playing = kept
	for i, v := range sum {
		v *= m.volume
		v /= 1 + max(v, -v)*0.35 // loud moments are bent, not cut
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(max(-1, min(1, v))))
	}
	return 8 * frames, nil
}

// mix adds a noise to the sum and says whether there is more of it.
func (v *sounding) mix(sum []float32) bool {
	for i := 0; i+1 < len(sum); i += 2 {
		k := int(v.at)
		if k+1 >= len(v.samples) {
			return false
		}
		f := v.at - float32(k)
		x := v.samples[k] + (v.samples[k+1]-v.samples[k])*f
		sum[i] += x * v.source.Left
		sum[i+1] += x * v.source.Right
		v.at += v.source.Pitch
	}
	return true
}
