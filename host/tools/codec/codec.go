//go:build !js

// Package codec are the commands that make and look at the tables that keep snapshots small.
package codec

import (
	"context"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/codec"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/lab"
)

const long = `Make and look at the tables that keep snapshots small.

The codec works for any game as it is. Tables tell it beforehand how the things
in your game tend to move and change; they are made once from recordings and
shipped with the game, the same to server and clients.`

// Command is {program} codec.
func Command(p *host.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "codec", Short: "Make and look at the tables that keep snapshots small", Long: long,
		Example: `  {program} codec train --schema game.json --out game.tables monday.zst tuesday.zst
  {program} codec inspect --schema game.json game.tables`,
	}
	cmd.AddCommand(trainCommand(), playCommand(p), inspectCommand())
	return cmd
}

// require makes flags such that a command does nothing without them.
func require(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // only if the flag did not exist
		}
	}
}

// makeTables trains a model and writes its tables to a file, which appears only when it is
// complete. The work knows nothing of Ctrl-C; so it is left behind then.
func makeTables(cmd *cobra.Command, out string, work func(p lab.Progress) (*codec.Model, error),
	about func(*codec.Model) string) error {
	bar := cli.NewProgress(cmd.ErrOrStderr())
	defer bar.Clear()
	file, err := cli.CreateWhole(out) // before the long work, in case it cannot be written
	if err != nil {
		return err
	}
	defer file.Abandon()
	model, err := interruptible(cmd.Context(), bar.Show, work)
	if err != nil {
		return err
	}
	tables := model.AppendTables(nil)
	if err := file.Commit(tables); err != nil {
		return err
	}
	bar.Clear()
	hash := model.Hash()
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes %s, hash %s\n", out, len(tables),
		about(model), hex.EncodeToString(hash[:8]))
	return err
}

// interruptible lets Ctrl-C end work that knows nothing of it. Nothing is printed once this has
// returned.
func interruptible(ctx context.Context, p lab.Progress,
	work func(p lab.Progress) (*codec.Model, error)) (*codec.Model, error) {
	var showing sync.Mutex
	var model *codec.Model
	var err error
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		model, err = work(func(done float64, what string) {
			showing.Lock()
			defer showing.Unlock()
			p(done, what)
		})
	}()
	select {
	case <-finished:
		return model, err
	case <-ctx.Done():
		showing.Lock() // for good
		return nil, ctx.Err()
	}
}
