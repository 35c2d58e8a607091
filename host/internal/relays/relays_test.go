//go:build !js

package relays

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/topology/relay"
)

// running runs a relay until the test ends.
func running(t *testing.T, o Options) (*Relay, *url.URL) {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ran sync.WaitGroup
	ran.Go(func() {
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		ran.Wait()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	base, err := entry.Base(r.HTTP(), "")
	if err != nil {
		t.Fatal(err)
	}
	return r, base
}

// A visitor is a member over a real link.
type visitor struct {
	link   link.Link
	client *relay.Client
	in     *relay.Welcome
	rows   int
	began  time.Time
}

func newVisitor(t *testing.T, l link.Link, at netip.AddrPort, text string) *visitor {
	t.Helper()
	tok, err := token.ParseText(text)
	if err != nil {
		t.Fatal(err)
	}
	o := conn.ClientOptions{Token: tok, Servers: []netip.AddrPort{at}}
	o.Datagram = min(l.MaxDatagram(), 1200)
	_, _ = rand.Read(o.Seed[:])
	c, err := relay.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{link: l, client: c, began: time.Now()}
	t.Cleanup(v.leave)
	return v
}

// leave goes in good order, so that the relay need not wait for it.
func (v *visitor) leave() {
	v.client.Close()
	for until := time.Now().Add(time.Second); !v.client.Done() && time.Now().Before(until); {
		now := time.Since(v.began)
		_, _ = link.SendAll(v.link, v.client.Flush(now, nil))
		batch := make([]link.Datagram, 32)
		n, _ := v.link.Receive(batch)
		v.client.Receive(now, batch[:n])
		time.Sleep(time.Millisecond)
	}
	_ = v.link.Close()
}

// play does what a member does in a sixtieth of a second.
func (v *visitor) play(t *testing.T) {
	t.Helper()
	now := time.Since(v.began)
	batch := make([]link.Datagram, 32)
	n, err := v.link.Receive(batch)
	if err != nil {
		t.Fatal(err)
	}
	v.client.Receive(now, batch[:n])
	for _, e := range v.client.Events() {
		switch e.Kind {
		case relay.Welcomed:
			v.in = e.Welcome
			_ = v.client.Ready()
		case relay.Refused:
			t.Fatal(e.Text)
		case relay.Ended:
			t.Fatal(relay.ReasonText(e.Reason), e.Text, e.Err)
		}
	}
	for _, ok := v.client.NextRow(); ok; _, ok = v.client.NextRow() {
		v.rows++
	}
	if v.in != nil && v.client.Ahead() < 4 {
		_, _ = v.client.Submit([]byte{1})
	}
	_, _ = link.SendAll(v.link, v.client.Flush(now, nil))
}

func get(t *testing.T, base *url.URL, path string) (int, string) {
	t.Helper()
	resp, err := http.Get(base.JoinPath(path).String())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// Two meet at an open relay, one by UDP and one by WebSocket as browsers come, and get rows.
func TestRelay(t *testing.T) {
	t.Parallel()
	r, base := running(t, Options{WebSocket: true})
	ask := func() entry.Admission {
		a, err := entry.Ask(t.Context(), base)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a, b := ask(), ask()
	if a.Game != Game || a.UDP != r.Addr().Port() || a.WebSocket == "" {
		t.Errorf("the relay answers %+v", a)
	}
	l, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ann := newVisitor(t, l, r.Addr(), a.Token)
	ws, at, err := b.DialSocket(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	bob := newVisitor(t, ws, at, b.Token)
	if err := ann.client.Create(relay.Match{Game: "tag", Seats: 2, Start: 2},
		relay.Entry{Name: "ann"}); err != nil {
		t.Fatal(err)
	}
	asked := false
	for until := time.Now().Add(20 * time.Second); ann.rows < 20 || bob.rows < 20; {
		if time.Now().After(until) {
			t.Fatalf("ann has %d rows and bob %d", ann.rows, bob.rows)
		}
		ann.play(t)
		if !asked && ann.in != nil {
			asked = true
			err := bob.client.Join(ann.in.Code, "tag", relay.Rows, [relay.SecretSize]byte{},
				relay.Entry{Name: "bob"})
			if err != nil {
				t.Fatal(err)
			}
		}
		bob.play(t)
		time.Sleep(time.Second / 120)
	}
	code, body := get(t, base, "/status")
	var s Status
	if err := json.Unmarshal([]byte(body), &s); err != nil || code != http.StatusOK {
		t.Fatalf("%d: %s, %v", code, body, err)
	}
	if s.Matches != 1 || s.Members != 2 || s.Playing != 2 || s.Rows < 20 || !s.Open {
		t.Errorf("%s", body)
	}
	_, body = get(t, base, "/metrics")
	for _, want := range []string{"coeval_relay_matches 1\n",
		"coeval_relay_members{kind=\"playing\"} 2\n",
		"coeval_relay_refused_total{reason=\"unknown_code\"} 0\n",
		"coeval_relay_message_bytes_total{kind=\"rows\"}",
		"coeval_sent_bytes_total{purpose=\"unreliable\"}", "coeval_tick_seconds_count"} {
		if !strings.Contains(body, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	if code, _ := get(t, base, "/healthz"); code != http.StatusOK {
		t.Errorf("/healthz answers %d", code)
	}
}

// With a key only those come in who have a token of it.
func TestRelayWithKey(t *testing.T) {
	t.Parallel()
	key, err := token.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r, base := running(t, Options{Keys: []token.Key{key}})
	if code, body := get(t, base, "/token"); code != http.StatusForbidden ||
		!strings.Contains(body, "this relay is not open") {
		t.Errorf("/token answers %d: %s", code, body)
	}
	tok, err := token.Issue(key, token.Grant{Protocol: token.ProtocolID(Game), Client: 7,
		Expires: time.Now().Add(time.Minute).Unix()}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	l, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ann := newVisitor(t, l, r.Addr(), tok.Text())
	if err := ann.client.Create(relay.Match{Game: "tag"}, relay.Entry{}); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(20 * time.Second); ann.in == nil && time.Now().Before(until); {
		ann.play(t)
		time.Sleep(5 * time.Millisecond)
	}
	if ann.in == nil {
		t.Error("a token of the key lets nobody in")
	}
}

func TestRelayCommand(t *testing.T) {
	for args, want := range map[string]string{
		"--matches 0":      "--matches is 0",
		"--connections -1": "--connections is -1",
		"--patience 0s":    "must be above zero",
		"--carry-rate 0":   "must be above zero",
		"--key no.key":     "there is no key file",
		"--every -1s":      "--every is -1s",
		"--watch-rate 0":   "--watch-rate is 0",
		"--log loud":       "--log is",
		"--tls-cert only":  "go together",
		"--per-address 0":  "must be above zero",
		"--http none --websocket --listen 127.0.0.1:0": "needs an HTTP address",
	} {
		cmd := Command(&cli.Program{Name: "coeval"})
		cmd.SetArgs(strings.Fields(args))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		if err := cmd.ExecuteContext(t.Context()); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	cmd := Command(&cli.Program{Name: "coeval"})
	cmd.SetArgs([]string{"--listen", "127.0.0.1:0", "--json", "--every", "10ms", "--log-level",
		"error"})
	var out bytes.Buffer
	cmd.SetOut(&out)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := cmd.ExecuteContext(ctx); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), `{"http":"127.0.0.1:`) {
		t.Errorf("it says %q", out.String())
	}
}

// TestOrigins: pages of any site may ask a relay for a token and read it, unless its operator names
// those that may.
func TestOrigins(t *testing.T) {
	const page, other = "https://play.example.org", "https://evil.example"
	_, all := running(t, Options{WebSocket: true})
	_, some := running(t, Options{WebSocket: true, Origins: []string{"*.example.org"}})
	for _, x := range []struct {
		at             *url.URL
		origin, allows string
		code           int
	}{
		{all, page, "*", 200}, {all, other, "*", 200}, {some, page, page, 200},
		{some, other, "", 403}, {some, "", "", 200},
	} {
		for path, code := range map[string]int{"/token": x.code, "/coeval": x.code} {
			r, err := http.NewRequestWithContext(t.Context(), "POST", x.at.JoinPath(path).String(),
				http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if x.origin != "" {
				r.Header.Set("Origin", x.origin)
			}
			if path == "/coeval" {
				r.Method = "GET"
				r.Header.Set("Connection", "Upgrade")
				r.Header.Set("Upgrade", "websocket")
				r.Header.Set("Sec-WebSocket-Version", "13")
				r.Header.Set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
				if code == 200 {
					code = 101
				}
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			got := resp.Header.Get("Access-Control-Allow-Origin")
			if resp.StatusCode != code || path == "/token" && got != x.allows {
				t.Errorf("%s for a page of %q: %s, %q", path, x.origin, resp.Status, got)
			}
		}
	}
}

// readdressed is a link to the same relay as another, by whose address it is known.
type readdressed struct {
	link.Link
	peer, known netip.AddrPort
}

func (l *readdressed) Send(batch []link.Datagram) (int, error) {
	for i := range batch {
		batch[i].Addr = l.peer
	}
	return l.Link.Send(batch)
}

func (l *readdressed) Receive(batch []link.Datagram) (int, error) {
	n, err := l.Link.Receive(batch)
	for i := range batch[:n] {
		batch[i].Addr = l.known
	}
	return n, err
}

// TestCarrierChanges: a member that came by WebSocket goes on by WebTransport, over the same
// connection, as browsers do when that opens later.
func TestCarrierChanges(t *testing.T) {
	_, base := running(t, Options{WebSocket: true, WebTransport: "127.0.0.1:0",
		Hosts: []string{"127.0.0.1"}})
	a, err := entry.Ask(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	ws, known, err := a.DialSocket(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	v := newVisitor(t, ws, known, a.Token)
	if err := v.client.Create(relay.Match{Game: "g", Mode: relay.Rows, Seats: 2, Start: 1,
		Rate: 60}, relay.Entry{Name: "ann"}); err != nil {
		t.Fatal(err)
	}
	rows := func(more int) {
		t.Helper()
		for want, end := v.rows+more, time.Now().Add(20*time.Second); v.rows < want; {
			if time.Now().After(end) {
				t.Fatalf("%d rows, want %d", v.rows, want)
			}
			v.play(t)
			time.Sleep(5 * time.Millisecond)
		}
	}
	rows(10)
	wt, peer, err := a.DialTransport(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	v.link = &readdressed{wt, peer, known}
	_ = ws.Close()
	rows(30)
}
