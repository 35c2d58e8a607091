package cluster

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// An asker sends requests of which each may have several answers, all to one subscription, so that
// a batch of them is sent in one go and waited for afterwards.
type asker struct {
	nc     *nats.Conn
	sub    *nats.Subscription
	prefix string

	mu    sync.Mutex
	last  uint64
	calls map[string]*call
}

// A call is one request, until its end.
type call struct {
	a       *asker
	token   string
	answers chan *nats.Msg
}

func newAsker(nc *nats.Conn) (*asker, error) {
	a := &asker{nc: nc, prefix: nc.NewInbox() + ".", calls: map[string]*call{}}
	sub, err := nc.Subscribe(a.prefix+"*", a.answer)
	if err != nil {
		return nil, err
	}
	a.sub = sub
	return a, sub.SetPendingLimits(-1, -1) // calls bound it
}

// answer hands an answer to its call. One that nobody waits for any more is dropped.
func (a *asker) answer(m *nats.Msg) {
	a.mu.Lock()
	c := a.calls[strings.TrimPrefix(m.Subject, a.prefix)]
	a.mu.Unlock()
	if c == nil {
		return
	}
	select {
	case c.answers <- m:
	default: // more than it asked for; a reader notices what is missing
	}
}

// send begins a call with room for so many answers.
func (a *asker) send(subject string, header nats.Header, data []byte, room int) (*call, error) {
	a.mu.Lock()
	a.last++
	c := &call{a, strconv.FormatUint(a.last, 36), make(chan *nats.Msg, room)}
	a.calls[c.token] = c
	a.mu.Unlock()
	err := a.nc.PublishMsg(&nats.Msg{
		Subject: subject, Reply: a.prefix + c.token, Header: header, Data: data})
	if err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

func (c *call) end() {
	c.a.mu.Lock()
	defer c.a.mu.Unlock()
	delete(c.a.calls, c.token)
}

// wait gives the next answer, or nil when the timer or the context ends first.
func (c *call) wait(ctx context.Context, timer <-chan time.Time) *nats.Msg {
	select {
	case m := <-c.answers: // even if it is late
		return m
	default:
	}
	select {
	case m := <-c.answers:
		return m
	case <-timer:
	case <-ctx.Done():
	}
	return nil
}

// ask sends a request that has one answer, again after each silence, until the context ends. It
// must do no harm twice.
func (a *asker) ask(ctx context.Context, subject string, header nats.Header, data []byte,
) (*nats.Msg, error) {
	var cause error
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		m, err := a.once(ctx, subject, header, data, wait)
		if m != nil && !nobody(m) {
			return m, nil
		}
		if err != nil {
			cause = err
		}
		if m != nil {
			cause = nats.ErrNoResponders
		}
		if (m != nil || err != nil) && !pause(ctx, shortWait) || ctx.Err() != nil {
			return nil, unsure(ctx, false, cause)
		}
	}
}

func (a *asker) once(ctx context.Context, subject string, header nats.Header, data []byte,
	wait time.Duration) (*nats.Msg, error) {
	c, err := a.send(subject, header, data, 1)
	if err != nil {
		return nil, err
	}
	defer c.end()
	t := time.NewTimer(wait)
	defer t.Stop()
	return c.wait(ctx, t.C), nil
}

// insist asks for something again and again, and takes the first answer to any of it. While servers
// have no leader they drop what is asked, so that whoever waits for long loses time after they have
// one; and when they are slow, whoever does not wait never hears them.
func (a *asker) insist(ctx context.Context, subject string) (*nats.Msg, error) {
	c, err := a.send(subject, nil, nil, 16)
	if err != nil {
		return nil, err
	}
	defer c.end()
	t := time.NewTicker(firstWait / 5)
	defer t.Stop()
	for {
		m := c.wait(ctx, t.C)
		switch {
		case m != nil && nobody(m):
			return nil, nats.ErrNoResponders
		case m != nil:
			return m, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		err := a.nc.PublishMsg(&nats.Msg{Subject: subject, Reply: a.prefix + c.token})
		if err != nil {
			return nil, err
		}
	}
}

// How long to wait for an answer before a request is sent again, at first and at most, and before
// one is repeated that was refused or that nobody heard.
const (
	firstWait = time.Second
	lastWait  = 4 * time.Second
	shortWait = 20 * time.Millisecond
)

// nobody says whether an answer means that nobody listens: there is no such stream, or it has no
// leader at present.
func nobody(m *nats.Msg) bool {
	return len(m.Data) == 0 && m.Header.Get("Status") == "503"
}
