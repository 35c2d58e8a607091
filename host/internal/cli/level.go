package cli

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
)

// LevelFlags name a level, by its own name or with a file of its data, and its seed.
type LevelFlags struct {
	name, file string
	seed       uint64
}

// Flags adds the flags. Their texts begin with when they are given.
func (l *LevelFlags) Flags(cmd *cobra.Command, when string, seed uint64) {
	f := cmd.Flags()
	f.StringVar(&l.name, "level", "", when+"the level (default: the game's own)")
	f.StringVar(&l.file, "map", "", when+"file with the level's data; those who join are sent it")
	text := "random seed"
	if seed == 0 {
		text += " (default: drawn)"
	}
	f.Uint64Var(&l.seed, "seed", seed, when+text)
}

// Read finds the level.
func (l *LevelFlags) Read(t *game.Title) (game.Level, error) {
	level := game.Level{Name: l.name}
	if l.file == "" {
		if l.name != "" && t.Levels.Settings == nil {
			return level, Usagef(
				"--level is %q, and %s has no levels: leave it out", l.name, t.Name())
		}
	} else {
		data, err := ReadFile(l.file, t.Levels.Limit())
		if err != nil {
			return level, fmt.Errorf("the level's data: %w", err)
		}
		if level, err = t.Bring(data); err != nil {
			return level, fmt.Errorf("--map %s: %w", l.file, err)
		}
		if l.name != "" {
			level.Name = l.name
		}
	}
	level.Seed = l.seed
	return level, nil
}

// FillLevel fills in what a level leaves open.
func FillLevel(t *game.Title, l game.Level) (game.Level, error) {
	if l.Name == "" && len(l.Data) == 0 {
		l.Name = t.Levels.First()
	}
	if l.Seed == 0 {
		l.Seed = Draw()
	}
	if l.Secret == 0 {
		l.Secret = Draw()
	}
	_, err := t.Settings(l)
	return l, err
}

// Draw gives a number that no one can foresee.
func Draw() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:])
}
