//go:build !unix

package cli

import "io/fs"

// onlyRoots is for systems that have root.
func onlyRoots(fs.FileInfo) bool { return false }
