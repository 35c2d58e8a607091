package paperlab

import (
	"context"
	"fmt"
	"math"
	"time"

	packed "github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/entropy"
	"github.com/coeval-dev/coeval/lab"
)

// gamenet is the thesis's examples of packing and of Huffman's code, and both on a recorded world.
func gamenet(ctx context.Context, o *Options, p lab.Progress) (*Finding, error) {
	f := &Finding{Seeds: o.seeds()}
	if err := gamenetExamples(f); err != nil {
		return nil, err
	}
	if err := gamenetWorld(ctx, o, f, p); err != nil {
		return nil, err
	}
	f.differs("The thesis's code for C, 110, is a bit longer than it need be: nothing begins with " +
		"111. Huffman's own code has 11, and the word then takes 7 bits. Ours has a code for " +
		"every byte, as a message may hold any, so its codes for B and C are longer by what the " +
		"other 253 need.")
	f.differs("A range coder is not bound to whole bits: the word has %.2f bits of information. "+
		"The thesis found arithmetic coding too complex for its gain; here the snapshot codec is "+
		"built on it.", information)
	f.differs("On recorded worlds Huffman's code saves a third of what is packed, and next to " +
		"nothing of differences, which have no bytes that are much more frequent than others. " +
		"Differences first is what saves; a coder that knows each field, as the snapshot codec " +
		"does, saves again.")
	return f, nil
}

// information is what the thesis's word has: of A three of five, of B and C one each.
var information = 3*math.Log2(5.0/3) + 2*math.Log2(5)

// gamenetExamples are Figure 3.4 and the word AABAC.
func gamenetExamples(f *Finding) error {
	t := Table{Title: "The thesis's examples, bits", Keys: 1,
		Heads: []string{"example", "published: plain", "published: packed", "here"}}
	buf := make([]byte, 64)
	w := packed.NewWriter(buf)
	widths := []int{3, 7, 1, 5} // the figure's widths are not said; sixteen bits in all
	for i, n := range widths {
		w.WriteBits(uint64(i+1)&(1<<n-1), n)
	}
	t.add("four variables of 3, 7, 1 and 5 bits (Figure 3.4)", "32", "16", fmt.Sprint(w.Len()))
	f.expect(w.Len() == 16, "four variables took %d bits, not 16", w.Len())

	const word = "AABAC"
	var counts [256]uint32
	for _, b := range []byte(word) {
		counts[b] += 1 << 16 // so much more than all other bytes that those do not matter
	}
	codes := map[byte]string{'A': "0", 'B': "10", 'C': "110"}
	theirs, ours := 0, 0
	h := entropy.NewHuffman(&counts)
	w = packed.NewWriter(buf)
	for _, b := range []byte(word) {
		theirs += len(codes[b])
		h.WriteByteTo(w, b)
	}
	ours = w.Len()
	t.add("AABAC with the thesis's codes 0, 10, 110", "40", "8", fmt.Sprint(theirs))
	t.add("AABAC by our Huffman code, made for it", "40", "8", fmt.Sprint(ours))
	f.expect(theirs == 8, "the thesis's codes took %d bits, not 8", theirs)
	r := packed.NewReader(w.Bytes())
	for i := range word {
		f.expect(h.ReadByteFrom(r) == word[i], "byte %d of the word came back as another", i)
	}
	var e entropy.Encoder
	e.Reset(buf)
	cum := map[byte][2]uint32{'A': {0, 10}, 'B': {10, 3}, 'C': {13, 3}} // of 16
	for _, b := range []byte(word) {
		e.EncodeFreq(cum[b][0], cum[b][1], 4)
	}
	bits := e.Bits()
	data, err := e.Finish()
	if err != nil {
		return err
	}
	t.add("AABAC by the range coder, frequencies known", "40", "–",
		fmt.Sprintf("%.2f, %d in whole bytes", bits, 8*len(data)))
	f.Tables = append(f.Tables, t)
	return nil
}

// gamenetWorld codes recorded worlds: the first half trains Huffman's code, the second is coded.
func gamenetWorld(ctx context.Context, o *Options, f *Finding, p lab.Progress) error {
	const players = 8
	s, err := lab.NewSubject(o.Title, o.Level, players)
	if err != nil {
		return err
	}
	f.Game = fmt.Sprintf("%s, %d bots", s.Name(), players)
	length := 20 * time.Second
	if o.Quick {
		length = 3 * time.Second
	}
	names := []string{"32 bits for each variable", "packed",
		"packed, then a static Huffman code of bytes", "packed, then an adaptive one",
		"packed, then the range coder with models that learn",
		"differences from a quarter of a second before, packed",
		"the same, then the static Huffman code", "the same, then the range coder"}
	sums := make([][]float64, len(names))
	for i, seed := range f.Seeds {
		p.Tell(float64(i)/float64(len(f.Seeds)), "recording")
		if err := ctx.Err(); err != nil {
			return err
		}
		one, err := codeWorld(s, players, seed, length)
		if err != nil {
			return err
		}
		for k := range names {
			sums[k] = append(sums[k], one[k])
		}
	}
	t := Table{Title: "The same on recorded worlds: bytes of all entities at a moment", Keys: 1,
		Heads: []string{"coding", "published", "here"}}
	for k, name := range names {
		t.add(name, "–", interval(sums[k], 1))
	}
	f.Tables = append(f.Tables, t)
	return nil
}

// codeWorld gives the mean bytes of a moment by coding.
func codeWorld(s *lab.Subject, players int, seed uint64, length time.Duration) ([]float64, error) {
	m, err := lab.NewMatch(s, players, seed)
	if err != nil {
		return nil, err
	}
	w := newSnapshotWriter(s.Game)
	rate := s.Game.Rate()
	var plain, diffs [][]byte
	var before images
	whole, moments := 0.0, 0
	for tick := range int(length / s.Game.TickLength()) {
		if err := m.Step(); err != nil {
			return nil, err
		}
		if tick%max(rate/4, 1) != 0 {
			continue
		}
		now := images{}
		for class := range s.Game.Classes() {
			for id := range m.World.Host().Of(class) {
				now[id] = append([]int32(nil), m.World.Host().Image(id)...)
				whole += 4 * float64(len(now[id]))
			}
		}
		plain = append(plain, append([]byte(nil), w.whole(m, now)...))
		n := w.differences(m.World, now, before, true)
		diffs = append(diffs, append([]byte(nil), w.buf[:(n+7)/8]...))
		before = now
		moments++
	}
	if moments < 4 {
		return nil, fmt.Errorf("%v is too short to record", length)
	}
	out := []float64{whole / float64(moments)}
	for i, list := range [][][]byte{plain, diffs} {
		train, rest := list[:len(list)/2], list[len(list)/2:]
		var counts [256]uint32
		for _, b := range train {
			for _, c := range b {
				counts[c]++
			}
		}
		coders := []entropy.Coder{entropy.NewHuffman(&counts), new(entropy.AdaptiveHuffman),
			entropy.Adaptive{}}
		sizes := make([]float64, 1+len(coders))
		for _, b := range rest {
			sizes[0] += float64(len(b)) / float64(len(rest))
			for k, c := range coders {
				sizes[k+1] += float64(len(c.Encode(nil, b))) / float64(len(rest))
			}
		}
		if i == 1 { // the adaptive one says nothing new
			sizes = append(sizes[:2], sizes[3])
		}
		out = append(out, sizes...)
	}
	return out, nil
}

// whole writes all entities, packed.
func (w *snapshotWriter) whole(m *lab.Match, now images) []byte {
	to := packed.NewWriter(w.out)
	for class := range w.fields {
		for id := range m.World.Host().Of(class) {
			for i, v := range now[id] {
				slot := &w.fields[class].Slots[i]
				to.WriteBits(uint64(uint32(v)-uint32(slot.Min)), width(slot))
			}
		}
	}
	return to.Bytes()
}
