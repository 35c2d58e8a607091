//go:build !linux

package multicast

import (
	"fmt"
	"runtime"

	"github.com/coeval-dev/coeval/link"
)

// Open joins a group. It works on Linux only.
func Open(o Options) (link.Link, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if _, err := o.device(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("multicast: not available on %s, %s", runtime.GOOS, mesh)
}
