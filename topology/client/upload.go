package client

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/ways"
	"github.com/coeval-dev/coeval/topology/wire"
)

// An Uploaded is what became of data that was given to Upload.
type Uploaded struct {
	Name string
	// Err says why the server did not take it, or is nil.
	Err error
}

// uploads are what the player sends in one piece, one after the other. The first is on its way by a
// connection, or waits for one. It stays until the server says what became of it: where the player
// goes on over another connection before that, it is sent again, and may come twice.
type uploads struct {
	queue  []upload
	way    *ways.Way     // by which the first is on its way; nil while it is not
	id     conn.BulkID   // there
	silent time.Duration // since when it has arrived or was stopped, without a word; 0 if neither
	err    error         // why it was stopped
	done   []Uploaded    // to be shown
	gave   []Uploaded    // what the last View holds
}

type upload struct {
	name string
	tag  uint32
	data []byte
}

// Bounds of what waits to be sent, and of how long the server may be silent about what it has.
const (
	mostUploads   = 8
	uploadSilence = 5 * time.Second
)

var (
	errUploads  = errors.New("client: too much waits to be sent already; wait for View.Uploads")
	errNoAnswer = errors.New("client: the server did not say whether it took it")
	errStopped  = errors.New("client: the server stopped it")
)

// Upload sends data to the server in one piece, of a kind that the title's Uploads name. It goes in
// the background, beside the game; View.Uploads says what became of it. The data is to be left as
// it is until then.
func (c *Client) Upload(name string, data []byte) error {
	return c.uploads.add(c.o.Title, name, data)
}

// add has something wait.
func (u *uploads) add(t *game.Title, name string, data []byte) error {
	kind := t.Upload(name)
	switch {
	case kind == nil:
		return fmt.Errorf("client: %s has no upload %q; name one of Title.Uploads", t.Name(), name)
	case len(data) == 0 || len(data) > kind.Most:
		return fmt.Errorf("client: %s has %d bytes; send 1 to %d", name, len(data), kind.Most)
	case len(u.queue) >= mostUploads:
		return errUploads
	}
	u.queue = append(u.queue, upload{name, kind.Tag(), data})
	return nil
}

// Uploading is how many bytes of what is on its way have arrived, of how many. It is not ok while
// there is nothing.
func (c *Client) Uploading() (name string, arrived, size int, ok bool) {
	u := &c.uploads
	if len(u.queue) == 0 {
		return "", 0, 0, false
	}
	first := &u.queue[0]
	if u.silent != 0 && u.err == nil {
		arrived = len(first.data)
	} else if u.way != nil && u.way.Alive() {
		// what is not known there has just come to an end
		arrived, _, _ = u.way.Conn().BulkProgress(u.id)
	}
	return first.name, arrived, len(first.data), true
}

// upload sends the first of what waits, by the connection that is played by.
func (c *Client) upload() {
	u := &c.uploads
	if len(u.queue) == 0 {
		return
	}
	if u.way != nil && u.silent != 0 && c.now-u.silent > uploadSilence {
		c.finishUpload(cmp.Or(u.err, errNoAnswer))
		return
	}
	w := c.ways.Main()
	if u.way == w || !w.Alive() || c.Phase() != Playing {
		return
	}
	if u.way != nil && u.way.Alive() {
		_ = u.way.Conn().CancelBulk(u.id) // it may have arrived by now
	}
	first := &u.queue[0]
	id, err := w.Conn().SendBulk(first.tag, first.data)
	if err != nil {
		c.finishUpload(fmt.Errorf("client: %w", err))
		return
	}
	u.way, u.id, u.silent, u.err = w, id, 0, nil
}

// carriedUpload notes that a transfer is over. What the server says of it counts, and may be on its
// way.
func (c *Client) carriedUpload(w *ways.Way, arrived bool) {
	u := &c.uploads
	if u.way != w || u.silent != 0 {
		return
	}
	if u.silent = max(c.now, 1); !arrived {
		u.err = errStopped
	}
}

// taken notes what the server says of what it was sent.
func (c *Client) taken(w *ways.Way, m *wire.Message) {
	u := &c.uploads
	switch {
	case u.way != w || u.queue[0].tag != m.Tag:
	case m.Text != "":
		c.finishUpload(errors.New(m.Text))
	default:
		c.finishUpload(nil)
	}
}

// finishUpload is done with the first.
func (c *Client) finishUpload(err error) {
	u := &c.uploads
	if u.way != nil && u.way.Alive() && u.silent == 0 {
		_ = u.way.Conn().CancelBulk(u.id) // it may have arrived by now
	}
	u.done = append(u.done, Uploaded{u.queue[0].name, err})
	u.queue[0].data = nil
	u.queue = u.queue[1:]
	u.way, u.silent, u.err = nil, 0, nil
}
