//go:build desktop && !js

package window

import (
	"bytes"
	"encoding/binary"
	"image"
	_ "image/jpeg" // files of a game may be of these kinds
	_ "image/png"
	"io"
	"io/fs"
	"log"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/audio/wav"

	"github.com/coeval-dev/coeval/draw"
)

// A library is what lists refer to, as far as it has been read.
type library struct {
	files  fs.FS
	done   int // bytes
	names  map[uint16]string
	images map[uint16]*ebiten.Image // nil for one that is missing
	sounds map[uint16]*samples      // the same
}

// samples are a sound of one channel.
type samples struct {
	rate float64
	data []float32
}

func newLibrary(files fs.FS) *library {
	return &library{files: files, names: map[uint16]string{}, images: map[uint16]*ebiten.Image{},
		sounds: map[uint16]*samples{}}
}

// read takes what was added.
func (l *library) read(all []byte) {
	if len(all) <= l.done {
		return
	}
	var r draw.Reader
	r.Read(all[l.done:])
	l.done = len(all)
	for c := range r.Calls() {
		switch c.Op {
		case draw.OpName:
			l.names[c.ID] = string(c.Bytes)
		case draw.OpPicture:
			l.picture(c)
		case draw.OpSamples:
			s := &samples{rate: float64(c.Rate), data: make([]float32, len(c.Bytes)/2)}
			for i := range s.data {
				s.data[i] = float32(int16(binary.LittleEndian.Uint16(c.Bytes[2*i:]))) / 32767
			}
			l.sounds[c.ID] = s
		}
	}
}

// picture draws one, once.
func (l *library) picture(c *draw.Call) {
	w, h := max(1, int(c.N[0]*c.N[2]+0.5)), max(1, int(c.N[1]*c.N[2]+0.5))
	to := ebiten.NewImage(w, h)
	r := replayer{lib: l}
	r.begin(to, c.N[0], c.N[1])
	r.list(c.Bytes)
	r.end()
	l.images[c.ID] = to
}

// image is the one with a number, or nil.
func (l *library) image(id uint16) *ebiten.Image {
	i, known := l.images[id]
	if known {
		return i
	}
	if b := l.file(id); b != nil {
		if m, _, err := image.Decode(bytes.NewReader(b)); err == nil {
			i = ebiten.NewImageFromImage(m)
		} else {
			log.Printf("the image %q cannot be used: %v", l.names[id], err)
		}
	}
	l.images[id] = i
	return i
}

// sound is the one with a number, or nil. Files are WAV.
func (l *library) sound(id uint16) *samples {
	s, known := l.sounds[id]
	if known {
		return s
	}
	if b := l.file(id); b != nil {
		if stream, err := wav.DecodeF32(bytes.NewReader(b)); err == nil {
			s = mono(stream, float64(stream.SampleRate()))
		} else {
			log.Printf("the sound %q cannot be used: %v", l.names[id], err)
		}
	}
	l.sounds[id] = s
	return s
}

// mono reads a stream of two channels as one.
func mono(stream io.Reader, rate float64) *samples {
	b, err := io.ReadAll(stream)
	if err != nil {
		return nil
	}
	s := &samples{rate: rate, data: make([]float32, len(b)/8)}
	for i := range s.data {
		s.data[i] = (float(b[8*i:]) + float(b[8*i+4:])) / 2
	}
	return s
}

// file reads an asset. What is not there is said once.
func (l *library) file(id uint16) []byte {
	name := l.names[id]
	if l.files == nil {
		log.Printf("%q was not found: the title's Screen.Assets is not set, and no Picture or "+
			"Samples has that name", name)
		return nil
	}
	b, err := fs.ReadFile(l.files, name)
	if err != nil {
		log.Printf("%q was not found in the title's Screen.Assets: %v", name, err)
	}
	return b
}
