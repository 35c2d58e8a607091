package client

import (
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/topology/wire"
)

// TestLevelTooLarge: a client that is offered a level larger than those of its game ends, and says
// why, before it takes any of the data.
func TestLevelTooLarge(t *testing.T) {
	y := newLiar(t, 0)
	title := yardTitle.Clone()
	title.Levels.Most = 1000
	y.client.o.Title = title
	y.letIn()
	asked := y.client.Stats().Worlds
	y.epoch++
	y.say(wire.Message{Kind: wire.Level, Epoch: y.epoch, Seed: 3, Size: 1001, Data: [32]byte{1}})
	for range 30 {
		if y.frame() {
			break
		}
	}
	if err := y.client.Err(); err == nil || !strings.Contains(err.Error(), "level of 1001 bytes") {
		t.Errorf("%v, %v", y.client.Phase(), err)
	}
	if got := y.client.Stats().Worlds; got != asked {
		t.Errorf("%d worlds were made", got-asked)
	}
}
