//go:build !js

package page

import (
	"context"
	"fmt"
	"io"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/web"
)

// Build compiles the client of a title into a folder, for releases and for servers without Go, and
// says what came of it. It is compressed as far as it goes, which takes a while.
func Build(ctx context.Context, t *game.Title, dir string, out io.Writer) error {
	c := NewClient(t, nil)
	bar := cli.NewProgress(out)
	c.Watch = func(p Progress) { bar.Show(p.Part, p.Step) }
	src, err := FindClient(ctx, t)
	if err != nil {
		return err
	}
	program, starter, err := c.compile(ctx, src)
	if err != nil {
		return err
	}
	b, err := web.NewBundle(program, starter)
	if err != nil {
		return err
	}
	bar.Clear()
	if err := b.Save(dir); err != nil {
		return err
	}
	plain, gz, zst := b.Sizes()
	fmt.Fprintf(out, "%s: %d bytes of WebAssembly, %d with zstd, %d with gzip, and %d of page\n",
		dir, plain, zst, gz, web.PageSize())
	return nil
}
