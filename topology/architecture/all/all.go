// Package all makes the strategies of all architectures part of the program that imports it.
package all

import (
	_ "github.com/coeval-dev/coeval/replica/doom3"
	_ "github.com/coeval-dev/coeval/replica/quake"
	_ "github.com/coeval-dev/coeval/replica/quake2"
	_ "github.com/coeval-dev/coeval/replica/quake3"
	_ "github.com/coeval-dev/coeval/replica/quakeworld"
)
