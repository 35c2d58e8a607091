package directory_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/directory"
)

// from asks as somebody at an address, by the handler itself.
func (s *stage) from(address string, q *http.Request) (int, string) {
	q.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(address), 5000).String()
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, q)
	return w.Code, w.Body.String()
}

// says is what a server says, signed.
func (x *speaker) request(t testing.TB, path string, body any) *http.Request {
	text, err := json.Marshal(body)
	must(t, err)
	q := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(text))
	q.Header.Set(directory.SignatureHeader, directory.Sign(x.key, path, text))
	return q
}

func (x *speaker) registerFrom(s *stage, address string) (int, string) {
	x.seq++
	x.says.Seq = x.seq
	status, text := s.from(address, x.request(s, directory.Path+"entries", x.says))
	if status == http.StatusOK {
		must(s, json.Unmarshal([]byte(text), &x.is))
	}
	return status, text
}

// abroad is a server that is where it is announced from.
func abroad(n int) *speaker {
	x := newSpeaker(n)
	x.says.Addresses.UDP = fmt.Sprintf(":%d", 4000+n)
	return x
}

// counting counts who is asked whether they are where they say.
type counting struct {
	believing
	mu    sync.Mutex
	asked int
	hold  chan struct{} // if it is set, nobody is believed before it is closed
}

func (c *counting) Prove(ctx context.Context, id [directory.IDSize]byte, a directory.Addresses,
	from netip.Addr) (directory.Addresses, map[string]string) {
	c.mu.Lock()
	c.asked++
	c.mu.Unlock()
	if c.hold != nil {
		<-c.hold
	}
	return c.believing.Prove(ctx, id, a, from)
}

// TestClaims: whoever announces can have the directory ask at no address that they could not reach
// themselves, and list no door at such a one.
func TestClaims(t *testing.T) {
	prover := &counting{}
	s := open(t, t.TempDir()+"/d.db", func(*directory.Book) directory.Prover { return prover })
	n := 0
	for _, x := range []struct {
		from, udp string
		want      int
	}{
		{"203.0.113.9", "203.0.113.9:4000", 200}, {"203.0.113.9", ":4000", 200},
		{"203.0.113.9", "198.51.100.7:4000", 200}, // it has to answer there
		{"203.0.113.9", "127.0.0.1:53", 400}, {"203.0.113.9", "10.0.0.1:53", 400},
		{"203.0.113.9", "169.254.169.254:80", 400}, {"203.0.113.9", "100.64.3.3:53", 400},
		{"203.0.113.9", "[fd00::1]:53", 400}, {"203.0.113.9", "[::1]:53", 400},
		{"203.0.113.9", "[::ffff:127.0.0.1]:53", 400}, {"203.0.113.9", "[64:ff9b::a00:1]:53", 400},
		{"203.0.113.9", "0.1.2.3:53", 400}, {"203.0.113.9", "255.255.255.255:53", 400},
		{"203.0.113.9", "239.0.0.1:53", 400},
		{"192.168.1.5", "192.168.1.9:4000", 200}, {"192.168.1.5", "127.0.0.1:53", 400},
		{"192.168.1.5", "169.254.169.254:80", 400}, {"127.0.0.1", "127.0.0.1:4000", 200},
	} {
		n++
		y := newSpeaker(n)
		y.says.Addresses.UDP = x.udp
		before := prover.asked
		status, text := y.registerFrom(s, x.from)
		if status != x.want || (status == 400) != (prover.asked == before) {
			t.Errorf("%s claims %s: %d %s, asked %d", x.from, x.udp, status, text,
				prover.asked-before)
		}
		if status == 400 && !strings.Contains(text, "--public") &&
			!strings.Contains(text, "of one machine") {
			t.Errorf("%s claims %s: %s", x.from, x.udp, text)
		}
	}
	y := newSpeaker(100)
	y.says.Addresses = directory.Addresses{UDP: "203.0.113.9:4001"}
	y.says.Door = "http://169.254.169.254/latest/meta-data"
	if status, text := y.registerFrom(s, "203.0.113.9"); status != 400 {
		t.Errorf("a door within the provider: %d %s", status, text)
	}
	y.says.Door = "https://victim.example/token"
	status, text := y.registerFrom(s, "203.0.113.9")
	s.book.Publish()
	if e := s.list("limit=200"); status != 200 || !strings.Contains(text, "another host") ||
		strings.Contains(toText(t, e), "victim") {
		t.Errorf("a door at another's: %d %s", status, text)
	}
	y.says.Door = "https://203.0.113.9/token"
	if status, text := y.registerFrom(s, "203.0.113.9"); status != 200 ||
		strings.Contains(text, "another host") || !strings.Contains(toText(t, s.list("limit=200")),
		y.says.Door) {
		t.Errorf("a door of its own: %d %s", status, text)
	}
}

func toText(t testing.TB, v any) string {
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

// TestOtherDirectory: what was signed for one directory is nothing to another.
func TestOtherDirectory(t *testing.T) {
	s, other := open(t, t.TempDir()+"/a.db", nil), open(t, t.TempDir()+"/b.db", nil)
	s.api.Names, other.api.Names = []string{"find.example.org"}, []string{"evil.example"}
	x := abroad(1)
	x.says.Directory = "evil.example:4400"
	if status, text := x.registerFrom(other, "203.0.113.9"); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	repeat := func() *http.Request { return x.request(t, directory.Path+"entries", x.says) }
	if status, text := s.from("203.0.113.66", repeat()); status != 403 ||
		!strings.Contains(text, "other_directory") || !strings.Contains(text, "find.example.org") {
		t.Errorf("said again at another: %d %s", status, text)
	}
	old := x.is
	x.says.Directory = "FIND.example.org"
	if status, text := x.registerFrom(s, "203.0.113.9"); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	x.seq++
	if status, text := s.from("203.0.113.66", x.request(t, directory.Path+"entries/"+x.is.ID+
		"/goodbye", directory.Goodbye{Lease: old.Lease, Seq: x.seq})); status != 409 ||
		!strings.Contains(text, "lease") {
		t.Errorf("a goodbye to another: %d %s", status, text)
	}
}

// TestProxy: what a proxy on this machine passes on is not this machine's, and what somebody else
// says about who they are is nothing.
func TestProxy(t *testing.T) {
	s := open(t, t.TempDir()+"/d.db", nil)
	ask := func(from, forwarded string) int {
		q := httptest.NewRequest(http.MethodGet, directory.Path+"entries", nil)
		if forwarded != "" {
			q.Header.Set("X-Forwarded-For", forwarded)
		}
		status, _ := s.from(from, q)
		return status
	}
	refused := func(from string, forwarded func(i int) string) (n int) {
		for i := range 500 {
			if ask(from, forwarded(i)) == http.StatusTooManyRequests {
				n++
			}
		}
		return n
	}
	plain := func(int) string { return "" }
	each := func(i int) string {
		return netip.AddrFrom4([4]byte{9, 9, byte(i >> 8), byte(i)}).String()
	}
	if n := refused("127.0.0.1", plain); n != 0 {
		t.Errorf("%d of this machine's own were refused", n)
	}
	if n := refused("127.0.0.1", each); n != 100 {
		t.Errorf("%d of 500 by a proxy were refused", n)
	}
	if n := refused("203.0.113.9", each); n != 100 {
		t.Errorf("%d of 500 by somebody with many names were refused", n)
	}
	if n := refused("203.0.113.10", plain); n != 100 {
		t.Errorf("%d of another's 500 were refused", n)
	}
}

// TestManyKeys: one address has so many entries and one network, however many keys it draws and
// however many come at once; others are registered meanwhile.
func TestManyKeys(t *testing.T) {
	s := open(t, t.TempDir()+"/d.db", nil)
	flood := func(first, many int, source func(i int) string) (good, refused int) {
		var mu sync.Mutex
		var all sync.WaitGroup
		for w := range 32 {
			all.Go(func() {
				for i := first + w; i < first+many; i += 32 {
					x := newSpeaker(i)
					x.says.Seq = 1
					_, err := s.book.Register(t.Context(), x.says, x.public(),
						netip.MustParseAddr(source(i)))
					mu.Lock()
					if err == nil {
						good++
					} else if refused++; !errors.Is(err, directory.ErrMany) {
						t.Error(err)
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		return good, refused
	}
	if good, refused := flood(0, 400, func(int) string { return "203.0.113.9" }); good != 256 ||
		refused != 144 {
		t.Errorf("of one address %d are registered, and %d refused", good, refused)
	}
	many := func(i int) string {
		return netip.AddrFrom16([16]byte{0x20, 0x01, 0xd, 0xb8, 0, 7, byte(i >> 8),
			byte(i)}).String()
	}
	if good, _ := flood(1000, 1200, many); good != directory.NetworkShare*256 {
		t.Errorf("of one network %d are registered", good)
	}
	if status, text := abroad(9999).registerFrom(s, "198.51.100.7"); status != 200 {
		t.Errorf("an honest server: %d %s", status, text)
	}
}

// TestProvingAtOnce: whoever announces what does not answer keeps nobody else from it.
func TestProvingAtOnce(t *testing.T) {
	prover := &counting{hold: make(chan struct{})}
	s := open(t, t.TempDir()+"/d.db", func(*directory.Book) directory.Prover { return prover })
	var all sync.WaitGroup
	var mu sync.Mutex
	busy := 0
	for i := range directory.ProvingOfEach + 10 {
		all.Go(func() {
			status, _ := abroad(i).registerFrom(s, "203.0.113.9")
			mu.Lock()
			defer mu.Unlock()
			if status == http.StatusServiceUnavailable {
				busy++
			}
		})
	}
	asked := func() int {
		prover.mu.Lock()
		defer prover.mu.Unlock()
		return prover.asked
	}
	for asked() < directory.ProvingOfEach {
		time.Sleep(time.Millisecond)
	}
	all.Go(func() {
		if status, text := abroad(500).registerFrom(s, "198.51.100.7"); status != 200 {
			t.Errorf("an honest server: %d %s", status, text)
		}
	})
	for asked() < directory.ProvingOfEach+1 {
		time.Sleep(time.Millisecond)
	}
	close(prover.hold)
	all.Wait()
	if busy > 10 {
		t.Errorf("%d were told to try again", busy)
	}
}
