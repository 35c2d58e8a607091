package admin

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock waits until a file is this program's alone, which it is until it is closed.
func lock(f *os.File) error {
	var at windows.Overlapped
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &at)
}
