package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// A build says what this program was made from. The JSON names are for
// scripts and stay.
type build struct {
	Module   string `json:"module"`
	Version  string `json:"version"`            // a release, or (devel)
	Revision string `json:"revision,omitempty"` // the commit, where the go command recorded it
	Time     string `json:"time,omitempty"`     // when that was committed
	Modified bool   `json:"modified"`           // whether there were uncommitted changes
	Go       string `json:"go"`
	Platform string `json:"platform"` // system/processor
}

func versionCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say what this program was built from",
		Long: `Say what this program was built from: release, commit, Go version, platform.

The commit is known when the program was built inside its repository, or
installed by version with go install.`,
		Example: "  coeval version\n  coeval version --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			b := describe(info)
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(b)
			}
			return b.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// describe picks from what the go command recorded; info is nil for a program
// built without modules.
func describe(info *debug.BuildInfo) build {
	b := build{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	b.Module = info.Main.Path
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b build) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "coeval\t%s\n", b.Version)
	if b.Revision != "" {
		changed := ""
		if b.Modified {
			changed = ", with uncommitted changes"
		}
		fmt.Fprintf(w, "commit\t%s (%s%s)\n", b.Revision, b.Time, changed)
	}
	fmt.Fprintf(w, "go\t%s\n", b.Go)
	fmt.Fprintf(w, "platform\t%s\n", b.Platform)
	return w.Flush()
}
