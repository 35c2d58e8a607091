//go:build !js

package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// A Successor is the program that takes the place of another. After Ask it has seen the game as it
// was, in Trial; then come Ready, Take and Going, or Refuse at any time before Going.
type Successor struct {
	// Trial is the game as it was at a moment, and what is handed over. The descriptors are the
	// successor's.
	Trial *Moment

	talk   talk
	baton  Baton
	within time.Duration
	until  time.Time // when to take the baton without a word
}

// ErrGone is that the other program has ended, or has closed the channel, before it handed over the
// game. Use errors.Is.
var ErrGone = errors.New("the server that runs has ended, or has given up the upgrade")

// Ask asks the program at the other end of a channel for its place. Hold makes a baton of its
// descriptor.
func Ask(ctx context.Context, ch Channel, h Hello, hold func(fd int) (Baton, error)) (
	_ *Successor, err error,
) {
	s := &Successor{talk: talk{ch}, within: h.Within}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	h.Version = Version
	text, err := json.Marshal(h)
	if err == nil {
		err = s.talk.send(kindHello, text, time.Now().Add(helloTime))
	}
	if err != nil {
		// That it was closed is no reason yet: what the other has said comes before.
		if _, heard := s.talk.receive(ctx, kindTrial, time.Now().Add(sayTime)); refused(heard) {
			err = heard
		}
		return nil, gone(err)
	}
	if s.Trial, err = s.talk.receiveMoment(ctx, kindTrial, time.Now().Add(worldTime)); err != nil {
		return nil, gone(err)
	}
	fds := ch.Came()
	defer func() {
		for i := range fds {
			if err != nil && i > 0 {
				CloseFD(fds[i])
			}
		}
	}()
	if len(fds) != len(s.Trial.Handed)+1 {
		if len(fds) > 0 {
			CloseFD(fds[0])
		}
		return nil, fmt.Errorf("%w: %d descriptors", errMessage, len(fds))
	}
	for i := range s.Trial.Handed {
		s.Trial.Handed[i].FD = fds[i+1]
	}
	s.baton, err = hold(fds[0])
	return s, err
}

// gone has what is no refusal be ErrGone.
func gone(err error) error {
	if refused(err) || errors.Is(err, context.Canceled) || errors.Is(err, errMessage) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrGone, err)
}

// Ready says that all is open and the game can be loaded, and waits for the last moment of it.
func (s *Successor) Ready(ctx context.Context) (*Moment, error) {
	if err := s.talk.send(kindReady, nil, time.Now().Add(sayTime)); err != nil {
		return nil, gone(err)
	}
	m, err := s.talk.receiveMoment(ctx, kindFinal, time.Now().Add(worldTime))
	if err != nil {
		return nil, gone(err)
	}
	within := min(max(s.within, LeastWithin), MostWithin)
	s.until = time.Now().Add(within + sayTime)
	return m, nil
}

// Take takes the game: without an error this program is the one that computes. It is to be called
// when nothing else can fail. Safe says that the last moment is durable.
func (s *Successor) Take() (safe bool, err error) {
	_, err = s.talk.receive(context.Background(), kindYours, s.until)
	if refused(err) {
		return false, err
	}
	safe = err == nil // if not, the other has died or hangs
	if !s.baton.Take() {
		return false, fmt.Errorf("%w: it has taken its game back, as the new one was too slow",
			ErrGone)
	}
	return safe, nil
}

// Going tells the other that it is not needed any more. It must be said before anything is
// computed.
func (s *Successor) Going() {
	_ = s.talk.send(kindGoing, nil, time.Now().Add(sayTime)) // if it died, so much the better
	s.close()
}

// Refuse tells the other to go on, and why.
func (s *Successor) Refuse(why error) {
	s.talk.refuse(why)
	s.close()
}

func (s *Successor) close() {
	_ = s.talk.ch.Close()
	if s.baton != nil {
		s.baton.Close()
	}
}
