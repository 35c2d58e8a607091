package directory_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/answer"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/announce"
	"github.com/coeval-dev/coeval/service/directory/packet"
)

// withSocket is a directory with a real socket, which is given.
func withSocket(t *testing.T) (*stage, netip.AddrPort) {
	l, err := udp.Listen("127.0.0.1:0", udp.Options{})
	must(t, err)
	var r *directory.Responder
	s := open(t, t.TempDir()+"/d.db", func(b *directory.Book) directory.Prover {
		r = directory.NewResponder(b, l)
		return r
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
	})
	return s, l.LocalAddr()
}

// TestProof: a server is listed once it has answered by its own socket; whoever names the address
// of another is not, though something answers there.
func TestProof(t *testing.T) {
	s, _ := withSocket(t)
	x, eve := newSpeaker(1), newSpeaker(2)
	a, err := announce.New(announce.Options{URL: s.http.URL, Key: x.key})
	must(t, err)
	raw, err := udp.Listen("127.0.0.1:0", udp.Options{})
	must(t, err)
	game := answer.Over(raw, a)
	stop := make(chan struct{})
	go func() { // a server that plays
		defer close(stop)
		batch := make([]link.Datagram, 8)
		for {
			if _, err := game.Receive(batch); err != nil {
				return
			}
			if _, err := game.Wait(-1); err != nil {
				return
			}
		}
	}()
	defer func() {
		_ = raw.Close()
		<-stop
	}()
	eve.says.Addresses.UDP = raw.LocalAddr().String()
	status, text, err := eve.register(s.http.URL)
	if must(t, err); status != 422 || !strings.Contains(text, "--public") {
		t.Errorf("%d %s", status, text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		says := x.says
		says.Addresses.UDP = raw.LocalAddr().String()
		a.Run(ctx, says, func(context.Context) (announce.Status, error) {
			return announce.Status{Level: "one", Players: 2, Capacity: 4}, nil
		})
		close(ended)
	}()
	for len(s.list("").Entries) == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	if e := s.list("").Entries[0]; e.ID != a.ID() || e.Players != 2 || e.Level != "one" {
		t.Errorf("%+v", e)
	}
	cancel()
	<-ended
	if p := s.list(""); len(p.Entries) != 0 {
		t.Errorf("after a goodbye: %+v", p)
	}
}

// slowly is a client that is told late that it was registered, unless it has given up.
type slowly struct{ listed, released chan struct{} }

func (x *slowly) RoundTrip(q *http.Request) (*http.Response, error) {
	r, err := http.DefaultTransport.RoundTrip(q)
	if err != nil || !strings.HasSuffix(q.URL.Path, "/entries") {
		return r, err
	}
	close(x.listed)
	<-x.released
	if q.Context().Err() != nil {
		_ = r.Body.Close()
		return nil, q.Context().Err()
	}
	return r, nil
}

// TestStopsWhileRegistering: a server that stops when the directory lists it already, and before it
// was told so, is listed no more.
func TestStopsWhileRegistering(t *testing.T) {
	s, _ := withSocket(t)
	s.api.Prover = believing{}
	x, slow := newSpeaker(0), &slowly{make(chan struct{}), make(chan struct{})}
	a, err := announce.New(announce.Options{URL: s.http.URL, Key: x.key,
		Client: &http.Client{Transport: slow}})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.Run(ctx, x.says, func(context.Context) (announce.Status, error) {
			return announce.Status{Level: "one", Players: 2, Capacity: 4}, nil
		})
	}()
	<-slow.listed
	if p := s.list(""); len(p.Entries) != 1 {
		t.Errorf("%+v", p)
	}
	cancel()
	close(slow.released)
	<-ended
	if p := s.list(""); len(p.Entries) != 0 {
		t.Errorf("after it has stopped: %+v", p)
	}
}

// TestQuery: a game's client asks over UDP, and gets no more bytes than it sent.
func TestQuery(t *testing.T) {
	s, at := withSocket(t)
	s.api.Prover = believing{}
	for i := range 40 {
		x := newSpeaker(i)
		x.says.Players = i
		x.says.Capacity = 30 // so that ten are full
		s.want(200)(x.register(s.http.URL))
	}
	s.book.Publish()
	l, err := udp.Listen("127.0.0.1:0", udp.Options{})
	must(t, err)
	defer l.Close()
	ask := func(q packet.Query, length int) (a packet.Answer) {
		t.Helper()
		batch := make([]link.Datagram, 4)
		for {
			_, err := l.Send([]link.Datagram{{Addr: at, Data: q.Append(nil, length)}})
			must(t, err)
			_, err = l.Wait(time.Second)
			must(t, err)
			n, err := l.Receive(batch)
			must(t, err)
			for _, d := range batch[:n] {
				if len(d.Data) > length {
					t.Fatalf("%d bytes for %d", len(d.Data), length)
				}
				if a, ok := packet.ParseAnswer(d.Data); ok && a.Nonce == q.Nonce {
					return a
				}
			}
		}
	}
	tanks := token.ProtocolID("tanks")
	if a := ask(packet.Query{Nonce: 1, Protocol: tanks}, 1200); a.Total != 40 ||
		len(a.Servers) < 10 || a.Servers[0].Players != 30 {
		t.Errorf("%+v", a)
	}
	if a := ask(packet.Query{Nonce: 2, Protocol: tanks, Room: true, First: 3}, 300); a.Total !=
		30 ||
		len(a.Servers) == 0 || a.Servers[0].Players != 26 {
		t.Errorf("%+v", a)
	}
	if a := ask(packet.Query{Nonce: 3, Protocol: 1}, 64); a.Total != 0 || len(a.Servers) != 0 {
		t.Errorf("%+v", a)
	}
}

// TestEvents: whoever listens is told what there is, what changes and what is gone; a slow one is
// told to begin anew.
func TestEvents(t *testing.T) {
	s := open(t, t.TempDir()+"/d.db", nil)
	a := newSpeaker(1)
	s.want(200)(a.register(s.http.URL))
	s.book.Publish()
	r, err := http.Get(s.http.URL + directory.Path + "events?game=tanks")
	must(t, err)
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	await := func(event, contains string) {
		t.Helper()
		for name := ""; lines.Scan(); {
			if after, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = after
			}
			if strings.HasPrefix(lines.Text(), "data: ") && name == event &&
				strings.Contains(lines.Text(), contains) {
				return
			}
		}
		t.Fatalf("no %s with %s: %v", event, contains, lines.Err())
	}
	await("begin", a.is.ID)
	b := newSpeaker(2)
	s.want(200)(b.register(s.http.URL))
	s.book.Publish()
	s.book.Tell()
	await("change", b.is.ID)
	s.want(200)(a.goodbye(s.http.URL))
	s.book.Publish()
	s.book.Tell()
	await("change", `"gone":["`+a.is.ID)
	s.stop() // the directory ends
	await("resync", "")
}

// TestTokens: tokens are for servers that have the directory's key, by name or account, and not for
// those who are banned.
func TestTokens(t *testing.T) {
	s := open(t, t.TempDir()+"/d.db", nil)
	old, err := token.NewKey(rand.Reader)
	must(t, err)
	fresh, err := token.NewKey(rand.Reader)
	must(t, err)
	keys := []token.Key{old}
	folder, err := admin.OpenFolder(t.TempDir() + "/admin")
	must(t, err)
	s.api.Issuer = &directory.Issuer{Keys: func() []token.Key { return keys }, Folder: folder}
	s.book.Issues(s.api.Issuer.Issues)
	x, y := newSpeaker(1), newSpeaker(2)
	x.says.Keys = []string{directory.Fingerprint(fresh), directory.Fingerprint(old)}
	s.want(200)(x.register(s.http.URL))
	s.want(200)(y.register(s.http.URL))
	s.book.Publish()
	ask := func(x *speaker) (int, string, directory.TokenAnswer) {
		var a directory.TokenAnswer
		q, err := http.NewRequest(http.MethodPost, s.http.URL+directory.Path+"entries/"+x.is.ID+
			"/token", nil)
		must(t, err)
		status, text, err := do(q, &a)
		must(t, err)
		return status, text, a
	}
	opens := func(k token.Key) {
		t.Helper()
		status, text, a := ask(x)
		if status != 200 {
			t.Fatalf("%d %s", status, text)
		}
		tok, err := token.ParseText(a.Token)
		must(t, err)
		g, err := token.Open(k, tok.Sealed)
		if err != nil || g.Protocol != token.ProtocolID("tanks") || g.Client == 0 ||
			len(g.Servers) != 1 || g.Servers[0].String() != x.says.Addresses.UDP {
			t.Fatalf("%+v %v", g, err)
		}
	}
	opens(old)
	keys = []token.Key{fresh, old} // the operator has put a new one first
	opens(fresh)
	if status, text, _ := ask(y); status != 409 || !strings.Contains(text, "--key") {
		t.Errorf("a server without the key: %d %s", status, text)
	}
	_, err = folder.AddSanctions(admin.Sanction{Kind: admin.Ban, By: "ann", Why: "enough",
		Network: netip.MustParsePrefix("127.0.0.0/8")})
	must(t, err)
	if status, text, _ := ask(x); status != 403 || !strings.Contains(text, "enough") {
		t.Errorf("%d %s", status, text)
	}
	log, err := folder.Logged(10)
	if must(t, err); len(log) != 3 || log[2].Result == "ok" {
		t.Errorf("%+v", log)
	}
}
