//go:build !js

package keeps

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/world"
)

// A copied is what a copy holds.
type copied struct {
	Game     string     `json:"game"`
	To       string     `json:"to"`
	Tick     world.Tick `json:"tick"`
	At       *time.Time `json:"at,omitempty"` // about
	Level    string     `json:"level"`
	Seats    int        `json:"seats"`
	Chapters int        `json:"chapters"`
	Bytes    int64      `json:"bytes"`
	Hashes   int        `json:"hashes"` // that were compared
	Group    bool       `json:"mirror"` // it was of a mirror, whose votes are left out
}

func (c *copied) String() string {
	var r cli.Rows
	r.Add("game", "%s, level %s", c.Game, c.Level)
	r.Add("ends with", "tick %d%s, %d seats", c.Tick, when(c.At), c.Seats)
	r.Add("holds", "%d chapters, %d bytes", c.Chapters, c.Bytes)
	r.Add("loaded", "%d hashes are the same", c.Hashes)
	if c.Group {
		r.Add("mirror", "without its votes: start it with --found-anew, or --join")
	}
	return r.String()
}

// copy copies a kept game to a new place.
func (c *command) copy(from, to string, m *keep.Moment) (fmt.Stringer, error) {
	s, err := openSource(from)
	if err != nil {
		return nil, err
	}
	defer s.close()
	for try := 1; ; try++ {
		r, err := c.copyOnce(s, to, m)
		if err == nil {
			return r, nil
		}
		if !swept(err) || try == tries {
			return nil, err
		}
	}
}

func (c *command) copyOnce(s *source, to string, m *keep.Moment) (*copied, error) {
	survey, err := keep.NewSurvey(s.disk)
	if err != nil {
		return nil, s.explain(err)
	}
	t, err := title(c.p, survey)
	if err != nil {
		return nil, s.explain(err)
	}
	of := uint64(0)
	if m == nil {
		if of, err = stay(s.disk); err != nil {
			return nil, s.explain(err)
		}
	}
	plan, err := survey.Plan(s.disk, m, of)
	if err != nil {
		return nil, s.explain(err)
	}
	last := &plan.Chapter
	r := &copied{Game: survey.Game, To: to, Tick: last.Last, Level: last.Level,
		At: endOf(last), Seats: len(last.Seats), Group: survey.Group}
	for _, p := range plan.Parts {
		r.Bytes += p.Bytes
	}
	check := func(d keep.Disk) (err error) {
		r.Hashes, r.Chapters, err = verify(t, d, last)
		return err
	}
	if archived(to) {
		return r, writeArchive(plan, s.disk, to, check)
	}
	return r, writeFolder(plan, s.disk, to, check)
}

// verify loads a copy, which must be at the tick that it was to be at.
func verify(t *game.Title, d keep.Disk, last *keep.Chapter) (hashes, chapters int, err error) {
	k, err := load(t, d)
	if err != nil {
		return 0, 0, err
	}
	if len(k.Problems) > 0 {
		return 0, 0, errors.Join(k.Problems...)
	}
	if k.World.Tick() != last.Last {
		return 0, 0, fmt.Errorf("it comes back at tick %d, not %d", k.World.Tick(), last.Last)
	}
	if _, err := keep.ReadUsed(d); err != nil {
		return 0, 0, err
	}
	list, err := keep.Labels(d)
	return k.Compared, len(list), err
}

// writeFolder writes a plan into a new or empty folder.
func writeFolder(p *keep.Plan, from keep.Disk, dir string,
	check func(keep.Disk) error) (err error) {
	list, err := os.ReadDir(dir)
	made := errors.Is(err, fs.ErrNotExist)
	for _, e := range list {
		if e.Name() != keep.LockName {
			return fmt.Errorf("%s is not empty, it has %q: name a new folder, and stop whatever "+
				"uses this one before you move it away", dir, e.Name())
		}
	}
	if made {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("the folder to restore into: %w", err)
	}
	lock, err := keeping.Take(dir)
	if err == nil {
		err = p.Copy(from, keeping.Disk(dir), check)
		err = errors.Join(err, lock.Close())
		if err != nil {
			_ = keeping.Disk(dir).Remove(keep.LockName)
			err = fmt.Errorf("nothing was written to %s: %w", dir, err)
		}
	}
	if err != nil && made {
		_ = os.Remove(dir) // unless something is in it
	}
	return err
}
