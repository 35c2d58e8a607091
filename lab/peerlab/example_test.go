package peerlab_test

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/lab/peerlab"
)

func Example() {
	r, err := peerlab.Run(context.Background(), peerlab.Options{
		Title: pong.Title, Styles: []string{peerlab.Rollback}, Time: 2 * time.Second,
		Warm: time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("settled worlds that differ:", r.Rows[0].Different)
	fmt.Printf("own input is shown after %.0f ticks\n", r.Rows[0].OwnTicks)
	// Output:
	// settled worlds that differ: 0
	// own input is shown after 2 ticks
}
