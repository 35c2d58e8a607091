package game

import (
	"errors"
	"fmt"
	"sync"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/kept"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/replica"
	"github.com/coeval-dev/coeval/timeline"
	"github.com/coeval-dev/coeval/world"
)

// A Title is a game with all that a program must know of it to play, serve, join, mirror and
// measure it. Game has no default; everything else is optional, and what the rules say already is
// not said again. What belongs to one class stands with that class, in its methods; see Hints.
//
// A Title is made once and passed around by pointer. It must not be changed after its first use.
type Title struct {
	// Game is the rules.
	Game *world.Game
	// About is one line for lists of games: "two paddles and a ball".
	About string
	// Levels says which levels there are, and what a world starts from.
	Levels Levels
	// Sight says who is shown what. By default everyone is shown everything.
	Sight Sight
	// Bot makes a player that needs no one; see Bots. Different seeds play differently. By default
	// a bot presses everything at random.
	Bot func(seed uint64) Bot
	// Screen draws the game, and Control makes commands of keys; see Controls. Without a Screen the
	// game can be served and measured, but not played in a terminal.
	Screen  Screen
	Control func() Control
	// Busy says that it is no moment for a player to go to a nearer server, if it can wait: such
	// as in a fight, and three seconds after it. A move is not seen, but costs a few packets more,
	// and a round trip in which both servers must be reached. By default any moment is good.
	Busy func(w *world.World, p world.Player) bool
	// Players is how many play along when someone plays alone: the rest are bots. Default: 1.
	Players int
	// Shots tell of shots, for measuring.
	Shots Shots
	// Tables are what the codec learned of the game from bots that played it (codec play).
	Tables []byte
	// NoRelay saves the bytes that the commands of other players take, for games that do not
	// predict them.
	NoRelay bool
	// Knobs are what can be set of the title before a game begins, for lab tune to search and for
	// whoever runs it to choose. How far players see need not be among them where Sight has a
	// Reach.
	Knobs []Knob
	// Queries are what a server of the title tells those who have not joined it, by name.
	Queries []Query
	// Uploads are what players may send to a server of the title in one piece, by name.
	Uploads []Upload
	// Match says when a match is over and how everyone did, for leaderboards.
	Match Match
	// Client is the import path of a program for the browser, for a title that brings its own.
	// By default the author's own program is compiled for the browser.
	Client string

	once    sync.Once
	err     error
	classes []class

	protocols [replica.StrategyCount]protocol // by strategy
}

// A protocol is made when it is first needed.
type protocol struct {
	once sync.Once
	made *replica.Protocol
	err  error
}

// Name is what the game is called.
func (t *Title) Name() string {
	if t == nil || t.Game == nil {
		return ""
	}
	return t.Game.Name()
}

// Clone makes a copy that may be changed before its first use: to measure a title without interest
// management, or with matches that never end.
func (t *Title) Clone() *Title {
	return &Title{
		Game: t.Game, About: t.About, Levels: t.Levels, Sight: t.Sight, Bot: t.Bot,
		Screen:  t.Screen,
		Control: t.Control, Busy: t.Busy, Players: t.Players, Shots: t.Shots, Tables: t.Tables,
		NoRelay: t.NoRelay, Match: t.Match,
		Client: t.Client, Knobs: t.Knobs, Queries: t.Queries, Uploads: t.Uploads,
	}
}

// Check lists all that is wrong with the title, or is nil: the rules' own mistakes, hints that
// point nowhere or contradict each other, a first level that cannot be played. Whoever runs a title
// calls it; an author's test should, too.
func (t *Title) Check() error {
	if t == nil || t.Game == nil {
		return errors.New("a title needs its rules: set Title.Game to what world.Define gave")
	}
	t.once.Do(func() {
		t.err = t.examine()
	})
	return t.err
}

func (t *Title) examine() error {
	if err := t.Game.Err(); err != nil {
		return err
	}
	var wrong []error
	t.classes, wrong = readHints(t.Game)
	if t.Players < 0 {
		wrong = append(wrong,
			fmt.Errorf("there are %d Players; give the number of those who play along, or 0",
				t.Players))
	}
	if !(t.Sight.Reach >= 0) {
		wrong = append(wrong,
			fmt.Errorf("Sight.Reach is %v; give the distance that players see, or 0 for everything",
				t.Sight.Reach))
	}
	if t.Sight.Views != nil && (t.Sight.Reach > 0 || t.Sight.Rules != nil) {
		wrong = append(wrong,
			errors.New("Sight.Views finds what is shown by itself; leave Reach and Rules empty, "+
				"or Views"))
	}
	if t.Sight.Reach > 0 && len(t.eyes()) == 0 {
		wrong = append(wrong,
			errors.New("Sight.Reach is how far players see, but no class says from where: call "+
				"h.Body in the Hints of what they move about in, or give it the method Look"))
	}
	wrong = append(wrong, t.Levels.check(t)...)
	wrong = append(wrong, t.Screen.check(t)...)
	wrong = append(wrong, t.checkKnobs()...)
	wrong = append(wrong, t.checkQueries()...)
	wrong = append(wrong, t.checkUploads()...)
	if _, err := kept.Uses(t.Game); err != nil {
		wrong = append(wrong, err)
	}
	wrong = append(wrong, t.try()...)
	if err := errors.Join(wrong...); err != nil {
		return fmt.Errorf("title %q: %w", t.Name(), err)
	}
	return nil
}

// try makes what servers and clients will, so that a mistake shows now and not when someone joins.
func (t *Title) try() (wrong []error) {
	_, protocol := t.protocol(replica.Coeval)
	_, prediction := predict.New(t.Game, predict.Options{Player: 1, Classes: t.predict(), Keep: 8})
	return []error{protocol, prediction, timeline.CheckMargins(t.Game, t.margins())}
}

// Protocol is how servers and clients of the title understand each other. It is made once for each
// strategy and shared by all of a program.
func (t *Title) Protocol(s replica.Strategy) (*replica.Protocol, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	return t.protocol(s)
}

func (t *Title) protocol(s replica.Strategy) (*replica.Protocol, error) {
	if int(s) >= len(t.protocols) {
		return nil, fmt.Errorf("title %q: unknown strategy %v", t.Name(), s)
	}
	p := &t.protocols[s]
	p.once.Do(func() {
		p.made, p.err = replica.NewProtocol(t.Game, replica.Options{
			Strategy: s, Tables: t.Tables, Classes: t.policies(), NoRelay: t.NoRelay,
		})
	})
	return p.made, p.err
}

// Predict says how clients predict and smooth the title's classes: for predict.Options.
func (t *Title) Predict() map[string]predict.Class {
	if t.Check() != nil {
		return nil
	}
	return t.predict()
}

// Policies say how the title's classes are sent: for replica.Options.
func (t *Title) Policies() map[string]replica.Policy {
	if t.Check() != nil {
		return nil
	}
	return t.policies()
}

// Margins say what copies of the title's world compare, and within which margin; see
// timeline.Margin.
func (t *Title) Margins() []timeline.Margin {
	if t.Check() != nil {
		return nil
	}
	return t.margins()
}

// Shots tell of shots, for measuring. By what they are judged, classes say themselves: see
// world.Rewinder and world.World.Sees.
type Shots struct {
	// Clear says whether one can shoot from one place to another at present.
	Clear func(w *world.World, from, to det.Vec3) bool
	// Hits goes through the hits that happened in a world's tick.
	Hits func(w *world.World, yield func(Hit) bool)
}

// A Hit is a player who was hit by another.
type Hit struct {
	By, Victim world.Player
	// Direct says that the victim was in the sights, and not just near where something burst.
	Direct bool
	Kill   bool
	// Weapon names what did it, if there are several to tell apart, and Shot is what flew there, if
	// something did.
	Weapon string
	Shot   world.ID
}

// Body is the class that a player moves about in, and how wide one is. It is not ok where no class
// says so.
func (t *Title) Body() (class *world.ClassInfo, width float64, ok bool) {
	if t.Check() != nil {
		return nil, 0, false
	}
	for i := range t.classes {
		if c := &t.classes[i]; c.body > 0 {
			return c.info, c.body, true
		}
	}
	return nil, 0, false
}

// Place is the field that says where an entity of a class is, if there is one.
func (t *Title) Place(class int) (world.Field, bool) {
	if t.Check() != nil || class < 0 || class >= len(t.classes) {
		return world.Field{}, false
	}
	p := t.classes[class].place
	return p, len(p.Slots) > 0
}

// At is where an entity is, by the field that is its place. It is not ok where the class has none,
// or the entity is not there.
func (t *Title) At(w *world.World, id world.ID) (at det.Vec3, ok bool) {
	if t.Check() != nil || id.Class() >= len(t.classes) || !w.Has(id) {
		return at, false
	}
	c := &t.classes[id.Class()]
	if len(c.place.Slots) == 0 {
		return at, false
	}
	return c.at(w, id), true
}

// Lives are those of an entity that comes and goes without being removed; see Mortal. Any other
// that is there is alive.
func Lives(w *world.World, id world.ID) (life int, alive bool) {
	switch e := w.Host().Value(id).(type) {
	case nil:
		return 0, false
	case Mortal:
		return e.Lives()
	}
	return 0, true
}
