//go:build !js

package seamlesslab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"github.com/coeval-dev/coeval/lab"
)

// A process is a broker or a server. What it has said is under the session's lock.
type process struct {
	role string
	cmd  *exec.Cmd
	enc  *json.Encoder
	in   io.Closer
	said bytes.Buffer // on standard error
	gone chan struct{}
	once sync.Once

	last   said
	err    error // of its end
	killed bool
}

// start starts a process, and follows what it says.
func (s *session) start(ctx context.Context, role string, x *spec) (*process, error) {
	p := &process{role: role, cmd: s.o.Start(role), gone: make(chan struct{})}
	p.cmd.Stderr = &p.said
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.enc = in, json.NewEncoder(in)
	if err := lab.Foremost(p.cmd); err != nil {
		return nil, fmt.Errorf("starting a %s: %w", role, err)
	}
	context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() }) // it may have ended
	if err := p.enc.Encode(x); err != nil {
		return nil, err
	}
	go s.follow(p, out)
	return p, nil
}

// follow hears what a process says until it ends.
func (s *session) follow(p *process, out io.Reader) {
	defer close(p.gone)
	dec := json.NewDecoder(out)
	for {
		var x said
		if dec.Decode(&x) != nil {
			break
		}
		s.mu.Lock()
		s.hear(p, &x)
		s.mu.Unlock()
	}
	err := p.cmd.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.err == nil {
		p.err = errors.New("it has ended")
	}
	if text := strings.TrimSpace(p.said.String()); text != "" || err != nil {
		p.err = fmt.Errorf("%w: %v: %s", p.err, err, text)
	}
}

// hear takes what a process has said. The lock is held.
func (s *session) hear(p *process, x *said) {
	s.acks = append(s.acks, x.Acks...)
	s.steps = append(s.steps, x.Steps...)
	s.news = append(s.news, x.News...)
	if x.Error != "" {
		p.err = errors.New(x.Error)
	}
	p.last = *x
	p.last.Acks, p.last.Steps, p.last.News = nil, nil, nil
}

// tell gives an order. Whoever does not take it has ended.
func (p *process) tell(o order) { _ = p.enc.Encode(o) }

// kill ends it as nothing can prevent, and waits until it has. Nothing that it was about to say is
// lost or made up.
func (p *process) kill() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.gone
		_ = p.in.Close()
	})
}
