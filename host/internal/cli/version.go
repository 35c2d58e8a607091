package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Module is where the toolkit's own sources come from.
const Module = "github.com/coeval-dev/coeval"

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

// VersionCommand says what the program was built from.
func VersionCommand(p *Program) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say what this program was built from",
		Long: `Say what this program was built from: release, commit, Go version, platform.

The commit is known when the program was built inside its repository, or
installed by version with go install.`,
		Example: "  {program} version\n  {program} version --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return Print(cmd.OutOrStdout(), thisProgram(p.Name), asJSON)
		},
	}
	JSONFlag(cmd, &asJSON)
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
	b := build{Version: "unknown", Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
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
		if d.Path == Module {
			b.Coeval = d.Version
		}
	}
	return b
}

// String is what people are told, a line each.
func (b build) String() string {
	var r Rows
	r.Add(b.name, "%s", b.Version)
	if b.Revision != "" {
		changed := ""
		if b.Modified {
			changed = ", with uncommitted changes"
		}
		r.Add("commit", "%s (%s%s)", b.Revision, b.Time, changed)
	}
	r.Add("go", "%s", b.Go)
	if b.Coeval != "" {
		r.Add("coeval", "%s", b.Coeval)
	}
	r.Add("platform", "%s", b.Platform)
	return r.String()
}
