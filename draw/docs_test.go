package draw_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/draw"
)

// TestTheDocsSayTheFormat compares the tables and the example of docs/drawing.md with what is
// written.
func TestTheDocsSayTheFormat(t *testing.T) {
	page, err := os.ReadFile("../docs/drawing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, format, _ := strings.Cut(string(page), "## The format")
	type row struct {
		name        string
		fixed, each int
	}
	rows := map[int]row{}
	line := regexp.MustCompile(`(?m)^\| (\d+) \| (\w+) \|.*\| (\d+)( \+ (\d* ?)n)? \|$`)
	for _, m := range line.FindAllStringSubmatch(format, -1) {
		number, _ := strconv.Atoi(m[1])
		fixed, _ := strconv.Atoi(m[3])
		each, _ := strconv.Atoi(strings.TrimSpace(m[5]))
		if m[4] != "" && each == 0 {
			each = 1
		}
		rows[number] = row{m[2], fixed, each}
	}
	var s draw.Surface
	s.Begin(1280, 720)
	scene(&s)
	seen := 0
	for _, list := range [][]byte{s.List(), s.Library()} {
		var r draw.Reader
		r.Read(list)
		var before int
		for c := range r.Calls() {
			n := len(c.Bytes)
			if len(c.Points) > 0 {
				n = len(c.Points) / 2
			}
			if c.Op == draw.OpSamples {
				n /= 2
			}
			x, ok := rows[int(c.Op)]
			if !ok {
				t.Fatalf("call %d is not there", c.Op)
			}
			size := x.fixed + x.each*n
			if before+size > len(list) {
				t.Fatalf("%s: %d bytes are too many", x.name, size)
			}
			// A list that is cut there is whole, and one byte earlier it is not.
			for cut, whole := range map[int]bool{
				before + size: true, before + size - 1: size == 1} {
				var r draw.Reader
				r.Read(list[:cut])
				for range r.Calls() {
				}
				if (r.Err() == nil) != whole {
					t.Errorf("%s: %d bytes, and the list cut there says %v", x.name, size, r.Err())
				}
			}
			before += size
			seen |= 1 << c.Op
		}
	}
	if len(rows) != 21 || seen != 1<<22-2 {
		t.Errorf("%d rows, and the scene has calls %b", len(rows), seen)
	}
	s.Begin(1280, 720)
	s.Circle(1, 2, 3, draw.RGB(0x40d9ff))
	s.Text(10, 20, 30, "Hi", draw.White, draw.Center)
	_, example, _ := strings.Cut(format, "```\n")
	example, _, _ = strings.Cut(example, "```")
	want, err := hex.DecodeString(strings.Join(strings.Fields(example), ""))
	if err != nil || !bytes.Equal(want, s.List()) {
		t.Errorf("the example is %s, %v", fmt.Sprintf("% x", s.List()), err)
	}
}
