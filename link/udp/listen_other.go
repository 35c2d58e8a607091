//go:build !linux

package udp

import "github.com/coeval-dev/coeval/link"

// Listen opens a link on an address such as ":4000". Port 0 stands for any.
func Listen(address string, o Options) (link.Link, error) { return ListenPortable(address, o) }
