package capture

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"time"
)

// Datagram is one that went over a network at a time.
type Datagram struct {
	At       time.Time
	From, To netip.AddrPort
	Data     []byte
}

// The numbers of the pcap format.
const (
	magicMicro = 0xA1B2C3D4
	magicNano  = 0xA1B23C4D
	linkNone   = 0
	linkEther  = 1
	linkRaw    = 101
	linkCooked = 113
	linkIPv4   = 228
	linkIPv6   = 229

	fileHeader = 24
	itemHeader = 16
	maxItem    = 1 << 18
)

const (
	ipv4Header = 20
	ipv6Header = 40
	udpHeader  = 8
	udpNumber  = 17
)

// MaxData is the largest datagram that is written.
const MaxData = 1<<16 - 1 - ipv6Header - udpHeader

// Writer writes a capture.
type Writer struct {
	w   io.Writer
	buf []byte
}

// NewWriter begins a capture.
func NewWriter(w io.Writer) (*Writer, error) {
	var b []byte
	b = binary.LittleEndian.AppendUint32(b, magicNano)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = binary.LittleEndian.AppendUint32(b, maxItem)
	b = binary.LittleEndian.AppendUint32(b, linkRaw)
	if _, err := w.Write(b); err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	return &Writer{w: w}, nil
}

// Write adds a datagram, in one write to what is below.
func (w *Writer) Write(d Datagram) error {
	if len(d.Data) > MaxData {
		return fmt.Errorf("capture: a datagram of %d bytes; the largest has %d", len(d.Data),
			MaxData)
	}
	b := append(w.buf[:0], make([]byte, itemHeader)...)
	from, to := d.From.Addr().Unmap(), d.To.Addr().Unmap()
	size := udpHeader + len(d.Data)
	if from.Is4() && to.Is4() {
		b = append(b, 0x45, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(ipv4Header+size))
		b = append(b, 0, 0, 0, 0, 64, udpNumber, 0, 0)
		b = append(b, from.AsSlice()...)
		b = append(b, to.AsSlice()...)
		ip := b[itemHeader:]
		binary.BigEndian.PutUint16(ip[10:], ^sum(ip[:ipv4Header]))
	} else {
		b = append(b, 0x60, 0, 0, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(size))
		b = append(b, udpNumber, 64)
		f, t := sixteen(from), sixteen(to)
		b = append(append(b, f[:]...), t[:]...)
	}
	b = binary.BigEndian.AppendUint16(b, d.From.Port())
	b = binary.BigEndian.AppendUint16(b, d.To.Port())
	b = binary.BigEndian.AppendUint16(b, uint16(size))
	b = append(b, 0, 0) // no checksum
	b = append(b, d.Data...)
	n := uint32(len(b) - itemHeader)
	binary.LittleEndian.PutUint32(b, uint32(d.At.Unix()))
	binary.LittleEndian.PutUint32(b[4:], uint32(d.At.Nanosecond()))
	binary.LittleEndian.PutUint32(b[8:], n)
	binary.LittleEndian.PutUint32(b[12:], n)
	w.buf = b
	if _, err := w.w.Write(b); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	return nil
}

// sixteen is an address in the form of IPv6; none is all zeros.
func sixteen(a netip.Addr) [16]byte {
	if !a.IsValid() {
		return [16]byte{}
	}
	return a.As16()
}

// sum is the sum that the checksum of IP is made of.
func sum(b []byte) uint16 {
	var s uint32
	for i := 0; i+1 < len(b); i += 2 {
		s += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for s > 0xFFFF {
		s = s>>16 + s&0xFFFF
	}
	return uint16(s)
}
