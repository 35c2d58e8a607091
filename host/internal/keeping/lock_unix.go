//go:build unix

package keeping

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock takes a file for this program alone, until it is closed or the program ends.
func lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
