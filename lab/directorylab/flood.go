//go:build !js

package directorylab

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/service/directory/packet"
)

// Flood is what came of queries by UDP from addresses that are not their sender's. On one machine
// they are those of 127.0.0.0/8, and the answers go to sockets that nobody reads.
type Flood struct {
	Sent     int     `json:"sent" head:"queries sent" as:"?%d"`
	Received int64   `json:"received" head:"- of which came in" as:"?%d"`
	BytesIn  int64   `json:"bytes_in" head:"bytes in" as:"?%d"`
	BytesOut int64   `json:"bytes_out" head:"bytes out" as:"?%d"`
	Ratio    float64 `json:"ratio" head:"- for a byte in" as:"?%.3f"`
	Seconds  float64 `json:"seconds" head:"in" as:"?%.1f s"`

	MemoryBefore float64 `json:"memory_before_mb" head:"memory before" as:"?%.1f MB"`
	MemoryMost   float64 `json:"memory_most_mb" head:"- the most meanwhile" as:"?%.1f MB"`

	Honest    int     `json:"honest" head:"honest queries meanwhile" as:"?%d"`
	Answered  float64 `json:"honest_answered_share" head:"- answered" as:"?%.1f %%"`
	AnswerP50 float64 `json:"honest_p50_ms" head:"- p50, asked again every 100 ms" as:"?%.2f ms"`
	AnswerP99 float64 `json:"honest_p99_ms" head:"- p99" as:"?%.2f ms"`
}

// sources is from how many addresses the flood comes.
const sources = 512

// flood sends queries as fast as it can, and asks honestly meanwhile.
func (l *load) flood(ctx context.Context, p lab.Progress, kind string) error {
	f := &l.row.Flood
	f.MemoryBefore = l.usage().megabytes
	var before, after [3]int64
	if err := l.counts(&before); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	var honest samples
	all.Go(func() { l.honest(ctx, f, &honest) })
	all.Go(func() {
		for range ticks(ctx, 50*time.Millisecond) {
			f.MemoryMost = max(f.MemoryMost, l.usage().megabytes)
		}
	})
	begun := time.Now()
	err := l.spray(ctx, func(n int) {
		f.Sent = n
		p.Tell(float64(n)/float64(l.Datagrams), kind+": datagrams")
	})
	f.Seconds = time.Since(begun).Seconds()
	cancel()
	all.Wait()
	if err = errors.Join(err, l.settled(&after)); err != nil {
		return err
	}
	f.Received, f.BytesIn, f.BytesOut = after[0]-before[0], after[1]-before[1], after[2]-before[2]
	f.Ratio = float64(f.BytesOut) / float64(max(f.BytesIn, 1))
	f.AnswerP50, f.AnswerP99 = part(honest.list, 0.5), part(honest.list, 0.99)
	f.Answered = float64(len(honest.list)) / float64(max(f.Honest, 1))
	return nil
}

// counts are the directory's own: queries that it has read, and bytes in and out.
func (l *load) counts(to *[3]int64) error {
	var errs [3]error
	to[0], errs[0] = l.count("directory_datagrams_total", `"queries"`)
	to[1], errs[1] = l.count("directory_datagram_bytes_total", `"in"`)
	to[2], errs[2] = l.count("directory_datagram_bytes_total", `"out"`)
	return errors.Join(errs[:]...)
}

// settled are the counts once they grow no more.
func (l *load) settled(to *[3]int64) error {
	for last := [3]int64{-1}; last != *to; {
		last = *to
		time.Sleep(1100 * time.Millisecond) // they are taken once a second
		if err := l.counts(to); err != nil {
			return err
		}
	}
	return nil
}

// spray sends the flood.
func (l *load) spray(ctx context.Context, tell func(n int)) error {
	r := l.random(3000)
	from := make([]*net.UDPConn, 0, sources)
	defer func() {
		for _, c := range from {
			_ = c.Close() // it is done with
		}
	}()
	for range sources {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, byte(100+r.IntN(100)),
			byte(r.IntN(256)), byte(1+r.IntN(250)))})
		if err != nil {
			return err
		}
		from = append(from, c)
	}
	buf := make([]byte, 0, packet.MostQuery)
	for n := range l.Datagrams {
		buf = random(r).Append(buf[:0], packet.LeastQuery+r.IntN(packet.MostQuery-
			packet.LeastQuery))
		// What the system does not take is lost, as on any network.
		_, _ = from[r.IntN(sources)].WriteToUDPAddrPort(buf, l.udp)
		if n%10_000 == 9999 || n == l.Datagrams-1 {
			if tell(n + 1); ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

// random is a query for something that there is, or is not.
func random(r *rand.Rand) packet.Query {
	q := packet.Query{Nonce: r.Uint64(), Room: r.IntN(2) == 0, First: uint16(r.IntN(300))}
	switch r.IntN(4) {
	case 0:
		q.Protocol = token.ProtocolID("game07")
	case 1:
		q.Version = r.Uint64() | 1
	case 2:
		q.Protocol, q.Region = token.ProtocolID("game08"), "region-3"
	}
	return q
}

// honest asks again and again, as a game's client does: the same once more after 100 ms, for up to
// two seconds.
func (l *load) honest(ctx context.Context, f *Flood, into *samples) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		l.failures.add(err)
		return
	}
	defer c.Close()
	buf := make([]byte, 2048)
	r := l.random(3001)
	for ctx.Err() == nil {
		q := packet.Query{Nonce: r.Uint64(), Protocol: token.ProtocolID("game07")}
		begun := time.Now()
		f.Honest++
		for tries := 0; tries < 20; tries++ {
			_, _ = c.WriteToUDPAddrPort(q.Append(nil, 1200), l.udp) // it is asked again
			_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			n, _, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				continue
			}
			if a, ok := packet.ParseAnswer(buf[:n]); ok && a.Nonce == q.Nonce && a.Total > 0 {
				into.add(time.Since(begun))
				break
			}
		}
		time.Sleep(5 * time.Millisecond) // as many ask, one after the other
	}
}
