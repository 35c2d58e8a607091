//go:build !js

package seamlesslab_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/lab/seamlesslab"
	_ "github.com/coeval-dev/coeval/service/cluster/use"
)

// The environment of the processes of a test: what they are.
const roleEnv = "COEVAL_SEAMLESSLAB_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleEnv)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := seamlesslab.Work(context.Background(), role, find, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func start(role string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	return cmd
}

func find(name string) (*game.Title, error) {
	if name != crowd.Title.Name() {
		return nil, fmt.Errorf("there is no game %q", name)
	}
	return crowd.Title, nil
}
