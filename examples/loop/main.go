//go:build desktop

// Command loop plays pong in a loop of its own, that of Ebitengine, in place of package host's: for
// who has an engine already. The engine asks for frames; a Session does the rest.
//
//	go run ./cmd/coeval serve pong &
//	go run -tags desktop ./examples/loop localhost:4000
package main

import (
	"context"
	"image/color"
	"log"
	"net/netip"
	"os"
	"time"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/vector"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

const scale = 16 // pixels a unit

// An engine is what Ebitengine calls.
type engine struct {
	session *client.Session
	start   time.Time
	view    client.View
}

// Update is called once a frame. Frame receives, predicts, sends, and says what to draw.
func (e *engine) Update() error {
	e.view = e.session.Frame(time.Since(e.start),
		func(_ world.Tick, me world.Player, _ *world.World, in *world.Inputs) {
			up, down := ebiten.IsKeyPressed(ebiten.KeyUp), ebiten.IsKeyPressed(ebiten.KeyDown)
			_ = world.Give(in, me, pong.Keys(up, down)) // it is of the game's type
		})
	return e.view.Err
}

// Draw draws the world as it is now: the player's own paddle has answered already.
func (e *engine) Draw(screen *ebiten.Image) {
	if e.view.World == nil {
		return // e.view.Status says what the player waits for
	}
	box := func(x, y, w, h float64) {
		vector.FillRect(screen, float32(x-w/2)*scale, float32(pong.Height-y-h/2)*scale,
			float32(w)*scale, float32(h)*scale, color.White, false)
	}
	for _, p := range world.All[pong.Paddle](e.view.World) {
		box(p.X, p.Y, 1, 2*pong.Reach)
	}
	for _, b := range world.All[pong.Ball](e.view.World) {
		at := b.Pos.MulAdd(b.Vel, e.view.Others) // between two ticks
		box(at.X, at.Y, 1, 1)
	}
}

func (e *engine) Layout(int, int) (int, int) { return pong.Width * scale, pong.Height * scale }

func main() {
	if len(os.Args) != 2 {
		log.Fatal("say where the server is, such as localhost:4000")
	}
	base, err := entry.Base(os.Args[1], "")
	if err != nil {
		log.Fatal(err)
	}
	e := &engine{start: time.Now()}
	e.session = client.NewSession(client.SessionOptions{
		Options: client.Options{Title: pong.Title, Name: "loop"},
		Join: func(ctx context.Context) (way client.Entry, err error) {
			answer, err := entry.Ask(ctx, base)
			if err != nil {
				return way, err
			}
			at, err := answer.Resolve(ctx, base)
			if err != nil {
				return way, err
			}
			way.Servers = []netip.AddrPort{at}
			if way.Token, err = token.ParseText(answer.Token); err != nil {
				return way, err
			}
			way.Link, err = entry.Bind(udp.Options{}, at)
			return way, err
		},
	})
	defer e.session.Close()
	if err := ebiten.RunGame(e); err != nil {
		log.Fatal(err)
	}
}
