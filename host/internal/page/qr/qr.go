// Package qr makes QR codes (ISO/IEC 18004) of short texts, such as the address of a page that a
// phone is to open: bytes as they are, versions 1 to 10, and error correction M, by which a seventh
// of a code may be unreadable.
package qr

import (
	"fmt"
	"strings"
)

// A Code is a square of dark and light modules, without the margin of four that belongs around it.
type Code struct {
	Side  int
	dark  []bool
	fixed []bool // by the standard, and not by what it says
}

// Dark says whether a module is dark. What is outside is light.
func (c *Code) Dark(x, y int) bool {
	return x >= 0 && y >= 0 && x < c.Side && y < c.Side && c.dark[y*c.Side+x]
}

// A version of the standard: how many blocks of which length there are, each with how many
// codewords to correct errors, and where the small squares are.
type version struct {
	check, blocks, length, longer int // so many blocks have one codeword more than length
	squares                       []int
}

var versions = [...]version{
	1:  {10, 1, 16, 0, nil},
	2:  {16, 1, 28, 0, []int{6, 18}},
	3:  {26, 1, 44, 0, []int{6, 22}},
	4:  {18, 2, 32, 0, []int{6, 26}},
	5:  {24, 2, 43, 0, []int{6, 30}},
	6:  {16, 4, 27, 0, []int{6, 34}},
	7:  {18, 4, 31, 0, []int{6, 22, 38}},
	8:  {22, 4, 38, 2, []int{6, 24, 42}},
	9:  {22, 5, 36, 2, []int{6, 26, 46}},
	10: {26, 5, 43, 1, []int{6, 28, 50}},
}

func (v *version) data() int { return v.blocks*v.length + v.longer }

// countBits is how long the count of bytes is.
func countBits(number int) int {
	if number < 10 {
		return 8
	}
	return 16
}

// Most is how many bytes a code can say.
const Most = 213

// New makes the smallest code that says a text.
func New(text string) (*Code, error) {
	if len(text) > Most {
		return nil, fmt.Errorf("a text of %d bytes does not fit in a code, which can say %d",
			len(text), Most)
	}
	number := 1
	for 4+countBits(number)+8*len(text) > 8*versions[number].data() {
		number++
	}
	v := &versions[number]
	side := 17 + 4*number
	c := &Code{Side: side, dark: make([]bool, side*side), fixed: make([]bool, side*side)}
	c.patterns(number, v)
	c.place(v.interleave(v.encode(number, text)))
	best, least := 0, -1
	for mask := range masks { // each is tried, and its own inverse
		c.mask(mask)
		c.format(mask)
		if p := c.penalty(); least < 0 || p < least {
			best, least = mask, p
		}
		c.mask(mask)
	}
	c.mask(best)
	c.format(best)
	return c, nil
}

// encode makes the codewords of a text.
func (v *version) encode(number int, text string) []byte {
	var b bitString
	b.add(4, 4) // bytes
	b.add(len(text), countBits(number))
	for i := range len(text) {
		b.add(int(text[i]), 8)
	}
	most := 8 * v.data()
	b.add(0, min(4, most-b.n))
	b.add(0, -b.n&7)
	for pad := 0xec; b.n < most; pad ^= 0xec ^ 0x11 {
		b.add(pad, 8)
	}
	return b.bytes
}

// A bitString is written from its most significant bit.
type bitString struct {
	bytes []byte
	n     int
}

func (b *bitString) add(value, bits int) {
	for i := bits - 1; i >= 0; i-- {
		if b.n&7 == 0 {
			b.bytes = append(b.bytes, 0)
		}
		b.bytes[b.n>>3] |= byte(value>>i&1) << (7 - b.n&7)
		b.n++
	}
}

// interleave splits data into blocks, adds what corrects errors, and takes a codeword of each in
// turn.
func (v *version) interleave(data []byte) (out []byte) {
	var blocks, checks [][]byte
	for i := range v.blocks {
		n := v.length
		if i >= v.blocks-v.longer {
			n++
		}
		blocks, checks = append(blocks, data[:n]), append(checks, remainder(data[:n], v.check))
		data = data[n:]
	}
	for _, list := range [][][]byte{blocks, checks} {
		for i := range len(list[len(list)-1]) {
			for _, b := range list {
				if i < len(b) {
					out = append(out, b[i])
				}
			}
		}
	}
	return out
}

// The field of 256 elements that the standard uses: powers of 2, and logarithms.
var power, logarithm = func() (p [512]byte, l [256]int) {
	x := 1
	for i := range 255 {
		p[i], p[i+255], l[x] = byte(x), byte(x), i
		if x <<= 1; x > 255 {
			x ^= 0x11d
		}
	}
	return p, l
}()

func times(a, b byte) byte {
	if a == 0 || b == 0 {
		return 0
	}
	return power[logarithm[a]+logarithm[b]]
}

// remainder is that of data divided by the polynomial whose roots are the first n powers of 2: a
// code of Reed and Solomon.
func remainder(data []byte, n int) []byte {
	divisor := make([]byte, n) // without the first coefficient, which is one
	divisor[n-1] = 1
	for i := range n {
		for j := range divisor {
			divisor[j] = times(divisor[j], power[i])
			if j+1 < n {
				divisor[j] ^= divisor[j+1]
			}
		}
	}
	rest := make([]byte, n)
	for _, x := range data {
		factor := x ^ rest[0]
		copy(rest, rest[1:])
		rest[n-1] = 0
		for j := range rest {
			rest[j] ^= times(divisor[j], factor)
		}
	}
	return rest
}

// set fixes a module.
func (c *Code) set(x, y int, dark bool) {
	c.dark[y*c.Side+x], c.fixed[y*c.Side+x] = dark, true
}

// patterns draws what a reader looks for, and reserves the place of what describes the code.
func (c *Code) patterns(number int, v *version) {
	n := c.Side
	for i := range n {
		c.set(6, i, i%2 == 0)
		c.set(i, 6, i%2 == 0)
	}
	for _, at := range [][2]int{{3, 3}, {n - 4, 3}, {3, n - 4}} {
		for y := max(0, at[1]-4); y <= min(n-1, at[1]+4); y++ {
			for x := max(0, at[0]-4); x <= min(n-1, at[0]+4); x++ {
				d := max(abs(x-at[0]), abs(y-at[1]))
				c.set(x, y, d != 2 && d != 4)
			}
		}
	}
	last := len(v.squares) - 1
	for i, cy := range v.squares {
		for j, cx := range v.squares {
			if i == 0 && j == 0 || i == 0 && j == last || i == last && j == 0 {
				continue
			}
			for dy := -2; dy <= 2; dy++ {
				for dx := -2; dx <= 2; dx++ {
					c.set(cx+dx, cy+dy, max(abs(dx), abs(dy)) != 1)
				}
			}
		}
	}
	c.format(0)
	if number >= 7 {
		bits := number<<12 | divide(number<<12, 0x1f25, 12)
		for i := range 18 {
			a, b := n-11+i%3, i/3
			c.set(a, b, bits>>i&1 != 0)
			c.set(b, a, bits>>i&1 != 0)
		}
	}
}

// format says twice which error correction and mask there are.
func (c *Code) format(mask int) {
	n, data := c.Side, 0<<3|mask // zero is M
	bits := (data<<10 | divide(data<<10, 0x537, 10)) ^ 0x5412
	at := func(i int) bool { return bits>>i&1 != 0 }
	for i := range 6 {
		c.set(8, i, at(i))
	}
	c.set(8, 7, at(6))
	c.set(8, 8, at(7))
	c.set(7, 8, at(8))
	for i := 9; i < 15; i++ {
		c.set(14-i, 8, at(i))
	}
	for i := range 8 {
		c.set(n-1-i, 8, at(i))
	}
	for i := 8; i < 15; i++ {
		c.set(8, n-15+i, at(i))
	}
	c.set(8, n-8, true)
}

// divide is the remainder of binary polynomials.
func divide(x, by, degree int) int {
	for i := 17; i >= degree; i-- {
		if x>>i&1 != 0 {
			x ^= by << (i - degree)
		}
	}
	return x
}

// place writes codewords in columns of two, up and down from the right, where nothing is fixed.
func (c *Code) place(words []byte) {
	i, up := 0, true
	for right := c.Side - 1; right >= 1; right -= 2 {
		if right == 6 {
			right = 5
		}
		for k := range c.Side {
			y := k
			if up {
				y = c.Side - 1 - k
			}
			for x := right; x > right-2; x-- {
				if at := y*c.Side + x; !c.fixed[at] {
					c.dark[at] = i>>3 < len(words) && words[i>>3]>>(7-i&7)&1 != 0
					i++
				}
			}
		}
		up = !up
	}
}

// masks turn some modules over, so that a code has no large plain parts.
var masks = [...]func(x, y int) bool{
	func(x, y int) bool { return (x+y)%2 == 0 },
	func(_, y int) bool { return y%2 == 0 },
	func(x, _ int) bool { return x%3 == 0 },
	func(x, y int) bool { return (x+y)%3 == 0 },
	func(x, y int) bool { return (x/3+y/2)%2 == 0 },
	func(x, y int) bool { return x*y%2+x*y%3 == 0 },
	func(x, y int) bool { return (x*y%2+x*y%3)%2 == 0 },
	func(x, y int) bool { return ((x+y)%2+x*y%3)%2 == 0 },
}

func (c *Code) mask(which int) {
	for i := range c.dark {
		if !c.fixed[i] && masks[which](i%c.Side, i/c.Side) {
			c.dark[i] = !c.dark[i]
		}
	}
}

// penalty is how hard a code is to read, by the standard's four rules.
func (c *Code) penalty() (sum int) {
	darks := 0
	for y := range c.Side {
		sum += c.line(func(i int) bool { return c.Dark(i, y) })
		sum += c.line(func(i int) bool { return c.Dark(y, i) })
		for x := range c.Side {
			d := c.Dark(x, y)
			if d {
				darks++
			}
			if x > 0 && y > 0 && d == c.Dark(x-1, y) && d == c.Dark(x, y-1) &&
				d == c.Dark(x-1, y-1) {
				sum += 3
			}
		}
	}
	return sum + abs(darks*20-10*c.Side*c.Side)/(c.Side*c.Side)*10
}

// line finds runs of one color, and what looks like the squares in the corners.
func (c *Code) line(at func(i int) bool) (sum int) {
	run, seen := 0, 0
	for i := range c.Side {
		if i > 0 && at(i) == at(i-1) {
			run++
		} else {
			run = 1
		}
		switch {
		case run == 5:
			sum += 3
		case run > 5:
			sum++
		}
		seen = seen << 1 & 0x7ff
		if at(i) {
			seen |= 1
		}
		if i >= 10 && (seen == 0x05d || seen == 0x5d0) {
			sum += 40
		}
	}
	return sum
}

func abs(x int) int { return max(x, -x) }

// Text draws the code for a terminal, dark on light, with half blocks: two modules a character.
func (c *Code) Text() string {
	var b strings.Builder
	for y := -2; y < c.Side+2; y += 2 {
		b.WriteString("\x1b[30;107m")
		for x := -2; x < c.Side+2; x++ {
			b.WriteString([2][2]string{{" ", "▄"}, {"▀", "█"}}[index(c.Dark(x, y))][index(c.Dark(x,
				y+1))])
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String()
}

// SVG draws the code for a page.
func (c *Code) SVG() string {
	var b strings.Builder
	n := c.Side + 8
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d">`+
		`<rect width="%d" height="%d" fill="#fff"/><path d="`, n, n, n, n)
	for y := range c.Side {
		for x := range c.Side {
			if c.Dark(x, y) {
				fmt.Fprintf(&b, "M%d %dh1v1h-1z", x+4, y+4)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String()
}

func index(on bool) int {
	if on {
		return 1
	}
	return 0
}
