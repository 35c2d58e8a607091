package wireshark

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
)

// session is a server and its clients, and a tape of every datagram that they sent.
type session struct {
	t       *testing.T
	now     time.Duration
	key     token.Key
	server  *conn.Server
	players []*player
	tape    []taped
	keyLog  bytes.Buffer

	said [][]byte // messages that were sent, both ways
}

type taped struct {
	at       time.Duration
	from, to netip.AddrPort
	data     []byte
}

type player struct {
	addr   netip.AddrPort
	server netip.AddrPort // where it finds the server
	client *conn.Client
	drop   func(toServer bool, n int) bool // whether the network loses a datagram
	count  int
	got    [][]byte
}

const (
	sessionWall = 1_800_000_000
	sessionTick = time.Second / 60
)

var sessionGame = token.ProtocolID("dissected")

func sessionOptions(seed byte) conn.Options {
	return conn.Options{Protocol: sessionGame, Version: 3, Wall: sessionWall, Seed: [32]byte{seed},
		Rate: 64 << 10, MinRate: 64 << 10} // so that much is under way when all of it is lost
}

func newSession(t *testing.T) *session {
	s := &session{t: t, key: token.Key{1, 2, 3}}
	o := conn.ServerOptions{Options: sessionOptions(1), Keys: []token.Key{s.key}}
	o.KeyLog = func(line string) { fmt.Fprintln(&s.keyLog, line) }
	var err error
	if s.server, err = conn.NewServer(o); err != nil {
		t.Fatal(err)
	}
	return s
}

// join lets a player in, or tries to; change spoils what should be spoilt.
func (s *session) join(addr string, seed byte,
	change func(*conn.ClientOptions, *token.Grant, *token.Key)) *player {
	s.t.Helper()
	p := &player{
		addr: netip.MustParseAddrPort(addr), server: netip.MustParseAddrPort("192.0.2.1:30400")}
	if p.addr.Addr().Is6() {
		p.server = netip.MustParseAddrPort("[2001:db8::1]:30400")
	}
	grant := token.Grant{Protocol: sessionGame, Client: uint64(seed), Expires: sessionWall + 3600}
	o := conn.ClientOptions{Options: sessionOptions(seed), Servers: []netip.AddrPort{p.server}}
	key := s.key
	if change != nil {
		change(&o, &grant, &key)
	}
	var err error
	if o.Token, err = token.Issue(key, grant,
		bytes.NewReader(bytes.Repeat([]byte{seed}, 200))); err != nil {
		s.t.Fatal(err)
	}
	if p.client, err = conn.NewClient(o); err != nil {
		s.t.Fatal(err)
	}
	s.players = append(s.players, p)
	return p
}

// run lets time pass.
func (s *session) run(d time.Duration) {
	for end := s.now + d; s.now < end; s.now += sessionTick {
		s.tick()
	}
}

// until lets time pass until something has happened.
func (s *session) until(what string, done func() bool) {
	s.t.Helper()
	for range 60 * 60 {
		if done() {
			return
		}
		s.tick()
		s.now += sessionTick
	}
	s.t.Fatalf("%s: not within a minute", what)
}

func (s *session) tick() {
	for _, p := range s.players {
		for _, d := range p.client.Flush(s.now, nil) {
			if s.carry(p, true, p.addr, p.server, d.Data) {
				s.server.Receive(s.now, []link.Datagram{{Addr: p.addr, Data: bytes.Clone(d.Data)}})
				s.server.Events()
			}
		}
	}
	for _, d := range s.server.Flush(s.now, nil) {
		found := false
		for _, p := range s.players {
			found = found || p.addr == d.Addr
			if p.addr != d.Addr || !s.carry(p, false, p.server, d.Addr, d.Data) {
				continue
			}
			p.client.Receive(s.now, []link.Datagram{{Addr: p.server, Data: bytes.Clone(d.Data)}})
			for _, e := range p.client.Events() {
				if e.Kind == conn.Message || e.Kind == conn.BulkReceived {
					p.got = append(p.got, bytes.Clone(e.Data))
				}
			}
		}
		if !found { // to where a player was
			s.tape = append(s.tape, taped{s.now, s.players[0].server, d.Addr, bytes.Clone(d.Data)})
		}
	}
}

// carry tapes a datagram, and reports whether it arrives. What is lost is on the tape all
// the same, as if it was lost behind whoever captured it.
func (s *session) carry(p *player, toServer bool, from, to netip.AddrPort, data []byte) bool {
	s.tape = append(s.tape, taped{s.now, from, to, bytes.Clone(data)})
	p.count++
	return p.drop == nil || !p.drop(toServer, p.count)
}

// say sends a message and notes it.
func (s *session) say(c *conn.Conn, channel uint8, message []byte) {
	s.t.Helper()
	if err := c.Send(channel, message); err != nil {
		s.t.Fatal(err)
	}
	s.said = append(s.said, message)
}

// pcap is the tape as a capture file: raw IP, version 2.4.
func pcap(tape []taped) []byte {
	var b []byte
	le := binary.LittleEndian
	b = le.AppendUint32(b, 0xa1b2c3d4)
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = le.AppendUint32(b, 65535)
	b = le.AppendUint32(b, 101) // LINKTYPE_RAW
	for _, d := range tape {
		p := packet(d)
		at := sessionWall*time.Second + d.at
		b = le.AppendUint32(b, uint32(at/time.Second))
		b = le.AppendUint32(b, uint32(at%time.Second/time.Microsecond))
		b = le.AppendUint32(b, uint32(len(p)))
		b = le.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	return b
}

// packet puts IP and UDP headers in front of a datagram.
func packet(d taped) []byte {
	be := binary.BigEndian
	size := 8 + len(d.data)
	var b []byte
	src, dst := d.from.Addr().AsSlice(), d.to.Addr().AsSlice()
	if d.from.Addr().Is4() {
		b = append(b, 0x45, 0)
		b = be.AppendUint16(b, uint16(20+size))
		b = append(b, 0, 0, 0x40, 0, 64, 17, 0, 0)
		b = append(append(b, src...), dst...)
		be.PutUint16(b[10:], ^sum(b))
	} else {
		b = append(b, 0x60, 0, 0, 0)
		b = be.AppendUint16(b, uint16(size))
		b = append(b, 17, 64)
		b = append(append(b, src...), dst...)
	}
	udp := be.AppendUint16(nil, d.from.Port())
	udp = be.AppendUint16(udp, d.to.Port())
	udp = be.AppendUint16(udp, uint16(size))
	udp = append(append(udp, 0, 0), d.data...)
	// The checksum covers addresses, protocol and length as well.
	pseudo := append(append(append([]byte(nil), src...), dst...), 0, 17, byte(size>>8), byte(size))
	check := ^sum(append(pseudo, udp...))
	if check == 0 {
		check = 0xffff
	}
	be.PutUint16(udp[6:], check)
	return append(b, udp...)
}

// sum is the Internet's checksum (RFC 1071), before its complement.
func sum(b []byte) uint16 {
	total := uint32(0)
	for i := 0; i < len(b); i += 2 {
		total += uint32(b[i]) << 8
		if i+1 < len(b) {
			total += uint32(b[i+1])
		}
	}
	for total > 0xffff {
		total = total&0xffff + total>>16
	}
	return uint16(total)
}
