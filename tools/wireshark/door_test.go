package wireshark

import (
	"net/netip"
	"testing"
	"time"
)

// TestDoor: a connection at the door of a player's machine, each of whose datagrams has a byte in
// front, is recognised, followed and decrypted as any other.
func TestDoor(t *testing.T) {
	s := newSession(t)
	p := s.join("198.51.100.7:4001", 9, nil)
	s.until("a connection", func() bool { return p.client.Conn() != nil && p.client.Conn().Open() })
	s.run(2 * time.Second)
	server := netip.MustParseAddrPort("192.0.2.1:30400")
	var tape []taped
	for _, d := range s.tape {
		way := byte(0x60)
		if d.from == server {
			way = 0x61
		}
		d.data = append([]byte{way}, d.data...)
		tape = append(tape, d)
	}
	handshakes, opened := 0, 0
	for i, x := range dissect(t, tape, s.keyLog.Bytes()) {
		if len(x.all("coeval_door")) != 1 || len(x.all("coeval")) != 1 ||
			x.number("coeval.door.way") != int(tape[i].data[0]) || len(x.all("_ws.malformed")) > 0 {
			t.Fatalf("datagram %d of %d, %x, is not understood", i, len(tape), tape[i].data[:4])
		}
		switch {
		case x.number("coeval.type") < 0x80:
			handshakes++
		case len(x.all("coeval.no_key")) == 0 && x.number("coeval.number") >= 0:
			opened++
		}
	}
	if handshakes < 4 || opened < 3 || handshakes+opened != len(tape) {
		t.Errorf("of %d datagrams %d shake hands and %d were opened", len(tape), handshakes, opened)
	}
	// What only looks like one is nobody's.
	noise := []taped{{from: p.addr, to: server, data: make([]byte, 40)}}
	noise[0].data[0] = 0x60
	if x := dissect(t, noise, nil)[0]; len(x.all("coeval_door")) != 0 {
		t.Error("noise was taken for a datagram at a door")
	}
}
