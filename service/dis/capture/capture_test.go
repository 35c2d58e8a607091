package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What was written is read again: times to the nanosecond, addresses of both kinds, all bytes.
func TestWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var file bytes.Buffer
		w, err := NewWriter(&file)
		if err != nil {
			t.Fatal(err)
		}
		var all []Datagram
		for range rapid.IntRange(0, 5).Draw(t, "datagrams") {
			port := rapid.Uint16()
			d := Datagram{
				At: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "seconds"),
					rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC(),
				Data: rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data"),
			}
			from, to := "192.0.2.1", "239.1.2.3"
			if rapid.Bool().Draw(t, "IPv6") {
				from, to = "2001:db8::1", "ff12::1"
			}
			d.From = netip.AddrPortFrom(netip.MustParseAddr(from), port.Draw(t, "from"))
			d.To = netip.AddrPortFrom(netip.MustParseAddr(to), port.Draw(t, "to"))
			if err := w.Write(d); err != nil {
				t.Fatal(err)
			}
			all = append(all, d)
		}
		r, err := NewReader(&file)
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for d, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			want := all[i]
			if !d.At.Equal(want.At) || d.From != want.From || d.To != want.To ||
				!bytes.Equal(d.Data, want.Data) {
				t.Fatalf("%v became %v", want, d)
			}
			i++
		}
		if i != len(all) || r.Skipped != 0 {
			t.Fatalf("%d of %d, %d skipped", i, len(all), r.Skipped)
		}
	})
}

// A capture of Ethernet in the other byte order, as old machines write them, with what is no UDP in
// it.
func TestForeignCapture(t *testing.T) {
	var b []byte
	for _, x := range []uint32{magicMicro, 2<<16 | 4, 0, 0, 65535, linkEther} {
		b = binary.BigEndian.AppendUint32(b, x)
	}
	var ours bytes.Buffer
	w, err := NewWriter(&ours)
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort("192.0.2.1:3000")
	err = w.Write(Datagram{At: time.Unix(7, 0), From: at, To: at, Data: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	ip := ours.Bytes()[fileHeader+itemHeader:]
	fragment := append([]byte(nil), ip...)
	fragment[6] = 0x20
	for _, item := range [][]byte{
		append(append(make([]byte, 12), 8, 0), ip...),
		append(append(make([]byte, 12), 0x81, 0, 0, 5, 8, 0), ip...),
		append(append(make([]byte, 12), 8, 0), fragment...),
		append(append(make([]byte, 12), 8, 6), 0, 1, 8, 0),
		{1, 2, 3},
	} {
		for _, x := range []uint32{7, 5, uint32(len(item)), uint32(len(item))} {
			b = binary.BigEndian.AppendUint32(b, x)
		}
		b = append(b, item...)
	}
	r, err := NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for d, err := range r.All() {
		if err != nil || string(d.Data) != "x" || d.From != at || d.At.UnixMicro() != 7000005 {
			t.Error(d, err)
		}
		n++
	}
	if n != 2 || r.Skipped != 3 {
		t.Errorf("%d read, %d skipped", n, r.Skipped)
	}
}

func TestDamaged(t *testing.T) {
	var file bytes.Buffer
	w, _ := NewWriter(&file)
	at := netip.MustParseAddrPort("192.0.2.1:3000")
	if err := w.Write(Datagram{From: at, To: at, Data: []byte("hello")}); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{nil, "too short"},
		{[]byte(strings.Repeat("x", 50)), "no capture"},
		{append(append([]byte(nil), whole[:20]...), 9, 9, 9, 9), "links of type"},
		{whole[:len(whole)-1], "in the middle"},
		{whole[:fileHeader+3], "in the middle"},
		{append(append([]byte(nil), whole[:fileHeader+8]...), 255, 255, 255, 255, 0, 0, 0, 0),
			"damaged"},
	} {
		r, err := NewReader(bytes.NewReader(c.b))
		if err == nil {
			_, err = r.Next()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, not %q", err, c.want)
		}
	}
	if err := w.Write(Datagram{From: at, To: at, Data: make([]byte, 70000)}); err == nil {
		t.Error("a datagram that cannot be was written")
	}
}

func FuzzReader(f *testing.F) {
	var file bytes.Buffer
	w, _ := NewWriter(&file)
	for _, a := range []string{"192.0.2.1:3000", "[2001:db8::1]:3000"} {
		at := netip.MustParseAddrPort(a)
		if err := w.Write(Datagram{From: at, To: at, Data: []byte("hello")}); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(file.Bytes())
	for _, link := range []byte{0, 1, 113} {
		b := append([]byte(nil), file.Bytes()...)
		b[20] = link
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		for range r.All() {
		}
	})
}

func Example() {
	var file bytes.Buffer
	w, err := NewWriter(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	from, to := netip.MustParseAddrPort("192.0.2.1:3000"), netip.MustParseAddrPort("239.1.2.3:3000")
	if err := w.Write(Datagram{From: from, To: to, Data: []byte("hello")}); err != nil {
		fmt.Println(err)
		return
	}
	r, err := NewReader(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := r.Next()
	fmt.Printf("%s from %v, %v\n", d.Data, d.From, err)
	_, err = r.Next()
	fmt.Println(err == io.EOF)
	// Output:
	// hello from 192.0.2.1:3000, <nil>
	// true
}
