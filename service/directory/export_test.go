package directory

import "github.com/coeval-dev/coeval/link"

// Publish has what has changed be listed now.
func (b *Book) Publish() { b.publish() }

// Tell tells listeners now.
func (b *Book) Tell() {
	for n := range turns {
		b.hub.tell(n, b.listing.Load())
	}
}

// Listeners is how many there are.
func (b *Book) Listeners() int { return b.hub.size() }

// Decode and ParseQuestion are for fuzzing.
var (
	Decode        = decode
	ParseQuestion = parseQuestion
)

// Fill is fill, for fuzzing.
func (a *Announcement) Fill() error { return a.fill(addressOf("203.0.113.7:1")) }

// Routes are the methods and paths of the API.
func Routes() (out [][2]string) {
	for _, r := range routes {
		out = append(out, [2]string{r.method, r.path})
	}
	return out
}

// OpenAPI is the description.
func OpenAPI() []byte { return openAPI }

// Issues has the book ask whether tokens are issued.
func (b *Book) Issues(f func(string) bool) { b.opt.Issues = f }

// Stop ends the lobby, as Run does when its context ends.
func (l *Lobby) Stop() { l.close() }

// Limits that tests reach.
const (
	ListenersOfEach = listenersOfEach
	ProvingOfEach   = provingOfEach
	NetworkShare    = networkShare
)

// Answer answers a datagram as Run does.
func (r *Responder) Answer(d *link.Datagram, buf []byte) []byte {
	return r.answer(r.book.listing.Load(), d, buf)
}
