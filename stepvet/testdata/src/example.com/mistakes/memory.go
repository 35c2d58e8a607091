package mistakes

import (
	"bytes"
	"fmt"
	"reflect"
	"sort"
	"unsafe"

	"example.com/dice"
	"example.com/world"
)

func (b *Ball) addresses() {
	at := uintptr(unsafe.Pointer(b)) // want `unsafe code can see addresses.*\[address\]`
	if at%2 == 0 {
		b.Hits++
	}
	_ = fmt.Sprintf("ball %-8p", b)  // want `%p prints an address.*\[address\]`
	_ = reflect.ValueOf(b).Pointer() // want `reflect.Value.Pointer is an address`
	_ = unsafe.Sizeof(*b)
	_ = fmt.Sprintf("100%% %d", b.Hits)
}

var (
	total   int
	scores  = map[world.ID]int{}
	best    *Ball
	history []int
	arena   struct{ W, H float64 }
	buf     bytes.Buffer
	rules   = []func(*Ball){func(b *Ball) { total++ }} // want `total is not part of the world.*reached by .* > rules`
)

func (b *Ball) globals() {
	total++                      // want `total is not part of the world: it is not copied, sent, hashed or rolled back.*\[global\]`
	scores[1] = 2                // want `scores is not part`
	best = b                     // want `best is not part`
	best.Hits = 3                // want `best is not part`
	history = append(history, 1) // want `history is not part`
	arena.W = 3                  // want `arena is not part`
	delete(scores, 1)            // want `scores is not part`
	buf.WriteByte(1)             // want `buf is not part`
	set(&arena.W)                // want `arena is not part`
	best.reset()                 // want `best is not part`
	dice.Fill(history)           // want `history is not part`
	p := &total
	*p = 4 // want `total is not part`
	q := best
	q.Hits = 4      // want `best is not part`
	dice.Hook = nil // want `Hook is not part` `leads to example.com/dice/dice.go:`
	for _, rule := range rules {
		rule(b)
	}
}

func set(x *float64)   { put(x) }
func put(x *float64)   { *x = 1 }
func (b *Ball) reset() { b.Hits = 0 }

type byHits []*Ball

func (s byHits) Len() int           { return len(s) }
func (s byHits) Less(i, j int) bool { total++; return s[i].Hits < s[j].Hits } // want `total is not part of the world.*byHits.Less`
func (s byHits) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

type power interface{ use(b *Ball) }
type freeze struct{}

func (freeze) use(b *Ball) { total = 0 } // want `total is not part of the world.*reached by .*freeze.use`

type cheat struct{}

func (cheat) Roll() int { total++; return 6 } // want `total is not part of the world.*cheat.Roll`

func (b *Ball) elsewhere() {
	sort.Sort(byHits(nil))
	var p power = freeze{}
	p.use(b)
	b.first()
	b.Hits = dice.Roll()      // want `dice.Roll leads to example.com/dice/dice.go:10: math/rand/v2.IntN draws from a stream.*\[random\]`
	b.Hits = int(dice.Hook()) // want `dice.Hook leads to example.com/dice/dice.go:16: time.Now.*\[clock\]`
	b.Hits = dice.Sides()
	b.Hits = dice.Twice(cheat{})
	_ = dice.Seeded()
}
