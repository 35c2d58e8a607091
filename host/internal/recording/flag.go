//go:build !js

package recording

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/coeval-dev/coeval/host/internal/cli"
)

// LastFlag adds the flag that keeps only the last of a match.
func LastFlag(f *pflag.FlagSet, last *time.Duration) {
	f.DurationVar(last, "record-last", 0,
		"with --record, keep only the last of the match, such as 5m (default: all of it)")
}

// CheckLast looks at what can be wrong with the flag.
func CheckLast(name string, last time.Duration) error {
	switch {
	case last != 0 && name == "":
		return cli.Usagef("--record-last goes with --record, the file to record to")
	case last != 0 && last < time.Second:
		return cli.Usagef("--record-last is %v: it must be at least 1s", last)
	}
	return nil
}
