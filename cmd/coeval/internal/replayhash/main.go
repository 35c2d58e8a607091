// Command replayhash repeats a trace of one of the example games and prints the hash of the world
// at every tick. It is small enough to be compiled for every platform, to see that they all compute
// the same.
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: replayhash FILE")
		os.Exit(2)
	}
	if err := replay(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "replayhash:", err)
		os.Exit(1)
	}
}

func replay(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := trace.Open(f)
	if err != nil {
		return err
	}
	game := pong.Game
	if r.Header().Game == stack.Game.Name() {
		game = stack.Game
	}
	out := bufio.NewWriter(os.Stdout)
	res, err := trace.Replay(game, r,
		trace.ReplayOptions{GoOn: true, Each: func(w *world.World, _ *trace.Record) error {
			_, err := fmt.Fprintf(out, "%d %016x\n", w.Tick(), w.Hash())
			return err
		}})
	if err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if res.Damage != nil {
		return res.Damage
	}
	if res.Mismatch != nil {
		return fmt.Errorf("it is not what was recorded: %v", res.Mismatch)
	}
	return nil
}
