package cli

import (
	"bytes"
	"context"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestNoBrowser: where none opens, the address is to be opened by hand, and that is said.
func TestNoBrowser(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("there the system opens pages")
	}
	var out bytes.Buffer
	OpenBrowser(t.Context(), &out, "http://127.0.0.1:1/") // which is no terminal
	if !strings.Contains(out.String(), ByHand) {
		t.Errorf("%q", &out)
	}
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	if c := browserCommand(t.Context(), "x"); c != nil {
		t.Errorf("without a screen: %v", c)
	}
	t.Setenv("DISPLAY", ":7")
	if c := browserCommand(t.Context(), "x"); c == nil || c.Args[0] != "xdg-open" {
		t.Errorf("%v", c)
	}
	for program, says := range map[string]string{
		"false": "no browser could be opened", "true": "",
	} {
		out.Reset()
		c := exec.CommandContext(context.Background(), program)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		opened(t.Context(), c, &out)
		if got := out.String(); says == "" && got != "" || !strings.Contains(got, says) {
			t.Errorf("%s: %q", program, got)
		}
	}
}
