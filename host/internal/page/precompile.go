//go:build !js

package page

import (
	"context"
	"strings"
	"sync"

	"github.com/coeval-dev/coeval/host/internal/cli"
)

// Precompile compiles what a program in a folder is made of besides itself, for this machine and
// for the browser side by side, so that it starts at once later. Show is told how far it is.
func Precompile(ctx context.Context, dir string, show func(part float64, what string)) error {
	src := Source{program: cli.Module + "/host", dir: dir}
	var work sync.WaitGroup
	var mu sync.Mutex
	done, total := 0, 0
	each := make([]error, 2)
	for i, g := range []*goCommand{src.native(ctx), src.browser(ctx)} {
		args := []string{"build", "-v"}
		if i == 1 {
			args = append(args, "-trimpath") // as it will be
		}
		work.Go(func() {
			n, _ := g.output("list", "-deps", src.program) // without, it is a guess
			mu.Lock()
			total += strings.Count(n, "\n")
			mu.Unlock()
			each[i] = g.follow(func(name string) {
				mu.Lock()
				defer mu.Unlock()
				done++
				show(float64(done)/float64(max(done, total, 1)),
					"compiling "+strings.TrimPrefix(name, cli.Module+"/"))
			}, append(args, src.program)...)
		})
	}
	work.Wait()
	if each[0] != nil {
		return each[0] // the other says the same
	}
	return each[1]
}
