package qr

import (
	"strings"
	"testing"
)

// read reads a code as a reader does that sees each module: by its own way through the standard,
// from the mask that the code names to the bytes.
func read(t *testing.T, c *Code) string {
	t.Helper()
	number := (c.Side - 17) / 4
	v := &versions[number]
	format := 0
	for i := range 15 { // the second copy
		x, y := 8, c.Side-15+i
		if i < 8 {
			x, y = c.Side-1-i, 8
		}
		if c.Dark(x, y) {
			format |= 1 << i
		}
	}
	format ^= 0x5412
	if divide(format, 0x537, 10) != 0 || format>>13 != 0 {
		t.Fatalf("format %015b", format)
	}
	mask := masks[format>>10&7]
	var words bitString
	for x := c.Side - 1; x > 0; x -= 2 {
		if x == 6 {
			x--
		}
		pair := (c.Side - 1 - x) / 2
		if x < 6 {
			pair = (c.Side - 2 - x) / 2
		}
		for k := range c.Side {
			y := k
			if pair%2 == 0 {
				y = c.Side - 1 - k
			}
			for _, x := range []int{x, x - 1} {
				if !c.fixed[y*c.Side+x] {
					words.add(index(c.Dark(x, y) != mask(x, y)), 1)
				}
			}
		}
	}
	var data []byte
	for b := range v.blocks {
		n := v.length
		if b >= v.blocks-v.longer {
			n++
		}
		var block []byte
		for i := range n {
			at := i*v.blocks + b
			if i == v.length { // only the longer ones have it
				at = v.length*v.blocks + b - (v.blocks - v.longer)
			}
			block = append(block, words.bytes[at])
		}
		data = append(data, block...)
		for i := range v.check {
			block = append(block, words.bytes[v.data()+i*v.blocks+b])
		}
		for root := range v.check { // of a good block all are roots
			sum := byte(0)
			for _, x := range block {
				sum = times(sum, power[root]) ^ x
			}
			if sum != 0 {
				t.Fatalf("version %d: block %d is wrong", number, b)
			}
		}
	}
	at := 0
	take := func(n int) (x int) {
		for range n {
			x, at = x<<1|int(data[at>>3]>>(7-at&7)&1), at+1
		}
		return x
	}
	if take(4) != 4 {
		t.Fatal("not bytes")
	}
	text := make([]byte, take(countBits(number)))
	for i := range text {
		text[i] = byte(take(8))
	}
	return string(text)
}

func TestEveryLengthIsReadBack(t *testing.T) {
	sides := map[int]bool{}
	for n := range Most + 1 {
		text := strings.Repeat("https://192.168.1.17:8080/?token=AbC-\xff_", 9)[:n]
		c, err := New(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, c); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		sides[c.Side] = true
	}
	if len(sides) != 10 {
		t.Errorf("%d versions", len(sides))
	}
	if _, err := New(strings.Repeat("a", Most+1)); err == nil ||
		!strings.Contains(err.Error(), "does not fit") {
		t.Error(err)
	}
}

func TestPictures(t *testing.T) {
	c, err := New("http://10.0.0.7:8080/")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(c.Text()), "\n")
	if len(lines) != (c.Side+5)/2 || !strings.Contains(c.SVG(), `viewBox="0 0 33 33"`) {
		t.Errorf("%d lines\n%s", len(lines), c.SVG())
	}
	if !c.Dark(0, 0) || c.Dark(-1, 0) || c.Dark(7, 7) || !c.Dark(3, 3) {
		t.Error("a corner")
	}
}
