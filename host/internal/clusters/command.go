//go:build !js

// Package clusters are the commands about seamless worlds: one world, divided among servers. A
// program has them if it was made with brokers; see package service/cluster/use.
package clusters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/cluster/brokers"
)

const long = `Run one world on several servers, and look after it while it is played.

Space is divided into zones, each of which is stepped by one server; what is near a
border is seen on both sides, and what crosses it changes its server once, whatever
dies. See docs/seamless.md for what that guarantees, and what a title must keep to.

  {program} cluster up {game} --zones 8

starts all that it takes on this machine: NATS, in this process; the world, if there is
none in --dir yet; and servers, each a process of its own, which are started again when
they die. Interrupt it, and start it again: the world goes on where it was.

On several machines, run NATS (three nodes, with JetStream) and on each machine

  {program} cluster serve {game} --nats nats://a,nats://b,nats://c --key FILE --listen ADDRESS

The first makes the world, with --zones. All other commands need no more than --nats, or
--dir of a world that runs on this machine.`

const example = `  {program} cluster up {game} --zones 8 --bots 100
  {program} cluster status --watch
  {program} cluster split 3
  {program} cluster move 3 "server 2"
  {program} cluster drain "server 2"`

// Command is the command cluster.
func Command(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cluster", Short: "Run one world on several servers, and look after it",
		Long: long, Example: example,
	}
	cmd.AddCommand(up(p), serve(p), status(), demoCommand(p))
	cmd.AddCommand(orders()...)
	return cmd
}

// reach is how commands find a world.
type reach struct {
	nats, credentials, dir, world string
}

func (r *reach) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.nats, "nats", "", "where NATS is that keeps the world: nats://HOST:PORT, several "+
		"by commas (default: the one of --dir)")
	f.StringVar(&r.credentials, "nats-credentials", "", "file with a user's credentials, if NATS "+
		"asks for one")
	f.StringVar(&r.dir, "dir", "cluster", "folder of a world that runs on this machine")
	f.StringVar(&r.world, "world", "world", "name that tells worlds apart that one NATS keeps")
}

// wayFile is where "up" writes how the world is reached.
const wayFile = "reach.json"

// way is how the world is reached.
func (r *reach) way() (brokers.Way, error) {
	if r.nats != "" {
		return brokers.Way{World: r.world, URL: r.nats, Credentials: r.credentials}, nil
	}
	var w brokers.Way
	data, err := os.ReadFile(filepath.Join(r.dir, wayFile))
	if errors.Is(err, fs.ErrNotExist) {
		return w, fmt.Errorf("no world runs in the folder %s: start one with \"{program} cluster "+
			"up\", or name another folder with --dir, or NATS with --nats", r.dir)
	}
	if err != nil {
		return w, err
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return w, fmt.Errorf("%s: %w", filepath.Join(r.dir, wayFile), err)
	}
	return w, nil
}

// open reaches the world's brokers.
func (r *reach) open(ctx context.Context) (brokers.Cluster, error) {
	w, err := r.way()
	if err != nil {
		return nil, err
	}
	once, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	c, err := brokers.In().Open(once, w)
	if err != nil {
		return nil, fmt.Errorf("NATS at %s: %w", strings.ReplaceAll(w.URL, ",", ", "), err)
	}
	return c, nil
}
