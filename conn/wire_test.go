package conn

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestAcksTellTheTruth: an acknowledgement never claims a packet that did not come,
// and as long as the peer has not heard of a packet it goes on being reported.
func TestAcksTellTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newReceived()
		came := map[uint32]bool{}
		heard := map[uint32]bool{} // by the peer, from our reports
		type report struct {
			number, reported uint32
			told             []uint32
		}
		var flying []report
		next, ours := uint32(1), uint32(1)
		late := []uint32{}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1: // the next packet comes
				r.receiveForTest(t, next, ours, came)
				next++
			case 2: // some are lost or late
				skip := rapid.OneOf(rapid.Just(1), rapid.IntRange(1, 5),
					rapid.IntRange(50, 300)).Draw(t, "skip")
				for range skip {
					late = append(late, next)
					next++
				}
			case 3: // a late one comes, perhaps too late
				if len(late) > 0 {
					i := rapid.IntRange(0, len(late)-1).Draw(t, "late")
					r.receiveForTest(t, late[i], ours, came)
					late = append(late[:i], late[i+1:]...)
				}
			case 4: // we send a report
				form := r.form(ackFixed + 32)
				b := r.append(nil, form, 0)
				a, low, rest, ok := parseAck(form, b)
				if !ok || len(rest) != 0 {
					t.Fatal("our own acknowledgement does not parse")
				}
				if form == ackNone {
					continue
				}
				a.number, ok = expand(next, low)
				if !ok || a.number != r.largest {
					t.Fatalf("acknowledges %d, largest is %d", a.number, r.largest)
				}
				rep := report{number: ours, reported: r.largest}
				ours++
				for back := range min(a.number, 300) {
					if n := a.number - back; a.covers(back) {
						if !came[n] {
							t.Fatalf("packet %d is claimed and never came", n)
						}
						rep.told = append(rep.told, n)
					}
				}
				flying = append(flying, rep)
			case 5: // the peer gets one of our reports, and we learn that
				if len(flying) > 0 {
					i := rapid.IntRange(0, len(flying)-1).Draw(t, "report")
					rep := flying[i]
					flying = append(flying[:i], flying[i+1:]...)
					for _, n := range rep.told {
						heard[n] = true
					}
					r.known(rep.number, rep.reported)
				}
			}
			// Below the floor everything that came must have been heard of, as far as
			// acknowledgements reach.
			for n := range came {
				if n <= r.floor && !heard[n] && r.largest-n < seenBits {
					t.Fatalf("packet %d is below the floor %d, and the peer never heard of it", n,
						r.floor)
				}
			}
		}
	})
}

// receiveForTest checks the window against what really came, then takes the packet.
func (r *received) receiveForTest(t *rapid.T, n, ours uint32, came map[uint32]bool) {
	fresh := r.check(n)
	switch {
	case came[n] && fresh == freshNew:
		t.Fatalf("packet %d came twice and would be taken twice", n)
	case !came[n] && fresh == freshSeen:
		t.Fatalf("packet %d never came and counts as seen", n)
	case !came[n] && fresh == freshOld && r.largest-n < seenBits:
		t.Fatalf("packet %d counts as too old, %d behind", n, r.largest-n)
	}
	if fresh == freshNew {
		r.note(n, 0, ours)
		came[n] = true
		if r.check(n) != freshSeen {
			t.Fatalf("packet %d was taken and would be taken again", n)
		}
	}
}

func TestDelays(t *testing.T) {
	for us := int64(0); us < 300_000; us += 7 {
		got, ok := unpackDelay(packDelay(us))
		if us > 258_000 {
			continue
		}
		if off := got - us; !ok || off > us/32+delayUnit || -off > us/32+delayUnit {
			t.Fatalf("%d µs became %d (%v)", us, got, ok)
		}
	}
	if _, ok := unpackDelay(packDelay(int64(time.Minute / time.Microsecond))); ok {
		t.Error("a minute was told as something shorter")
	}
	if packDelay(-5) != 0 {
		t.Error("a negative delay")
	}
}

func TestExpand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint32Range(0, maxNumber).Draw(t, "number")
		near := int64(n) + rapid.Int64Range(-32767, 32767).Draw(t, "off")
		if near < 0 || near > maxNumber {
			return
		}
		if got, ok := expand(uint32(near), uint16(n)); !ok || got != n {
			t.Fatalf("%d near %d became %d", n, near, got)
		}
	})
	if _, ok := expand(3, 0xfff0); ok {
		t.Error("a number below zero")
	}
}

// TestFrames: frames that fit are read as they were written, in order.
func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHall(t, 1)
		c := h.clients[0].Conn()
		f := &c.m.frames
		f.begin(c, ackRoomMax)
		type frame struct {
			head byte
			body string
		}
		var want []frame
		for range rapid.IntRange(0, 40).Draw(t, "frames") {
			head := rapid.SampledFrom([]byte{frameUnreliable << 4, frameNewest<<4 | 1,
				frameOrdered<<4 | 2, frameFragment<<4 | 3, frameBulk << 4, frameBulk<<4 | 1}).Draw(
				t, "head")
			size := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(120, 135),
				rapid.IntRange(0, 1200)).Draw(t, "size")
			prefix := make([]byte, prefixSize(head))
			payload := make([]byte, size)
			for i := range payload {
				payload[i] = byte(len(want) + i)
			}
			if f.room(len(prefix)) < size {
				continue
			}
			f.add(head, prefix, payload, SentControl)
			want = append(want, frame{head, string(prefix) + string(payload)})
		}
		f.flush(true)
		if f.n > f.limit {
			t.Fatalf("%d bytes where %d fit", f.n, f.limit)
		}
		_, _, b, _ := parseAck(f.form, f.buf[dataHeader:f.n])
		for i, w := range want {
			head, body, rest, ok := readFrame(b)
			if !ok || head&^frameLength != w.head || string(body) != w.body {
				t.Fatalf("frame %d of %d differs", i, len(want))
			}
			b = rest
		}
		if len(b) != 0 {
			t.Fatalf("%d bytes left over", len(b))
		}
	})
}

func TestArena(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a arena
		for range 3 {
			type piece struct {
				b []byte
				v byte
			}
			var pieces []piece
			for i := range rapid.IntRange(0, 60).Draw(t, "pieces") {
				n := rapid.IntRange(1, 9000).Draw(t, "size")
				b := a.reserve(n)
				keep := rapid.IntRange(0, n).Draw(t, "keep")
				a.commit(keep)
				for j := range b[:keep] {
					b[j] = byte(i)
				}
				pieces = append(pieces, piece{b[:keep], byte(i)})
			}
			for _, p := range pieces {
				for _, v := range p.b {
					if v != p.v {
						t.Fatal("two pieces overlap")
					}
				}
			}
			a.reset()
		}
	})
}
