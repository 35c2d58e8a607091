package tools_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/tools"
	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
)

// TestEveryToolExplainsItself holds each tool to the least that a reader of --help needs.
func TestEveryToolExplainsItself(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		if cmd.Short == "" {
			t.Errorf("%s has no short description", cmd.CommandPath())
		}
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	for _, tool := range tools.All {
		visit(tool(toolstest.Bundled()))
	}
}

func TestToolsCommandLine(t *testing.T) {
	for _, x := range []struct {
		args           string
		code           int
		stdout, stderr string // what each must contain; empty means empty
	}{
		{"", 0, "Measure bytes, time and allocations", ""},
		{"bench --help", 0, "Without a name it lists", ""},
		{"bench", 0, "coeval bench codec", ""},
		{"lab", 0, "coeval lab mirrors", ""},
		{"bench nothing-like-it", 2, "", `coeval bench: there is no command "nothing-like-it"`},
		{"bench feel --game chess", 2, "",
			`there is no game "chess"; there are arena, crowd, pong, stack`},
		{"codec play --out x", 2, "", "which game? There are arena, crowd, pong, stack"},
	} {
		code, stdout, stderr := toolstest.Try(strings.Fields(x.args)...)
		if code != x.code {
			t.Errorf("%q: exit code %d, want %d", x.args, code, x.code)
		}
		for _, s := range []struct{ got, want string }{{stdout, x.stdout}, {stderr, x.stderr}} {
			if (s.want == "") != (s.got == "") || !strings.Contains(s.got, s.want) {
				t.Errorf("%q prints %q, want it to contain %q", x.args, s.got, s.want)
			}
		}
	}
}
