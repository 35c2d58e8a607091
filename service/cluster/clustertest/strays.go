package clustertest

import "go.uber.org/goleak"

// Strays are what NATS 2.15 may leave behind when a server is shut down at the moment at which it
// makes a stream: the loop of that stream's file, and the clock that it reads. Of a server that
// was not shut down much more is left, which is found all the same.
func Strays() []goleak.Option {
	const nats = "github.com/nats-io/nats-server/v2/server"
	return []goleak.Option{
		goleak.IgnoreAnyFunction(nats + ".(*fileStore).flushStreamStateLoop"),
		goleak.IgnoreAnyFunction(nats + "/ats.Register.func1"),
	}
}
