package relay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/topology/drive"
)

// Find asks a relay what the match of a code is, by a connection that ends with the answer. It is
// for programs that choose by it what they make. The link stays open, and the options' token is
// used up. A refusal is a *RefusedError.
func Find(
	ctx context.Context, l link.Link, o conn.ClientOptions, code Code, game string,
) (Mode, error) {
	c, err := NewClient(o)
	if err != nil {
		return 0, err
	}
	if err := c.Look(code, game); err != nil {
		return 0, err
	}
	f := finder{link: l, client: c, batch: make([]link.Datagram, 16)}
	if err := (drive.Loop{Tick: f.poll, Step: 5 * time.Millisecond}).Run(ctx); err != errFound {
		return 0, err
	}
	return f.mode, f.err
}

// A finder asks once.
type finder struct {
	link       link.Link
	client     *Client
	batch, out []link.Datagram
	mode       Mode
	err        error
}

var errFound = errors.New("relay: answered")

// poll says errFound when there is an answer.
func (f *finder) poll(now time.Duration) error {
	n, err := f.link.Receive(f.batch)
	if err != nil {
		return fmt.Errorf("relay: the way to the relay has ended: %w", err)
	}
	f.client.Receive(now, f.batch[:n])
	done := false
	for _, e := range f.client.Events() {
		switch e.Kind {
		case Found:
			f.mode, done = e.Mode, true
		case Refused:
			f.err, done = &RefusedError{e.Why, e.Text}, true
		case Ended:
			return fmt.Errorf("relay: no connection with the relay: %w", e.reason())
		}
	}
	if done {
		f.client.Close()
	}
	f.out = f.client.Flush(now, f.out[:0])
	for sent := 0; sent < len(f.out); {
		n, err := f.link.Send(f.out[sent:])
		if sent += n; err == nil {
			continue
		}
		if !link.Passing(err) {
			return fmt.Errorf("relay: the way to the relay has ended: %w", err)
		}
		f.client.Refused(sent)
		sent++
	}
	if done {
		return errFound
	}
	return nil
}

// reason is why a connection ended, as an error.
func (e *Event) reason() error {
	switch {
	case e.Err != nil:
		return e.Err
	case e.Text != "":
		return fmt.Errorf("%s: %s", ReasonText(e.Reason), e.Text)
	}
	return errors.New(ReasonText(e.Reason))
}
