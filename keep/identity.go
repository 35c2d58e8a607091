package keep

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/world"
)

// This file is how a folder says what it holds, before anything in it is believed or changed.

// The names of files in a folder.
const (
	identityName = "identity"
	unfinished   = ".new"  // ends the names of files that are being written
	LockName     = "lock"  // held by the program that writes here
	KeyName      = "key"   // opens and seals the tickets of players
	groupName    = "group" // what a mirror must not forget of its group
	usedName     = "used"  // the tokens that have let someone in
	chapterStart = "chapter-"
	chapterEnd   = ".trace"
)

// Errors that say why a folder is not used. Use errors.Is. Nothing in it was changed.
var (
	// ErrForeign: it holds something else than a kept game.
	ErrForeign = errors.New("it holds other files, and no kept game")
	// ErrOtherGame: what is kept is another game.
	ErrOtherGame = errors.New("what is kept there is of another game")
	// ErrNewer: it was written by a newer version of this package.
	ErrNewer = errors.New("it was written by a newer program")
	// ErrDamaged: it is not as it was written.
	ErrDamaged = errors.New("it is damaged")
)

// format is the version of the folder's layout.
const format = "1"

// identity is the text that says which game is kept.
func identity(g *world.Game) []byte {
	text := fmt.Sprintf("coeval keep %s\ngame %q\ndeclarations %016x\n", format, g.Name(), g.Hash())
	return fmt.Appendf(nil, "%ssum %08x\n", text, sum([]byte(text)))
}

func sum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// checkIdentity says whether a text is that of a game.
func checkIdentity(text []byte, g *world.Game) error {
	if bytes.Equal(text, identity(g)) {
		return nil
	}
	name, hash, err := parseIdentity(text)
	if err != nil {
		return err
	}
	if name != g.Name() {
		return fmt.Errorf("%w: it is %q, not %q; name another folder", ErrOtherGame, name, g.Name())
	}
	return &otherVersion{hash}
}

// parseIdentity reads which game is kept, and what it declares.
func parseIdentity(text []byte) (name string, hash uint64, err error) {
	first, _, _ := strings.Cut(string(text), "\n")
	version, ok := strings.CutPrefix(first, "coeval keep ")
	switch {
	case !ok:
		return "", 0, fmt.Errorf("%w: its file %q does not begin as one does", ErrDamaged,
			identityName)
	case version != format:
		return "", 0, fmt.Errorf("%w: its files have format %q, and this program knows %s; serve "+
			"with the program that wrote it, or a newer one", ErrNewer, version, format)
	}
	at := bytes.LastIndex(text, []byte("sum "))
	if at < 0 || string(text[at:]) != fmt.Sprintf("sum %08x\n", sum(text[:at])) {
		return "", 0, fmt.Errorf("%w: the checksum in its file %q is wrong; put a copy of the "+
			"folder in its place, or name another", ErrDamaged, identityName)
	}
	if _, err := fmt.Sscanf(string(text[len(first)+1:at]), "game %q\ndeclarations %x\n", &name,
		&hash); err != nil {
		return "", 0, fmt.Errorf("%w: its file %q: %w", ErrDamaged, identityName, err)
	}
	return name, hash, nil
}

// otherVersion is that a folder is of the same game, whose declarations are others.
type otherVersion struct{ hash uint64 }

func (v *otherVersion) Error() string {
	return fmt.Sprintf("%v: it has declarations %016x", ErrOtherVersion, v.hash)
}

// known says whether what that version declared is known, so that its worlds can be converted.
func (v *otherVersion) known(d Disk) error {
	if _, err := Declared(d, v.hash); err != nil {
		return fmt.Errorf("%w: it has other classes, fields or commands (declarations %016x), and "+
			"what they were cannot be found (%w); serve with the version that kept it, or name "+
			"another folder", ErrOtherVersion, v.hash, err)
	}
	return nil
}

// mostIdentity is how long the text may be.
const mostIdentity = 1 << 12

// Look says whether a folder can keep a game, or already does, and changes nothing. A folder that
// is not there can.
func Look(d Disk, g *world.Game) (kept bool, err error) {
	names, err := d.List()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("keep: %w", err)
	}
	if !slices.Contains(names, identityName) {
		for _, n := range names {
			if n != LockName && n != identityName+unfinished {
				return false, fmt.Errorf("keep: %w, such as %q: name a folder that is empty or "+
					"not there yet", ErrForeign, n)
			}
		}
		return false, nil
	}
	text, err := readAll(d, identityName, mostIdentity)
	if err == nil {
		err = checkIdentity(text, g)
	}
	if v := (*otherVersion)(nil); errors.As(err, &v) {
		err = v.known(d)
	}
	if err != nil {
		return false, fmt.Errorf("keep: %w", err)
	}
	return true, nil
}

// readAll reads a small file.
func readAll(d Disk, name string, most int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// Install writes a small file that is there after a crash as a whole or not at all, and durable
// when it returns without an error.
func Install(d Disk, name string, data []byte) error {
	if err := writeWhole(d, name+unfinished, data); err != nil {
		return err
	}
	if err := d.Rename(name+unfinished, name); err != nil {
		return err
	}
	return d.Sync()
}

// mostMemory is how long what a mirror remembers of its group may be.
const mostMemory = 1 << 20

// Remember writes what a mirror must not forget of its group, which is durable when it returns
// without an error. It may be called while another goroutine has the folder.
func Remember(d Disk, memory []byte) error {
	if err := Install(d, groupName, memory); err != nil {
		return fmt.Errorf("keep: %s: %w", groupName, err)
	}
	return nil
}

// Remembered is what Remember wrote last, or nil.
func Remembered(d Disk) ([]byte, error) {
	b, err := readAll(d, groupName, mostMemory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("keep: %s: %w", groupName, err)
	}
	return b, nil
}

// writeWhole writes a file and makes it durable.
func writeWhole(d Disk, name string, data []byte) error {
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// chapterName is the file of a chapter.
func chapterName(n uint64) string {
	return fmt.Sprintf("%s%012d%s", chapterStart, n, chapterEnd)
}

// chapterNumber is the chapter of a file, if it is one.
func chapterNumber(name string) (n uint64, ok bool) {
	if _, err := fmt.Sscanf(name, chapterStart+"%d", &n); err != nil {
		return 0, false
	}
	return n, chapterName(n) == name
}
