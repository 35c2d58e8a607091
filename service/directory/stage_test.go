package directory_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/records"
	"github.com/coeval-dev/coeval/service/store/storetest"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		child(url)
		return
	}
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// shared is one server of PostgreSQL for all tests, each of which has databases of its own in it.
var shared struct {
	once   sync.Once
	server *storetest.Server
	err    error
}

func server(t testing.TB) *storetest.Server {
	t.Helper()
	storetest.Need(t)
	shared.once.Do(func() { shared.server, shared.err = storetest.Start() })
	must(t, shared.err)
	return shared.server
}

// onEach runs a test on each database.
func onEach(t *testing.T, f func(t *testing.T, url string)) {
	t.Run("SQLite", func(t *testing.T) { f(t, "sqlite:"+filepath.Join(t.TempDir(), "a b?.db")) })
	t.Run("PostgreSQL", func(t *testing.T) {
		url, err := server(t).Database()
		must(t, err)
		f(t, url)
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// believing takes every address for proved, for tests that are about something else.
type believing struct{}

func (believing) Prove(
	_ context.Context, _ [directory.IDSize]byte, a directory.Addresses, _ netip.Addr,
) (directory.Addresses, map[string]string) {
	return a, nil
}

// A stage is a directory that answers over HTTP, with a clock of the test's own.
type stage struct {
	testing.TB
	book   *directory.Book
	api    *directory.API
	http   *httptest.Server
	clock  atomic.Int64
	stop   context.CancelFunc
	ended  chan struct{}
	keeper directory.Keeper
}

func open(t testing.TB, url string, prover func(b *directory.Book) directory.Prover) *stage {
	t.Helper()
	s := &stage{TB: t, ended: make(chan struct{})}
	k, err := records.Open(t.Context(), url)
	must(t, err)
	s.keeper = k
	s.book, err = directory.NewBook(t.Context(), directory.BookOptions{Keeper: k,
		Now: func() time.Duration { return time.Duration(s.clock.Load()) }})
	must(t, err)
	var p directory.Prover = believing{}
	if prover != nil {
		p = prover(s.book)
	}
	s.api = directory.NewAPI(s.book, p, nil)
	s.http = httptest.NewServer(s.api)
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	go func() {
		s.book.Run(ctx)
		close(s.ended)
	}()
	t.Cleanup(s.close)
	return s
}

func (s *stage) close() {
	s.stop()
	<-s.ended
	s.http.Close()
	_ = s.keeper.Close() // a test may have taken it away
}

// pass lets time go by as it does while the directory looks, a second after another.
func (s *stage) pass(d time.Duration) {
	for ; d > 0; d -= time.Second {
		s.clock.Add(int64(time.Second))
		s.book.Tick()
	}
}

// A speaker is a server that announces itself.
type speaker struct {
	key  ed25519.PrivateKey
	seq  int64
	says directory.Announcement
	is   directory.Registered
}

func newSpeaker(n int) *speaker {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, fmt.Sprint(n))
	key := ed25519.NewKeyFromSeed(seed)
	return &speaker{key: key, says: directory.Announcement{
		Key:  hex.EncodeToString(key.Public().(ed25519.PublicKey)),
		Game: "tanks", Version: "0123456789abcdef", Mode: directory.Server,
		Name: fmt.Sprintf("server %d", n), Capacity: 16,
		Addresses: directory.Addresses{UDP: fmt.Sprintf("10.%d.%d.1:4000", n/250, n%250)},
	}}
}

func (x *speaker) public() ed25519.PublicKey { return x.key.Public().(ed25519.PublicKey) }

// post asks something that is signed, and gives the answer's status.
func (x *speaker) post(base, path string, body, into any) (int, string, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, "", err
	}
	q, err := http.NewRequest(http.MethodPost, base+path, bytes.NewReader(text))
	if err != nil {
		return 0, "", err
	}
	q.Header.Set(directory.SignatureHeader, directory.Sign(x.key, path, text))
	return do(q, into)
}

func do(q *http.Request, into any) (int, string, error) {
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, "", err
	}
	defer a.Body.Close()
	answer, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode == http.StatusOK && into != nil {
		err = json.Unmarshal(answer, into)
	}
	return a.StatusCode, string(answer), err
}

func (x *speaker) register(base string) (int, string, error) {
	x.seq++
	x.says.Seq = x.seq
	return x.post(base, directory.Path+"entries", x.says, &x.is)
}

func (x *speaker) alive(base string) (int, string, error) {
	x.seq++
	return x.post(base, directory.Path+"entries/"+x.is.ID+"/alive", directory.Alive{
		Lease: x.is.Lease, Seq: x.seq, Place: x.says.Place, Level: x.says.Level,
		Players: x.says.Players, Capacity: x.says.Capacity}, nil)
}

func (x *speaker) goodbye(base string) (int, string, error) {
	x.seq++
	return x.post(base, directory.Path+"entries/"+x.is.ID+"/goodbye", directory.Goodbye{
		Lease: x.is.Lease, Seq: x.seq, Place: x.says.Place}, nil)
}

// want fails unless an answer has a status.
func (s *stage) want(status int) func(int, string, error) {
	s.Helper()
	return func(got int, text string, err error) {
		s.Helper()
		if err != nil || got != status {
			s.Fatalf("status %d, want %d: %s %v", got, status, text, err)
		}
	}
}

type page struct {
	Entries []directory.Entry `json:"entries"`
	Next    string            `json:"next"`
}

func (s *stage) list(query string) (p page) {
	s.Helper()
	s.book.Publish()
	q, err := http.NewRequest(http.MethodGet, s.http.URL+directory.Path+"entries?"+query, nil)
	must(s, err)
	s.want(http.StatusOK)(do(q, &p))
	return p
}
