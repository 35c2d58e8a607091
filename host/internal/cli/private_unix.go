//go:build unix

package cli

import (
	"io/fs"
	"syscall"
)

// onlyRoots says that a file is root's, can be read by it and its group, and written by none. So
// systemd hands out credentials: who else may read one stands in an access list, whose mask shows
// as the rights of the group.
func onlyRoots(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0 && st.Gid == 0 && info.Mode().Perm() == 0o440
}
