//go:build unix

package seamlesslab

import (
	"os"
	"syscall"
)

// canStop says whether a process can be made to stand still.
const canStop = true

func stop(p *os.Process) error   { return p.Signal(syscall.SIGSTOP) }
func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
