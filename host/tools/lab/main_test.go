package lab_test

import (
	"testing"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/games/stack"
	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
)

func TestMain(m *testing.M) {
	toolstest.Main(m, arena.Title, crowd.Title, pong.Title, stack.Title)
}
