package host

import (
	"context"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/world"
)

// TestJoinSurvivesARestart: a server is stopped and another is started at its port. The player is
// asked in again and plays on.
func TestJoinSurvivesARestart(t *testing.T) {
	serve := func(listen string) (addr string, stop func()) {
		s, err := NewServer(pong.Title, ServeOptions{Listen: listen})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		return s.HTTP(), func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	addr, stop := serve("127.0.0.1:0")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	plays := make(chan struct{}, 10)
	bot := func(t *game.Title) game.Bot {
		inner := t.NewBot(1)
		return func(w *world.World, me world.Player, tick world.Tick, in *world.Inputs) error {
			if w != nil {
				select {
				case plays <- struct{}{}:
				default:
				}
			}
			return inner(w, me, tick, in)
		}
	}
	type result struct {
		joined *Joined
		err    error
	}
	over := make(chan result, 1)
	go func() {
		j, err := Join(ctx, pong.Title, JoinOptions{Servers: []string{addr}, Name: "ada", Bot: bot})
		over <- result{j, err}
	}()
	for range 60 {
		<-plays
	}
	stop() // when it has stopped, its players know
	_, stop = serve(addr)
	defer stop()
	for range 60 { // more than what was asked before
		select {
		case <-plays:
		case r := <-over:
			t.Fatalf("%+v, %v", r.joined, r.err)
		}
	}
	cancel()
	if r := <-over; r.err != nil || r.joined.Servers != 1 || r.joined.Snapshots == 0 ||
		r.joined.Player != 1 {
		t.Errorf("%+v, %v", r.joined, r.err)
	}
}

// TestJoinGivesUp: a server that has gone and does not come back is looked for as long as was said.
func TestJoinGivesUp(t *testing.T) {
	t.Parallel() // it mostly waits
	s := serveIn(t, "pong")
	playing := make(chan struct{}, 1)
	bot := func(t *game.Title) game.Bot {
		return func(w *world.World, _ world.Player, _ world.Tick, _ *world.Inputs) error {
			if w != nil {
				select {
				case playing <- struct{}{}:
				default:
				}
			}
			return nil
		}
	}
	over := make(chan error, 1)
	go func() {
		_, err := Join(context.Background(), pong.Title,
			JoinOptions{Servers: []string{s.HTTP}, Bot: bot, Patience: time.Second / 2})
		over <- err
	}()
	<-playing
	s.stop()
	if err := <-over; err == nil {
		t.Error("it has not given up")
	} else {
		t.Log(err)
	}
}
