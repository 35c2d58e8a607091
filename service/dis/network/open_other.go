//go:build !linux

package network

import (
	"net/netip"

	"github.com/coeval-dev/coeval/link"
)

func open(listen string, _ netip.AddrPort) (link.Link, error) { return fallback(listen) }
