package bandwidthlab

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/netsim"
	"github.com/coeval-dev/coeval/world"
)

// This file measures the latency of each architecture on a topology, over netsim.

// timeServed plays the title on a real server and times its commands.
func timeServed(ctx context.Context, o *Options, t *Topology) (Latency, float64, error) {
	p := newPairs(len(t.Players))
	title, err := o.subject(len(t.Players))
	if err != nil {
		return Latency{}, 0, err
	}
	r := newServed(ctx, servedOptions{
		title: title, players: len(t.Players), seed: o.Seed, latency: p,
		up:   func(i int) time.Duration { return t.Way[t.Players[i]][t.Server] },
		down: func(i int) time.Duration { return t.Way[t.Server][t.Players[i]] },
	})
	defer r.Close()
	err = r.play(latencyWarm, o.Latency)
	return p.latency(t.place), lab.Per(r.late, r.made), err
}

// latencyWarm is for clients to come in, and for their clocks to find how far ahead they have to be
// on the longest paths.
const latencyWarm = 8 * time.Second

// timePeers has peers send each other a command in each frame, and times when others see it in
// theirs.
func timePeers(ctx context.Context, t *Topology, seed uint64, tick, length time.Duration) (Latency,
	error) {
	n := len(t.Players)
	g := newGroup(n, seed,
		func(i, j int) time.Duration { return t.Way[t.Players[i]][t.Players[j]] })
	p := newPairs(n)
	waiting := make([][]arrival, n)
	g.heard = func(from, to int, data []byte) {
		waiting[to] = append(waiting[to],
			arrival{from, time.Duration(binary.BigEndian.Uint64(data))})
	}
	for i, m := range g.members {
		data := make([]byte, commandSize)
		m.End.After(groupWarm+session.Offset(tick, i, n), func() {
			m.End.Every(tick, func() {
				now := g.net.Now()
				for _, w := range waiting[i] {
					p.add(w.from, i, now-w.given)
				}
				waiting[i] = waiting[i][:0]
				binary.BigEndian.PutUint64(data, uint64(now))
				g.fail(m.Say(data))
			})
		})
	}
	err := g.run(ctx, groupWarm+length)
	return p.latency(t.place), err
}

// arrival is a command that has come and was not seen yet.
type arrival struct {
	from  int
	given time.Duration
}

// commandSize is about that of a game's command.
const commandSize = 16

// mirrors is a set of mirrors with their clients: a real group between the mirrors, and between a
// mirror and its clients datagrams that keep the timetable of topology/server. Clients stamp
// commands so that they come comfort ticks before their tick; mirrors pass them on once a tick,
// compute a tick when it is due, with those that came late at the next, and tell each client at
// every third what they have computed.
type mirrors struct {
	t     *Topology
	tick  time.Duration
	net   *netsim.Net
	group *group
	sites []*site
	pairs *pairs
	given []map[world.Tick]time.Duration // by player: when the command for a tick was given
}

// site is one mirror.
type site struct {
	r       *mirrors
	index   int
	end     *netsim.Endpoint // for its clients
	pending []stamped        // to be passed on
	waiting []stamped        // to be computed
	newest  []stamped        // by player, of what is computed
	clients []*siteClient
}

// siteClient is a player there.
type siteClient struct {
	player int
	end    *netsim.Endpoint
	seen   []world.Tick // by player
	inbox  []stamped
}

// stamped says for which tick a player's command is. It is what datagrams have.
type stamped struct {
	Player uint16
	Tick   uint32
}

// timeMirrors times commands of players who each play on their nearest mirror. It is the one place
// to exchange when mirrors are to be another thing than this.
func timeMirrors(ctx context.Context, t *Topology, seed uint64, tick,
	length time.Duration) (Latency, error) {
	r := &mirrors{t: t, tick: tick, pairs: newPairs(len(t.Players))}
	r.group = newGroup(len(t.Mirrors), seed,
		func(i, j int) time.Duration { return t.Way[t.Mirrors[i]][t.Mirrors[j]] })
	r.net = r.group.net
	for k := range t.Mirrors {
		s := &site{r: r, index: k, end: r.net.Endpoint(fmt.Sprint("mirror ", k+1)),
			newest: make([]stamped, len(t.Players))}
		for p := range s.newest {
			s.newest[p].Player = uint16(p)
		}
		s.end.Handle(s.receive)
		s.end.Every(tick, s.turn)
		r.sites = append(r.sites, s)
	}
	for i := range t.Players {
		r.given = append(r.given, map[world.Tick]time.Duration{})
		r.sites[t.mirror(i)].add(i)
	}
	r.group.heard = func(_, to int, data []byte) {
		r.sites[to].waiting = append(r.sites[to].waiting, stamps(data)...)
	}
	err := r.group.run(ctx, groupWarm+length)
	return r.pairs.latency(t.place), err
}

// stamps reads a datagram, and bytes makes one.
func stamps(data []byte) []stamped {
	list := make([]stamped, len(data)/binary.Size(stamped{}))
	_, _ = binary.Decode(data, binary.BigEndian, list) // it is as long as that
	return list
}

func bytes(list ...stamped) []byte {
	data, _ := binary.Append(nil, binary.BigEndian, list) // which has a size
	return data
}

// add gives the site a player.
func (s *site) add(player int) {
	r, t := s.r, s.r.t
	c := &siteClient{
		player: player, end: r.net.Endpoint(fmt.Sprint("player ", player+1)),
		seen: make([]world.Tick, len(t.Players))}
	s.clients = append(s.clients, c)
	here, there := t.Players[player], t.Mirrors[s.index]
	up := t.Way[here][there]
	r.net.SetPath(c.end, s.end, netsim.Profile{Latency: up})
	r.net.SetPath(s.end, c.end, netsim.Profile{Latency: t.Way[there][here]})
	c.end.Handle(func(_ netip.AddrPort, data []byte) {
		c.inbox = append(c.inbox, stamps(data)...)
	})
	c.end.After(session.Offset(r.tick, player, len(t.Players)), func() {
		c.end.Every(r.tick, func() {
			now := r.net.Now()
			c.look(r, now)
			// The tick that is due comfort ticks after the command's arrival, to the nearest.
			due := world.Tick(float64(now+up)/float64(r.tick) + comfort + 0.5)
			r.given[player][due] = now
			r.group.fail(c.end.SendTo(s.end.LocalAddr(),
				bytes(stamped{uint16(player), uint32(due)})))
		})
	})
}

// look is a player's frame: what has come is seen.
func (c *siteClient) look(r *mirrors, now time.Duration) {
	for _, x := range c.inbox {
		from, newest := int(x.Player), world.Tick(x.Tick)
		for t := c.seen[from] + 1; t <= newest && from != c.player; t++ {
			if at, ok := r.given[from][t]; ok && at > groupWarm && c.seen[from] > 0 {
				r.pairs.add(from, c.player, now-at)
			}
		}
		c.seen[from] = max(c.seen[from], newest)
	}
	c.inbox = c.inbox[:0]
}

// receive takes a client's command.
func (s *site) receive(_ netip.AddrPort, data []byte) {
	s.pending, s.waiting = append(s.pending, stamps(data)...), append(s.waiting, stamps(data)...)
}

// turn is the mirror's tick: it computes what is due, passes on what has come, and tells its
// clients.
func (s *site) turn() {
	now := s.r.net.Now()
	tick := world.Tick((now + s.r.tick/2) / s.r.tick)
	s.waiting = slices.DeleteFunc(s.waiting, func(x stamped) bool {
		due := world.Tick(x.Tick) <= tick
		if due {
			s.newest[x.Player].Tick = max(s.newest[x.Player].Tick, x.Tick)
		}
		return due
	})
	if len(s.pending) > 0 {
		s.r.group.fail(s.r.group.members[s.index].Say(bytes(s.pending...)))
		s.pending = s.pending[:0]
	}
	every := max(1, int(time.Second/s.r.tick)/snapshotRate)
	for _, c := range s.clients {
		if (int(tick)+c.player)%every != 0 {
			continue
		}
		s.r.group.fail(s.end.SendTo(c.end.LocalAddr(), bytes(s.newest...)))
	}
}
