package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/coeval-dev/coeval/topology/seamless"
)

// A journal is one subject for each zone, in a few streams. A stream for each zone would cost a
// group of nodes of its own, with messages among them even when nothing happens.
//
// The last record of a zone is never given up: without it NATS would take the zone for a new one,
// and an owner that was fenced off could write as the first.
type journal struct{ n *connection }

func (j *journal) at(zone string) (*stream, string, error) {
	s := &j.n.journals[place(zone, len(j.n.journals))]
	subject, err := s.subject(zone)
	return s, subject, err
}

// Append may be called again with a record that is in doubt: if it is there, it is not appended
// twice, and its sequence is given.
func (j *journal) Append(ctx context.Context, batch []seamless.Append) []seamless.Appended {
	ctx, cancel := j.n.bound(ctx)
	defer cancel()
	out := make([]seamless.Appended, len(batch))
	ws, at := make([]write, 0, len(batch)), make([]int, 0, len(batch))
	for i, a := range batch {
		s, subject, err := j.at(a.Zone)
		if err != nil {
			out[i].Err = err
			continue
		}
		r := record{kind: kindValue, writer: j.n.writer, before: a.Expect, data: a.Data}
		ws = append(ws, write{stream: s, subject: subject, expect: a.Expect, payload: r.encode()})
		at = append(at, i)
	}
	for i, w := range j.n.writeAll(ctx, ws) {
		out[at[i]] = seamless.Appended{Sequence: w.sequence, Err: w.err}
	}
	return out
}

func (j *journal) Last(ctx context.Context, zone string) (seamless.Record, error) {
	ctx, cancel := j.n.bound(ctx)
	defer cancel()
	s, subject, err := j.at(zone)
	if err != nil {
		return seamless.Record{}, err
	}
	m, err := j.n.tail(ctx, s, subject)
	if err != nil {
		return seamless.Record{}, err
	}
	r, err := valueOf(m)
	if err != nil {
		return seamless.Record{}, fmt.Errorf("%w: zone %q", err, zone)
	}
	return seamless.Record{Sequence: m.sequence, Data: r.data}, nil
}

// Read sees at least what this Cluster has appended or seen before. What others have appended it
// may see a little later; Last of the zone, before, makes sure.
func (j *journal) Read(ctx context.Context, zone string, after uint64, bytes int,
) ([]seamless.Record, error) {
	ctx, cancel := j.n.bound(ctx)
	defer cancel()
	s, subject, err := j.at(zone)
	if err != nil {
		return nil, err
	}
	var records []seamless.Record
	for last := after; ; {
		// A node stops when it has sent as much as is asked for, or more.
		ms, more, err := j.n.behind(ctx, s, subject, last, pageMessages,
			min(max(bytes, 1), pageBytes))
		if err != nil {
			return nil, err
		}
		for _, m := range ms {
			r, err := decodeRecord(m.payload)
			if err != nil || r.kind != kindValue {
				return nil, fmt.Errorf("%w: record %d of zone %q", ErrBroken, m.sequence, zone)
			}
			// A caller may name a sequence between two records: the first may follow an older one.
			if r.before > last || len(records) > 0 && r.before != last {
				if len(records) == 0 {
					return nil, fmt.Errorf("%w: zone %q begins behind %d", seamless.ErrNone, zone,
						r.before)
				}
				return nil, fmt.Errorf("%w: zone %q lacks the record %d", ErrBroken, zone, r.before)
			}
			last = m.sequence
			bytes -= len(r.data)
			records = append(records, seamless.Record{Sequence: m.sequence, Data: r.data})
		}
		if !more || len(records) > 0 && bytes <= 0 {
			return records, nil
		}
	}
}

func (j *journal) Trim(ctx context.Context, zone string, before uint64) error {
	ctx, cancel := j.n.bound(ctx)
	defer cancel()
	s, subject, err := j.at(zone)
	if err != nil {
		return err
	}
	last := j.n.newest(subject)
	if last == 0 {
		m, err := j.n.tail(ctx, s, subject)
		if err != nil {
			return err
		}
		last = m.sequence
	}
	// Nothing at all is what a purge up to 0 would leave.
	if before = min(before, last); before <= 1 {
		return nil
	}
	return j.n.purge(ctx, s, subject, before)
}

// purge removes the messages of a subject in front of a sequence, or all if it is 0.
func (n *connection) purge(ctx context.Context, s *stream, subject string, before uint64) error {
	request, err := json.Marshal(struct {
		Subject  string `json:"filter"`
		Sequence uint64 `json:"seq,omitempty"`
	}{subject, before})
	if err != nil {
		return err
	}
	for {
		m, err := n.asker.ask(ctx, "$JS.API.STREAM.PURGE."+s.name, nil, request)
		if err != nil {
			return err
		}
		var said struct {
			Error *struct {
				Code        int    `json:"code"`
				Description string `json:"description"`
			} `json:"error"`
		}
		if err := json.Unmarshal(m.Data, &said); err != nil {
			return err
		}
		switch {
		case said.Error == nil:
			return nil
		case said.Error.Code == 404:
			return fmt.Errorf("%w: stream %s of cluster %s", ErrGone, s.name, n.id)
		case said.Error.Code != 503:
			return fmt.Errorf("nats: %s", said.Error.Description)
		}
		if !pause(ctx, shortWait) {
			return unsure(ctx, false, fmt.Errorf("nats: %s", said.Error.Description))
		}
	}
}
