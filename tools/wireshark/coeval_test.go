// Package wireshark tests the dissector beside it: sessions of package conn are written to
// capture files, and tshark must find in them what was sent.
package wireshark

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
)

// field is a node of what tshark prints as PDML.
type field struct {
	Name   string  `xml:"name,attr"`
	Show   string  `xml:"show,attr"`
	Label  string  `xml:"showname,attr"`
	Value  string  `xml:"value,attr"`
	Fields []field `xml:"field"`
	Protos []field `xml:"proto"`
}

// all finds every field of a name, however deep.
func (f *field) all(name string) (found []field) {
	for _, list := range [][]field{f.Protos, f.Fields} {
		for i := range list {
			if list[i].Name == name {
				found = append(found, list[i])
			}
			found = append(found, list[i].all(name)...)
		}
	}
	return found
}

func (f *field) shows(name string) (shown []string) {
	for _, x := range f.all(name) {
		shown = append(shown, x.Show)
	}
	return shown
}

// one is the only value of a field, as it is shown, or empty.
func (f *field) one(name string) string {
	if s := f.shows(name); len(s) == 1 {
		return s[0]
	}
	return ""
}

// number reads a field that is a number, or -1.
func (f *field) number(name string) int {
	n, err := strconv.ParseInt(f.one(name), 0, 64)
	if err != nil {
		return -1
	}
	return int(n)
}

// data is the content of all fields of a name.
func (f *field) data(t *testing.T, name string) (out [][]byte) {
	for _, x := range f.all(name) {
		b, err := hex.DecodeString(x.Value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// dissect runs tshark over a tape with the script, and with a key log unless it is nil. An
// empty one is named, but not there.
func dissect(t *testing.T, tape []taped, keyLog []byte, more ...string) []field {
	t.Helper()
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tshark is not here; install the package tshark")
		}
		t.Skip("tshark is not here; install the package tshark to run this test")
	}
	dir := t.TempDir()
	capture, keys := filepath.Join(dir, "session.pcap"), filepath.Join(dir, "keys.log")
	if err := os.WriteFile(capture, pcap(tape), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-X", "lua_script:coeval.lua", "-r", capture, "-T", "pdml"}
	args = append(args, more...)
	if keyLog != nil {
		if len(keyLog) > 0 {
			if err := os.WriteFile(keys, keyLog, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args = append(args, "-o", "coeval.keylog:"+keys)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, tshark, args...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir) // nobody's own settings
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, stderr.String())
	}
	if text := stderr.String(); strings.Contains(text, "coeval.lua") ||
		strings.Contains(strings.ToLower(text), "lua:") {
		t.Fatalf("the script has a mistake: %s", text)
	}
	if i := bytes.Index(out, []byte("Lua Error")); i >= 0 {
		t.Fatalf("the script failed: %s", out[i:min(i+300, len(out))])
	}
	var file struct {
		Packets []field `xml:"packet"`
	}
	if err := xml.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Packets) != len(tape) {
		t.Fatalf("%d packets of %d", len(file.Packets), len(tape))
	}
	return file.Packets
}

// sound fails for packets that are not what the dissector knows.
func sound(t *testing.T, packets []field) {
	t.Helper()
	for i := range packets {
		p := &packets[i]
		if len(p.all("coeval")) != 1 {
			t.Fatalf("packet %d is not taken for one of coeval's", i+1)
		}
		for _, bad := range []string{
			"_ws.malformed", "_ws.short", "coeval.violation", "_ws.expert"} {
			if found := p.all(bad); len(found) > 0 {
				t.Fatalf("packet %d: %s: %+v", i+1, bad, found)
			}
		}
	}
}

// play makes a session that has everything in it that the protocol has.
func play(t *testing.T) *session {
	s := newSession(t)
	ada := s.join("198.51.100.7:50123", 10, nil)
	bob := s.join("[2001:db8::7]:50124", 11, nil)
	s.join("198.51.100.8:50125", 12,
		func(o *conn.ClientOptions, _ *token.Grant, _ *token.Key) { o.Version = 4 })
	s.join("198.51.100.9:50126", 13,
		func(_ *conn.ClientOptions, _ *token.Grant, k *token.Key) { k[0] = 99 })
	s.until("connecting", func() bool {
		return s.server.Find(10) != nil && s.server.Find(11) != nil && ada.client.Conn() != nil &&
			bob.client.Conn() != nil
	})
	up, down := ada.client.Conn(), s.server.Find(10)

	// Messages of every kind, both ways, while some packets are lost, and twice for a while all of
	// one way.
	ada.drop = func(toServer bool, n int) bool {
		return n%5 == 0 || !toServer && (n > 100 && n < 160 || n > 200 && n < 225)
	}
	for i := range 40 {
		for channel := range uint8(4) {
			s.say(up, channel, fmt.Appendf(nil, "up %d on %d", i, channel))
			s.say(down, channel, fmt.Appendf(nil, "down %d on %d", i, channel))
		}
		s.run(3 * sessionTick)
	}
	// Larger than a packet, and larger than that.
	s.say(down, 2, bytes.Repeat([]byte("a long story. "), 300))
	transfer := bytes.Repeat([]byte("a map of the world "), 1500)
	if _, err := down.SendBulk(0xfeed, transfer); err != nil {
		t.Fatal(err)
	}
	s.until("a transfer", func() bool {
		return slices.ContainsFunc(ada.got, func(b []byte) bool { return bytes.Equal(b, transfer) })
	})
	ada.drop = nil
	// A transfer that is given up half way.
	id, err := up.SendBulk(7, bytes.Repeat([]byte{1}, 500<<10))
	if err != nil {
		t.Fatal(err)
	}
	s.run(10 * sessionTick)
	if err := up.CancelBulk(id); err != nil {
		t.Fatal(err)
	}
	// Silence, and a change of address.
	s.run(3 * time.Second)
	ada.addr = netip.AddrPortFrom(ada.addr.Addr(), 61000)
	s.say(up, 0, []byte("from elsewhere"))
	s.until("the server following", func() bool { return down.Addr() == ada.addr })
	s.say(down, 0, []byte("there you are"))
	s.run(10 * sessionTick)
	up.Close(conn.ReasonLeft, "good night")
	s.run(2 * time.Second)
	s.server.Shutdown(conn.ReasonClosing, "")
	s.run(time.Second)
	return s
}

// Every packet of a session is understood, and says what was sent.
func TestSession(t *testing.T) {
	s := play(t)
	packets := dissect(t, s.tape, s.keyLog.Bytes())
	sound(t, packets)

	seen := map[string]bool{}
	var messages [][]byte
	fragments, chunks := map[int][]byte{}, map[int][]byte{}
	numbers := map[string]int{}
	for i := range packets {
		p, d := &packets[i], s.tape[i]
		kind := p.number("coeval.type")
		seen["packet "+p.one("coeval.type")] = true
		if kind < 0x80 {
			if int(d.data[0]) != kind || p.number("coeval.version") != 2 {
				t.Fatalf("packet %d: type %d for %x", i+1, kind, d.data[:2])
			}
			checkHandshake(t, i+1, p, d.data)
			continue
		}
		if got := p.one("coeval.no_key"); got != "" {
			t.Fatalf("packet %d: %s", i+1, got)
		}
		// Each end numbers its packets from one, and the tape has them all.
		stream := p.one("coeval.direction") + p.one("coeval.receiver")
		if numbers[stream]++; p.number("coeval.number") != numbers[stream] {
			t.Fatalf("packet %d %s: number %s, want %d", i+1, stream, p.one("coeval.number"),
				numbers[stream])
		}
		if to := p.one("coeval.direction"); (to == "to the client") != (d.from.Port() == 30400) {
			t.Fatalf("packet %d from %v goes %s", i+1, d.from, to)
		}
		seen["ack "+p.one("coeval.ack.form")] = true
		for _, kind := range p.shows("coeval.frame.type") {
			seen["frame "+kind] = true
		}
		for _, kind := range p.shows("coeval.control") {
			seen["control "+kind] = true
		}
		messages = append(messages, p.data(t, "coeval.message")...)
		for _, f := range p.all("coeval.frame") {
			if part := f.data(t, "coeval.fragment"); len(part) == 1 {
				fragments[f.number("coeval.fragment.index")] = part[0]
			}
			if part := f.data(t, "coeval.chunk.data"); len(part) == 1 && d.from.Port() == 30400 {
				chunks[f.number("coeval.chunk")] = part[0]
			}
			if note := f.one("coeval.note"); note != "" && note != "good night" {
				t.Errorf("a note says %q", note)
			}
			if tag := f.one("coeval.transfer.tag"); tag != "" && tag != "0x0000feed" &&
				tag != "0x00000007" {
				t.Errorf("a transfer is tagged %s", tag)
			}
		}
	}

	for _, said := range s.said {
		if len(said) > 1200 {
			if got := joined(fragments); !bytes.Equal(got, said) {
				t.Errorf("the fragments make %d bytes that are not the message", len(got))
			}
		} else if !slices.ContainsFunc(messages, func(m []byte) bool {
			return bytes.Equal(m, said)
		}) {
			t.Errorf("%q is in no packet", said)
		}
	}
	for _, m := range messages {
		if !slices.ContainsFunc(s.said, func(said []byte) bool { return bytes.Equal(m, said) }) {
			t.Errorf("%q was found, and never sent", m)
		}
	}
	if got := joined(chunks); !bytes.Equal(got, bytes.Repeat([]byte("a map of the world "), 1500)) {
		t.Errorf("the chunks make %d bytes that are not the transfer", len(got))
	}
	for _, want := range []string{
		"packet 0x01", "packet 0x02", "packet 0x03", "packet 0x04", "packet 0x05", "packet 0x80",
		"ack 0", "ack 1", "ack 2", "ack 4", "ack 5", "frame 0", "frame 1", "frame 2", "frame 3",
		"frame 4", "frame 5", "frame 6",
		"control 0", "control 1", "control 2", "control 3", "control 4", "control 5", "control 6"} {
		if !seen[want] {
			t.Errorf("the session has no %s, so this test says nothing about it; it has %v", want,
				seen)
		}
	}
}

// checkHandshake compares what is in clear with the bytes that were sent.
func checkHandshake(t *testing.T, n int, p *field, data []byte) {
	t.Helper()
	at := func(name string, from, to int) {
		t.Helper()
		got := p.all(name)
		if len(got) != 1 || got[0].Value != hex.EncodeToString(data[from:to]) {
			t.Errorf("packet %d: %s is %+v, want %x", n, name, got, data[from:to])
		}
	}
	switch data[0] {
	case 1, 3:
		at("coeval.protocol", 2, 10)
		at("coeval.game_version", 10, 14)
		at("coeval.client_nonce", 14, 30)
		if data[0] == 3 {
			at("coeval.cookie", 30, 50)
			at("coeval.client", 50, 53)
			at("coeval.datagram", 53, 55)
			at("coeval.share", 55, 87)
			at("coeval.letter", 89, len(data)-16)
			at("coeval.letter.expires", 89+9, 89+17)
			at("coeval.proof", len(data)-16, len(data))
		}
	case 2:
		at("coeval.client_nonce", 2, 18)
		at("coeval.cookie", 18, 38)
	case 4:
		at("coeval.client", 2, 5)
		at("coeval.server_nonce", 5, 21)
		at("coeval.share", 21, 53)
		at("coeval.proof", 53, 69)
		if p.number("coeval.datagram") != 1200 || p.number("coeval.server") < 0 {
			t.Errorf("packet %d: the accept says %s, %s", n, p.one("coeval.server"),
				p.one("coeval.datagram"))
		}
	case 5:
		at("coeval.client_nonce", 2, 18)
		at("coeval.reason", 18, 19)
	}
}

func joined(parts map[int][]byte) (whole []byte) {
	for i := range len(parts) {
		whole = append(whole, parts[i]...)
	}
	return whole
}

// Without keys the clear parts are shown, also of packets from a new address, and the rest says why
// it is not.
func TestWithoutKeys(t *testing.T) {
	s := play(t)
	packets := dissect(t, s.tape, nil)
	sound(t, packets)
	for i := range packets {
		p, d := &packets[i], s.tape[i]
		if d.data[0] < 0x80 {
			continue
		}
		if p.number("coeval.number.low") != int(d.data[3])<<8|int(d.data[4]) ||
			p.number("coeval.ack.form") != int(d.data[0]>>4&7) {
			t.Fatalf("packet %d: %+v", i+1, p.all("coeval"))
		}
		if !strings.Contains(p.one("coeval.no_key"), "key log") || p.one("coeval.number") != "" {
			t.Fatalf("packet %d pretends to know more: %+v", i+1, p.all("coeval"))
		}
	}
}

// A capture that begins in the middle of a connection is found by its keys.
func TestFromTheMiddle(t *testing.T) {
	s := play(t)
	from := slices.IndexFunc(s.tape, func(d taped) bool { return d.data[0] >= 0x80 }) + 20
	tape := slices.DeleteFunc(slices.Clone(s.tape[from:]),
		func(d taped) bool { return d.data[0] < 0x80 })
	packets := dissect(t, tape, s.keyLog.Bytes())
	sound(t, packets)
	for i := range packets {
		if packets[i].number("coeval.number") < 1 {
			t.Fatalf("packet %d has no number", i+1)
		}
	}
}

// When keys are renewed the log has another line for the same connection. Packets of both keys are
// opened, in any order, and numbered through.
func TestRenewedKeys(t *testing.T) {
	s := play(t)
	line := strings.Fields(strings.SplitN(s.keyLog.String(), "\n", 2)[0])
	key, iv := bytes.Repeat([]byte{7}, 16), bytes.Repeat([]byte{8}, 12)
	log := fmt.Appendf(s.keyLog.Bytes(), "COEVAL %s %s %x %x\n", line[1], line[2], key, iv)
	client, err := strconv.ParseUint(line[1], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithTagSize(block, 12)
	if err != nil {
		t.Fatal(err)
	}
	to := uint64(0)
	last := 0
	var tape []taped
	for i, d := range s.tape {
		tape = append(tape, d)
		id := uint64(d.data[0]&7)<<16 | uint64(d.data[1])<<8 | uint64(d.data[2])
		if d.data[0] < 0x80 || id != client || i < len(s.tape)/2 || to != 0 {
			continue
		}
		// The server's next packet, with the new key: no acknowledgement, and a message.
		to, last = id, int(d.data[3])<<8|int(d.data[4])+1
		head := []byte{0x88 | d.data[0]&7, d.data[1], d.data[2], byte(last >> 8), byte(last)}
		nonce := bytes.Clone(iv)
		nonce[0] |= 0x80
		nonce[10] ^= byte(last >> 8)
		nonce[11] ^= byte(last)
		d.data = aead.Seal(head, nonce, append([]byte{1 << 4}, "renewed"...), head)
		tape = append(tape, d)
	}
	packets := dissect(t, tape, log)
	sound(t, packets)
	found := 0
	for i := range packets {
		p := &packets[i]
		if tape[i].data[0] >= 0x80 && p.one("coeval.no_key") != "" {
			t.Fatalf("packet %d: %s", i+1, p.one("coeval.no_key"))
		}
		if p.number("coeval.key_phase") == 1 {
			found++
			if m := p.data(t, "coeval.message"); p.number("coeval.number") != last ||
				len(m) != 1 || string(m[0]) != "renewed" {
				t.Errorf("packet %d: number %d, message %q", i+1, p.number("coeval.number"), m)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d packets with the new key", found)
	}
}

// Whatever is on the wire, the script does not fail.
func TestDamaged(t *testing.T) {
	s := play(t)
	var tape []taped
	byKind := map[byte]int{}
	for _, d := range s.tape {
		kind := min(d.data[0], 0x80)
		if byKind[kind]++; byKind[kind] > 6 && kind == 0x80 || byKind[kind] > 2 && kind < 0x80 {
			continue
		}
		tape = append(tape, d)
		for n := range len(d.data) {
			if n%7 == 0 || n < 20 {
				short := d
				short.data = d.data[:n]
				tape = append(tape, short)
			}
			flipped := d
			flipped.data = bytes.Clone(d.data)
			flipped.data[n] ^= 1 << (n % 8)
			if n%11 == 0 || n < 12 {
				tape = append(tape, flipped)
			}
		}
	}
	packets := dissect(t, tape, s.keyLog.Bytes())
	for i := range packets {
		if found := packets[i].all("_ws.malformed"); len(found) > 0 {
			t.Fatalf("packet %d of %d bytes: %+v", i+1, len(tape[i].data), found)
		}
	}
}

// Packets that open and hold nonsense are shown as such.
func TestNonsenseInside(t *testing.T) {
	s := newSession(t)
	p := s.join("198.51.100.7:50123", 10, nil)
	s.until("connecting", func() bool { return p.client.Conn() != nil && s.server.Find(10) != nil })
	var client, server uint32
	var key, iv []byte
	if _, err := fmt.Sscanf(s.keyLog.String(), "COEVAL %x %x %x %x", &client, &server, &key,
		&iv); err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithTagSize(block, 12)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	first, broken := len(s.tape), 0
	for n := uint32(100); n < 700; n++ {
		plain := make([]byte, random.IntN(40))
		for i := range plain {
			plain[i] = byte(random.Uint32())
		}
		head := []byte{
			0x80 | byte(random.IntN(8))<<4 | byte(server>>16), byte(server >> 8), byte(server),
			byte(n >> 8), byte(n)}
		nonce := bytes.Clone(iv)
		nonce[0] &= 0x7f
		binary.BigEndian.PutUint32(nonce[8:], binary.BigEndian.Uint32(iv[8:])^n)
		s.tape = append(s.tape, taped{s.now, p.addr, p.server, aead.Seal(head, nonce, plain, head)})
	}
	packets := dissect(t, s.tape, s.keyLog.Bytes())
	for i := range packets[first:] {
		x := &packets[first+i]
		if x.number("coeval.number") != 100+i || len(x.all("_ws.malformed")) > 0 {
			t.Fatalf("packet %d: %+v", first+i+1, x.all("coeval"))
		}
		broken += len(x.all("coeval.violation"))
	}
	if broken < 100 {
		t.Errorf("only %d complaints", broken)
	}
}

// A key log that is of no use says why.
func TestUselessKeyLog(t *testing.T) {
	s := newSession(t)
	p := s.join("198.51.100.7:50123", 10, nil)
	s.until("connecting", func() bool { return p.client.Conn() != nil })
	s.run(time.Second)
	for log, want := range map[string]string{
		"not a key log\nCOEVAL 1 2 3 4\n": "no key that fits",
		"":                                "cannot be read",
	} {
		packets := dissect(t, s.tape, []byte(log))
		last := &packets[len(packets)-1]
		if len(last.all("coeval")) != 1 || len(last.all("_ws.malformed")) > 0 ||
			!strings.Contains(last.one("coeval.no_key"), want) {
			t.Errorf("%q: %+v", log, last.all("coeval"))
		}
	}
}
