package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/coeval-dev/coeval/topology/seamless"
)

// Snapshots are kept in parts, under a subject of each one's own, and are there when a manifest is
// written that names them. That is done by compare-and-set: whoever began before another one has
// finished begins again, so parts that were left behind can be removed.
//
// NATS has an object store, too. It is read by consumers, which cannot be created for seconds
// after a node's death, when snapshots are needed.
type snapshots struct{ n *connection }

const (
	chunkSize   = 256 << 10
	chunkWindow = 16 // parts that are on their way at once
	maxTries    = 50 // to read a snapshot that seems to be damaged
)

// group names the parts of one attempt to replace the manifest that has a sequence.
func group(replaces uint64) string {
	m := mark()
	return strconv.FormatUint(replaces, 36) + "-" + hex.EncodeToString(m[:])
}

// isGroup says whether a name is one that group gives.
func isGroup(name string) bool {
	_, ok := replacesOf(name)
	return ok
}

func replacesOf(group string) (uint64, bool) {
	number, rest, ok := strings.Cut(group, "-")
	if !ok || len(rest) != 16 || strings.Trim(rest, "0123456789abcdef") != "" {
		return 0, false
	}
	v, err := strconv.ParseUint(number, 36, 64)
	return v, err == nil && strconv.FormatUint(v, 36) == number
}

func (s *snapshots) parts(key string) (string, error) {
	t, err := token(key)
	return s.n.store.prefix + "c." + t + ".", err
}

func (s *snapshots) Put(ctx context.Context, key string, value []byte) error {
	ctx, cancel := s.n.bound(ctx)
	defer cancel()
	parts, err := s.parts(key)
	if err != nil {
		return err
	}
	if len(value) > maxValue {
		return fmt.Errorf("%w: %d bytes, and a snapshot has at most %d", ErrLarge, len(value),
			maxValue)
	}
	for {
		old, err := s.manifest(ctx, key)
		if err != nil {
			return err
		}
		m := manifest{size: uint64(len(value)), sum: sha256.Sum256(value),
			group: group(old.sequence)}
		if m.chunks, err = s.upload(ctx, parts+m.group, value); err != nil {
			return err
		}
		r := record{kindValue, mark(), old.sequence, m.encode()}
		sequence, err := s.n.write(ctx,
			write{&s.n.store, old.subject, old.sequence, r.encode(), true})
		if errors.Is(err, seamless.ErrStale) {
			continue
		}
		if err != nil {
			return err
		}
		s.sweep(ctx, parts, m.group, sequence)
		return nil
	}
}

// manifest gives the message with a key's manifest. Its subject is set even if there is none.
func (s *snapshots) manifest(ctx context.Context, key string) (message, error) {
	subject, err := s.n.store.subject(key)
	if err != nil {
		return message{}, err
	}
	m, err := s.n.tail(ctx, &s.n.store, subject)
	m.subject = subject
	return m, err
}

// upload writes a value in parts, several at a time.
func (s *snapshots) upload(ctx context.Context, subject string, value []byte) (uint64, error) {
	size := chunkSize
	if limit := int(s.n.nc.MaxPayload()) - 1024; limit > 0 {
		size = min(size, limit)
	}
	header := nats.Header{jetstream.ExpectedStreamHeader: {s.n.store.name}}
	count := uint64(0)
	var window []sentChunk
	for c := range slices.Chunk(value, size) {
		if len(window) == chunkWindow {
			if err := s.arrived(ctx, subject, header, window[0]); err != nil {
				endAll(window[1:])
				return 0, err
			}
			window = window[1:]
		}
		data := chunk{count, c}.encode()
		call, _ := s.n.asker.send(subject, header, data, 1) // it is sent again if that failed
		window = append(window, sentChunk{call, data})
		count++
	}
	for i, w := range window {
		if err := s.arrived(ctx, subject, header, w); err != nil {
			endAll(window[i+1:])
			return 0, err
		}
	}
	return count, nil
}

// A sentChunk is a part on its way.
type sentChunk struct {
	call *call
	data []byte
}

func endAll(window []sentChunk) {
	for _, w := range window {
		if w.call != nil {
			w.call.end()
		}
	}
}

// arrived waits for the acknowledgement of a part, and sends it again if none comes.
func (s *snapshots) arrived(ctx context.Context, subject string, header nats.Header, c sentChunk,
) error {
	var answer *nats.Msg
	if c.call != nil {
		t := time.NewTimer(firstWait)
		answer = c.call.wait(ctx, t.C)
		t.Stop()
		c.call.end()
	}
	for {
		v, _, why := judge(answer)
		switch {
		case v == taken:
			return nil
		case v == full:
			return fmt.Errorf("%w: %w: %w", seamless.ErrAway, ErrFull, why)
		case v == unheard:
			if err := s.n.gone(ctx, &s.n.store); err != nil {
				return fmt.Errorf("%w: %w", seamless.ErrAway, err)
			}
		}
		if (answer != nil || why != nil) && !pause(ctx, shortWait) || ctx.Err() != nil {
			return unsure(ctx, false, why) // without a manifest it is not there
		}
		s.n.counts.resent.Add(1)
		var err error
		if answer, err = s.n.asker.ask(ctx, subject, header, c.data); err != nil {
			return err
		}
	}
}

// sweep removes the parts of all attempts to write before a manifest, but for one that it names.
// None of them can be finished: each would have to replace one that is not the last any more. If it
// fails, the next Put does it.
func (s *snapshots) sweep(ctx context.Context, parts, keep string, before uint64) {
	m, err := s.n.asker.once(ctx, "$JS.API.STREAM.INFO."+s.n.store.name, nil,
		[]byte(`{"subjects_filter":"`+parts+`*"}`), firstWait)
	var info struct {
		State struct {
			Subjects map[string]uint64 `json:"subjects"`
		} `json:"state"`
	}
	if err != nil || m == nil || json.Unmarshal(m.Data, &info) != nil {
		return
	}
	for subject := range info.State.Subjects {
		name := strings.TrimPrefix(subject, parts)
		if replaces, ok := replacesOf(name); ok && name != keep && replaces < before {
			if err := s.n.purge(ctx, &s.n.store, subject, 0); err != nil {
				return
			}
		}
	}
}

func (s *snapshots) Get(ctx context.Context, key string) ([]byte, error) {
	ctx, cancel := s.n.bound(ctx)
	defer cancel()
	parts, err := s.parts(key)
	if err != nil {
		return nil, err
	}
	for tried := 0; ; tried++ {
		at, err := s.manifest(ctx, key)
		if err != nil {
			return nil, err
		}
		r, err := valueOf(at)
		if err != nil {
			return nil, fmt.Errorf("%w: %q", err, key)
		}
		m, err := decodeManifest(r.data)
		if err != nil {
			return nil, fmt.Errorf("%w: manifest %d of %q", ErrBroken, at.sequence, key)
		}
		value, err := s.download(ctx, parts+m.group, m)
		if !errors.Is(err, ErrBroken) || tried == maxTries || !pause(ctx, shortWait) {
			return value, err
		}
		// It may have been replaced just now, or the node that answered be a little behind.
	}
}

// download reads the parts of a snapshot. One that was sent again can be there twice, or late. All
// can be gone, when another snapshot has taken the place of this one.
func (s *snapshots) download(ctx context.Context, subject string, m manifest) ([]byte, error) {
	parts := map[uint64][]byte{}
	size := uint64(0)
	for at := uint64(0); uint64(len(parts)) < m.chunks; {
		p, err := s.n.get(ctx, &s.n.store, getRequest{Sequence: at + 1, Next: subject,
			Batch: chunkWindow, MaxBytes: pageBytes})
		if err != nil {
			return nil, err
		}
		for _, got := range p.messages {
			at = got.sequence
			c, err := decodeChunk(got.payload)
			if err != nil || c.number >= m.chunks {
				return nil, fmt.Errorf("%w: message %d of %s", ErrBroken, at, subject)
			}
			if parts[c.number] == nil {
				parts[c.number] = c.data
				size += uint64(len(c.data))
			}
		}
		if size > m.size || !p.more && uint64(len(parts)) < m.chunks {
			return nil, fmt.Errorf("%w: %d of %d parts of %s", ErrBroken, len(parts), m.chunks,
				subject)
		}
	}
	value := make([]byte, 0, size)
	for i := range m.chunks {
		value = append(value, parts[i]...)
	}
	if size != m.size || sha256.Sum256(value) != m.sum {
		return nil, fmt.Errorf("%w: the sum of %s", ErrBroken, subject)
	}
	return value, nil
}

func (s *snapshots) Delete(ctx context.Context, key string) error {
	ctx, cancel := s.n.bound(ctx)
	defer cancel()
	parts, err := s.parts(key)
	if err != nil {
		return err
	}
	for {
		old, err := s.manifest(ctx, key)
		if err != nil {
			return err
		}
		if _, err := valueOf(old); errors.Is(err, seamless.ErrNone) {
			return nil
		}
		r := record{kindDeleted, mark(), old.sequence, nil}
		sequence, err := s.n.write(ctx,
			write{&s.n.store, old.subject, old.sequence, r.encode(), true})
		if errors.Is(err, seamless.ErrStale) {
			continue
		}
		if err != nil {
			return err
		}
		s.sweep(ctx, parts, "", sequence)
		return nil
	}
}

func (s *snapshots) Keys(ctx context.Context, prefix string) ([]string, error) {
	ctx, cancel := s.n.bound(ctx)
	defer cancel()
	found, err := s.n.scan(ctx, &s.n.store)
	if err != nil {
		return nil, err
	}
	var keys []string
	for key, m := range found {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		switch _, err := valueOf(m); {
		case err == nil:
			keys = append(keys, key)
		case !errors.Is(err, seamless.ErrNone):
			return nil, fmt.Errorf("%w: %q", err, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}
