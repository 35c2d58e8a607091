package udp

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stamp is where the kernel writes when a datagram came: a control message with a time.
type stamp struct {
	head unix.Cmsghdr
	time unix.Timespec
}

// maxWaited is the longest that is believed: the clock may have been set meanwhile.
const maxWaited = time.Second

// room has a message be received with its stamp.
func (s *stamp) room(h *unix.Msghdr) {
	h.Control = (*byte)(unsafe.Pointer(s))
	h.SetControllen(int(unsafe.Sizeof(*s)))
}

// waited is for how long a message was there, and makes room for the next.
func (s *stamp) waited(h *unix.Msghdr, now time.Time) (d time.Duration) {
	if int(h.Controllen) >= unix.CmsgLen(int(unsafe.Sizeof(s.time))) &&
		s.head.Level == unix.SOL_SOCKET && s.head.Type == unix.SO_TIMESTAMPNS {
		d = now.Sub(time.Unix(s.time.Unix()))
	}
	s.room(h)
	return max(0, min(d, maxWaited))
}
