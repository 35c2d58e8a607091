package upgrade

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Name is the socket's in the game's folder.
const Name = "upgrade"

// short calls f with a name for the socket of a folder. Names of sockets have room for 107 bytes;
// a longer one is reached through a descriptor of its folder.
func short(dir string, f func(name string) error) error {
	name := filepath.Join(dir, Name)
	if len(name) < len(syscall.RawSockaddrUnix{}.Path) {
		return f(name)
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return f(fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), Name))
}

// A Listener is where a program that serves hears of those that want its place.
type Listener struct {
	l   *net.UnixListener
	dir string
}

// Listen opens the socket in a folder, which this program has locked: so one that is there is left
// over.
func Listen(dir string) (*Listener, error) {
	out := &Listener{dir: dir}
	if err := os.Remove(filepath.Join(dir, Name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return out, short(dir, func(name string) (err error) {
		if out.l, err = net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"}); err != nil {
			return err
		}
		out.l.SetUnlinkOnClose(false) // it may be another's by then
		if err := os.Chmod(filepath.Join(dir, Name), 0o600); err != nil {
			_ = out.l.Close() // nothing came by it
			return err
		}
		return nil
	})
}

// AdoptListener makes a listener of a descriptor that was handed over.
func AdoptListener(dir string, fd int) (*Listener, error) {
	l, err := FileListener(fd)
	if err != nil {
		return nil, err
	}
	u, ok := l.(*net.UnixListener)
	if !ok {
		_ = l.Close()
		return nil, fmt.Errorf("%w: a socket of another kind", errMessage)
	}
	u.SetUnlinkOnClose(false)
	return &Listener{u, dir}, nil
}

// FileListener makes a listener of a descriptor, which is the listener's from now on.
func FileListener(fd int) (net.Listener, error) {
	f := os.NewFile(uintptr(fd), "handed over")
	defer f.Close()
	return net.FileListener(f)
}

// FilePacketConn makes a socket for datagrams of a descriptor, which is the socket's from now on.
func FilePacketConn(fd int) (net.PacketConn, error) {
	f := os.NewFile(uintptr(fd), "handed over")
	defer f.Close()
	return net.FilePacketConn(f)
}

// ErrUser is that a program of another user is at the other end.
var ErrUser = errors.New("a program of another user")

// Accept waits for a program that wants the place. One of another user is refused with ErrUser.
func (l *Listener) Accept() (Channel, error) {
	c, err := l.l.AcceptUnix()
	if err != nil {
		return nil, err
	}
	if err := same(c); err != nil {
		_ = c.Close()
		return nil, err
	}
	return &conn{UnixConn: c}, nil
}

// Share gives another descriptor of the listener.
func (l *Listener) Share() (int, error) { return Share(l.l) }

// Close ends it. The socket's name is removed with it if no other program has the socket.
func (l *Listener) Close(remove bool) {
	if remove {
		_ = os.Remove(filepath.Join(l.dir, Name)) // it may be left: it is found to lead nowhere
	}
	_ = l.l.Close()
}

// Share gives another descriptor of a socket, which stays as it is.
func Share(s syscall.Conn) (fd int, err error) {
	raw, err := s.SyscallConn()
	if err != nil {
		return -1, err
	}
	var dup error
	if err := raw.Control(func(own uintptr) {
		fd, dup = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return -1, err
	}
	return fd, dup
}

// CloseFD closes a descriptor.
func CloseFD(fd int) {
	if fd >= 0 {
		_ = unix.Close(fd) // what it holds is as it is
	}
}

// ErrNobody is that no program answers upgrades of a folder.
var ErrNobody = errors.New("it does not answer upgrades")

// Dial speaks to the program that keeps its game in a folder.
func Dial(dir string) (Channel, error) {
	var c *net.UnixConn
	err := short(dir, func(name string) (err error) {
		c, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: name, Net: "unix"})
		return err
	})
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("%w: %w", ErrNobody, err)
	case err != nil:
		return nil, err
	}
	if err := same(c); err != nil {
		_ = c.Close()
		return nil, err
	}
	return &conn{UnixConn: c}, nil
}

// same says whether the program at the other end is of the same user.
func same(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var got error
	if err := raw.Control(func(fd uintptr) {
		cred, got = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil || got != nil {
		return errors.Join(err, got)
	}
	if int(cred.Uid) != os.Geteuid() {
		return fmt.Errorf("%w (%d) is there", ErrUser, cred.Uid)
	}
	return nil
}

// A conn is a channel over a Unix socket.
type conn struct {
	*net.UnixConn
	came []int
}

// Read reads, and takes in descriptors that come along.
func (c *conn) Read(p []byte) (int, error) {
	oob := make([]byte, unix.CmsgSpace(4*mostHanded))
	n, got, _, _, err := c.ReadMsgUnix(p, oob)
	if got > 0 {
		list, e := unix.ParseSocketControlMessage(oob[:got])
		for i := range list {
			fds, e := unix.ParseUnixRights(&list[i])
			if e == nil {
				c.came = append(c.came, fds...)
			}
		}
		err = errors.Join(err, e)
	}
	if len(c.came) > mostHanded {
		for _, fd := range c.came {
			CloseFD(fd)
		}
		c.came, err = nil, fmt.Errorf("%w: too many descriptors", errMessage)
	}
	if n == 0 && err == nil && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

// WriteWith writes, and has descriptors go along with the first byte.
func (c *conn) WriteWith(p []byte, fds []int) error {
	n, _, err := c.WriteMsgUnix(p, unix.UnixRights(fds...), nil)
	if err != nil {
		return err
	}
	_, err = c.Write(p[n:])
	return err
}

// Came gives the descriptors that came along, once.
func (c *conn) Came() []int {
	list := c.came
	c.came = nil
	return list
}

// Close closes the channel, and descriptors that nobody asked for.
func (c *conn) Close() error {
	for _, fd := range c.Came() {
		CloseFD(fd)
	}
	return c.UnixConn.Close()
}

// A counter is a baton that the kernel keeps: an eventfd with a one in it, which one of those who
// read it gets.
type counter struct{ fd int }

// NewBaton makes a baton, and gives the descriptor to pass on.
func NewBaton() (Baton, int, error) {
	fd, err := unix.Eventfd(1, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, -1, err
	}
	return &counter{fd}, fd, nil
}

// HoldBaton makes a baton of a descriptor that came.
func HoldBaton(fd int) (Baton, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		CloseFD(fd)
		return nil, err
	}
	return &counter{fd}, nil
}

func (c *counter) Take() bool {
	var b [8]byte
	for {
		n, err := unix.Read(c.fd, b[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && n == len(b) && binary.NativeEndian.Uint64(b[:]) == 1
	}
}

func (c *counter) Close() {
	CloseFD(c.fd)
	c.fd = -1
}

// Possible says whether programs can take each other's places on this system.
func Possible() error { return nil }
