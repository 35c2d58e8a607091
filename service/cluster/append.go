package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/coeval-dev/coeval/topology/seamless"
)

// A write is one message that is taken only if the last one of its subject is the expected one.
type write struct {
	stream  *stream
	subject string
	expect  uint64
	payload []byte
	rollup  bool // it replaces what the subject had
}

// Codes of errors that NATS gives by number.
const (
	codeNoPeers     = 10005 // too few nodes are up for so many replicas
	codeNoResources = 10023
	codeNoStorage   = 10047
	codeNoMemory    = 10028
	codeLarge       = 10054
	codeStale       = 10071
	codeStaleToo    = 10164 // or another write to that subject is on its way
	codeMaxBytes    = "maximum bytes exceeded"
)

// An ack is what NATS says to a write.
type ack struct {
	Sequence uint64 `json:"seq"`
	Error    *struct {
		Code        int    `json:"err_code"`
		Description string `json:"description"`
	} `json:"error"`
}

// A verdict is what an answer to a write means.
type verdict int

const (
	silent  verdict = iota // no answer, or one that leaves open what happened
	taken                  // it is written
	refused                // it was not the turn of this write
	unheard                // nobody listens
	full                   // there is no room
	large                  // it is too large
)

func judge(m *nats.Msg) (verdict, uint64, error) {
	if m == nil {
		return silent, 0, nil
	}
	if nobody(m) {
		return unheard, 0, nats.ErrNoResponders
	}
	var a ack
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return silent, 0, err
	}
	if a.Error == nil {
		if a.Sequence == 0 {
			return silent, 0, errRecord
		}
		return taken, a.Sequence, nil
	}
	err := errors.New("nats: " + a.Error.Description)
	switch a.Error.Code {
	case codeStale, codeStaleToo:
		return refused, 0, err
	case codeNoResources, codeNoStorage, codeNoMemory:
		return full, 0, err
	case codeLarge:
		return large, 0, err
	}
	if a.Error.Description == codeMaxBytes {
		return full, 0, err
	}
	return silent, 0, err
}

func (w *write) header() nats.Header {
	h := nats.Header{
		jetstream.ExpectedLastSubjSeqHeader: {strconv.FormatUint(w.expect, 10)},
		jetstream.ExpectedStreamHeader:      {w.stream.name},
	}
	if w.rollup {
		h[jetstream.MsgRollup] = []string{jetstream.MsgRollupSubject}
	}
	return h
}

// A written is what came of a write.
type written struct {
	sequence uint64
	err      error
}

// write writes one message.
func (n *connection) write(ctx context.Context, w write) (uint64, error) {
	out := n.writeAll(ctx, []write{w})
	return out[0].sequence, out[0].err
}

// writeAll writes messages of different subjects: it sends all, and then collects the answers. What
// is not taken at once is settled, each by a goroutine of its own.
func (n *connection) writeAll(ctx context.Context, ws []write) []written {
	out := make([]written, len(ws))
	first := make([]attempt, len(ws))
	for i := range ws {
		if ctx.Err() == nil {
			first[i] = n.attempt(&ws[i])
		}
	}
	t := time.NewTimer(firstWait)
	defer t.Stop()
	expired := t.C
	waiting := make(chan struct{})
	open := 0
	for i := range ws {
		a := &first[i]
		if a.call != nil {
			if a.answer = a.call.wait(ctx, expired); a.answer == nil {
				expired = closed // for the others, too, but what has come is taken
			}
			a.call.end()
		}
		v, sequence, _ := judge(a.answer)
		if v == taken {
			n.seen(ws[i].subject, sequence)
			out[i].sequence = sequence
			continue
		}
		open++
		go func() {
			out[i].sequence, out[i].err = n.settle(ctx, &ws[i], *a)
			waiting <- struct{}{}
		}()
	}
	for range open {
		<-waiting
	}
	return out
}

// closed is a timer that has expired.
var closed = func() chan time.Time { c := make(chan time.Time); close(c); return c }()

// An attempt is a write that was sent once. Without a call it was not even sent.
type attempt struct {
	call   *call
	answer *nats.Msg
	err    error
}

func (n *connection) attempt(w *write) attempt {
	if len(w.payload) > int(n.nc.MaxPayload()) && n.nc.MaxPayload() > 0 {
		return attempt{err: nats.ErrMaxPayload}
	}
	c, err := n.asker.send(w.subject, w.header(), w.payload, 1)
	return attempt{call: c, err: err}
}

// mayBeTaken says whether a write that has no answer may have reached anybody.
func (a *attempt) mayBeTaken() bool {
	return a.call != nil || a.err != nil && !errors.Is(a.err, nats.ErrReconnectBufExceeded)
}

// settle goes on with a write whose first attempt was not taken, until it is known what became of
// it, or the context ends.
//
// It sends the same message again after each silence. All copies expect the same last message, so
// not more than one can be taken; and if one is refused, what stands behind the expected message
// says whether that is because another copy was taken.
func (n *connection) settle(ctx context.Context, w *write, a attempt) (uint64, error) {
	maybe := false // some copy may have been taken, or may still be
	var cause error
	for wait := 2 * firstWait; ; wait = min(2*wait, lastWait) {
		v, sequence, err := judge(a.answer)
		if err = errors.Join(a.err, err); err != nil {
			cause = err
		}
		if errors.Is(a.err, nats.ErrConnectionClosed) {
			return 0, unsure(ctx, maybe, ErrClosed)
		}
		switch {
		case errors.Is(a.err, nats.ErrMaxPayload), v == large:
			return 0, fmt.Errorf("%w: %d bytes, and NATS takes %d (max_payload)", ErrLarge,
				len(w.payload), n.nc.MaxPayload())
		case v == taken:
			n.seen(w.subject, sequence)
			return sequence, nil
		case v == full && !maybe:
			return 0, fmt.Errorf("%w: %w: %w", seamless.ErrAway, ErrFull, err)
		case v == refused:
			sequence, again, err := n.lookBack(ctx, w, maybe)
			if !again {
				return sequence, err
			}
			n.counts.refused.Add(1)
		case v == unheard:
			if err := n.gone(ctx, w.stream); err != nil {
				return 0, fmt.Errorf("%w: %w", unsure(ctx, maybe, nil), err)
			}
		case v == silent:
			maybe = maybe || a.mayBeTaken()
		}
		if (a.answer != nil || a.err != nil) && !pause(ctx, shortWait) || ctx.Err() != nil {
			return 0, unsure(ctx, maybe, cause)
		}
		n.counts.resent.Add(1)
		if a = n.attempt(w); a.call != nil {
			t := time.NewTimer(wait)
			a.answer = a.call.wait(ctx, t.C)
			t.Stop()
			a.call.end()
		}
	}
}

// lookBack says what a refusal means: that this write is done, that another one is, or neither, and
// it can be sent again.
func (n *connection) lookBack(ctx context.Context, w *write, maybe bool,
) (sequence uint64, again bool, err error) {
	m, err := n.tail(ctx, w.stream, w.subject)
	if err != nil {
		return 0, false, unsure(ctx, maybe, err)
	}
	stale := func(m message) error {
		return fmt.Errorf("%w: %d is the last, and %d was expected", seamless.ErrStale, m.sequence,
			w.expect)
	}
	switch {
	case m.sequence == w.expect:
		return 0, true, nil
	case m.sequence < w.expect: // it is from before the cluster was put back, or was never right
		return 0, false, stale(m)
	}
	for next := m; ; {
		if bytes.Equal(next.payload, w.payload) {
			n.counts.done.Add(1)
			return next.sequence, false, nil
		}
		if r, err := decodeRecord(next.payload); err == nil && r.before == w.expect {
			return 0, false, stale(m) // this one came instead
		}
		if next.sequence != m.sequence {
			break
		}
		// It may be done, and have been followed by others.
		behind, _, err := n.behind(ctx, w.stream, w.subject, w.expect, 1, 1)
		if err != nil {
			return 0, false, unsure(ctx, maybe, err)
		}
		if len(behind) == 0 || behind[0].sequence == m.sequence {
			break
		}
		next = behind[0]
	}
	// What stood behind the expected message is not kept any more.
	if maybe {
		return 0, false, unsure(ctx, true, stale(m))
	}
	return 0, false, stale(m)
}

// gone says whether a stream was deleted, which is the other reason why nobody hears a write. In
// its place may be one of a cluster that was founded since.
func (n *connection) gone(ctx context.Context, s *stream) error {
	ctx, cancel := context.WithTimeout(ctx, firstWait)
	defer cancel()
	found, err := n.js.Stream(ctx, s.name)
	if errors.Is(err, jetstream.ErrStreamNotFound) && pause(ctx, 10*shortWait) {
		found, err = n.js.Stream(ctx, s.name) // who was asked may just have begun to lead
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("%w: stream %s of cluster %s", ErrGone, s.name, n.id)
	}
	if err != nil {
		return nil
	}
	if id := found.CachedInfo().Config.Metadata[metaID]; id != n.id {
		return fmt.Errorf("%w: stream %s is of cluster %q, and %s was expected", ErrOther, s.name,
			id, n.id)
	}
	return nil
}
