package listenlab_test

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/lab/listenlab"
)

// Two ends in one program, over a path that takes 20 ms there and 30 ms back.
func Example() {
	here, there := listenlab.NewListener(1, 10*time.Millisecond), listenlab.NewAnswerer()
	for range 100 {
		now := here.Due()
		answer := there.Answer(now+20*time.Millisecond, here.Next(now))
		here.Take(now+50*time.Millisecond, answer)
	}
	r, err := here.Result()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Least, r.Up.Loss, r.Network)
	// Output: 50 0 [up.latency=25ms down.latency=25ms]
}
