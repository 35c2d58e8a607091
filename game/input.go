package game

import (
	"cmp"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/world"
)

// An Input is what a player does with keys, a pointer, fingers or a gamepad, between one command
// and the next.
//
// Most games ask for the embedded Keys, or for Stick, and need not know which device there is: the
// arrows, WASD, a stick on the glass and that of a gamepad all push them, and the space bar, a
// pointer's button, a finger and a gamepad's first button all are Fire.
type Input struct {
	Keys
	// Stick is where the player pushes, at most 1 far: X to the right, Y up.
	Stick det.Vec2
	// Aim is where the player points with a second stick, or with a finger, at most 1 far; zero
	// where neither is there.
	Aim det.Vec2
	// Pointer is a mouse, a pen, or the last finger.
	Pointer Pointer

	held, pressed, asked [2]uint64 // by key
}

// Keys are what a player holds down, on whatever there is to hold.
type Keys struct{ Up, Down, Left, Right, Fire bool }

// A Pointer points at the screen.
type Pointer struct {
	// Place is what it points at, in units of the last Camera that was drawn with.
	Place det.Vec2
	// Offset is how far that is from the middle of the screen: for games in which the player is
	// there.
	Offset det.Vec2
	// There says whether there is a pointer, Down whether its button is held or a finger touches,
	// and Second whether its second button is held.
	There, Down, Second bool
}

// Aimed is the direction in which the player aims, 1 far: by a second stick or a finger, with the
// pointer, or else where they push. It is zero where they do none of that.
func (in *Input) Aimed() det.Vec2 {
	return cmp.Or(in.Aim, in.Pointer.Offset, in.Stick).Unit()
}

// Held says whether a key is down.
func (in *Input) Held(k Key) bool {
	in.asked[k>>6&1] |= 1 << (k & 63)
	return in.held[k>>6&1]>>(k&63)&1 != 0
}

// Pressed says whether a key went down since the last command. It is never lost between two.
func (in *Input) Pressed(k Key) bool {
	in.asked[k>>6&1] |= 1 << (k & 63)
	return in.pressed[k>>6&1]>>(k&63)&1 != 0
}

// Asked is for what reads a keyboard: the keys that Held or Pressed were ever asked for, a bit
// each. They are the game's, and a screen does nothing else with them.
func (in *Input) Asked() [2]uint64 { return in.asked }

// Set is for what reads a keyboard: a key goes down, or up.
func (in *Input) Set(k Key, down bool) {
	word, bit := &in.held[k>>6&1], uint64(1)<<(k&63)
	if down {
		if *word&bit == 0 {
			in.pressed[k>>6&1] |= bit
		}
		*word |= bit
	} else {
		*word &^= bit
	}
}

// Given is for what reads a keyboard: a command was made, so what was pressed before it is over.
func (in *Input) Given() { in.pressed = [2]uint64{} }

// Release is for what reads a keyboard: nothing is held any more, as the player has gone elsewhere.
func (in *Input) Release() { *in = Input{asked: in.asked} }

// A Key is one of a keyboard, by its place and not by what is printed on it.
type Key uint8

// The keys. Letters and digits are those in their places of an American keyboard.
const (
	KeyNone Key = iota
	KeyA
	KeyB
	KeyC
	KeyD
	KeyE
	KeyF
	KeyG
	KeyH
	KeyI
	KeyJ
	KeyK
	KeyL
	KeyM
	KeyN
	KeyO
	KeyP
	KeyQ
	KeyR
	KeyS
	KeyT
	KeyU
	KeyV
	KeyW
	KeyX
	KeyY
	KeyZ
	Key0
	Key1
	Key2
	Key3
	Key4
	Key5
	Key6
	Key7
	Key8
	Key9
	KeyUp
	KeyDown
	KeyLeft
	KeyRight
	KeySpace
	KeyEnter
	KeyShift
	KeyControl
	KeyAlt
	KeyTab
	KeyBackspace
	KeyComma
	KeyPeriod
	KeySlash
	KeyPadA // a gamepad's first button, and the others as they are numbered
	KeyPadB
	KeyPadX
	KeyPadY
	KeyPadLeft
	KeyPadRight
	Keyboard // how many keys there are
)

// KeyCode is the key with a code as browsers call it, such as "KeyW" or "Space", or KeyNone.
func KeyCode(code string) Key { return codes[code] }

var codes = func() map[string]Key {
	m := map[string]Key{
		"ArrowUp": KeyUp, "ArrowDown": KeyDown, "ArrowLeft": KeyLeft, "ArrowRight": KeyRight,
		"Space": KeySpace, "Enter": KeyEnter, "ShiftLeft": KeyShift, "ShiftRight": KeyShift,
		"ControlLeft": KeyControl, "ControlRight": KeyControl, "AltLeft": KeyAlt, "Tab": KeyTab,
		"Backspace": KeyBackspace, "Comma": KeyComma, "Period": KeyPeriod, "Slash": KeySlash,
	}
	for i := range 26 {
		m["Key"+string(rune('A'+i))] = KeyA + Key(i)
	}
	for i := range 10 {
		m["Digit"+string(rune('0'+i))] = Key0 + Key(i)
	}
	return m
}()

// Direct fills Keys and Stick from the keys that are held and from a stick, for what reads devices.
func (in *Input) Direct(stick det.Vec2, fire bool) {
	const enough = 0.35 // a stick that is pushed this far counts as a key
	in.Keys = Keys{
		Up:    in.down(KeyUp) || in.down(KeyW) || stick.Y > enough,
		Down:  in.down(KeyDown) || in.down(KeyS) || stick.Y < -enough,
		Left:  in.down(KeyLeft) || in.down(KeyA) || stick.X < -enough,
		Right: in.down(KeyRight) || in.down(KeyD) || stick.X > enough,
		Fire:  fire || in.down(KeySpace) || in.down(KeyPadA),
	}
	if stick == (det.Vec2{}) {
		stick = det.Vec2{X: axis(in.Left, in.Right), Y: axis(in.Down, in.Up)}
	}
	in.Stick = stick.ClampLen(1)
}

// down says whether a key is held, or was since the last command: a tap that is shorter than a tick
// counts for one.
func (in *Input) down(k Key) bool { return in.Held(k) || in.Pressed(k) }

func axis(less, more bool) (x float64) {
	if less {
		x--
	}
	if more {
		x++
	}
	return x
}

// A Control makes a player's command of what they do. It may remember, such as where one last went;
// so each player has one of their own.
type Control func(in *Input, me world.Player, out *world.Inputs) error

// Controls makes a Title's Control of what an author writes: a function that makes a command of
// what the player does.
//
//	Control: game.Controls(func(in *game.Input) Move { return Move{Up: in.Up} }),
func Controls[C any](command func(in *Input) C) func() Control {
	return NewControls(func() func(*Input) C { return command })
}

// NewControls is Controls for a function that remembers: each player has one of their own.
func NewControls[C any](make func() func(in *Input) C) func() Control {
	return func() Control {
		command := make()
		return func(in *Input, me world.Player, out *world.Inputs) error {
			return world.Give(out, me, command(in))
		}
	}
}
