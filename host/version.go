//go:build !js

package host

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
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
	Platform string `json:"platform"`         // system/processor
	Coeval   string `json:"coeval,omitempty"` // the version of the toolkit, in programs of others

	name string // of the program
}

func (p *Program) versionCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say what this program was built from",
		Long: `Say what this program was built from: release, commit, Go version, platform.

The commit is known when the program was built inside its repository, or
installed by version with go install.`,
		Example: "  {program} version\n  {program} version --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisProgram(p.Name)
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(b)
			}
			_, err := io.WriteString(cmd.OutOrStdout(), b.String())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// thisProgram is what is known of the program that runs.
func thisProgram(name string) build {
	info, _ := debug.ReadBuildInfo()
	b := describe(info)
	b.name = name
	return b
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
	for _, d := range info.Deps {
		if d.Path == module {
			b.Coeval = d.Version
		}
	}
	return b
}

// String is what people are told, a line each.
func (b build) String() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\t%s\n", b.name, b.Version)
	if b.Revision != "" {
		changed := ""
		if b.Modified {
			changed = ", with uncommitted changes"
		}
		fmt.Fprintf(w, "commit\t%s (%s%s)\n", b.Revision, b.Time, changed)
	}
	fmt.Fprintf(w, "go\t%s\n", b.Go)
	if b.Coeval != "" {
		fmt.Fprintf(w, "coeval\t%s\n", b.Coeval)
	}
	fmt.Fprintf(w, "platform\t%s\n", b.Platform)
	_ = w.Flush() // a builder takes everything
	return out.String()
}
