//go:build !js

package bench

import (
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/tools/internal/verb"
	"github.com/coeval-dev/coeval/lab/directorylab"
)

const directoryLong = `Measure what a directory bears on one core.

A directory is started as a process of its own, with one core, and loaded by this one over
loopback. 10,000 servers register, each of which answers a challenge at an address of its
own, and then say every 10 s that they are there, by a connection of their own. Lists are
asked for 1,000 times a second, at times that do not wait for answers: of a game, a region,
those with room, by name, and the pages that follow; one in ten by a new connection. 1,000
listeners hear what has changed, each of one of 50 games; the delay counts from when a
server says something new until a listener has it. At the end all servers have to be listed.

Then a million queries by UDP come from addresses of 127.0.0.0/8 at random, as fast as they
can be sent, whose answers nobody reads; and somebody asks honestly meanwhile. The bytes in
and out are the directory's own count (/metrics).

Without --url it measures SQLite, and PostgreSQL if it is installed, which is started in a
temporary folder. The databases that --url names must be empty.`

func directoryVerb(p *host.Program) *cobra.Command {
	var o directorylab.Options
	return verb.Verb{
		Name: "directory", Short: "What a directory bears: servers, lists, listeners, floods",
		Long: directoryLong,
		Example: "  {program} bench directory\n  {program} bench directory --servers 1000 " +
			"--seconds 10 --json",
		Options: o.List(),
		Prepare: func(*cobra.Command) error {
			self, err := os.Executable()
			o.Start = func(args ...string) *exec.Cmd { return exec.Command(self, args...) }
			return err
		},
		Run: verb.Run(&o, &o.Progress, directorylab.Run),
	}.For(p)
}
