package federation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

// A Client is a federate's end of a connection. Calls may be made by several goroutines.
type Client struct {
	ws      *websocket.Conn
	notices chan Notice
	done    chan struct{}

	mu    sync.Mutex
	last  uint64
	waits map[uint64]chan Reply
	err   error
}

// Dial connects to a server, such as ws://localhost:4600, with its token.
func Dial(ctx context.Context, url, token string) (*Client, error) {
	if !strings.HasSuffix(url, "/ws") {
		url = strings.TrimSuffix(url, "/") + "/federation/v1/ws"
	}
	o := &websocket.DialOptions{HTTPHeader: http.Header{}}
	if token != "" {
		o.HTTPHeader.Set("Authorization", "Bearer "+token)
	}
	ws, res, err := websocket.Dial(ctx, url, o)
	if err != nil {
		if res != nil && res.StatusCode == http.StatusUnauthorized {
			return nil, errors.New("the federation wants a token, or another one")
		}
		return nil, err
	}
	ws.SetReadLimit(-1)
	c := &Client{ws: ws, notices: make(chan Notice, 1024), done: make(chan struct{}),
		waits: map[uint64]chan Reply{}}
	go c.read()
	return c, nil
}

// read takes what the server says until the connection ends.
func (c *Client) read() {
	defer close(c.done)
	for {
		_, data, err := c.ws.Read(context.Background())
		if err == nil {
			err = c.take(data)
		}
		if err != nil {
			c.mu.Lock()
			c.err = fmt.Errorf("the connection to the federation has ended: %w", err)
			for id, w := range c.waits {
				close(w)
				delete(c.waits, id)
			}
			c.mu.Unlock()
			close(c.notices)
			return
		}
	}
}

func (c *Client) take(data []byte) error {
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte(`{"reply"`)) {
			var r Reply
			if err := json.Unmarshal(line, &r); err != nil {
				return err
			}
			c.mu.Lock()
			if w := c.waits[r.Reply]; w != nil {
				w <- r
				delete(c.waits, r.Reply)
			}
			c.mu.Unlock()
			continue
		}
		var n Notice
		if err := json.Unmarshal(line, &n); err != nil {
			return err
		}
		c.notices <- n
	}
	return nil
}

// Call asks for something, and waits for what came of it. An error in the reply is returned as one.
func (c *Client) Call(ctx context.Context, call Call) (Reply, error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return Reply{}, c.err
	}
	c.last++
	call.ID = c.last
	w := make(chan Reply, 1)
	c.waits[call.ID] = w
	c.mu.Unlock()
	data, err := json.Marshal(call)
	if err == nil {
		err = c.ws.Write(ctx, websocket.MessageText, data)
	}
	if err != nil {
		return Reply{}, err
	}
	select {
	case r, ok := <-w:
		if !ok {
			return r, c.err
		}
		if r.Error != "" {
			return r, errors.New(r.Error)
		}
		return r, nil
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
}

// Notices are what this federate is told. They must be taken: while 1024 wait nothing else is read,
// replies included. The channel is closed with the connection.
func (c *Client) Notices() <-chan Notice { return c.notices }

// Close ends the connection. A federate that has not resigned is lost to the federation.
func (c *Client) Close() error {
	err := c.ws.Close(websocket.StatusNormalClosure, "")
	for range c.notices { //nolint:revive // until it is closed
	}
	<-c.done
	return err
}
