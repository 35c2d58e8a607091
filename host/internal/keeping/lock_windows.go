package keeping

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock takes a file for this program alone, until it is closed or the program ends.
func lock(f *os.File) error {
	// What is locked is far behind the end, so that the file can be read.
	at := windows.Overlapped{OffsetHigh: 1}
	return windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
}
