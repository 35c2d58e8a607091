//go:build unix

package lab

import (
	"os/exec"
	"syscall"
	"time"
)

// ProcessTime is how long this process has run so far, in user and in kernel mode.
func ProcessTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// mostDescriptors is how many files a process may have open.
func mostDescriptors() uint64 {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return ^uint64(0)
	}
	return max(uint64(r.Cur), uint64(r.Max))
}

// precede puts a process with a group of its own before others, so that it keeps its beat on a
// busy machine. The system grants that to few; it goes without as well.
func precede(group int) { _ = syscall.Setpriority(syscall.PRIO_PGRP, group, -15) }

// ownGroup keeps Ctrl-C, which a terminal sends to a whole group, from a process whose
// parent will end it in good order.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}
