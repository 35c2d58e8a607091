//go:build !js

package page

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/web"
)

// A Progress is how far the game for the browser is. The JSON names are the page's.
type Progress struct {
	Step    string  `json:"step"`
	Part    float64 `json:"part"` // from 0 to 1
	Done    bool    `json:"done"`
	Error   string  `json:"error"`
	Seconds float64 `json:"seconds"`
	Tag     string  `json:"tag"` // of the program; a page that has another is to load it anew
}

// A Client is a title's game for the browser, made from what a release brought, from what was built
// or kept before, or by compiling it.
type Client struct {
	// Watch is told of each change; it may be nil.
	Watch func(Progress)
	// Matches has the client play in matches at a relay, too, which makes it a tenth larger.
	Matches bool

	title *game.Title
	built fs.FS // what was built before, or nil
	begun atomic.Bool

	mu    sync.Mutex
	began time.Time
	state Progress
	made  *web.Bundle
}

// NewClient is the client of a title, which is yet to be made. Built is a folder with one that was
// built before; without, the client is compiled.
func NewClient(t *game.Title, built fs.FS) *Client {
	return &Client{
		title: t, built: built, began: time.Now(), state: Progress{Step: "one moment"},
	}
}

// Bundle is what was made, or nil.
func (c *Client) Bundle() *web.Bundle {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made
}

// Now is how far it is.
func (c *Client) Now() Progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Begin has what follows count from now.
func (c *Client) Begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began = time.Now()
}

// Elsewhere says that somebody else makes it, who tells how it goes: Make does nothing.
func (c *Client) Elsewhere() { c.begun.Store(true) }

// Tell says how far it is, and what came of it, if it is made.
func (c *Client) Tell(s Progress, made *web.Bundle) {
	c.mu.Lock()
	s.Seconds = time.Since(c.began).Seconds()
	if made != nil {
		c.made = made
	}
	if c.made != nil {
		s.Tag = c.made.Tag
	}
	c.state = s
	c.mu.Unlock()
	if c.Watch != nil {
		c.Watch(s)
	}
}

// Relay passes on how a build goes that is done elsewhere. What was built before is still there,
// and what was wrong is said until it is mended.
func (c *Client) Relay(p Progress) {
	if p.Done {
		return // it is told with what was made
	}
	if p.Error == "" {
		p.Error = c.Now().Error
	}
	c.Tell(p, nil)
}

// Find says at once whether the client can be made, and why not: before it takes a while.
func (c *Client) Find(ctx context.Context) error {
	b, err := c.brought()
	if b == nil && err == nil {
		_, err = c.find(ctx)
	}
	return err
}

func (c *Client) find(ctx context.Context) (Source, error) {
	s, err := FindClient(ctx, c.title)
	s.matches = c.Matches
	return s, err
}

// Make makes the bundle, the first time. What is wrong is told as progress is, and returned.
func (c *Client) Make(ctx context.Context) error {
	if c.begun.Swap(true) {
		return nil
	}
	b, err := c.make(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		c.Tell(Failed(err), nil)
	default:
		c.Tell(Done(b), b)
	}
	return err
}

// Failed is the progress of what could not be made.
func Failed(err error) Progress {
	return Progress{Step: "the game could not be compiled", Error: err.Error()}
}

// Done is the progress of what is made.
func Done(b *web.Bundle) Progress {
	_, gz, zst := b.Sizes()
	return Progress{
		Step: fmt.Sprintf("the game has %.2f MB, or %.2f MB for browsers that take no zstd",
			float64(zst)/1e6, float64(gz)/1e6), Part: 1, Done: true}
}

// brought is the client that nobody has to compile, or nil.
func (c *Client) brought() (*web.Bundle, error) {
	switch {
	case c.built != nil:
		b, err := web.LoadBundle(c.built)
		if err != nil {
			err = fmt.Errorf("the client that was built before cannot be used: %w", err)
		}
		return b, err
	case c.title.Client != "" && !c.Matches: // a release brings no other
		return web.Released()
	}
	return nil, nil
}

func (c *Client) make(ctx context.Context) (*web.Bundle, error) {
	if b, err := c.brought(); err != nil || b != nil {
		return b, err
	}
	c.Tell(Progress{Step: "looking for the game's sources", Part: 0.01}, nil)
	src, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	return c.keep(ctx, src)
}

// keep gives what was kept of a source, or compiles it and keeps it.
func (c *Client) keep(ctx context.Context, src Source) (*web.Bundle, error) {
	key, err := src.key(ctx)
	if err != nil {
		return nil, err
	}
	kept := ""
	if cache, err := os.UserCacheDir(); err == nil {
		kept = filepath.Join(cache, "coeval", "client", key)
		if b, err := web.LoadBundle(os.DirFS(kept)); err == nil {
			return b, nil
		}
	}
	b, err := c.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	if kept != "" && b.Save(kept) == nil {
		forget(filepath.Dir(kept), key)
	}
	return b, nil
}

// Compile compiles and compresses, whatever was kept.
func (c *Client) Compile(ctx context.Context, src Source) (*web.Bundle, error) {
	program, starter, err := c.compile(ctx, src)
	if err != nil {
		return nil, err
	}
	c.Tell(Progress{Step: "compressing", Part: 0.97}, nil)
	return web.QuickBundle(program, starter) // its way to the browser is short
}

// keptBundles is how many are kept, so that going back and forth between versions does not compile
// each time.
const keptBundles = 4

// forget removes the oldest of what was kept.
func forget(dir, but string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	age := func(e os.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil || e.Name() == but {
			return time.Now() // it goes last
		}
		return info.ModTime()
	}
	slices.SortFunc(list, func(a, b os.DirEntry) int { return age(a).Compare(age(b)) })
	for _, e := range list[:max(0, len(list)-keptBundles)] {
		_ = os.RemoveAll(filepath.Join(dir, e.Name()))
	}
}

// compile runs the compiler, and tells how far it is.
func (c *Client) compile(ctx context.Context, src Source) (program, starter []byte,
	err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, nil, err
	}
	for _, at := range []string{"lib/wasm", "misc/wasm"} { // it has moved
		if starter, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), at,
			"wasm_exec.js")); err == nil {
			break
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("go's own wasm_exec.js is not there: %w", err)
	}
	tmp, err := os.MkdirTemp("", "coeval-client-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, "client.wasm")
	total := make(chan int, 1)
	go func() { total <- src.count(ctx) }()
	n, parts := 0, usualPackages
	if err := src.browser(ctx).follow(func(name string) {
		n++
		select {
		case parts = <-total:
		default:
		}
		step := fmt.Sprintf("compiling the game for the browser, %d of up to %d parts: %s", n,
			max(n, parts), strings.TrimPrefix(name, cli.Module+"/"))
		c.Tell(Progress{Step: step, Part: 0.03 + 0.85*float64(n)/float64(max(n, parts, 1))}, nil)
	}, "build", "-v", "-trimpath", "-ldflags=-s -w", "-o", out, src.program); err != nil {
		return nil, nil, err
	}
	program, err = os.ReadFile(out)
	return program, starter, err
}

// usualPackages is how many packages the game is about made of, for as long as no one has counted.
const usualPackages = 220

// count says how many packages the game is made of.
func (s *Source) count(ctx context.Context) int {
	out, _ := s.browser(ctx).output("list", "-deps", s.program) // without, it is a guess
	return strings.Count(out, "\n")
}
