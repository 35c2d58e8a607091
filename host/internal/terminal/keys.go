package terminal

import (
	"sync"
	"time"

	"github.com/coeval-dev/coeval/game"
)

// A Key is what the player means.
type Key int

const (
	none Key = iota
	up
	down
	left
	right
	fire
	Pause
	Tick
	Faster
	Slower
	quit
)

var plainKeys = map[byte]Key{
	'w': up, 's': down, 'a': left, 'd': right, ' ': fire, 'p': Pause, '.': Tick, '+': Faster,
	'=': Faster, '-': Slower,
	'q': quit, 3: quit, 4: quit, // Ctrl-C and Ctrl-D come as they are
}

// arrows are what the arrow keys end with.
var arrows = map[byte]Key{'A': up, 'B': down, 'C': right, 'D': left}

// nextKey takes one key from what a terminal sent.
func nextKey(b []byte) (Key, []byte) {
	if len(b) >= 3 && b[0] == 0x1b && (b[1] == '[' || b[1] == 'O') {
		return arrows[b[2]], b[3:]
	}
	return plainKeys[b[0]], b[1:]
}

// release is how long a key counts as held after the terminal last told of it. Terminals tell when
// a key goes down and repeat that, but not when it goes up.
const release = 250 * time.Millisecond

// A keyboard remembers when each key was last told of.
type keyboard struct {
	mu   sync.Mutex
	last [quit + 1]time.Time
	shot bool // fire counts once for each time it is told of
}

// opposite keys: one goes one way at a time.
var opposite = [...]Key{up: down, down: up, left: right, right: left, fire: none}

func (b *keyboard) press(k Key, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last[k], b.last[opposite[k]] = now, time.Time{}
	b.shot = b.shot || k == fire
}

func (b *keyboard) now(now time.Time) game.Keys {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := func(k Key) bool { return now.Sub(b.last[k]) < release }
	k := game.Keys{
		Up: held(up), Down: held(down), Left: held(left), Right: held(right), Fire: b.shot}
	b.shot = false
	return k
}
