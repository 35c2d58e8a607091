//go:build (js && wasm) || desktop

package client

import (
	"time"

	"github.com/hajimehoshi/ebiten/v2/audio"

	"github.com/coeval-dev/coeval/games/arena/client/sound"
)

// newSpeaker makes a mixer that is heard. Where there is no way to make sound, the game goes on
// without.
func newSpeaker(mute bool) *sound.Mixer {
	m := sound.NewMixer()
	if mute {
		m.SetVolume(0)
	}
	player, err := audio.NewContext(sound.Rate).NewPlayerF32(m)
	if err != nil {
		return m
	}
	player.SetBufferSize(60 * time.Millisecond)
	player.Play()
	return m
}
