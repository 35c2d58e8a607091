//go:build unix

package main

import (
	"os/exec"
	"syscall"
	"time"
)

// endTogether makes cancelling a command end its children too: the go command
// leaves the test binaries it started to themselves.
func endTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
}
