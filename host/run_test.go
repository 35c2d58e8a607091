package host

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/spf13/cobra"
)

// TestMain lets the test binary stand in for the program, so that signals and
// exit codes are tested on a real process.
func TestMain(m *testing.M) {
	if os.Getenv("COEVAL_TEST_AS_PROGRAM") != "" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr,
			append(commands(), testCommands()...)))
	}
	os.Exit(hosttest.Main(m))
}

// testCommands are commands that end in each of the ways a command can.
func testCommands() []*cobra.Command {
	wait := &cobra.Command{Use: "wait", RunE: func(cmd *cobra.Command, _ []string) error {
		cmd.PrintErrln("waiting")
		<-cmd.Context().Done()
		return cmd.Context().Err()
	}}
	host := &cobra.Command{Use: "host", RunE: func(cmd *cobra.Command, _ []string) error {
		cmd.PrintErrln("waiting")
		<-cmd.Context().Done()
		return nil
	}}
	fail := &cobra.Command{
		Use: "fail", RunE: func(*cobra.Command, []string) error {
			return errors.New("the disk is full")
		}}
	strict := &cobra.Command{Use: "strict", RunE: func(*cobra.Command, []string) error {
		return cli.Usagef("--loss is %d: it must be between 0 and 1", 7)
	}}
	required := &cobra.Command{
		Use: "required", RunE: func(*cobra.Command, []string) error { return nil }}
	required.Flags().String("to", "", "where to")
	if err := required.MarkFlagRequired("to"); err != nil {
		panic(err)
	}
	group := &cobra.Command{Use: "group", Short: "things in a group"}
	group.AddCommand(&cobra.Command{Use: "inspect", Short: "look inside",
		Run: func(cmd *cobra.Command, _ []string) { cmd.Print("looked") }})
	return []*cobra.Command{wait, host, fail, strict, required, group}
}

func TestCommandLine(t *testing.T) {
	for _, x := range []struct {
		args           string
		code           int
		stdout, stderr string // what each must contain; empty means empty
	}{
		{"", 0, "coeval serve arena", ""},
		{"--help", 0, "Examples:", ""},
		{"help version", 0, "--json", ""},
		{"--version", 0, "platform", ""},
		{"version", 0, "platform", ""},
		{"completion bash", 0, "__start_coeval", ""},
		{"completion zsh", 0, "#compdef coeval", ""},
		{"completion fish", 0, "complete -c coeval", ""},
		{"completion powershell", 0, "Register-ArgumentCompleter", ""},
		{"group", 0, "look inside", ""},
		{"group inspect", 0, "looked", ""},
		{"verson", 2, "", `coeval: there is no command "verson"; did you mean version?`},
		{"frobnicate", 2, "", `coeval: there is no command "frobnicate"` + "\nRun 'coeval --help'"},
		{"group inspetc", 2, "",
			`coeval group: there is no command "inspetc"; did you mean inspect?`},
		{"trace nothing-like-it", 2, "", `coeval trace: there is no command "nothing-like-it"`},
		{"version --jsn", 2, "",
			"coeval version: unknown flag: --jsn\nRun 'coeval version --help'"},
		{"version extra", 2, "", "coeval version: "},
		{"required", 2, "", `required flag(s) "to" not set`},
		{"strict", 2, "",
			"coeval strict: --loss is 7: it must be between 0 and 1\nRun 'coeval strict --help'"},
		{"fail", 1, "", "coeval fail: the disk is full\n"},
	} {
		t.Run(x.args, func(t *testing.T) {
			code, stdout, stderr := try(strings.Fields(x.args)...)
			if code != x.code {
				t.Errorf("exit code %d, want %d", code, x.code)
			}
			for _, s := range []struct{ name, got, want string }{
				{"stdout", stdout, x.stdout}, {"stderr", stderr, x.stderr}} {
				if (s.want == "") != (s.got == "") || !strings.Contains(s.got, s.want) {
					t.Errorf("%s is %q, want it to contain %q", s.name, s.got, s.want)
				}
			}
		})
	}
}

// TestEveryCommandExplainsItself holds each command, whoever wrote it, to the
// least that a reader of --help needs.
func TestEveryCommandExplainsItself(t *testing.T) {
	root, _ := bundled.Root(commands(), io.Discard, io.Discard)
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Name() == "completion" || cmd.Hidden {
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
	visit(root)
}

func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot send an interrupt to one process")
	}
	for _, x := range []struct {
		command string
		code    int
		stderr  string
	}{
		{"wait", cli.ExitInterrupted, "coeval wait: interrupted before it was finished"},
		{"host", cli.ExitOK, "coeval: stopping"},
	} {
		t.Run(x.command, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], x.command)
			cmd.Env = append(os.Environ(), "COEVAL_TEST_AS_PROGRAM=1")
			pipe, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(pipe)
			if !lines.Scan() || lines.Text() != "waiting" {
				t.Errorf("began with %q", lines.Text())
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			var rest strings.Builder
			for lines.Scan() {
				rest.WriteString(lines.Text() + "\n")
			}
			err = cmd.Wait()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != x.code {
				t.Errorf("exit code %d, want %d", code, x.code)
			}
			if !strings.Contains(rest.String(), x.stderr) {
				t.Errorf("stderr %q, want it to contain %q", rest.String(), x.stderr)
			}
		})
	}
}
