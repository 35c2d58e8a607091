//go:build !unix

package starter

import (
	"context"
	"os/exec"
)

// shell is a command.
func shell(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd", "/C", line)
}
