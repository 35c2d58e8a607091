//go:build !unix

package main

import (
	"os/exec"
	"time"
)

// endTogether bounds the wait for children that outlive a cancelled command.
func endTogether(cmd *exec.Cmd) { cmd.WaitDelay = 5 * time.Second }
