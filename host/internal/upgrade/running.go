//go:build !js

package upgrade

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Running is the program that serves now, as an upgrade sees it.
type Running interface {
	// Greet says whether a program may take the place: why not.
	Greet(h *Hello) error
	// Moment is the game between two ticks, which is played on, with what is handed over. Whoever
	// asked closes the descriptors.
	Moment(ctx context.Context) (*Moment, error)
	// Stop stops the game between two ticks, calls f with it, and waits. If f says that the other
	// has it, nothing is computed here any more; otherwise the game goes on. The error is that it
	// could not be stopped, and f was not called.
	Stop(f func(m *Moment) (gone bool)) error
	// Settle has all of the game that is stopped be durable, by then at the latest.
	Settle(until time.Time) error
	// CloseFD closes a descriptor of Moment.
	CloseFD(fd int)
}

// Time limits of what happens while the game is played on.
const (
	helloTime = 10 * time.Second
	worldTime = time.Minute     // to hand a world over
	trialTime = 5 * time.Minute // for the new one to try it, and to open what it needs
)

// A Result is what came of an upgrade for the program that was running.
type Result struct {
	Hello *Hello // who it was; nil if nobody said
	Gone  bool   // the other program has the game
	Still time.Duration
	Err   error // why it has not
}

// ErrEnding is that the program that runs was told to end.
var ErrEnding = errors.New("the server that runs was told to end")

// Serve has the program at the other end of a channel take the place of this one, if it can. The
// context ends when this program is told to end.
func Serve(ctx context.Context, ch Channel, r Running, b Baton, batonFD int) (out Result) {
	t := talk{ch}
	defer ch.Close()
	defer b.Close()
	fail := func(err error) Result {
		if ctx.Err() != nil {
			err = ErrEnding
		}
		out.Err = err
		if !refused(err) {
			t.refuse(err)
		}
		return out
	}
	text, err := t.receive(ctx, kindHello, time.Now().Add(helloTime))
	if err != nil {
		return fail(err)
	}
	if out.Hello, err = parseHello(text); err == nil {
		err = r.Greet(out.Hello)
	}
	if err == nil {
		err = show(ctx, t, r, batonFD)
	}
	if err == nil {
		_, err = t.receive(ctx, kindReady, time.Now().Add(trialTime))
	}
	if err != nil {
		return fail(err)
	}
	if err := r.Stop(func(m *Moment) bool {
		began := time.Now()
		out.Err = give(t, r, b, m, began.Add(out.Hello.Within))
		out.Gone, out.Still = out.Err == nil, time.Since(began)
		return out.Gone
	}); err != nil {
		return fail(err)
	}
	return out
}

// show has the new program see the game and what is handed over.
func show(ctx context.Context, t talk, r Running, batonFD int) error {
	m, err := r.Moment(ctx)
	if err != nil {
		return err
	}
	fds := []int{batonFD}
	for _, h := range m.Handed {
		fds = append(fds, h.FD)
		defer r.CloseFD(h.FD)
	}
	return t.sendMoment(kindTrial, m, time.Now().Add(worldTime), fds...)
}

// give gives the game that is stopped to the other program. Without an error the other has it.
func give(t talk, r Running, b Baton, m *Moment, until time.Time) error {
	ctx := context.Background() // until it is decided nobody may end it
	err := t.sendMoment(kindFinal, m, until)
	if err == nil {
		err = r.Settle(until)
	}
	if err == nil {
		err = t.send(kindYours, nil, until)
	}
	if err == nil {
		_, err = t.receive(ctx, kindGoing, until)
	}
	if err == nil {
		return nil
	}
	if !b.Take() && !refused(err) {
		// The other has it: it says so, or it dies before it has computed anything.
		if _, err = t.receive(ctx, kindGoing, time.Time{}); err == nil {
			return nil
		}
	}
	switch {
	case late(err):
		err = fmt.Errorf("the game stood still for as long as it may: give it longer by " +
			"--upgrade-within")
	case !refused(err):
		err = fmt.Errorf("the new one is gone, or cannot be spoken to: %w", err)
	}
	if !refused(err) {
		t.refuse(err)
	}
	return err
}

// Decline says No to a program, whatever it wants.
func Decline(ch Channel, why error) {
	talk{ch}.refuse(why)
	_ = ch.Close() // what the other has said does not matter
}
