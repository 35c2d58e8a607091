//go:build !js

package replays

import (
	"cmp"
	"image"
	"image/color"
	"image/gif"
	"slices"
)

// animate makes a GIF of frames, each shown for so many hundredths of a second. Its colors are
// found by median cut over all frames. What does not change from one to the next is transparent.
func animate(frames []*image.RGBA, delay int) *gif.GIF {
	colors, nearest := palette(frames, 255)
	clear := uint8(len(colors))
	colors = append(colors, color.RGBA{})
	out := &gif.GIF{}
	var last []uint8
	for _, f := range frames {
		p := image.NewPaletted(f.Rect, colors)
		now := make([]uint8, len(p.Pix))
		for i := range now {
			now[i] = nearest[cell(f.Pix[4*i:])]
			if p.Pix[i] = now[i]; last != nil && last[i] == now[i] {
				p.Pix[i] = clear
			}
		}
		last = now
		out.Image = append(out.Image, p)
		out.Delay = append(out.Delay, delay)
		out.Disposal = append(out.Disposal, gif.DisposalNone)
	}
	return out
}

// Colors are told apart by the upper five bits of each channel.
const cells = 1 << 15

func cell(p []uint8) int { return int(p[0])>>3<<10 | int(p[1])>>3<<5 | int(p[2])>>3 }

// A hue is a cell of colors that occur.
type hue struct {
	at   [3]uint8 // five bits each
	seen int
}

// palette finds at most n colors, and which of them is nearest to each cell.
func palette(frames []*image.RGBA, n int) (color.Palette, []uint8) {
	seen := make([]int, cells)
	for _, f := range frames {
		for i := 0; i < len(f.Pix); i += 4 {
			seen[cell(f.Pix[i:])]++
		}
	}
	var all []hue
	for c, k := range seen {
		if k > 0 {
			all = append(all, hue{[3]uint8{uint8(c >> 10), uint8(c >> 5 & 31), uint8(c & 31)}, k})
		}
	}
	boxes := [][]hue{all}
	for len(boxes) < n {
		best, channel, spread := -1, 0, 0
		for i, b := range boxes {
			if c, s := widest(b); s > spread {
				best, channel, spread = i, c, s
			}
		}
		if best < 0 {
			break
		}
		a, b := halve(boxes[best], channel)
		boxes[best] = a
		boxes = append(boxes, b)
	}
	var colors color.Palette
	for _, b := range boxes {
		colors = append(colors, middle(b))
	}
	nearest := make([]uint8, cells)
	for i, b := range boxes {
		for _, h := range b {
			nearest[int(h.at[0])<<10|int(h.at[1])<<5|int(h.at[2])] = uint8(i)
		}
	}
	return colors, nearest
}

// widest is the channel in which a box of colors is largest, as the eye weighs it.
func widest(b []hue) (channel, spread int) {
	for c, weight := range []int{3, 6, 2} {
		lo, hi := uint8(31), uint8(0)
		for _, h := range b {
			lo, hi = min(lo, h.at[c]), max(hi, h.at[c])
		}
		if s := int(hi) - int(lo); hi > lo && s*weight > spread {
			channel, spread = c, s*weight
		}
	}
	return channel, spread
}

// halve divides a box so that both halves are seen as often, more or less.
func halve(b []hue, channel int) (lower, upper []hue) {
	slices.SortFunc(b, func(x, y hue) int { return cmp.Compare(x.at[channel], y.at[channel]) })
	total := 0
	for _, h := range b {
		total += h.seen
	}
	at, sum := 1, b[0].seen
	for at < len(b)-1 && 2*sum < total {
		sum += b[at].seen
		at++
	}
	return b[:at], b[at:]
}

// middle is the mean color of a box.
func middle(b []hue) color.RGBA {
	sum, n := [3]int{}, 0
	for _, h := range b {
		for c := range sum {
			sum[c] += int(h.at[c]) * h.seen
		}
		n += h.seen
	}
	if n == 0 {
		return color.RGBA{A: 255}
	}
	at := func(c int) uint8 { return uint8(min(255, (sum[c]*8+4*n)/n)) }
	return color.RGBA{at(0), at(1), at(2), 255}
}
