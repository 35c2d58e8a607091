package announce

import (
	"encoding/hex"
	"io"
	"net/http"
	"time"

	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/answer"
	"github.com/coeval-dev/coeval/service/directory/packet"
)

// An Announcer answers the challenges of a directory by the server's own socket: it is an
// answer.Answerer. An answer is shorter than what it answers, and is of this server's own ID alone.
var _ answer.Answerer = &Announcer{}

// Of challenges, mostAtOnce are answered within a turn.
const (
	mostAtOnce = 8
	turn       = 10 * time.Millisecond
)

// Takes says whether a datagram is a challenge.
func (a *Announcer) Takes(data []byte) bool {
	return len(data) == packet.ChallengeSize && data[0] == packet.KindChallenge
}

// Answer appends a proof. It is for one goroutine at a time.
func (a *Announcer) Answer(now time.Duration, d *link.Datagram, to []byte) []byte {
	c, ok := packet.ParseChallenge(d.Data)
	if !ok || c.ID != a.id {
		return to
	}
	if now/turn != a.turn {
		a.turn, a.answered = now/turn, 0
	}
	if a.answered == mostAtOnce {
		return to
	}
	a.answered++
	return c.AppendProof(to)
}

// ServeHTTP answers challenges over HTTP, for servers that only TCP reaches.
func (a *Announcer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	nonce := q.Get("nonce")
	if a == nil || q.Get("id") != hex.EncodeToString(a.id[:]) || len(nonce) > 64 {
		http.Error(w, "this is not the server that is meant", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, nonce) // who has gone need not be told
}
