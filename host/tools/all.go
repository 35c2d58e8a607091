//go:build !js

package tools

import (
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools/bench"
	"github.com/coeval-dev/coeval/host/tools/codec"
	"github.com/coeval-dev/coeval/host/tools/crimp"
	"github.com/coeval-dev/coeval/host/tools/lab"
	"github.com/coeval-dev/coeval/host/tools/netsim"
	"github.com/coeval-dev/coeval/host/tools/vet"
)

// All are the tools, for host.Program.
var All = []host.Command{
	bench.Command, lab.Command, codec.Command, vet.Command, netsim.Command, crimp.Command}
