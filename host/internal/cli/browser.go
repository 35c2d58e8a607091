//go:build !js

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/term"
)

// ByHand is what those are told for whom no browser opens by itself.
const ByHand = "open that address in a browser"

// OpenBrowser shows a page to whoever sits in front of this machine. Where there is no one, or no
// browser, it says that the address is to be opened.
func OpenBrowser(ctx context.Context, out io.Writer, url string) {
	var c *exec.Cmd
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		c = browserCommand(ctx, url)
	}
	if c == nil {
		fmt.Fprintln(out, ByHand)
		return
	}
	if c.Start() != nil {
		fmt.Fprintf(out, "no browser was found: %s\n", ByHand)
		return
	}
	go opened(ctx, c, out)
}

// opened waits for what opens a browser, and says so if it could not.
func opened(ctx context.Context, c *exec.Cmd, out io.Writer) {
	if c.Wait() != nil && ctx.Err() == nil {
		fmt.Fprintf(out, "no browser could be opened: %s\n", ByHand)
	}
}

// browserCommand is what opens a page, or nil where nobody would see it.
func browserCommand(ctx context.Context, url string) *exec.Cmd {
	switch runtime.GOOS {
	case "darwin":
		return exec.CommandContext(ctx, "open", url)
	case "windows":
		return exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", url)
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	return exec.CommandContext(ctx, "xdg-open", url)
}
