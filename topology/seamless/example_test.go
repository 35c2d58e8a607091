package seamless_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/crowd"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/service/cluster"
	"github.com/coeval-dev/coeval/topology/seamless"
)

// A world in four zones, which two servers share. In programs of their own they would be given
// links of package udp and a cluster opened by cluster.Open or cluster.Embed.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	c := cluster.Memory()
	plan, err := seamless.Found(ctx, seamless.FoundOptions{
		Title: crowd.Title, Cluster: c, Zones: 4, Reach: crowd.Sight,
		Level: game.Level{Name: "500", Seed: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	key, _ := token.NewKey(rand.Reader)
	hub := mem.NewHub(mem.Options{})
	var servers []*seamless.Server
	var running sync.WaitGroup
	for range 2 {
		link, _ := hub.Open(netip.AddrPort{})
		defer link.Close()
		s, err := seamless.New(seamless.Options{
			Title: crowd.Title, Cluster: c, Link: link, Keys: []token.Key{key},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		servers = append(servers, s)
		running.Go(func() { _ = s.Run(ctx) })
	}
	player, err := servers[0].Join(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	stepped := 0
	for stepped < len(plan.Zones()) {
		stepped = 0
		for _, s := range servers {
			n, _ := s.Numbers(ctx)
			stepped += len(n.Zones)
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Printf("player %d is in a world of %d zones\n", player, stepped)
	stop()
	running.Wait()
	// Output: player 1 is in a world of 4 zones
}
