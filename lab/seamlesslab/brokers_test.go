//go:build !js

package seamlesslab_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/lab/seamlesslab"
	"github.com/coeval-dev/coeval/service/cluster"
)

// The environment of the processes of a test: what they are.
const roleEnv = "COEVAL_SEAMLESSLAB_ROLE"

func TestMain(m *testing.M) {
	seamlesslab.Use(brokers{})
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

// brokers are NATS.
type brokers struct{}

func (brokers) Run(ctx context.Context, n seamlesslab.Node) (seamlesslab.Cluster, error) {
	o := cluster.Options{Name: "test", Dir: n.Dir, Node: n.Name, Listen: n.Listen,
		Ping: time.Second}
	if len(n.Peers) > 1 {
		o.ListenPeers, o.Peers = n.Meets, n.Peers
	}
	return cluster.Embed(ctx, o)
}

func (brokers) Open(ctx context.Context, addresses []string) (seamlesslab.Cluster, error) {
	return cluster.Open(ctx, cluster.Options{Name: "test", Ping: time.Second,
		URL: "nats://" + strings.Join(addresses, ",nats://")})
}
