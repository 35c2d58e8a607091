package cli

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// Width is how many columns there are to write to: those of a terminal, or as many as the
// environment's COLUMNS says, or 100.
func Width(out io.Writer) int {
	if f, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		return width
	}
	return 100
}
