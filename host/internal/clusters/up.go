//go:build !js

package clusters

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/cluster/brokers"
	"github.com/coeval-dev/coeval/topology/seamless"
)

// local is a world on this machine.
type local struct {
	founding
	settings cli.Settings

	nats, dir, world string
	servers, bots    int
	http             string
	standby, buddies bool
	balance          int
}

const upLong = `Run a world on this machine: NATS, in this process, which keeps it in the folder --dir;
and servers, each a process of its own, which share its zones. A server that dies is
started again; meanwhile others go on with its zones.

With --nats the world is kept there instead, so that servers on several machines can share
it. Their key is in --dir, in world.key.

Interrupted it ends in good order, and started again the world goes on where it was.`

// up is the command that runs a world.
func up(p *cli.Program) *cobra.Command {
	u := &local{}
	cmd := &cobra.Command{
		Use: "up", Short: "Run a world on this machine", Long: upLong,
		Example: "  {program} cluster up {game} --zones 8\n" +
			"  {program} cluster up {game} --zones 8 --servers 4 --bots 100 --balance 500",
	}
	var title string
	p.AnyGame(cmd, func(cmd *cobra.Command, t *game.Title) error {
		if title != "" {
			var err error
			if t, err = p.Title(title); err != nil {
				return cli.UsageError{Err: err}
			}
		}
		return u.run(cmd, t)
	})
	u.founding.flags(cmd)
	u.settings.LogFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&title, "game", "", "what is played, as the argument says, too")
	f.StringVar(&u.nats, "nats", "", "where NATS is that is to keep the world (default: in this "+
		"process)")
	f.StringVar(&u.dir, "dir", "cluster", "folder of the world")
	f.StringVar(&u.world, "world", "world", "name that tells worlds apart that one NATS keeps")
	f.IntVar(&u.servers, "servers", min(max(runtime.NumCPU(), 2), 8), "how many servers there are")
	f.IntVar(&u.bots, "bots", 0, "how many bots play")
	f.StringVar(&u.http, "http", "", "address for /metrics of the first server; the others have the "+
		"ports behind it (default: none)")
	f.BoolVar(&u.standby, "standby", false, "have servers follow each other's journals, so that "+
		"zones go on sooner when one dies")
	buddiesFlag(cmd, &u.buddies)
	f.IntVar(&u.balance, "balance", 0, "have zones be split that have more than so many entities, "+
		"and merged when they have much less (default: borders stay)")
	return cmd
}

func (u *local) run(cmd *cobra.Command, t *game.Title) (err error) {
	ctx := cmd.Context()
	if u.servers < 1 || u.servers > 64 || u.bots < 0 {
		return cli.Usagef("%d servers and %d bots: choose 1 to 64 servers, and no less than 0 bots",
			u.servers, u.bots)
	}
	if err := u.settings.Fill(cmd); err != nil {
		return err
	}
	log, err := u.settings.Logger(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return err
	}
	key := filepath.Join(u.dir, "world.key")
	if err := makeKey(key); err != nil {
		return err
	}
	c, err := u.keep(ctx)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, c.Close())
		_ = os.Remove(filepath.Join(u.dir, wayFile)) // it is not reached that way any more
	}()
	made, err := u.found(ctx, t, c)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if made {
		fmt.Fprintf(out, "a world of %s begins, in %d zones\n", t.Name(), u.zones)
	} else {
		fmt.Fprintf(out, "the world of %s in %s goes on\n", t.Name(), u.dir)
	}
	family := newFamily(ctx, log)
	for i := range u.servers {
		family.start(u.arguments(t, key, i))
	}
	once, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if s, err := seamless.Await(once, c.Map()); err == nil {
		fmt.Fprintf(out, "%d servers step its %d zones; see "+
			"\"%s cluster status --dir %s --watch\"\n",
			len(s.Servers), len(s.Zones), filepath.Base(os.Args[0]), u.dir)
		if u.balance > 0 {
			_, err = seamless.Do(once, c.Map(), seamless.Order{Kind: seamless.Rebalance,
				Balance: &seamless.Balance{Entities: u.balance}, By: "cluster up"})
		}
		if err != nil {
			log.Error("borders do not move by themselves", "error", err)
		}
	} else if ctx.Err() == nil {
		log.Error("after a minute there still are zones that nobody steps")
	}
	<-ctx.Done()
	family.wait()
	return nil
}

// makeKey makes the servers' key, if there is none.
func makeKey(name string) error {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	key, err := token.NewKey(rand.Reader)
	if err != nil {
		return err
	}
	return cli.WriteKey(name, key)
}

// keep runs or reaches NATS, and writes down how it is reached.
func (u *local) keep(ctx context.Context) (brokers.Cluster, error) {
	w := brokers.Way{World: u.world, URL: u.nats, Found: true}
	var c brokers.Cluster
	var err error
	if u.nats != "" {
		c, err = brokers.In().Open(ctx, w)
	} else {
		var at string
		if at, err = freePort(); err != nil {
			return nil, err
		}
		w.URL = "nats://" + at
		c, err = brokers.In().Run(ctx, brokers.Node{World: u.world, Name: "node",
			Dir: filepath.Join(u.dir, "nats"), Listen: at})
	}
	if err != nil {
		return nil, err
	}
	w.Found = false
	data, err := json.Marshal(&w)
	if err == nil {
		err = os.WriteFile(filepath.Join(u.dir, wayFile), data, 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// freePort is a loopback address at which nobody listens.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// arguments are those of one server.
func (u *local) arguments(t *game.Title, key string, i int) []string {
	bots := (u.bots + i) / u.servers
	args := []string{"cluster", "serve", t.Name(), "--dir", u.dir, "--key", key, "--name",
		fmt.Sprint("server ", i+1)}
	args = append(args, u.settings.LogArguments()...)
	if bots > 0 {
		args = append(args, "--bots", strconv.Itoa(bots))
	}
	if u.buddies {
		args = append(args, "--buddies")
	}
	if u.standby {
		args = append(args, "--standby")
	}
	if host, port, err := net.SplitHostPort(u.http); err == nil {
		if n, err := strconv.Atoi(port); err == nil {
			args = append(args, "--http", net.JoinHostPort(host, strconv.Itoa(n+i)))
		}
	}
	return args
}

// family are processes that are started again when they end, until the context does.
type family struct {
	ctx  context.Context
	log  *slog.Logger
	busy sync.WaitGroup

	mu    sync.Mutex
	alive []*os.Process // by the order in which they were started first; nil while one is not
}

func newFamily(ctx context.Context, log *slog.Logger) *family { return &family{ctx: ctx, log: log} }

func (f *family) wait() { f.busy.Wait() }

// start keeps a process of this program running.
func (f *family) start(args []string) {
	f.mu.Lock()
	place := len(f.alive)
	f.alive = append(f.alive, nil)
	f.mu.Unlock()
	f.busy.Go(func() {
		for f.ctx.Err() == nil {
			began := time.Now()
			cmd := exec.CommandContext(f.ctx, os.Args[0], args...)
			cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
			cmd.WaitDelay = 8 * time.Second
			cmd.Stderr = os.Stderr
			err := cmd.Start()
			if err == nil {
				f.is(place, cmd.Process)
				err = cmd.Wait()
				f.is(place, nil)
			}
			if f.ctx.Err() != nil {
				return
			}
			f.log.Error("a server has ended, and is started again", "error", err)
			select {
			case <-f.ctx.Done():
			case <-time.After(max(time.Second-time.Since(began), 100*time.Millisecond)):
			}
		}
	})
}

// is notes which process is in a place.
func (f *family) is(place int, p *os.Process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.alive[place] = p
}

// kill ends a process as nothing can prevent. It is started again.
func (f *family) kill(place int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if place < 0 || place >= len(f.alive) || f.alive[place] == nil {
		return fmt.Errorf("server %d does not run", place+1)
	}
	return f.alive[place].Kill()
}
