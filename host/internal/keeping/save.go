//go:build !js

package keeping

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/world"
)

const (
	saveTime = 30 * time.Second     // how long a save may take
	saveLook = 5 * time.Millisecond // how often it is looked whether it is done
)

// SaveAll has the whole game be written now, for an operator, and waits until it is safe: up to the
// tick that it gives, or later. Hand has the goroutine that drives the game call Save or Want, and
// says of which tick and whether that could be done; it is called again until it was. Any goroutine
// may call SaveAll but that one.
func (k *Keeper) SaveAll(ctx context.Context,
	hand func(context.Context) (tick world.Tick, handed bool, err error),
) (tick world.Tick, err error) {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	before := k.Numbers()
	for handed := false; ; {
		n := k.Numbers()
		switch {
		case handed && n.Chapters > before.Chapters && n.Durable >= uint64(tick):
			return tick, nil
		case n.AtRisk, handed && n.Errors > before.Errors:
			return 0, fmt.Errorf("the disk fails, or does not keep up; tick %d is safe: the log "+
				"says more", n.Durable)
		case !handed:
			before = n
			if tick, handed, err = hand(ctx); err != nil {
				return 0, err
			}
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("the disk does not answer within %v; tick %d is safe", saveTime,
				n.Durable)
		case <-time.After(saveLook):
		}
	}
}
