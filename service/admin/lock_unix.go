//go:build unix

package admin

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock waits until a file is this program's alone, which it is until it is closed.
func lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX) }
