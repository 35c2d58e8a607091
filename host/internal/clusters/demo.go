//go:build !js

package clusters

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/cluster/brokers"
	"github.com/coeval-dev/coeval/topology/seamless"
	"github.com/coeval-dev/coeval/zone"
)

//go:embed demo.html
var demoPage []byte

const demoLong = `Show a world on several servers in a browser: zones in their servers' colours, bots who
walk across, borders that move as they crowd together, and how late entities are that
change their server. Buttons kill servers, split and merge zones.

All of it runs on this machine, each server in a process of its own, and what it keeps is
in a folder that is removed in the end.`

// demo is a world to look at.
type demo struct {
	local
	page string

	cluster brokers.Cluster
	family  *family
	ports   []string

	mu     sync.Mutex
	killed int
}

// demoCommand shows a world.
func demoCommand(p *cli.Program) *cobra.Command {
	d := &demo{}
	cmd := &cobra.Command{
		Use: "demo", Short: "Show a world on several servers in a browser", Long: demoLong,
		Example: "  {program} cluster demo {game}",
	}
	p.AnyGame(cmd, d.run)
	d.settings.LogFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&d.page, "page", "127.0.0.1:4480", "address of the page")
	f.IntVar(&d.servers, "servers", 3, "how many servers there are")
	f.IntVar(&d.zones, "zones", 2, "into how many zones the world is divided at first")
	f.IntVar(&d.bots, "bots", 120, "how many bots play")
	f.IntVar(&d.balance, "balance", 100, "of how many entities a zone is full, and split")
	f.Float64Var(&d.reach, "reach", 0, "how far players and rules look over a border (default: as "+
		"far as the game says, or 16)")
	return cmd
}

func (d *demo) run(cmd *cobra.Command, t *game.Title) (err error) {
	if err := d.settings.Fill(cmd); err != nil {
		return err
	}
	log, err := d.settings.Logger(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if d.servers < 1 || d.servers > 16 || d.bots < 0 {
		return cli.Usagef("%d servers and %d bots: choose 1 to 16 servers, and no less than 0 bots",
			d.servers, d.bots)
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	if d.dir, err = os.MkdirTemp("", "coeval-cluster-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.dir) // a temporary one
	if d.reach == 0 {
		d.reach = cmp.Or(t.Sight.Reach, 16)
	}
	d.players = max(1024, 2*d.bots)
	if err := d.begin(ctx, t, log); err != nil {
		return err
	}
	defer func() {
		cancel()
		d.family.wait()
		err = errors.Join(err, d.cluster.Close())
	}()
	l, err := net.Listen("tcp", d.page)
	if err != nil {
		return fmt.Errorf("--page: %w", err)
	}
	s := &http.Server{Handler: d.handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.Serve(l) }() // it ends when it is closed
	defer s.Close()
	url := "http://" + l.Addr().String() + "/"
	fmt.Fprintf(cmd.OutOrStdout(), "the world of %s is at %s\n", t.Name(), url)
	cli.OpenBrowser(ctx, cmd.OutOrStdout(), url)
	<-ctx.Done()
	return nil
}

// begin starts brokers, servers and a world.
func (d *demo) begin(ctx context.Context, t *game.Title, log *slog.Logger) (err error) {
	key := d.dir + "/world.key"
	if err := makeKey(key); err != nil {
		return err
	}
	if d.cluster, err = d.keep(ctx); err != nil {
		return err
	}
	if _, err := d.found(ctx, t, d.cluster); err != nil {
		return errors.Join(err, d.cluster.Close())
	}
	d.family = newFamily(ctx, log)
	for i := range d.servers {
		port, err := freePort()
		if err != nil {
			return err
		}
		d.ports = append(d.ports, port)
		d.family.start(append(d.arguments(t, key, i), "--http", port, "--log-level", "error"))
	}
	go d.balanced(ctx, log)
	return nil
}

// balanced has borders move by themselves, as soon as somebody can.
func (d *demo) balanced(ctx context.Context, log *slog.Logger) {
	once, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err := seamless.Await(once, d.cluster.Map())
	if err == nil {
		_, err = seamless.Do(once, d.cluster.Map(), seamless.Order{Kind: seamless.Rebalance,
			Balance: &seamless.Balance{Entities: d.balance, Calm: 3 * time.Second}, By: "demo"})
	}
	if err != nil && ctx.Err() == nil {
		log.Error("borders do not move by themselves", "error", err)
	}
}

// handler answers the page. It only does what it is asked from itself.
func (d *demo) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'self' 'unsafe-inline'")
		_, _ = w.Write(demoPage) // whoever does not hear it has gone
	})
	mux.HandleFunc("GET /state", d.state)
	mux.HandleFunc("POST /do/{what}/{which}", d.do)
	return http.NewCrossOriginProtection().Handler(mux)
}

// shown is what the page draws.
type shown struct {
	*seamless.Status
	Names  map[string]int `json:"names"` // of servers, by number, to the place of each
	Seen   []seen         `json:"seen"`
	Killed int            `json:"killed"`
}

// state says how the world is, with what servers say of themselves.
func (d *demo) state(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	s, err := seamless.Look(ctx, d.cluster.Map())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	x := shown{Status: s, Names: map[string]int{}, Seen: make([]seen, d.servers)}
	for _, n := range s.Servers {
		var i int
		if _, err := fmt.Sscanf(n.Name, "server %d", &i); err == nil {
			x.Names[strconv.FormatUint(uint64(n.Server), 10)] = i
		}
	}
	var all sync.WaitGroup
	for i, port := range d.ports {
		all.Go(func() {
			q, err := http.NewRequestWithContext(ctx, "GET", "http://"+port+"/dots", nil)
			if err != nil {
				return
			}
			if a, err := http.DefaultClient.Do(q); err == nil { // or it is being started again
				_ = json.NewDecoder(a.Body).Decode(&x.Seen[i])
				_ = a.Body.Close()
			}
		})
	}
	all.Wait()
	d.mu.Lock()
	x.Killed = d.killed
	d.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(&x) // as above
}

// do does what a button is for.
func (d *demo) do(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	n, err := strconv.Atoi(r.PathValue("which"))
	said := ""
	switch what := r.PathValue("what"); {
	case err != nil:
	case what == "kill":
		if err = d.family.kill(n - 1); err == nil {
			d.mu.Lock()
			d.killed++
			d.mu.Unlock()
			said = fmt.Sprintf("server %d is killed, and started again", n)
		}
	case what == "split" || what == "merge":
		said, err = seamless.Do(ctx, d.cluster.Map(), seamless.Order{
			Kind: seamless.OrderKind(what), Zone: zone.ID(max(n, 0)), By: "demo"})
	default:
		err = fmt.Errorf("there is no button %q", what)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, said)
}
