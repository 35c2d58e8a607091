package dis

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
)

// Lengths that lie, other versions and other kinds are refused, each for its reason.
func TestRefused(t *testing.T) {
	good := (&EntityState{Parts: make([]Parameter, 2)}).Append(nil)
	change := func(at int, to byte) []byte {
		b := append([]byte(nil), good...)
		b[at] = to
		return b
	}
	data := (&Data{Fixed: make([]Datum, 1), Long: []LongDatum{TextDatum(1, "abc")}}).Append(nil)
	lie := func(at int, to byte) []byte {
		b := append([]byte(nil), data...)
		b[at] = to
		return b
	}
	for _, c := range []struct {
		name string
		b    []byte
		want error
	}{
		{"nothing", nil, ErrShort},
		{"half a header", good[:7], ErrShort},
		{"cut off", good[:len(good)-1], ErrShort},
		{"longer than the datagram", change(9, 255), ErrShort},
		{"shorter than a header", append(change(8, 0)[:9:9], append([]byte{3}, good[10:]...)...),
			ErrLength},
		{"shorter than an entity", change(9, 143), ErrLength},
		{"room for two parts, and three", change(19, 3), ErrLength},
		{"room for two parts, and one", change(19, 1), ErrLength},
		{"version 5", change(0, 5), ErrVersion},
		{"a million numbers", lie(33, 15), ErrLength},
		{"a million texts", lie(37, 15), ErrLength},
		{"a text of a billion bits", lie(52, 63), ErrLength},
		{"a text of more bits than there are", lie(55, 65), ErrLength},
	} {
		var r Reader
		p, err := r.Read(c.b)
		if !errors.Is(err, c.want) || p != nil {
			t.Errorf("%s: %v, not %v", c.name, err, c.want)
		}
	}
	if err := new(Fire).Read(good); !errors.Is(err, ErrKind) {
		t.Errorf("an entity as fire: %v", err)
	}
}

// Several PDUs in a datagram are read one by one; one that is wrong inside does not hide the next.
func TestSeveralInADatagram(t *testing.T) {
	b := (&EntityState{ID: ID{1, 2, 3}}).Append(nil)
	bad := len(b)
	b = (&Collision{}).Append(b)
	b[bad+9]-- // a byte is left over, which is no PDU
	b = b[:len(b)-1]
	b = (&Comment{Long: []LongDatum{TextDatum(5, "hello")}}).Append(b)
	b = append(b, 7, 7, 7)
	var r Reader
	var got []string
	for p, err := range r.All(b) {
		if err != nil {
			got = append(got, "wrong")
			continue
		}
		got = append(got, HeaderOf(p).Kind.String())
	}
	want := []string{"Entity State", "wrong", "Comment", "wrong"}
	if len(got) != 4 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] ||
		got[3] != want[3] {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestStamps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-1e9, 4e9).Draw(t, "seconds"),
			rapid.Int64Range(0, 999999999).Draw(t, "ns"))
		s := Absolute(at)
		if d := s.Past() - sinceHour(at); !s.IsAbsolute() || d.Abs() > time.Microsecond &&
			d.Abs() < time.Hour-time.Microsecond {
			t.Fatalf("%v is off by %v", s, d)
		}
		if d := ClockAt(at).Time().Sub(at); d.Abs() > time.Microsecond {
			t.Fatalf("the clock is off by %v", d)
		}
		later := time.Duration(rapid.Int64Range(int64(-29*time.Minute),
			int64(29*time.Minute)).Draw(t, "later"))
		if d := Absolute(at.Add(later)).Since(s) - later; d.Abs() > 2*time.Microsecond {
			t.Fatalf("%v later it says %v", later, later+d)
		}
	})
	if s := Relative(90 * time.Minute); s.IsAbsolute() || s.Past() != 30*time.Minute {
		t.Errorf("%v", s)
	}
	if s := Relative(-time.Minute); s.Past().Round(time.Microsecond) != 59*time.Minute {
		t.Errorf("%v", s)
	}
	if got := Absolute(time.Unix(0, 0)).String(); got != "00:00.000000 absolute" {
		t.Error(got)
	}
}

func TestNames(t *testing.T) {
	id, err := ParseID("1:2:3")
	if err != nil || id != (ID{1, 2, 3}) || id.String() != "1:2:3" {
		t.Error(id, err)
	}
	kind, err := ParseType("1.2.225.1.9")
	if err != nil || kind.String() != "1.2.225.1.9.0.0" {
		t.Error(kind, err)
	}
	for _, text := range []string{"", "1:2", "1:2:3:4", "1:2:70000", "1:-2:3", "a:b:c"} {
		if _, err := ParseID(text); err == nil {
			t.Errorf("%q is taken for an entity", text)
		}
	}
	for _, text := range []string{"", "1.2.3.4.5.6.7.8", "1.2.225.256", "300", "1,2", "1.2.70000"} {
		if _, err := ParseType(text); err == nil {
			t.Errorf("%q is taken for a type", text)
		}
	}
	if !kind.Within(Type{Kind: 1, Domain: 2}) || kind.Within(Type{Kind: 1, Domain: 1}) ||
		!kind.Within(Type{}) {
		t.Error("a type is within the wrong ones")
	}
	all := ID{Everyone, Everyone, Everyone}
	if !all.Match(id) || !(ID{1, Everyone, Everyone}).Match(id) || (ID{}).Match(id) ||
		all.Proper() || !id.Proper() {
		t.Error("a request reaches the wrong ones")
	}
	if got := Mark("Größe\x1b and more").String(); got != "Gr??e? and " {
		t.Errorf("%q", got)
	}
	if got := (Marking{Text: [11]byte{0x1b, '[', 'x'}}).String(); got != "?[x" {
		t.Errorf("%q", got)
	}
}

// A body passes as a PDU to what float32 leaves of it.
func TestBodyPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Float64Range(-1e4, 1e4)
		vec := func(name string) det.Vec3 {
			return det.Vec3{X: n.Draw(t, name), Y: n.Draw(t, name), Z: n.Draw(t, name)}
		}
		b := reckon.Body{Pos: vec("pos").Mul(640), Vel: vec("vel"), Accel: vec("accel"),
			Facing: det.TurnBy(vec("facing").Mul(1e-4)), Spin: vec("spin").Mul(1e-4)}
		var p, q EntityState
		p.SetBody(reckon.RVW, &b)
		if err := q.Read(p.Append(nil)); err != nil || !q.Finite() {
			t.Fatal(err)
		}
		got := q.Body()
		if got.Pos != b.Pos || got.Vel.Sub(b.Vel).Len() > 2e-3 || got.Facing.To(b.Facing) > 1e-6 {
			t.Fatalf("%v became %v", b, got)
		}
		q.Accel[1] = float32(math.Inf(1))
		if q.Finite() {
			t.Fatal("an endless acceleration is finite")
		}
	})
}

func TestNoAllocations(t *testing.T) {
	var r Reader
	for _, v := range vectors(t, "pdus.json") {
		b := v.bytes(t)
		out := make([]byte, 0, 2*len(b))
		if n := testing.AllocsPerRun(100, func() {
			p, err := r.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			out = p.Append(out[:0])
		}); n != 0 {
			t.Errorf("%s: %v allocations", v.Name, n)
		}
	}
}

func BenchmarkPDU(b *testing.B) {
	for _, v := range vectors(b, "pdus.json") {
		if v.Version != 7 {
			continue
		}
		data := v.bytes(b)
		b.Run("read/"+v.Name, func(b *testing.B) {
			var r Reader
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Read(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("append/"+v.Name, func(b *testing.B) {
			var r Reader
			p, _ := r.Read(data)
			out := make([]byte, 0, MaxPDU)
			b.ReportAllocs()
			for b.Loop() {
				out = p.Append(out[:0])
			}
		})
	}
}
