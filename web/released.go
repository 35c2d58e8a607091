//go:build release

package web

import (
	"embed"
	"path"
)

//go:embed client
var released embed.FS

type releasedFolder struct{}

func (releasedFolder) ReadFile(name string) ([]byte, error) {
	return released.ReadFile(path.Join("client", name))
}

// Released is the bundle that a release brings: built with the tag release, after coeval demo --build-client web/client.
func Released() (*Bundle, error) { return LoadBundle(releasedFolder{}) }
