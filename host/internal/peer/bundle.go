//go:build !js

package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/coeval-dev/coeval/topology/peers"
)

// mostBundles is how many differences are kept of one session. The first ones tell why.
const mostBundles = 4

// bundles are where worlds are kept that should have been the same: what the command desync
// compares.
type bundles struct {
	dir  string // none for nowhere
	game string
	kept int
}

// keep writes the two worlds of a difference, and says how to compare them.
func (b *bundles) keep(n *peers.News) string {
	if n.Kind != peers.Repaired || len(n.Mine) == 0 || len(n.Theirs) == 0 || b.dir == "none" ||
		b.kept == mostBundles {
		return ""
	}
	b.kept++
	dir := filepath.Join(b.dir, fmt.Sprintf("desync-%s-%d", fileName(b.game), n.Tick))
	mine, theirs := filepath.Join(dir, "mine.state"), filepath.Join(dir, "theirs.state")
	err := os.MkdirAll(dir, 0o700) // the world's secret is in it
	if err == nil {
		err = errors.Join(os.WriteFile(mine, n.Mine, 0o600), os.WriteFile(theirs, n.Theirs, 0o600))
	}
	if err != nil {
		return fmt.Sprintf("the two worlds could not be kept: %v", err)
	}
	return fmt.Sprintf("see in what they differed with: {program} desync %s %s --out none", mine,
		theirs)
}
