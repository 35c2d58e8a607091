package lobbies_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/host/internal/lobbies"
	"github.com/coeval-dev/coeval/service/directory/ask"
)

// A between stands between somebody and the directory.
type between struct {
	*httptest.Server
	silent atomic.Bool  // it lets no stream of events through
	asked  atomic.Int64 // how often it was asked where somebody is
	opened atomic.Int64 // streams so far
}

func stand(t *testing.T, at string) *between {
	t.Helper()
	to, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	b := &between{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/me/events"):
			if b.silent.Load() {
				http.NotFound(w, r)
				return
			}
			b.opened.Add(1)
		case strings.HasSuffix(r.URL.Path, "/me") && r.Method == http.MethodGet:
			b.asked.Add(1)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(b.Close)
	return b
}

// TestCutOff: somebody whose connection is cut again and again, and in between lets no events
// through, is told every line once, in order; while it holds nothing is asked.
func TestCutOff(t *testing.T) {
	t.Parallel() // it mostly waits
	at := stage(t)
	b := stand(t, at)
	near, err := ask.New(at, nil)
	if err != nil {
		t.Fatal(err)
	}
	far, err := ask.New(b.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	host, err := lobbies.NewGuest(ctx, near, "ann", "", &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	var out said
	guest, err := lobbies.NewGuest(ctx, far, "bob", host.Code(), &out)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := guest.Attend(ctx); ctx.Err() == nil {
			t.Errorf("bob went: %v", err)
		}
	})
	defer running.Wait()
	defer cancel()
	want := "ann is here\n"
	line := 0
	says := func() {
		text := fmt.Sprintf("line %d", line/2) // each is said twice, and is another one
		line++
		want += "ann: " + text + "\n"
		hosttest.WaitUntil(t, text+" is said", func() bool { // so many a second may be
			_, err := host.Type(ctx, text)
			return err == nil
		})
	}
	arrive := func() {
		t.Helper()
		hosttest.WaitUntil(t, want+" is told", func() bool { return out.String() == want })
	}
	says()
	arrive()
	before := b.asked.Load()
	for range 3 {
		says()
		arrive()
	}
	if n := b.asked.Load() - before; n > 0 {
		t.Errorf("while events come it is asked %d times", n)
	}
	for i := range 4 {
		streams := b.opened.Load()
		b.silent.Store(i%2 == 0)
		says()
		b.CloseClientConnections()
		says()
		arrive()
		b.silent.Store(false)
		hosttest.WaitUntil(t, "events come again", func() bool { return b.opened.Load() > streams })
	}
}
