package directory

import (
	"net/http"
	"time"
)

// Quiet is after how long a listener is told that there is nothing, so that both ends know that the
// other is there.
const Quiet = 15 * time.Second

// eventTime is how long a listener may take to take what it is told.
const eventTime = 10 * time.Second

func (a *API) events(c *call) (any, error) {
	q, err := parseQuestion(c.URL.Query(), false)
	if err != nil {
		return nil, bad(err)
	}
	x, begin, err := a.Book.hub.listen(q.filter, c.URL.Query().Encode(), c.source(),
		a.Book.listing.Load())
	if err != nil {
		return nil, refuse(http.StatusServiceUnavailable, "listeners", err)
	}
	defer a.Book.hub.leave(x)
	c.tell(func(say func([]byte) bool) bool { return begin.begin(&q.filter, say) }, x.queue,
		func(text []byte) { x.queued.Add(-int64(len(text))) })
	return nil, nil
}

// tell tells a listener how it is, and then what is in a queue, until the listener has gone or the
// queue is closed. Taken is told what was said.
func (c *call) tell(
	begin func(say func([]byte) bool) bool, queue <-chan []byte, taken func([]byte),
) {
	c.out.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(c.out)
	_ = control.SetReadDeadline(time.Time{}) // where it cannot be set there is none
	soon := func() { _ = control.SetWriteDeadline(time.Now().Add(eventTime)) }
	say := func(text []byte) bool {
		_, err := c.out.Write(text)
		return err == nil && control.Flush() == nil
	}
	soon()
	ok := begin(say)
	t := time.NewTicker(Quiet)
	defer t.Stop()
	for ok {
		select {
		case <-c.Context().Done():
			return
		case <-t.C:
			soon()
			ok = say([]byte(": quiet\n\n"))
		case text, open := <-queue:
			soon()
			if !open {
				say([]byte("event: resync\ndata: {}\n\n"))
				return
			}
			ok = say(text)
			taken(text)
		}
	}
}
