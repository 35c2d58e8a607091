package host

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/query"
)

// TestQueryFlood: while one address floods a real socket with queries, whoever asks honestly from
// another is answered, and no more bytes go out than come in.
func TestQueryFlood(t *testing.T) {
	t.Parallel()
	s, _ := startAsked(t, "all")
	flood, err := udp.Listen("127.0.0.2:0", udp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var flooding sync.WaitGroup
	flooding.Go(func() {
		q := query.Query{Kind: query.AskWho}.Append(nil, query.Most)
		batch := make([]link.Datagram, 32)
		for i := range batch {
			batch[i] = link.Datagram{Addr: s.Addr(), Data: q}
		}
		in := make([]link.Datagram, 64)
		for ctx.Err() == nil {
			_, _ = link.SendAll(flood, batch)
			_, _ = flood.Receive(in)
			_, _ = flood.Wait(time.Millisecond)
		}
	})
	for range 3 {
		ask(t, s.Addr().String(), "--timeout", "20s")
	}
	stop()
	flooding.Wait()
	if err := flood.Close(); err != nil {
		t.Error(err)
	}
	_, text := get(t, "http://"+s.HTTP()+"/metrics")
	in, out := metric(t, text, "coeval_query_bytes_total"),
		metric(t, text, `coeval_sent_bytes_total{purpose="answer"}`)
	if out > in || out == 0 || metric(t, text, `coeval_queries_left_total{reason="crowded"}`) == 0 {
		t.Errorf("%.0f bytes out for %.0f in\n%s", out, in, text)
	}
}

// metric reads a number.
func metric(t *testing.T, text, name string) (v float64) {
	t.Helper()
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if err := json.Unmarshal([]byte(strings.TrimSpace(rest)), &v); err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("no %s", name)
	return 0
}
