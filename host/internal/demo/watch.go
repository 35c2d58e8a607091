//go:build !js

package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/host/internal/page"
	"github.com/coeval-dev/coeval/web"
)

// A watcher is the process behind demo --watch. It serves nothing itself. It has another process
// do that, the very program that is being worked on, and replaces it when the sources change:
//
//	sources ── watcher ── go build ──┬── the program for the browser ──┐
//	                                 └── the program, in place of ── the program ── page
//	                                     the one before                with its world and seats
//
// The two processes talk by lines of JSON: orders on the program's standard input, and reports on
// its standard output. The program ends when its input does, so none is left behind.
type watcher struct {
	flags  *flags
	out    io.Writer
	bar    *cli.Progress
	dir    string      // for what is built
	server page.Source // the program, and page the one for the browser
	page   page.Source
	client *page.Client

	served string // the file of the program that runs
	now    *watched
	port   int

	running bool // the first build is over
	broken  bool // the last build failed, and everyone was told
	silent  bool // that the program has ended was said
}

// An order is what the watcher wants of the program. One of its fields is set.
type order struct {
	// Build is how the build goes, for the page, and Client a folder with what it came to.
	Build  *page.Progress `json:"build,omitempty"`
	Client string         `json:"client,omitempty"`
	// Leave has the program write its world and seats to a file, and end.
	Leave string `json:"leave,omitempty"`
}

// A beginning is what a program that is watched is told by its environment.
type beginning struct {
	Port int    `json:"port"`
	From string `json:"from,omitempty"` // a file that another program left
	// Invite is what guests need to know: the same for each program, as they have it already.
	Invite string `json:"invite,omitempty"`
}

// watchedBy is the variable of the environment that has a beginning.
const watchedBy = "COEVAL_DEMO_WATCHED"

// A report is what the program says. One of its fields is set.
type report struct {
	Ready *readyReport `json:"ready,omitempty"`
	// Note is something to tell people.
	Note string `json:"note,omitempty"`
}

type readyReport struct {
	URL   string `json:"url"`
	Port  int    `json:"port"`
	Print string `json:"print,omitempty"`
	// Links are what guests are given.
	Links []string `json:"links,omitempty"`
}

// watch runs the demo until the context ends, and does what the sources say now.
func (d *flags) watch(ctx context.Context, out io.Writer) error {
	if d.mirrors != nil {
		return cli.Usagef("--watch is for one server, whose world and seats its next version takes " +
			"over; mirrors cannot hand theirs on: leave out --mirrors while you change the game, " +
			"or --watch to see it on mirrors")
	}
	if d.peers != nil {
		return cli.Usagef("--watch is for one server, whose world its next version takes over: " +
			"leave out --peers while you change the game, or --watch to see it between peers")
	}
	if _, err := d.check(); err != nil { // what is wrong with the command line is said once
		return err
	}
	w := &watcher{flags: d, out: out, bar: cli.NewProgress(out), port: d.port}
	var err error
	if w.server, err = page.FindProgram(ctx, ""); err != nil {
		return err
	}
	if w.page, err = page.FindClient(ctx, d.title); err != nil {
		return err
	}
	if w.served, err = os.Executable(); err != nil {
		return err
	}
	if w.dir, err = os.MkdirTemp("", "coeval-watch-"); err != nil {
		return err
	}
	defer os.RemoveAll(w.dir)
	w.client = page.NewClient(d.title, nil)
	w.client.Watch = w.building
	return w.run(ctx)
}

func (w *watcher) run(ctx context.Context) (err error) {
	if w.now, err = w.begin(ctx, w.served, ""); err != nil {
		return err
	}
	defer func() { w.now.end() }()
	w.greet(ctx)
	files, err := w.server.Files(ctx)
	if err != nil {
		return err
	}
	last := files.Look()
	_ = w.client.Make(ctx)
	w.hand()
	w.running = true
	fmt.Fprintf(w.out, "what you change in %d folders of sources is there when you save it\n",
		files.Folders())
	for ctx.Err() == nil {
		name, now, err := w.next(ctx, &files, last)
		if err != nil {
			break
		}
		fmt.Fprintf(w.out, "%s has changed\n", relative(name))
		w.rebuild(ctx)
		last = now
		if again, err := w.server.Files(ctx); err == nil {
			files = again // what is imported may be other packages now
		}
		for name, s := range files.Look() {
			if _, known := last[name]; !known {
				last[name] = s
			}
		}
	}
	return nil
}

// greet says where the game is, and shows it.
func (w *watcher) greet(ctx context.Context) {
	r := w.now.ready
	fmt.Fprintf(w.out, "the game is at %s   (Ctrl-C ends it)\n", r.URL)
	if r.Print != "" {
		fmt.Fprintf(w.out, "its certificate is %s\n", r.Print)
	}
	page.Invite(w.out, invites, r.Links)
	if !w.flags.noOpen {
		cli.OpenBrowser(ctx, w.out, r.URL)
	}
}

// next waits until sources have changed. A program that ends before, as when the game panicked,
// begins anew with the change.
func (w *watcher) next(ctx context.Context, files *page.Files, last page.Stamps) (string,
	page.Stamps, error) {
	type change struct {
		name string
		now  page.Stamps
		err  error
	}
	found := make(chan change, 1)
	go func() {
		var c change
		c.name, c.now, c.err = files.Next(ctx, last)
		found <- c
	}()
	var c change
	select {
	case c = <-found:
	case <-w.now.done:
		if ctx.Err() == nil && !w.silent {
			w.silent = true
			fmt.Fprintf(w.out, "%v\nthe program has ended, and begins anew when you change "+
				"something\n", w.now.error())
		}
		c = <-found
	}
	return c.name, c.now, c.err
}

// building shows how the build for the browser goes, in the page and here.
func (w *watcher) building(b page.Progress) {
	w.now.order(order{Build: &b})
	switch {
	case b.Error != "":
		w.bar.Clear()
		fmt.Fprintf(w.out, "the game could not be compiled:\n%s\n", b.Error)
	case b.Done && w.running:
		w.bar.Clear()
	case b.Done:
		w.bar.Clear()
		fmt.Fprintf(w.out, "ready after %.1f s: %s\n", b.Seconds, b.Step)
	default:
		w.bar.Show(b.Part, b.Step)
	}
}

// hand gives the program for the browser to the one that serves it.
func (w *watcher) hand() {
	b := w.client.Bundle()
	if b == nil {
		return
	}
	to := filepath.Join(w.dir, "client-"+b.Tag)
	if _, err := os.Stat(to); err != nil {
		if err := b.Save(to); err != nil {
			fmt.Fprintln(w.out, err)
			return
		}
	}
	w.now.order(order{Client: to})
}

// rebuild compiles both programs side by side, and puts them in place of those that run. If they
// do not compile, what runs goes on, and the page says why.
func (w *watcher) rebuild(ctx context.Context) {
	began := time.Now()
	w.client.Begin()
	to := filepath.Join(w.dir, fmt.Sprintf("program-%d%s", began.UnixNano(), exe()))
	w.now.order(order{Build: &page.Progress{Step: "compiling what has changed", Part: 0.05}})
	var work sync.WaitGroup
	var failed error
	var made *web.Bundle
	var wrong error
	work.Go(func() { failed = w.server.CompileNative(ctx, to) })
	work.Go(func() { made, wrong = w.client.Compile(ctx, w.page) })
	work.Wait()
	if failed == nil {
		failed = wrong
	}
	if ctx.Err() != nil {
		return
	}
	if failed != nil {
		w.broken = true
		_ = os.Remove(to)
		w.client.Tell(page.Failed(failed), nil)
		return
	}
	if w.broken {
		w.broken = false
		fmt.Fprintf(w.out, "it compiles again\n")
	}
	w.client.Tell(page.Done(made), made)
	if !w.now.ended() && sameFile(to, w.served) {
		_ = os.Remove(to)
		w.hand()
	} else if err := w.replace(ctx, to); err != nil {
		if w.broken = true; ctx.Err() == nil {
			w.client.Tell(page.Failed(err), nil)
		}
		return
	}
	fmt.Fprintf(w.out, "the game was replaced after %.1f s\n", time.Since(began).Seconds())
}

// replace has another file of the program go on where the one that runs is. If it does not get
// there, the one before goes on.
func (w *watcher) replace(ctx context.Context, file string) error {
	left := filepath.Join(w.dir, "left.json")
	_ = os.Remove(left)
	w.now.order(order{Leave: left})
	w.now.end()
	if _, err := os.Stat(left); err != nil {
		left = "" // it had ended before, or could not
	}
	next, err := w.begin(ctx, file, left)
	if err != nil {
		_ = os.Remove(file)
		if next, again := w.begin(ctx, w.served, left); again == nil {
			w.now = next
			w.hand()
		}
		return err
	}
	if old := w.served; filepath.Dir(old) == w.dir {
		_ = os.Remove(old)
	}
	w.now, w.served, w.silent = next, file, false
	w.hand()
	return nil
}

func exe() string {
	if filepath.Ext(os.Args[0]) == ".exe" {
		return ".exe"
	}
	return ""
}

// A watched is the program that serves.
type watched struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	ready *readyReport
	done  chan struct{}
	words *bytes.Buffer // the end of what it said, good when it is done

	mu sync.Mutex
}

// How long a program may take to be ready, and to end.
const (
	readyWithin = time.Minute
	endWithin   = 10 * time.Second
)

// begin starts a program, and waits until it serves. The error is what it said.
func (w *watcher) begin(ctx context.Context, file, from string) (*watched, error) {
	told, err := json.Marshal(beginning{
		Port: w.port, From: from, Invite: w.flags.reach.key})
	if err != nil {
		return nil, err
	}
	p := &watched{cmd: exec.Command(file, os.Args[1:]...), done: make(chan struct{}),
		words: &bytes.Buffer{}}
	p.cmd.Env = append(os.Environ(), watchedBy+"="+string(told))
	p.cmd.Stderr = p.words
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	said, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan *readyReport, 1)
	go func() {
		defer close(p.done)
		lines := json.NewDecoder(said)
		for {
			var r report
			if err := lines.Decode(&r); err != nil {
				break
			}
			if r.Note != "" {
				fmt.Fprintln(w.out, r.Note)
			}
			if r.Ready != nil && p.ready == nil {
				p.ready = r.Ready
				ready <- r.Ready
			}
		}
		_, _ = io.Copy(io.Discard, said) // it says nothing more that could be understood
		_ = p.cmd.Wait()
	}()
	late := time.NewTimer(readyWithin)
	defer late.Stop()
	select {
	case r := <-ready:
		w.port = r.Port
		return p, nil
	case <-ctx.Done():
		p.end()
		return nil, ctx.Err()
	case <-late.C:
		p.end()
		return nil, errors.New("the program does not begin to serve")
	case <-p.done:
		return nil, p.error()
	}
}

// error is what a program said that has ended.
func (p *watched) error() error {
	if text := strings.TrimSpace(p.words.String()); text != "" {
		return errors.New(text)
	}
	return fmt.Errorf("the program has ended: %v", p.cmd.ProcessState)
}

// order tells the program something. One that has ended does not hear it.
func (p *watched) order(o order) {
	b, err := json.Marshal(o)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.in.Write(append(b, '\n'))
}

func (p *watched) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// end has the program end, and waits for it.
func (p *watched) end() {
	p.mu.Lock()
	_ = p.in.Close()
	p.mu.Unlock()
	select {
	case <-p.done:
	case <-time.After(endWithin):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// relative is a file as people name it, from where the program was started.
func relative(name string) string {
	if dir, err := os.Getwd(); err == nil {
		if r, err := filepath.Rel(dir, name); err == nil && !strings.HasPrefix(r, "..") {
			return r
		}
	}
	return name
}

// sameFile says whether two files have the same bytes.
func sameFile(a, b string) bool {
	x, err := os.ReadFile(a)
	if err != nil {
		return false
	}
	y, err := os.ReadFile(b)
	return err == nil && bytes.Equal(x, y)
}
