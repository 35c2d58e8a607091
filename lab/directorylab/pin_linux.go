package directorylab

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// pinned starts a process that has one core. A process has the cores of the thread that starts it.
func pinned(start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return start() // GOMAXPROCS is one, at least
	}
	for core := range 1024 {
		if all.IsSet(core) {
			one.Set(core)
			break
		}
	}
	if unix.SchedSetaffinity(0, &one) != nil {
		return start()
	}
	defer func() { _ = unix.SchedSetaffinity(0, &all) }()
	return start()
}

// precede puts all threads of a process before what else runs on the machine, so that what is
// measured is the program. The system grants that to few; it goes without as well.
func precede(pid int) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // without them there is nothing to do
	for _, t := range tasks {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, -15)
		}
	}
}
