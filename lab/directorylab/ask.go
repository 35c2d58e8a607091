//go:build !js

package directorylab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	asking = 64 // people who ask at once, at most
	fresh  = 10 // one in so many lists is asked for by a new connection
)

// ask asks for lists at a rate, for a time. They are asked for at moments that do not wait for what
// was asked before, and their time counts from then.
func (l *load) ask(ctx context.Context, d time.Duration, into *samples) error {
	due := make(chan time.Time, int(d.Seconds()*float64(l.Queries))+1)
	var all sync.WaitGroup
	for w := range asking {
		all.Go(func() { l.people(l.random(2000+uint64(w)), due, into) })
	}
	begun := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		at := begun.Add(time.Duration(n) * time.Second / time.Duration(l.Queries))
		if at.Sub(begun) >= d {
			break
		}
		time.Sleep(time.Until(at))
		due <- at
	}
	close(due)
	all.Wait()
	return ctx.Err()
}

// people ask for lists.
func (l *load) people(r *rand.Rand, due <-chan time.Time, into *samples) {
	var c *client
	next := ""
	for at := range due {
		if c != nil && r.IntN(fresh) == 0 {
			_ = c.Close() // it is done with
			c = nil
		}
		var err error
		if c == nil {
			c, err = l.dial()
		}
		if err == nil {
			if err = c.get(question(r, next), nil); err == nil {
				next = follows(c.body)
			}
		}
		if err != nil {
			l.failures.add(fmt.Errorf("a list: %w", err))
			if c != nil {
				_ = c.Close() // it has failed
				c = nil
			}
			continue
		}
		if into != nil {
			into.add(time.Since(at))
			l.bytes.add(time.Duration(len(c.body)))
		}
	}
	if c != nil {
		_ = c.Close() // it is done with
	}
}

// question is what somebody asks: mostly for a game, and now and then for the page that follows.
func question(r *rand.Rand, next string) string {
	game := fmt.Sprintf("game%02d", r.IntN(games))
	switch n := r.IntN(100); {
	case n < 40:
		return "entries?game=" + game
	case n < 55:
		return "entries?game=" + game + "&room=true&sort=room"
	case n < 70:
		return fmt.Sprintf("entries?game=%s&region=region-%d", game, r.IntN(regions))
	case n < 75:
		return fmt.Sprintf("entries?name=server+%d", r.IntN(1000))
	case n < 80:
		return fmt.Sprintf("entries?tag=fast&region=region-%d&sort=name", r.IntN(regions))
	case n < 90 && next != "":
		return "entries?after=" + next
	}
	return "entries"
}

// follows is where the next page begins. It has no escapes, and stands at the end.
func follows(body []byte) string {
	const head = `],"next":"`
	tail := body[max(len(body)-300, 0):]
	for i := 0; i+len(head) < len(tail); i++ {
		if string(tail[i:i+len(head)]) == head {
			rest := tail[i+len(head):]
			for j, c := range rest {
				if c == '"' {
					return string(rest[:j])
				}
			}
		}
	}
	return ""
}
