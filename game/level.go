package game

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/world"
)

// A Level is what a world starts from: the map, by whatever name the game gives it. Clients are
// told its name and seed; who does not have its data is sent it.
type Level struct {
	// Name is what players read, and what the game may find the map by. At most 128 bytes.
	Name string
	// Seed is the random seed of the world. Clients know it.
	Seed uint64
	// Secret is the seed of what players must not foresee. It never leaves the server.
	Secret uint64
	// Data is the map itself, if it is not part of the program: up to Levels.Most. Clients know it
	// by its hash, so one that has it already is not sent it.
	Data []byte
}

// A LevelHash identifies the data of a level.
type LevelHash [32]byte

// Hash identifies the level's data. It is zero if there is none.
func (l *Level) Hash() LevelHash {
	if len(l.Data) == 0 {
		return LevelHash{}
	}
	return sha256.Sum256(l.Data)
}

// What a level may be: the name is sent in a message, the data in one transfer.
const (
	maxLevelName = 128
	maxLevelData = 64 << 20
)

// Check says whether the level can be told to clients.
func (l *Level) Check() error {
	switch {
	case len(l.Name) > maxLevelName || !showable(l.Name):
		name := l.Name
		if len(name) > 40 {
			name = name[:40]
		}
		return fmt.Errorf("level name %q: want at most %d bytes that can be shown", name,
			maxLevelName)
	case len(l.Data) > maxLevelData:
		return fmt.Errorf(
			"level %q has %d bytes of data, at most %d can be sent; let clients bring it with "+
				"the program", l.Name, len(l.Data), maxLevelData)
	}
	return nil
}

func showable(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// Levels say which levels a title has, and what a world starts from. The zero value is one level
// without a name.
type Levels struct {
	// Names lists the levels that come with the program. A server begins with the first.
	Names []string
	// Settings makes the settings of a world from a level: it finds or parses the map, and says
	// which states the world starts with. Servers and clients call it, with the same result. The
	// seed and the secret are filled in by the caller.
	Settings func(Level) (world.Settings, error)
	// Read looks at the data of a level that someone brings, such as the file of a map: its name,
	// or what is wrong with it. Without it, levels have no data.
	Read func(data []byte) (name string, err error)
	// For names a level that is made for so many players. Default: the first.
	For func(players int) string
	// Endless changes the settings of a world so that its match never ends: for measuring.
	Endless func(*world.Settings)
	// Most is how many bytes the data of a level may have: what is larger is refused before
	// anything is made of it, by programs that are brought a file and by clients that are offered
	// one. Default, and the most that can be sent: 64 MiB.
	Most int
}

// Limit is how many bytes the data of a level may have.
func (l *Levels) Limit() int {
	if l.Most <= 0 {
		return maxLevelData
	}
	return min(l.Most, maxLevelData)
}

// fits refuses data that is too large.
func (l *Levels) fits(size int) error {
	if size > l.Limit() {
		return fmt.Errorf("its data has %d bytes; a level of this game has at most %d", size,
			l.Limit())
	}
	return nil
}

func (l *Levels) check(t *Title) (wrong []error) {
	for i, name := range l.Names {
		level := Level{Name: name}
		if err := level.Check(); err != nil {
			wrong = append(wrong, err)
		}
		if slices.Contains(l.Names[:i], name) {
			wrong = append(wrong, fmt.Errorf("level %q is in Levels.Names twice", name))
		}
	}
	if _, err := t.Settings(Level{Name: l.First()}); err != nil {
		wrong = append(wrong, fmt.Errorf("a server could not begin: %w", err))
	}
	return wrong
}

// First is the level that a server begins with.
func (l *Levels) First() string {
	if len(l.Names) == 0 {
		return ""
	}
	return l.Names[0]
}

// Sized names a level for so many players.
func (l *Levels) Sized(players int) string {
	if l.For == nil {
		return l.First()
	}
	return l.For(players)
}

// Settings are what a world of a level starts from, with the level's seed and secret.
func (t *Title) Settings(l Level) (world.Settings, error) {
	var s world.Settings
	if err := t.Levels.fits(len(l.Data)); err != nil {
		return s, fmt.Errorf("level %q: %w", l.Name, err)
	}
	if t.Levels.Settings != nil {
		var err error
		if s, err = t.Levels.Settings(l); err != nil {
			return s, fmt.Errorf("level %q: %w%s", l.Name, err, t.Levels.advice())
		}
	}
	s.Seed, s.Secret, s.Partial = l.Seed, l.Secret, false
	return s, nil
}

func (l *Levels) advice() string {
	if len(l.Names) == 0 {
		return ""
	}
	return fmt.Sprintf(" (there are %s)", strings.Join(l.Names, ", "))
}

// errNoData is what someone is told who brings the data of a level to a title that has none.
var errNoData = errors.New("its levels have no data of their own; leave the file out")

// Bring makes a level of data that someone brings.
func (t *Title) Bring(data []byte) (Level, error) {
	if t.Levels.Read == nil {
		return Level{}, fmt.Errorf("title %q: %w", t.Name(), errNoData)
	}
	if err := t.Levels.fits(len(data)); err != nil {
		return Level{}, err
	}
	name, err := t.Levels.Read(data)
	if err != nil {
		return Level{}, err
	}
	l := Level{Name: name, Data: data}
	return l, l.Check()
}
