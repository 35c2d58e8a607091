package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A message is one of a stream, as it was read. Sequence 0 is none.
type message struct {
	subject  string
	sequence uint64
	payload  []byte
}

// A getRequest asks any node that keeps a stream for messages. Nodes answer from what they have
// applied, so an answer may be stale; readers check it against what they know must be there.
type getRequest struct {
	Sequence uint64   `json:"seq,omitempty"`
	Next     string   `json:"next_by_subj,omitempty"`
	Last     []string `json:"multi_last,omitempty"`
	Batch    int      `json:"batch,omitempty"`
	MaxBytes int      `json:"max_bytes,omitempty"`
}

// A page is what a node answers.
type page struct {
	messages []message
	more     bool   // there is more behind them
	upTo     uint64 // how far the node has come, where it says so
}

const (
	pageMessages = 1000
	pageBytes    = 4 << 20
)

// get asks for messages until an answer is complete.
func (n *connection) get(ctx context.Context, s *stream, r getRequest) (page, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return page{}, err
	}
	var cause error
	for {
		p, err := n.getOnce(ctx, s, data, max(r.Batch, len(r.Last)))
		if err == nil {
			return p, nil
		}
		if errors.Is(err, ErrGone) || errors.Is(err, ErrOther) {
			return p, fmt.Errorf("%w: %w", unsure(ctx, false, nil), err)
		}
		if errors.Is(err, nats.ErrConnectionClosed) {
			return p, unsure(ctx, false, ErrClosed)
		}
		if cause = err; !pause(ctx, shortWait) {
			return p, unsure(ctx, false, cause)
		}
	}
}

var errCut = errors.New("nats: the answer is not complete")

func (n *connection) getOnce(ctx context.Context, s *stream, request []byte, room int,
) (page, error) {
	c, err := n.asker.send("$JS.API.DIRECT.GET."+s.name, nil, request, room+1)
	if err != nil {
		return page{}, err
	}
	defer c.end()
	t := time.NewTimer(firstWait)
	defer t.Stop()
	var p page
	last := uint64(0)
	for {
		m := c.wait(ctx, t.C)
		if m == nil {
			return page{}, errCut
		}
		switch status := m.Header.Get("Status"); status {
		case "":
		case "204": // the end
			pending, err := strconv.ParseUint(m.Header.Get("Nats-Num-Pending"), 10, 64)
			upTo, _ := strconv.ParseUint(m.Header.Get("Nats-UpTo-Sequence"), 10, 64) // not always
			if at := m.Header.Get(jetstream.LastSequenceHeader); err != nil ||
				at != strconv.FormatUint(last, 10) {
				return page{}, errCut
			}
			p.more, p.upTo = pending > 0, upTo
			return p, nil
		case "404":
			return page{}, nil
		case "503":
			if err := n.gone(ctx, s); err != nil {
				return page{}, err
			}
			return page{}, nats.ErrNoResponders
		default:
			return page{}, errors.New("nats: " + m.Header.Get("Description"))
		}
		got, err := parse(s, m, last)
		if err != nil {
			return page{}, err
		}
		last = got.sequence
		p.messages = append(p.messages, got)
	}
}

// parse takes a message from an answer, which must follow the one before it.
func parse(s *stream, m *nats.Msg, last uint64) (message, error) {
	sequence, err := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil || sequence <= last || m.Header.Get(jetstream.StreamHeader) != s.name ||
		m.Header.Get(jetstream.LastSequenceHeader) != strconv.FormatUint(last, 10) {
		return message{}, errCut
	}
	return message{m.Header.Get(jetstream.SubjectHeader), sequence, m.Data}, nil
}

// pass writes a message that means nothing and waits for its acknowledgement. A node that has it
// has all that was acknowledged before. Where one node alone keeps a stream, that is so anyway.
//
// Asking the leader would not do: one that was cut off from the others answers as a leader for
// seconds after they have elected another.
func (n *connection) pass(ctx context.Context, s *stream) (uint64, error) {
	if n.replicas == 1 {
		return 0, nil
	}
	header := nats.Header{
		jetstream.ExpectedStreamHeader: {s.name},
		jetstream.MsgRollup:            {jetstream.MsgRollupSubject},
	}
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		m, err := n.asker.once(ctx, s.barrier(), header, []byte{0}, wait)
		v, sequence, why := judge(m)
		if v == taken {
			return sequence, nil
		}
		if v == unheard {
			if err := n.gone(ctx, s); err != nil {
				return 0, fmt.Errorf("%w: %w", unsure(ctx, false, nil), err)
			}
		}
		if errors.Is(err, nats.ErrConnectionClosed) {
			err = ErrClosed
		}
		if err = errors.Join(err, why); errors.Is(err, ErrClosed) ||
			err != nil && !pause(ctx, shortWait) || ctx.Err() != nil {
			return 0, unsure(ctx, false, err)
		}
	}
}

// tail gives the last message of a subject: the latest, whatever was acknowledged before the call.
func (n *connection) tail(ctx context.Context, s *stream, subject string) (message, error) {
	known := n.newest(subject) // before the barrier, so that it is in front of it
	passed, err := n.pass(ctx, s)
	if err != nil {
		return message{}, err
	}
	for {
		p, err := n.get(ctx, s, getRequest{Last: []string{subject, s.barrier()}})
		if err != nil {
			return message{}, err
		}
		if p.upTo < passed {
			n.counts.stale.Add(1)
			if !pause(ctx, shortWait) {
				return message{}, unsure(ctx, false, nil)
			}
			continue
		}
		var m message
		for _, got := range p.messages {
			if got.subject == subject {
				m = got
			}
		}
		if m.sequence < known {
			return m, fmt.Errorf("%w: stream %s had message %d of %s, and has %d",
				ErrGone, s.name, known, strings.TrimPrefix(subject, s.prefix), m.sequence)
		}
		if m.sequence == 0 {
			return m, n.same(ctx, s)
		}
		n.seen(subject, m.sequence)
		return m, nil
	}
}

// behind gives messages of a subject behind a sequence, in order, and whether there are more. It
// sees at least what this program has seen before. The subject's last message is never removed.
func (n *connection) behind(ctx context.Context, s *stream, subject string, after uint64, count,
	size int) ([]message, bool, error) {
	known := n.newest(subject)
	for {
		p, err := n.get(ctx, s, getRequest{Sequence: after + 1, Next: subject, Batch: count,
			MaxBytes: size})
		if err != nil {
			return nil, false, err
		}
		reached := after
		if l := len(p.messages); l > 0 {
			reached = p.messages[l-1].sequence
		}
		if p.more || reached >= known {
			n.seen(subject, reached)
			return p.messages, p.more, nil
		}
		n.counts.stale.Add(1)
		if err := n.same(ctx, s); err != nil {
			return nil, false, err
		}
		if !pause(ctx, shortWait) {
			return nil, false, unsure(ctx, false, nil)
		}
	}
}

// same makes sure that a stream in which nothing was found is still this cluster's, and not one
// that was founded by its name since. Where it is kept by several nodes, pass has done so.
func (n *connection) same(ctx context.Context, s *stream) error {
	if n.replicas > 1 {
		return nil
	}
	if err := n.gone(ctx, s); err != nil {
		return fmt.Errorf("%w: %w", unsure(ctx, false, nil), err)
	}
	return nil
}

// scan gives the last message of each key of a stream: what was acknowledged before the call, and
// perhaps some that came since.
//
// It goes through the stream in order. What changes meanwhile has a higher sequence, and is met
// further on. The barrier is among the keys.
func (n *connection) scan(ctx context.Context, s *stream) (map[string]message, error) {
	passed, err := n.pass(ctx, s)
	if err != nil {
		return nil, err
	}
	found := map[string]message{}
	for at := uint64(0); ; {
		p, err := n.get(ctx, s, getRequest{Sequence: at + 1, Next: s.keys() + ">",
			Batch: pageMessages, MaxBytes: pageBytes})
		if err != nil {
			return nil, err
		}
		for _, m := range p.messages {
			at = m.sequence
			if key, ok := keyOf(m.subject, s.keys()); ok {
				found[key] = m
			}
		}
		if !p.more && at >= passed {
			if len(found) == 0 {
				err = n.same(ctx, s)
			}
			return found, err
		}
		if !p.more {
			n.counts.stale.Add(1)
			if !pause(ctx, shortWait) {
				return nil, unsure(ctx, false, nil)
			}
		}
	}
}
