//go:build !js

package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/serve"
	"github.com/coeval-dev/coeval/web"
	"github.com/coeval-dev/coeval/world"
)

// A Test is a blind test that a person takes on a page: two sides of one game, without being told
// which is played. It belongs to one goroutine.
type Test interface {
	// Begin begins the present trial, and Answer takes the answer to it: 0 or 1.
	Begin()
	Answer(trial, choice int) error
	// Frame goes on to a time, and gives what is to be drawn, or nothing. Match tells one match
	// from another. The person is asked for commands.
	Frame(clock time.Duration, person game.Bot) (f *game.Frame, match int)
	// Tell is what the page may know, as JSON.
	Tell() any
	// Err is what went wrong with a match, or nil, and Summary what to say at the end. Both are for
	// whoever runs the test.
	Err() error
	Summary() []string
	Close()
}

// A TestWish is what the command line says of a blind test.
type TestWish struct {
	Title    *game.Title
	Level    string
	Pair     string // what is compared
	Question string // empty for the one that suits that
	Network  string
	Players  int
	Trials   int
	Interval time.Duration
	Person   string
	File     string // for answers, or empty
}

// NewTest makes a blind test. It is set by package host/tools/lab, where the wind tunnel is.
var NewTest func(ctx context.Context, w TestWish, out io.Writer) (Test, error)

// blindFlags are what the command line says of a blind test.
type blindFlags struct {
	pair     string // empty for the styles of one client, in its own page
	question string
	trials   int
	interval time.Duration
	person   string
	answers  string
	test     Test
}

func (b *blindFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&b.pair, "blind", "",
		"find out which of two you prefer, or whether you can tell them apart: two "+
			"architectures, such as quake3,coeval, or rollback=0,4 (default: styles of prediction)")
	f.Lookup("blind").NoOptDefVal = styles
	f.StringVar(&b.question, "question", "",
		"with --blind, what is asked: better, which of two was, or abx, which of two a third was "+
			"(default: abx for rollbacks, and better otherwise)")
	f.IntVar(&b.trials, "trials", 16,
		"with --blind, how many trials there are; it cannot be changed later")
	f.DurationVar(&b.interval, "interval", 8*time.Second,
		"with --blind, how long each side is played at a time")
	f.StringVar(&b.person, "person", "", "with --blind, who you are, for when there are several")
	f.StringVar(&b.answers, "answers", "",
		"with --blind, keep answers in `FILE`, and go on with the test that is in it (default: a "+
			"new file here)")
}

// pairs has a command take what is compared from its arguments, where --blind stands alone before
// it.
func pairs(cmd *cobra.Command, b *blindFlags) {
	check, run := cmd.Args, cmd.RunE
	part := func(args []string) []string {
		if b.pair == styles {
			pair, rest := takePair(args)
			b.pair = cmp.Or(pair, styles)
			return rest
		}
		return args
	}
	var rest []string
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		rest = part(args)
		return check(cmd, rest)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return run(cmd, rest) }
}

// styles is what --blind without a value compares.
const styles = "styles"

// usualOthers is how many bots play in a blind test.
const usualOthers = 3

// check looks at the command line before anything is opened.
func (b *blindFlags) check(d *flags, given func(string) bool) error {
	for _, name := range []string{"question", "trials", "interval", "person", "answers"} {
		if given(name) && (b.pair == "" || b.pair == styles) {
			return cli.Usagef("--%s goes with a --blind of two, such as --blind quake3,coeval",
				name)
		}
	}
	switch b.pair {
	case "":
		return nil
	case styles:
		if d.mirrors != nil || d.peers != nil {
			return cli.Usagef("--blind alone compares styles of prediction on one server: leave " +
				"out --mirrors and --peers, or say what to compare, such as " +
				"--blind lockstep,rollback")
		}
		d.blind = b
		return nil
	}
	for _, name := range []string{"mirrors", "peers", "listen", "watch", "architecture", "style",
		"seed", "settings", "knob"} {
		if given(name) {
			return cli.Usagef("--%s says what --blind hides, or does not go with it: leave it out",
				name)
		}
	}
	if !d.title.Screen.Drawn() {
		return cli.Usagef("%s cannot be shown: its title has no Screen to draw with",
			d.title.Name())
	}
	if NewTest == nil {
		return cli.Usagef("this program has no wind tunnel, whose matches --blind plays: add " +
			"tools.All to the Tools of its host.Program")
	}
	if d.bots == usualBots {
		d.bots = usualOthers
		if most := d.title.Players - 1; most > 0 {
			d.bots = min(d.bots, most)
		}
	}
	d.blind = b
	return nil
}

// wish is what to test.
func (b *blindFlags) wish(d *flags) TestWish {
	return TestWish{Title: d.title, Level: d.level, Pair: b.pair, Question: b.question,
		Network: d.preset, Players: d.bots + 1, Trials: b.trials, Interval: b.interval,
		Person: b.person, File: b.answers}
}

// trials says whether a test with trials is asked for, on a page of its own.
func (d *flags) trials() bool { return d.blind != nil && d.blind.pair != styles }

// takePair finds what is to be compared among the arguments of a command line: what stands after
// --blind is an argument of its own, as --blind goes without.
func takePair(args []string) (pair string, rest []string) {
	for _, a := range args {
		if strings.Contains(a, ",") && pair == "" {
			pair = a
		} else {
			rest = append(rest, a)
		}
	}
	return pair, rest
}

// A blindPage is a blind test and the page on which it is taken. The process plays and draws, so
// that the page knows no more than the person.
type blindPage struct {
	title  *game.Title
	ending context.Context
	end    context.CancelFunc
	born   time.Time

	mu      sync.Mutex
	test    Test
	pages   int // how many have come; the last one counts
	hands   entry.Hands
	control game.Control
	said    error
}

// openBlind makes the page.
func (d *flags) openBlind() *blindPage {
	b := &blindPage{title: d.title, test: d.blind.test, born: time.Now()}
	b.ending, b.end = context.WithCancel(context.Background())
	return b
}

func (b *blindPage) run(ctx context.Context) error {
	<-ctx.Done()
	b.close()
	return nil
}

func (b *blindPage) close() {
	b.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.test.Close()
}

func (b *blindPage) page() web.Options { return web.Options{Index: "blind.html"} }

func (b *blindPage) every() time.Duration { return 100 * time.Millisecond }

// blindState is what the page is told several times a second. The JSON names are the page's.
type blindState struct {
	Game  string     `json:"game"`
	Hint  string     `json:"hint"`
	Touch game.Touch `json:"touch"` // what fingers are for
	Test  any        `json:"test"`
}

func (b *blindPage) state(context.Context) (any, error) { return b.tell(), nil }

func (b *blindPage) tell() blindState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return blindState{Game: b.title.Name(), Hint: b.title.Screen.Hint,
		Touch: b.title.Screen.Touch, Test: b.test.Tell()}
}

// blindWish is what the page asks for.
type blindWish struct {
	Begin  bool `json:"begin"`
	Trial  int  `json:"trial"`
	Answer *int `json:"answer"` // to that trial
}

func (b *blindPage) obey(w *blindWish) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case w.Begin:
		b.test.Begin()
		return nil
	case w.Answer != nil:
		return b.test.Answer(w.Trial, *w.Answer)
	}
	return errors.New("nothing to do: begin, or answer a trial")
}

func (b *blindPage) mount(mux *http.ServeMux, _ *serve.Refusals) {
	mountScreens(mux, b.title, b.screens)
	mux.Handle("POST /api/blind", wish("order for a blind test", b.obey, b.tell))
}

// errElsewhere is what a page is told when the test goes on in another.
var errElsewhere = errors.New("the test goes on in another page")

// screens draws what is played, for the page that came last.
func (b *blindPage) screens(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.pages++
	number := b.pages
	b.mu.Unlock()
	c := &canvas{number: 1}
	drawn := -1 // the match that was drawn last
	var out []byte
	answerScreens(b.ending, w, r, func(_ context.Context, data []byte) ([]byte, error) {
		q, err := readRequest(data)
		if err == nil && len(q.list) != 1 {
			err = errRequest
		}
		if err != nil {
			return nil, err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if number != b.pages {
			return nil, errElsewhere
		}
		width, height := q.list[0].width, q.list[0].height
		b.hands.Read(&q.hands, c.surface.LastCamera(), width, height)
		f, match := b.test.Frame(time.Since(b.born), b.command)
		b.say()
		c.surface.Begin(width, height)
		if f != nil {
			if drawn != match {
				// a screen that has shown nothing yet
				drawn, c.draw, c.last = match, b.title.Screen.Drawer(), time.Time{}
			}
			c.paint(f, b.born)
		}
		out = c.append(out[:0], b.hands.Asked())
		return out, nil
	})
}

// say notes what went wrong, for the end.
func (b *blindPage) say() {
	if err := b.test.Err(); err != nil {
		b.said = err
	}
}

// command is what the person does.
func (b *blindPage) command(_ *world.World, me world.Player, _ world.Tick,
	in *world.Inputs) error {
	if b.control == nil {
		b.control = b.title.Control()
	}
	_ = b.control(b.hands.Input(), me, in) // its commands are of the game's type
	b.hands.Given()
	return nil
}

// summary says at the end how it went.
func (b *blindPage) summary(out io.Writer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.said != nil {
		fmt.Fprintf(out, "a match could not be played: %v\n", b.said)
	}
	for _, line := range b.test.Summary() {
		fmt.Fprintln(out, line)
	}
}
