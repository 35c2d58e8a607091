//go:build !linux && !js

package upgrade

import (
	"errors"
	"net"
	"syscall"
)

// Name is the socket's in the game's folder.
const Name = "upgrade"

var errSystem = errors.New("a server can be upgraded while it runs on Linux alone, where its " +
	"sockets can be handed over: here, stop it and start the new one with the same folder")

// Possible says whether programs can take each other's places on this system.
func Possible() error { return errSystem }

// Errors of Accept and Dial.
var (
	ErrUser   = errors.New("a program of another user")
	ErrNobody = errors.New("it does not answer upgrades")
)

// A Listener is where a program that serves hears of those that want its place.
type Listener struct{}

// Listen opens the socket in a folder.
func Listen(string) (*Listener, error) { return nil, errSystem }

// AdoptListener makes a listener of a descriptor that was handed over.
func AdoptListener(string, int) (*Listener, error) { return nil, errSystem }

// Accept waits for a program that wants the place.
func (l *Listener) Accept() (Channel, error) { return nil, errSystem }

// Share gives another descriptor of the listener.
func (l *Listener) Share() (int, error) { return -1, errSystem }

// Close ends it.
func (l *Listener) Close(bool) {}

// FileListener makes a listener of a descriptor.
func FileListener(int) (net.Listener, error) { return nil, errSystem }

// FilePacketConn makes a socket for datagrams of a descriptor.
func FilePacketConn(int) (net.PacketConn, error) { return nil, errSystem }

// Share gives another descriptor of a socket.
func Share(syscall.Conn) (int, error) { return -1, errSystem }

// CloseFD closes a descriptor.
func CloseFD(int) {}

// Dial speaks to the program that keeps its game in a folder.
func Dial(string) (Channel, error) { return nil, errSystem }

// NewBaton makes a baton.
func NewBaton() (Baton, int, error) { return nil, -1, errSystem }

// HoldBaton makes a baton of a descriptor that came.
func HoldBaton(int) (Baton, error) { return nil, errSystem }
