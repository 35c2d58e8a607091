//go:build !linux

package udp

import (
	"errors"

	"github.com/coeval-dev/coeval/link"
)

var errAdopt = errors.New("udp: sockets are handed over on Linux alone")

// Share gives another descriptor of a link's socket, for a program that takes this one's place.
func Share(link.Link) (fd int, err error) { return -1, errAdopt }

// Adopt makes a link of a socket that another program has shared.
func Adopt(int, Options) (link.Link, error) { return nil, errAdopt }
