//go:build !js

package keeping

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/world"
)

// This file is for a program that takes the place of another while the game is played: the folder
// is the other's until the last moment, and then goes on with this one.

// Free says whether no program has a folder at this moment.
func Free(dir string) bool {
	d := folder{dir}
	if _, err := os.Stat(d.at(keep.LockName)); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	f, err := d.take()
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// Succeed makes a keeper for a folder that another program has. Nothing is written there until
// Assume; Begin only notes what will be.
func Succeed(g *world.Game, o Options) (*Keeper, error) {
	k := &Keeper{opt: o, game: g}
	if k.opt.Every <= 0 {
		k.opt.Every = 10 * time.Second
	}
	if k.opt.Log == nil {
		k.opt.Log = slog.New(slog.DiscardHandler)
	}
	k.succeeds = true
	var err error
	if k.tokens, err = k.newTokens(folder{o.Dir}); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Dir, err)
	}
	return k, nil
}

// SettleTokens has it be durable which tokens were used, and nothing more of that be written until
// GoOn, as another program is about to have the folder. It reports whether that is so; ask again.
func (k *Keeper) SettleTokens() bool { return k.tokens.settle() }

// GoOn is told that this program keeps the folder after all.
func (k *Keeper) GoOn() { k.tokens.goOn() }

// Found is told the game that the other program had last.
func (k *Keeper) Found(kept *keep.Kept) { k.kept = kept }

// HasKey says whether the folder has a key for tickets.
func (k *Keeper) HasKey() bool {
	_, err := os.Stat(folder{k.opt.Dir}.at(keep.KeyName))
	return err == nil
}

// Lock is the file by which the folder is this program's alone. Another program that is given a
// descriptor of it has the folder as well, and keeps it if this one ends.
func (k *Keeper) Lock() *os.File { return k.lock }

// Assume has the folder be this program's from now on: the lock is the one that the other had, and
// the world what it left, of which Begin was told. Safe says that it is durable. The error is that
// the folder cannot be used, and nothing has begun.
func (k *Keeper) Assume(lock *os.File, w *world.World, safe bool) (err error) {
	disk := folder{k.opt.Dir}
	k.folder, err = keep.Open(disk, k.game, keep.Options{Build: recording.Build(),
		History: k.opt.History})
	if err == nil {
		err = k.tokens.again(disk)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", k.opt.Dir, err)
	}
	k.tokens.start()
	k.lock, k.succeeds = lock, false
	k.start(w)
	if !safe {
		k.state.durable.Store(0)
	}
	k.gap, k.fresh = true, true // the journal is the other's
	k.handOver(w, nil, k.seats)
	return nil
}
