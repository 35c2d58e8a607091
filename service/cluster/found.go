package cluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// What the streams say of the cluster that they belong to.
const (
	metaID      = "coeval-id"
	metaStreams = "coeval-streams"
)

// enter finds the cluster, or founds it if it may.
//
// The stream of the map is created first: its name is unique, so of several founders one draws the
// identity, and the others take it from there. The last step is a message in the map that says that
// all is there. Whoever finds it expects all streams to exist, and creates none.
func (n *connection) enter(ctx context.Context) error {
	remembered, err := n.remembered()
	if err != nil {
		return err
	}
	expect := n.options.ID
	if expect == "" {
		expect = remembered
	} else if remembered != "" && remembered != expect {
		return fmt.Errorf("%w: %s remembers %s, and %s is wanted", ErrOther, n.options.Dir,
			remembered, expect)
	}
	info, err := n.mapInfo(ctx, expect)
	if err != nil {
		return err
	}
	if err := n.adopt(info.Config, expect); err != nil {
		return err
	}
	done, err := n.founded(ctx)
	if err != nil {
		return err
	}
	if err := n.streams(ctx, done); err != nil {
		return err
	}
	if !done {
		if err := n.finish(ctx); err != nil {
			return err
		}
	}
	return n.remember()
}

// mapInfo looks for the stream of the map, and creates it where that founds a cluster.
func (n *connection) mapInfo(ctx context.Context, expect string) (*jetstream.StreamInfo, error) {
	name := streamOf(n.options.Name, "", "map").name
	info, err := n.info(ctx, name)
	if expect != "" && errors.Is(err, jetstream.ErrStreamNotFound) {
		info, err = n.surely(ctx, name)
	}
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return info, err
	}
	if expect != "" {
		return nil, fmt.Errorf("%w: the map of cluster %s (stream %s)", ErrGone, expect, name)
	}
	if !n.options.Found {
		return nil, fmt.Errorf("%w: %s", ErrNotFounded, n.options.Name)
	}
	left, err := n.left(ctx)
	if err != nil {
		return nil, err
	}
	if left != "" {
		// Somebody else may found it at this moment, and begins with the map. That can take a while
		// until it is known to whoever is asked, which its name alone does not tell.
		tries := foundingTries
		if left == name {
			tries *= 15
		}
		for range tries {
			info, err = n.surely(ctx, name)
			if !errors.Is(err, jetstream.ErrStreamNotFound) {
				break
			}
		}
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			err = fmt.Errorf("%w: stream %s is there, and the map, %s, is not", ErrGone, left, name)
		}
		return info, err
	}
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	s := streamOf(n.options.Name, hex.EncodeToString(id[:]), "map")
	return n.create(ctx, n.config(s, hex.EncodeToString(id[:]), 1))
}

// foundingTries is how often the map of a cluster is looked for of which another stream is there, a
// fifth of a second apart.
const foundingTries = 10

// left names a stream of this cluster's name, if there is one.
func (n *connection) left(ctx context.Context) (string, error) {
	names := n.js.StreamNames(ctx)
	found := ""
	for name := range names.Name() {
		if rest, ok := strings.CutPrefix(name, "coeval_"+n.options.Name+"_"); ok &&
			!strings.Contains(rest, "_") {
			found = name
		}
	}
	return found, names.Err()
}

// adopt takes over what the map's stream says of the cluster.
func (n *connection) adopt(c jetstream.StreamConfig, expect string) error {
	id := c.Metadata[metaID]
	count, err := strconv.Atoi(c.Metadata[metaStreams])
	if id == "" || err != nil || count < 1 || count > maxStreams {
		return fmt.Errorf("%w: stream %s was not made by this program", ErrOther, c.Name)
	}
	if expect != "" && id != expect {
		return fmt.Errorf("%w: it is %s, and %s was expected", ErrOther, id, expect)
	}
	n.id, n.replicas = id, c.Replicas
	n.world = streamOf(n.options.Name, id, "map")
	n.store = streamOf(n.options.Name, id, "store")
	n.journals = nil
	for i := range count {
		n.journals = append(n.journals, streamOf(n.options.Name, id, "journal"+strconv.Itoa(i)))
	}
	return nil
}

// config is how a stream is made. Limits refuse what is new; by default they would drop what is
// old.
func (n *connection) config(s stream, id string, history int64) jetstream.StreamConfig {
	replicas, streams := n.replicas, len(n.journals)
	if replicas == 0 {
		replicas, streams = n.options.Replicas, n.options.Streams
	}
	return jetstream.StreamConfig{
		Name: s.name, Subjects: []string{s.prefix + ">"}, Storage: jetstream.FileStorage,
		Replicas: replicas, MaxMsgsPerSubject: history, Discard: jetstream.DiscardNew,
		AllowDirect: true, AllowRollup: true, DenyDelete: true, Duplicates: time.Second,
		Metadata: map[string]string{metaID: id, metaStreams: strconv.Itoa(streams)},
	}
}

// founded says whether all streams have been made once.
func (n *connection) founded(ctx context.Context) (bool, error) {
	ctx, cancel := n.bound(ctx)
	defer cancel()
	m, err := n.tail(ctx, &n.world, n.world.prefix+"founded")
	return m.sequence > 0, err
}

func (n *connection) finish(ctx context.Context) error {
	ctx, cancel := n.bound(ctx)
	defer cancel()
	_, err := n.write(ctx, write{stream: &n.world, subject: n.world.prefix + "founded",
		payload: []byte(n.id)})
	return err
}

// streams looks whether all streams but the map's are there, and creates them if the cluster was
// never complete.
func (n *connection) streams(ctx context.Context, complete bool) error {
	for _, s := range append([]stream{n.store}, n.journals...) {
		info, err := n.info(ctx, s.name)
		if complete && errors.Is(err, jetstream.ErrStreamNotFound) {
			info, err = n.surely(ctx, s.name)
		}
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			if complete {
				return fmt.Errorf("%w: stream %s of cluster %s", ErrGone, s.name, n.id)
			}
			info, err = n.create(ctx, n.config(s, n.id, -1))
		}
		if err != nil {
			return err
		}
		if id := info.Config.Metadata[metaID]; id != n.id {
			return fmt.Errorf("%w: stream %s is of %q, and the map of %s", ErrOther, s.name, id,
				n.id)
		}
	}
	return nil
}

// info asks for a stream until somebody answers.
func (n *connection) info(ctx context.Context, name string) (*jetstream.StreamInfo, error) {
	return n.manage(ctx, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		m, err := n.asker.insist(ctx, "$JS.API.STREAM.INFO."+name)
		if err != nil {
			return nil, err
		}
		var answer struct {
			*jetstream.StreamInfo
			Error *jetstream.APIError `json:"error"`
		}
		if err := json.Unmarshal(m.Data, &answer); err != nil {
			return nil, err
		}
		switch {
		case answer.Error == nil:
			return answer.StreamInfo, nil
		case answer.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound:
			return nil, jetstream.ErrStreamNotFound
		}
		return nil, answer.Error
	})
}

// surely asks for a stream that seems to be missing once more, a little later: a node that has just
// begun to lead the others may not know all streams yet.
func (n *connection) surely(ctx context.Context, name string) (*jetstream.StreamInfo, error) {
	if !pause(ctx, 10*shortWait) {
		return nil, fmt.Errorf("cluster: %w", unsure(ctx, false, nil))
	}
	return n.info(ctx, name)
}

// create makes a stream. If there is one by that name, it is that. The name can be taken a moment
// before the stream is there, while several programs create it.
func (n *connection) create(ctx context.Context, c jetstream.StreamConfig,
) (*jetstream.StreamInfo, error) {
	for {
		info, err := n.manage(ctx, func(ctx context.Context) (*jetstream.StreamInfo, error) {
			s, err := n.js.CreateStream(ctx, c)
			if err != nil {
				return nil, err
			}
			return s.CachedInfo(), nil
		})
		if !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return info, err
		}
		info, err = n.info(ctx, c.Name)
		if !errors.Is(err, jetstream.ErrStreamNotFound) {
			return info, err
		}
		if !pause(ctx, shortWait) {
			return nil, fmt.Errorf("cluster: %w", unsure(ctx, false, err))
		}
	}
}

// manage asks the leader of all servers for something, again until there is one.
func (n *connection) manage(ctx context.Context,
	f func(context.Context) (*jetstream.StreamInfo, error)) (*jetstream.StreamInfo, error) {
	for {
		once, cancel := context.WithTimeout(ctx, 2*firstWait)
		info, err := f(once)
		cancel()
		if err == nil || !passing(err) {
			return info, err
		}
		if !pause(ctx, 5*shortWait) {
			return nil, fmt.Errorf("cluster: %w", unsure(ctx, false, err))
		}
	}
}

// passing says whether an error of management is one that passes by itself: there is no leader, or
// too few nodes are up yet.
func passing(err error) bool {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return !errors.Is(err, jetstream.ErrStreamNotFound)
	}
	return api.Code == 503 || api.ErrorCode == codeNoPeers
}

// The file in Dir that remembers which cluster this is.
func (n *connection) file() string {
	return filepath.Join(n.options.Dir, "cluster-"+n.options.Name+".id")
}

func (n *connection) remembered() (string, error) {
	if n.options.Dir == "" {
		return "", nil
	}
	b, err := os.ReadFile(n.file())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(b)), err
}

func (n *connection) remember() error {
	if n.options.Dir == "" {
		return nil
	}
	if id, err := n.remembered(); err != nil || id == n.id {
		return err
	}
	if err := os.MkdirAll(n.options.Dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(n.options.Dir, "id")
	if err != nil {
		return err
	}
	_, err = f.WriteString(n.id + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), n.file())
	}
	return err
}
