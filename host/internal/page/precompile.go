//go:build !js

package page

import (
	"context"
	"strings"
	"sync"

	"github.com/coeval-dev/coeval/host/internal/cli"
)

// Precompile compiles a program of one title, which is in a folder, for this machine and for the
// browser side by side, and keeps both: go run and its demo then start at once. Show is told how
// far it is.
func Precompile(ctx context.Context, program, dir string,
	show func(part float64, what string)) error {
	src := Source{program: program, dir: dir}
	var mu sync.Mutex
	var parts [2]float64
	tell := func(i int, part float64, what string) {
		mu.Lock()
		defer mu.Unlock()
		parts[i] = max(part, parts[i])
		show(0.7*parts[0]+0.3*parts[1], what) // for this machine it is more than twice as much
	}
	var work sync.WaitGroup
	var here, there error
	work.Go(func() {
		here = src.precompile(ctx, func(part float64, what string) { tell(0, part, what) })
	})
	work.Go(func() {
		c := NewClient(nil, nil)
		c.Watch = func(p Progress) { tell(1, p.Part, p.Step) }
		_, there = c.keep(ctx, src)
	})
	work.Wait()
	if here != nil {
		return here // the other says the same
	}
	return there
}

// precompile compiles a program for this machine as go run does, which keeps it, and has it say its
// version.
func (s *Source) precompile(ctx context.Context, show func(part float64, what string)) error {
	g := s.native(ctx)
	list, _ := g.output("list", "-deps", s.program) // without, it is a guess
	n, total := 0, strings.Count(list, "\n")
	return g.follow(func(name string) {
		n++
		show(float64(n)/float64(max(n, total)),
			"compiling the game, "+strings.TrimPrefix(name, cli.Module+"/"))
	}, "run", "-v", s.program, "version")
}
