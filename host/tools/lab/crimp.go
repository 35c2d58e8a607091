//go:build !js

package lab

import (
	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab/crimplab"
)

const crimpLong = `Run groups of the reliable multicast over simulated networks that lose packets:
Table 4.1 of Cronin, Filstrup and Kurc (2001), and further.

Paths take 25 ms each way, each sender sends 2000 packets of 16 to 96 bytes, one
each 30 ms, the history is 1 s. Loss is separate (each path by itself), or shared
as in the paper's topology: half of the members on each side of one path, which
loses for all behind it.

Four ways of recovery: "paper" has the constants of the paper and no forward
error correction, "adaptive" finds its own, "+fec" adds forward error correction
chosen by measured loss. Delays are milliseconds above the path's own. Requests
and repairs are given for each copy that a member missed, and for each packet that
any member missed. In groups above 16 only 4 members send, and 500 packets each;
--whole has all send all, and takes much longer.

Last, it is measured what a group of 16 costs a processor at 1000 packets a second
from each, without sockets.

The command fails if a target is missed.`

const crimpExample = `  {program} lab crimp
  {program} lab crimp --members 2,16 --loss 0.05,0.15 --way adaptive+fec
  {program} lab crimp --json > crimp.jsonl`

func crimpVerb(p *host.Program) *cobra.Command {
	var o crimplab.Options
	return verb.Verb{
		Name: "crimp", Short: "Reliable multicast under loss: delays, duplicates and bytes",
		Long: crimpLong, Example: crimpExample,
		Options: o.List(),
		Run:     verb.Run(&o, &o.Progress, crimplab.Run),
	}.For(p)
}
