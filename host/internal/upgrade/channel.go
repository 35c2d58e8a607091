//go:build !js

package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// A Channel is what the two programs speak over: a Unix socket, or in tests a pipe. It is closed
// when the program at the other end ends, by whatever means.
type Channel interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
	// WriteWith writes, and has descriptors go along, which stay the caller's.
	WriteWith(p []byte, fds []int) error
	// Came gives the descriptors that came along with what was read, once.
	Came() []int
}

// A Baton is what only one of the two programs can have: who takes it computes.
type Baton interface {
	// Take takes it, and says whether it was there.
	Take() bool
	Close()
}

// A talk is a channel with time limits.
type talk struct{ ch Channel }

// send sends a message, and with it descriptors.
func (t talk) send(k kind, payload []byte, until time.Time, fds ...int) error {
	b, err := frame(k, payload)
	if err == nil {
		err = t.ch.SetWriteDeadline(until)
	}
	if err != nil {
		return err
	}
	if len(fds) > 0 {
		return t.ch.WriteWith(b, fds)
	}
	_, err = t.ch.Write(b)
	return err
}

// sendMoment sends a moment, and its world after it.
func (t talk) sendMoment(k kind, m *Moment, until time.Time, fds ...int) error {
	b, err := json.Marshal(m)
	if err == nil {
		err = t.send(k, b, until, fds...)
	}
	if err == nil {
		err = t.send(kindWorld, m.World, until)
	}
	return err
}

// refuse says No. Whether the other hears it does not matter.
func (t talk) refuse(why error) {
	text := why.Error()
	_ = t.send(kindNo, []byte(text[:min(len(text), most[kindNo])]), time.Now().Add(sayTime))
}

// sayTime is how long something short may take to be written.
const sayTime = time.Second

// receive waits for a message of a kind. The error is a *Refusal if the other says No.
func (t talk) receive(ctx context.Context, k kind, until time.Time) ([]byte, error) {
	if err := t.ch.SetReadDeadline(until); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() {
		_ = t.ch.SetReadDeadline(time.Unix(1, 0)) // a channel that is closed reads nothing either
	})
	defer stop()
	got, b, err := read(t.ch)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case got == kindNo:
		return nil, &Refusal{string(b)}
	case got != k:
		return nil, fmt.Errorf("%w: %v where %v was to come", errMessage, got, k)
	}
	return b, nil
}

// receiveMoment waits for a moment and its world.
func (t talk) receiveMoment(ctx context.Context, k kind, until time.Time) (*Moment, error) {
	b, err := t.receive(ctx, k, until)
	if err != nil {
		return nil, err
	}
	m, err := parseMoment(b)
	if err != nil {
		return nil, err
	}
	m.World, err = t.receive(ctx, kindWorld, until)
	return m, err
}

// late says that an error is that of a time limit: the other may live.
func late(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// refused says that the other has said No.
func refused(err error) bool {
	var r *Refusal
	return errors.As(err, &r)
}
