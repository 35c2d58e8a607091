package conn

// arena hands out memory that is all taken back at once. Packets of one flush lie
// side by side in it.
type arena struct {
	blocks [][]byte
	block  int // the one in use
	used   int // of it
}

const (
	arenaFirst = 2 << 10
	arenaMost  = 64 << 10
)

// sealSlack is memory that must lie behind what is sealed. The assembly for amd64 in the
// standard library (seen in Go 1.26) writes the last block of a ciphertext whole, which a tag of
// 16 bytes covers; with one of 12 it writes up to three bytes past the end.
const sealSlack = 4

// reserve returns n bytes, with sealSlack behind them; commit says how many of them are kept.
func (a *arena) reserve(n int) []byte {
	for {
		if a.block < len(a.blocks) {
			if b := a.blocks[a.block]; len(b)-a.used >= n+sealSlack {
				return b[a.used : a.used+n : a.used+n]
			}
			if a.used == 0 && len(a.blocks[a.block]) < n+sealSlack {
				a.blocks[a.block] = make([]byte, n+sealSlack)
				continue
			}
			a.block++
			a.used = 0
			continue
		}
		size := arenaFirst
		if k := len(a.blocks); k > 0 {
			size = min(2*len(a.blocks[k-1]), arenaMost)
		}
		a.blocks = append(a.blocks, make([]byte, max(size, n+sealSlack)))
	}
}

func (a *arena) commit(n int) { a.used += n }

// reset takes everything back, and gives up what a burst has left behind.
func (a *arena) reset() {
	if keep := 2*a.block + 4; len(a.blocks) > keep {
		clear(a.blocks[keep:])
		a.blocks = a.blocks[:keep]
	}
	a.block, a.used = 0, 0
}
