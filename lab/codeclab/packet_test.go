package codeclab

import (
	"slices"
	"testing"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/codec/raw"
)

// exchange is a sender and a receiver of three entities, the second of them a reference, after one
// frame.
func exchange(tb testing.TB, packet int) (*sender, *receiver, *moment, *codec.Recording) {
	s := &codec.Schema{
		Name: "dots", Classes: []codec.Class{{Name: "dot", Fields: make([]codec.Field, 40)}}}
	for i := range s.Classes[0].Fields {
		s.Classes[0].Fields[i] = codec.Field{Name: "f", Max: 1000, Rate: -1}
	}
	r := &codec.Recording{Schema: s, Classes: []int{0, 0, 0}, Rate: 10, BaseAge: 1, Refer: 1}
	for f := range 2 {
		frame := make([]int32, 120)
		for i := range frame {
			frame[i] = int32(f * i)
		}
		r.Frames = append(r.Frames, frame)
	}
	strategy, err := raw.New(s)
	if err != nil {
		tb.Fatal(err)
	}
	order := sendingOrder(r)
	if !slices.Equal(order, []int{1, 0, 2}) {
		tb.Fatalf("entities are sent in the order %v", order)
	}
	m := &meter{recording: r, order: order, arrived: []bool{true, true}}
	x := new(moment)
	m.prepare(x, 1)
	send := newSender("raw", r, strategy.NewEncoder(), order, packet)
	if err := send.encode(x, x.now); err != nil {
		tb.Fatal(err)
	}
	receive := newReceiver(r, strategy.NewDecoder(), order)
	receive.prepare(1)
	return send, receive, x, r
}

func TestPackets(t *testing.T) {
	// 401 bits are 51 bytes. A packet that does not hold the whole frame has 5 bytes before them,
	// and the reference again unless it is the first.
	for _, x := range []struct {
		size  int
		sizes []int
	}{
		{157, []int{152}},
		{156, []int{152}},
		{155, []int{106, 106}},
		{130, []int{106, 106}},
		{106, []int{106, 106}},
	} {
		send, receive, _, r := exchange(t, x.size)
		var sizes []int
		for _, p := range send.packets {
			sizes = append(sizes, len(p))
		}
		if !slices.Equal(sizes, x.sizes) {
			t.Errorf("in packets of %d the frame takes %v bytes, want %v", x.size, sizes, x.sizes)
		}
		receive.post(0, send.packets)
		for _, p := range send.packets {
			clear(p) // the receiver has copies
		}
		if err := receive.decode(0); err != nil {
			t.Fatal(err)
		}
		if err := compare(r, 1, receive.image(1)); err != nil {
			t.Error(err)
		}
		receive.post(0, send.packets[:len(send.packets)-1])
		if err := receive.decode(0); err == nil {
			t.Errorf("in packets of %d a missing one is not missed", x.size)
		}
	}
	if send, _, x, _ := exchange(t, 157); true {
		send.most, send.buffers = 60, nil
		if err := send.encode(x, x.now); err == nil {
			t.Error("the reference and another entity cannot fit into 60 bytes")
		}
	}
}

// FuzzPacket gives a receiver anything.
func FuzzPacket(f *testing.F) {
	for _, size := range []int{157, 106} {
		send, _, _, _ := exchange(f, size)
		for _, p := range send.packets {
			f.Add(p)
		}
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		_, receive, _, _ := exchange(t, 157)
		receive.post(0, [][]byte{packet})
		if receive.decode(0) != nil {
			return
		}
		for i, v := range receive.image(1) {
			if v < 0 || v > 1000 {
				t.Fatalf("value %d is %d", i, v)
			}
		}
	})
}
