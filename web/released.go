//go:build release

package web

import (
	"embed"
	"io/fs"
)

//go:embed client
var released embed.FS

// Released is the bundle that a release brings: built with the tag release, after coeval demo
// --build-client web/client.
func Released() (*Bundle, error) {
	folder, err := fs.Sub(released, "client")
	if err != nil {
		return nil, err
	}
	return LoadBundle(folder)
}
