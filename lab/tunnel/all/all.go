// Package all has a program know every architecture of the wind tunnel.
package all

import (
	_ "github.com/coeval-dev/coeval/lab/tunnel/alone"          // everybody at one machine
	_ "github.com/coeval-dev/coeval/lab/tunnel/between"        // players themselves
	_ "github.com/coeval-dev/coeval/lab/tunnel/mirrored"       // clients of mirrors
	_ "github.com/coeval-dev/coeval/lab/tunnel/served"         // clients of a server
	_ "github.com/coeval-dev/coeval/topology/architecture/all" // and how those are told
)
