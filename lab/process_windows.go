package lab

import (
	"os/exec"
	"syscall"
	"time"
)

// ProcessTime is how long this process has run so far, in user and in kernel mode.
func ProcessTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	return span(kernel) + span(user)
}

// span reads a duration, which counts in tenths of a microsecond.
func span(f syscall.Filetime) time.Duration {
	return time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) * 100
}

// mostDescriptors is how many files a process may have open; there is no such limit here.
func mostDescriptors() uint64 { return ^uint64(0) }

// precede does nothing here.
func precede(int) {}

// ownGroup keeps Ctrl-C from a process whose parent will end it in good order.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP
}
