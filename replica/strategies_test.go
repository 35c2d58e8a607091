package replica_test

// Tests of this package try every strategy.
import (
	_ "github.com/coeval-dev/coeval/replica/doom3"
	_ "github.com/coeval-dev/coeval/replica/quake"
	_ "github.com/coeval-dev/coeval/replica/quake2"
	_ "github.com/coeval-dev/coeval/replica/quake3"
	_ "github.com/coeval-dev/coeval/replica/quakeworld"
)
