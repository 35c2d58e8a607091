package terminal

import (
	"sync"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
)

// A Key is one that is not for the game, but for who plays it.
type Key int

// What such keys ask for.
const (
	none Key = iota
	Pause
	Tick
	Faster
	Slower
	Switch
	quit
)

var ownKeys = map[byte]Key{
	'p': Pause, '.': Tick, '+': Faster, '=': Faster, '-': Slower,
	'l': Switch, 12: Switch, // Ctrl-L, where the game has a use for the letter
	'q': quit, 3: quit, 4: quit, // Ctrl-C and Ctrl-D come as they are
}

// plainKeys are those that come as a byte, besides letters and digits.
var plainKeys = map[byte]game.Key{
	'.': game.KeyPeriod,
	' ': game.KeySpace, '\r': game.KeyEnter, '\n': game.KeyEnter, '\t': game.KeyTab,
	8: game.KeyBackspace, 127: game.KeyBackspace, ',': game.KeyComma, '/': game.KeySlash,
}

// arrows are what the arrow keys end with.
var arrows = map[byte]game.Key{
	'A': game.KeyUp, 'B': game.KeyDown, 'C': game.KeyRight, 'D': game.KeyLeft,
}

// A stroke is a key that went down: one of the game's, or one of the player's own. Where it is
// both, it is the game's if the game asks for it.
type stroke struct {
	own   Key
	game  game.Key
	shift bool
}

// nextKey takes one key from what a terminal sent.
func nextKey(b []byte) (stroke, []byte) {
	c := b[0]
	if c == 0x1b && len(b) >= 3 && (b[1] == '[' || b[1] == 'O') {
		i := 2
		for i < len(b)-1 && b[i] < 0x40 { // numbers that come with a key
			i++
		}
		return stroke{game: arrows[b[i]]}, b[i+1:]
	}
	k := stroke{own: ownKeys[c], game: plainKeys[c]}
	switch {
	case c >= 'a' && c <= 'z':
		k.game = game.KeyA + game.Key(c-'a')
	case c >= 'A' && c <= 'Z':
		k.game, k.shift = game.KeyA+game.Key(c-'A'), true
	case c >= '0' && c <= '9':
		k.game = game.Key0 + game.Key(c-'0')
	}
	return k, b[1:]
}

// release is how long a key counts as held after the terminal last told of it. Terminals tell when
// a key goes down and repeat that, but not when it goes up.
const release = 250 * time.Millisecond

// A keyboard remembers when each key was last told of.
type keyboard struct {
	mu   sync.Mutex
	in   game.Input
	last [game.Keyboard]time.Time
}

// opposite keys: one goes one way at a time.
var opposite = map[game.Key][2]game.Key{
	game.KeyUp: {game.KeyDown, game.KeyS}, game.KeyW: {game.KeyDown, game.KeyS},
	game.KeyDown: {game.KeyUp, game.KeyW}, game.KeyS: {game.KeyUp, game.KeyW},
	game.KeyLeft: {game.KeyRight, game.KeyD}, game.KeyA: {game.KeyRight, game.KeyD},
	game.KeyRight: {game.KeyLeft, game.KeyA}, game.KeyD: {game.KeyLeft, game.KeyA},
}

func (b *keyboard) press(k stroke, now time.Time) {
	if k.game == game.KeyNone {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if k.game == game.KeySpace {
		b.in.Set(game.KeySpace, false) // each time it is told of counts
	}
	b.in.Set(k.game, true)
	b.last[k.game] = now
	for _, o := range opposite[k.game] {
		b.in.Set(o, false)
	}
	b.in.Set(game.KeyShift, k.shift)
	b.last[game.KeyShift] = now
}

// asked says whether the game wants a key.
func (b *keyboard) asked(k game.Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return k != game.KeyNone && b.in.Asked()[k>>6&1]>>(k&63)&1 != 0
}

// command lets f make a command of what is held now.
func (b *keyboard) command(now time.Time, f func(in *game.Input) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k, last := range b.last {
		if now.Sub(last) >= release {
			b.in.Set(game.Key(k), false)
		}
	}
	b.in.Direct(det.Vec2{}, false)
	err := f(&b.in)
	b.in.Given()
	// Who taps the space bar fires once, and who holds it fires as often as the terminal tells.
	b.in.Set(game.KeySpace, false)
	return err
}
