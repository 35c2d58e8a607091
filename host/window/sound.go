//go:build desktop && !js

package window

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hajimehoshi/ebiten/v2/audio"

	"github.com/coeval-dev/coeval/draw"
)

// A speaker adds up what is heard at a time. Ebitengine reads from it in a goroutine of its own: an
// endless stream of 32-bit floats, left and right in turn.
type speaker struct {
	lib  *library
	mute bool

	mu     sync.Mutex
	voices []voice
	sum    []float32
}

// A voice is a sound that is being played.
type voice struct {
	data        []float32
	at, step    float64
	left, right float32
}

// mostVoices is how many sound at once; the oldest give way. Rate is how many samples there are in
// a second, and loudness of the whole.
const (
	mostVoices = 24
	rate       = 48000
	loudness   = 0.8
)

// newSpeaker makes one that is heard. Where there is no way to make sound, the game goes on
// without.
func newSpeaker(l *library, mute bool) *speaker {
	s := &speaker{lib: l, mute: mute}
	if p, err := audio.NewContext(rate).NewPlayerF32(s); err == nil {
		p.SetBufferSize(60 * time.Millisecond)
		p.Play()
	}
	return s
}

func (s *speaker) setMute(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute, s.voices = on, s.voices[:0]
}

// call plays what a list asks for.
func (s *speaker) call(c *draw.Call) {
	if s.mute {
		return
	}
	if c.Op == draw.OpTone {
		s.play(tone(draw.Wave(c.Flags), c.N[0], c.N[1], min(c.N[2], 10)), rate, c.N[3], c.N[4])
	} else if o := s.lib.sound(c.ID); o != nil {
		s.play(o.data, o.rate, c.N[0], c.N[1])
	}
}

func (s *speaker) play(data []float32, at, volume, pan float64) {
	volume, pan = max(0, min(1, volume))*loudness, max(-1, min(1, pan))
	sin, cos := math.Sincos((pan + 1) * math.Pi / 4)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.voices) == mostVoices {
		copy(s.voices, s.voices[1:])
		s.voices = s.voices[:mostVoices-1]
	}
	s.voices = append(s.voices,
		voice{data, 0, at / rate, float32(volume * cos), float32(volume * sin)})
}

// Read mixes the next samples.
func (s *speaker) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(b) / 8
	if cap(s.sum) < 2*n {
		s.sum = make([]float32, 2*n)
	}
	sum := s.sum[:2*n]
	clear(sum)
	kept := s.voices[:0]
	for _, v := range s.voices {
		if v.mix(sum) {
			kept = append(kept, v)
		}
	}
	s.voices = kept
	for i, v := range sum {
		v /= 1 + max(v, -v)*0.35 // loud moments are bent, not cut
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(max(-1, min(1, v))))
	}
	return 8 * n, nil
}

// mix adds a voice to the sum and says whether there is more of it.
func (v *voice) mix(sum []float32) bool {
	for i := 0; i+1 < len(sum); i += 2 {
		k := int(v.at)
		if k+1 >= len(v.data) {
			return false
		}
		x := v.data[k] + (v.data[k+1]-v.data[k])*float32(v.at-float64(k))
		sum[i] += x * v.left
		sum[i+1] += x * v.right
		v.at += v.step
	}
	return true
}

// tone computes a wave that goes from one pitch to another and fades.
func tone(w draw.Wave, from, to, seconds float64) []float32 {
	if !(seconds > 0) {
		return nil
	}
	from, to = max(20, min(rate/2, from)), max(20, min(rate/2, to))
	data := make([]float32, int(seconds*rate))
	phase, held := 0.0, 0.0
	for i := range data {
		x := float64(i) / float64(len(data))
		pitch := from * math.Pow(to/from, x)
		phase += pitch / rate
		turn := phase - math.Floor(phase)
		y := 0.0
		switch w {
		case draw.Sine:
			y = math.Sin(2 * math.Pi * turn)
		case draw.Triangle:
			y = 4*math.Abs(turn-0.5) - 1
		case draw.Square:
			y = math.Copysign(1, 0.5-turn)
		case draw.Noise: // its pitch is how bright it is
			held += (2*rand.Float64() - 1 - held) * min(1, 2*math.Pi*pitch/rate)
			y = held
		}
		data[i] = float32(y * math.Exp(-5.7*x) * min(1, float64(i)/240))
	}
	return data
}

func float(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
