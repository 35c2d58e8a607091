package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/netip"
	"time"
)

// Reader reads a capture.
type Reader struct {
	r     io.Reader
	order binary.ByteOrder
	nano  bool
	link  uint32
	buf   []byte
	// Skipped is how many items were passed over, as they were no whole datagrams of UDP.
	Skipped int
}

// NewReader begins to read a capture.
func NewReader(r io.Reader) (*Reader, error) {
	var b [fileHeader]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return nil, fmt.Errorf("capture: the file is too short to be a capture: %w", err)
	}
	c := &Reader{r: r}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		switch order.Uint32(b[:]) {
		case magicNano:
			c.order, c.nano = order, true
		case magicMicro:
			c.order = order
		}
	}
	if c.order == nil {
		return nil, errors.New("capture: this is no capture in the format pcap; one in pcapng is " +
			"converted by: editcap -F pcap IN OUT")
	}
	c.link = c.order.Uint32(b[20:]) & 0x0FFFFFFF
	switch c.link {
	case linkNone, linkEther, linkRaw, linkCooked, linkIPv4, linkIPv6:
		return c, nil
	}
	return nil, fmt.Errorf("capture: it is of links of type %d; Ethernet (1), Linux's cooked "+
		"(113) and IP (101) are known", c.link)
}

// Next is the next datagram, or io.EOF. Its data are good until the next call.
func (c *Reader) Next() (Datagram, error) {
	for {
		var h [itemHeader]byte
		if _, err := io.ReadFull(c.r, h[:]); err != nil {
			if err == io.EOF {
				return Datagram{}, io.EOF
			}
			return Datagram{}, fmt.Errorf("capture: it ends in the middle: %w", err)
		}
		n := c.order.Uint32(h[8:])
		if n > maxItem {
			return Datagram{}, fmt.Errorf("capture: an item of %d bytes; the file is damaged", n)
		}
		if cap(c.buf) < int(n) {
			c.buf = make([]byte, n)
		}
		c.buf = c.buf[:n]
		if _, err := io.ReadFull(c.r, c.buf); err != nil {
			return Datagram{}, fmt.Errorf("capture: it ends in the middle: %w", err)
		}
		part := int64(c.order.Uint32(h[4:]))
		if !c.nano {
			part *= 1000
		}
		d, ok := c.datagram(c.buf)
		if !ok {
			c.Skipped++
			continue
		}
		d.At = time.Unix(int64(c.order.Uint32(h[:])), part).UTC()
		return d, nil
	}
}

// All goes through the datagrams. An error is the last.
func (c *Reader) All() iter.Seq2[Datagram, error] {
	return func(yield func(Datagram, error) bool) {
		for {
			d, err := c.Next()
			if err == io.EOF || !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// datagram finds the UDP in an item.
func (c *Reader) datagram(b []byte) (Datagram, bool) {
	skip := 0
	switch c.link {
	case linkNone:
		skip = 4
	case linkEther:
		skip = 14
		for skip <= len(b) && skip >= 14 && len(b) >= skip &&
			(b[skip-2] == 0x81 && b[skip-1] == 0 || b[skip-2] == 0x88 && b[skip-1] == 0xA8) {
			skip += 4 // tagged for a virtual network
		}
	case linkCooked:
		skip = 16
	}
	if len(b) <= skip {
		return Datagram{}, false
	}
	b = b[skip:]
	switch b[0] >> 4 {
	case 4:
		return ip4(b)
	case 6:
		return ip6(b)
	}
	return Datagram{}, false
}

func ip4(b []byte) (d Datagram, ok bool) {
	if len(b) < ipv4Header {
		return d, false
	}
	head, whole := int(b[0]&15)*4, int(binary.BigEndian.Uint16(b[2:]))
	fragment := binary.BigEndian.Uint16(b[6:])&0x3FFF != 0
	if head < ipv4Header || whole < head || whole > len(b) || b[9] != udpNumber || fragment {
		return d, false
	}
	return udp(b[head:whole], netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:])))
}

func ip6(b []byte) (d Datagram, ok bool) {
	if len(b) < ipv6Header {
		return d, false
	}
	size := int(binary.BigEndian.Uint16(b[4:]))
	if size > len(b)-ipv6Header || b[6] != udpNumber {
		return d, false
	}
	return udp(b[ipv6Header:ipv6Header+size], netip.AddrFrom16([16]byte(b[8:])),
		netip.AddrFrom16([16]byte(b[24:])))
}

func udp(b []byte, from, to netip.Addr) (d Datagram, ok bool) {
	if len(b) < udpHeader {
		return d, false
	}
	size := int(binary.BigEndian.Uint16(b[4:]))
	if size < udpHeader || size > len(b) {
		return d, false
	}
	return Datagram{
		From: netip.AddrPortFrom(from, binary.BigEndian.Uint16(b)),
		To:   netip.AddrPortFrom(to, binary.BigEndian.Uint16(b[2:])),
		Data: b[udpHeader:size:size],
	}, true
}
