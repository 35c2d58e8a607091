package host

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/bits"
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/world"
)

// A dot is all that there is in the plainest game.
type dot struct{ Pos det.Vec2 }

func (d *dot) Sync(s *bits.Sync)                { s.Vec2(&d.Pos, -10, 10, 0.01) }
func (d *dot) Step(w *world.World, me world.ID) {}

// plain is a title with nothing but its rules: no bots, levels, drawing or commands.
func plain(name string) *game.Title {
	return &game.Title{Game: world.Define(name, world.Class[dot]())}
}

// hinted is a class that contradicts itself, twice.
type hinted struct{ dot }

func (h *hinted) Hints(x *game.Hints) {
	x.Predicted()
	x.Interpolated()
	x.Body(-1)
}

func tryProgram(p Program, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	p.Name = "tanks"
	code = p.Run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// TestProgramsThatForgotSomething: every mistake is said at the start, all of them together, with
// what to do about it.
func TestProgramsThatForgotSomething(t *testing.T) {
	wrong := &game.Title{Game: world.Define("wrong", world.Class[hinted]()), Players: -1}
	for name, x := range map[string]struct {
		titles []*game.Title
		want   []string
	}{
		"no title": {
			nil, []string{"the program has no game: pass its title, as in host.Main(tanks.Title)"}},
		"nil":      {[]*game.Title{nil}, []string{"title 1 of 1 is nil"}},
		"no rules": {[]*game.Title{{}}, []string{"set Title.Game"}},
		"of one name": {
			[]*game.Title{plain("tanks"), pong.Title, plain("tanks")}, []string{
				`two titles are called "tanks"`}},
		"mistakes": {[]*game.Title{wrong, nil, {}}, []string{
			`title "wrong"`, "there are -1 Players", "class hinted: h.Interpolated",
			"h.Body: -1 wide", "title 2 of 3 is nil", "set Title.Game",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := tryProgram(Program{Titles: x.titles}, "version")
			if code != cli.ExitUsage || stdout != "" || !strings.HasPrefix(stderr, "tanks: ") {
				t.Errorf("exit code %d: %q, %q", code, stdout, stderr)
			}
			for _, want := range x.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("no %q in\n%s", want, stderr)
				}
			}
		})
	}
}

// TestTitlesWithout: what a title has not, each command does without, or says so.
func TestTitlesWithout(t *testing.T) {
	one := Program{Titles: []*game.Title{plain("tanks")}}
	two := Program{Titles: []*game.Title{pong.Title, stack.Title}}
	for _, x := range []struct {
		program Program
		args    string
		code    int
		want    string
	}{
		{one, "play", cli.ExitUsage,
			"tanks cannot be drawn, as its title has no Screen; use --headless"},
		{one, "play --headless --ticks 5", cli.ExitOK,
			"tanks, seed 1, 1 players, tick 5: 0 entities"},
		{one, "play tanks --headless --ticks 5", cli.ExitOK, "tanks, seed 1"},
		{one, "play --check --ticks 20", cli.ExitOK, "all the same"},
		{one, "play chess", cli.ExitUsage,
			`there is no game "chess"; the only one is tanks, so leave the name out`},
		{one, "play --headless --level mars", cli.ExitUsage,
			`--level is "mars", and tanks has no levels`},
		{one, "play --headless --map titles_test.go", cli.ExitFailure,
			"its levels have no data of their own; leave the file out"},
		{one, "serve --map nowhere", cli.ExitFailure, "nowhere"},
		{one, "serve --level mars", cli.ExitUsage, "tanks has no levels"},
		{one, "demo --no-open", cli.ExitUsage,
			"tanks cannot be shown in a browser: its title has neither a Screen to draw with nor " +
				"a Client"},
		{one, "--help", cli.ExitOK, "tanks serve\n"},
		{one, "serve --help", cli.ExitOK, "  tanks serve --players 16"},
		{one, "token --help", cli.ExitOK, "tanks token key --out server.key"},
		{one, "mirror --help", cli.ExitOK, "tanks mirror --uber --key"},
		{one, "mirror --uber", cli.ExitUsage, "make one with: tanks token key --out mirrors.key"},
		{one, "serve --key nowhere", cli.ExitFailure,
			"make one with: tanks token key --out nowhere"},
		{one, "join 127.0.0.1:1 --token x", cli.ExitFailure, "token"},
		{two, "play", cli.ExitUsage, "which game? There are pong, stack"},
		{two, "serve pong --page 127.0.0.1:80", cli.ExitUsage,
			`"127.0.0.1:80" is one word too many`},
		{two, "serve chess", cli.ExitUsage, `there is no game "chess"; there are pong, stack`},
		{two, "play pong --headless --level mars", cli.ExitUsage,
			`--level is "mars", and pong has no levels`},
		{two, "demo chess", cli.ExitUsage, `there is no game "chess"`},
		{two, "--help", cli.ExitOK, "pong     two paddles"},
	} {
		t.Run(x.args, func(t *testing.T) {
			code, stdout, stderr := tryProgram(x.program, strings.Fields(x.args)...)
			if code != x.code || !strings.Contains(stdout+stderr, x.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", code, x.code, x.want, stdout,
					stderr)
			}
			if strings.Contains(stdout+stderr, "{program}") ||
				strings.Contains(stdout+stderr, "{game}") {
				t.Errorf("a text is not filled in:\n%s%s", stdout, stderr)
			}
		})
	}
}

// TestHelpBeginsWithWhatPeopleLookFor: play, serve, join and demo stand first.
func TestHelpBeginsWithWhatPeopleLookFor(t *testing.T) {
	_, stdout, _ := tryProgram(Program{Titles: []*game.Title{pong.Title}}, "--help")
	at := -1
	for _, name := range []string{
		"Play:", "  play ", "  serve ", "  join ", "  demo ", "Run servers:", "  mirror ",
		"  bots ", "Look inside:", "  trace "} {
		i := strings.Index(stdout, "\n"+name)
		if i <= at {
			t.Errorf("%q is not where it should be in\n%s", name, stdout)
		}
		at = i
	}
	for _, args := range []string{"--version", "version"} {
		code, stdout, _ := tryProgram(Program{Titles: []*game.Title{pong.Title}}, args)
		if code != cli.ExitOK || !strings.HasPrefix(stdout, "tanks ") ||
			!strings.Contains(stdout, "platform") {
			t.Errorf("%s: exit code %d: %s", args, code, stdout)
		}
	}
}
