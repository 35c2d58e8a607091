package federation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/coder/websocket"

	"github.com/coeval-dev/coeval/federation"
)

// A seat is the connection of a federate that has joined, or is about to.
type seat struct {
	s    *Server
	ws   *websocket.Conn
	e    *execution
	x    *federation.Execution
	f    *federation.Federate
	out  []byte        // what leaves next; guarded by the execution
	wake chan struct{} // there is something to send
	room chan struct{} // something was sent
}

// run serves a connection until it ends.
func (t *seat) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = t.ws.CloseNow() })
	defer stop()
	done := make(chan struct{})
	defer close(done)
	t.s.wait.Go(func() {
		select {
		case <-done:
		case <-t.s.ends:
			cancel()
		}
	})
	if !t.enter(ctx) {
		return
	}
	defer t.s.leave(t)
	t.s.wait.Go(func() {
		defer cancel()
		t.write(ctx)
	})
	for {
		data, err := t.read(ctx)
		if err != nil {
			return
		}
		t.serve(data)
		if !t.waitForRoom(ctx) {
			return
		}
	}
}

// waitForRoom takes no more calls from a federate that does not take what they come to.
func (t *seat) waitForRoom(ctx context.Context) bool {
	for {
		t.e.mu.Lock()
		full := len(t.out) >= maxOut
		t.e.mu.Unlock()
		if !full {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-t.room:
		}
	}
}

func (t *seat) read(ctx context.Context) ([]byte, error) {
	kind, data, err := t.ws.Read(ctx)
	if err == nil && kind != websocket.MessageText {
		err = errors.New("calls are text")
		_ = t.ws.Close(websocket.StatusUnsupportedData, err.Error())
	}
	return data, err
}

// enter answers calls until one of them has joined.
func (t *seat) enter(ctx context.Context) bool {
	for {
		data, err := t.read(ctx)
		if err != nil {
			return false
		}
		for line := range bytes.Lines(data) {
			if t.f != nil {
				t.serve(line)
				continue
			}
			var reply Reply
			c, err := readCall(line)
			switch {
			case err != nil:
			case c.Call != "join":
				err = errJoin
			default:
				err = t.s.join(t, c)
			}
			reply.Reply = c.ID
			if err != nil {
				reply.Error = err.Error()
			} else {
				reply.Federate = uint32(t.f.ID())
			}
			answer, err := json.Marshal(&reply)
			if err != nil || t.transmit(ctx, append(answer, '\n')) != nil {
				if t.f != nil {
					t.s.leave(t)
				}
				return false
			}
		}
		if t.f != nil {
			return true
		}
	}
}

func (t *seat) transmit(ctx context.Context, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return t.ws.Write(ctx, websocket.MessageText, data)
}

// readCall reads one line. The call is never nil.
func readCall(line []byte) (*Call, error) {
	c := &Call{}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return c, fmt.Errorf("this is no call: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return c, errors.New("this is no call: there is more behind it in its line")
	}
	return c, nil
}

// serve does what a message asks for: a call in each line.
func (t *seat) serve(data []byte) {
	t.e.mu.Lock()
	defer t.e.mu.Unlock()
	for line := range bytes.Lines(data) {
		c, err := readCall(line)
		reply := Reply{Reply: c.ID}
		if err == nil {
			do, ok := services[c.Call]
			if ok {
				err = do(t, c, &reply)
			} else {
				err = fmt.Errorf("there is no call %.80q", c.Call)
			}
		}
		if err != nil {
			reply.Error = err.Error()
		}
		if err != nil || c.ID != 0 {
			t.put(&reply)
		}
	}
	t.e.drain(t.s)
}

// put adds a line to what leaves.
func (t *seat) put(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		return
	}
	t.out = append(append(t.out, line...), '\n')
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// write sends what is to leave, and then has the execution give more. It returns when the federate
// has left and been told so.
func (t *seat) write(ctx context.Context) {
	var leaving []byte
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		}
		t.e.mu.Lock()
		leaving, t.out = t.out, leaving[:0]
		t.e.drain(t.s)
		over := t.f.Left() && t.f.Waiting() == 0 && len(t.out) == 0
		t.e.mu.Unlock()
		if len(leaving) > 0 && t.transmit(ctx, leaving) != nil {
			return
		}
		select {
		case t.room <- struct{}{}:
		default:
		}
		if over {
			_ = t.ws.Close(websocket.StatusNormalClosure, "this federate has left")
			return
		}
	}
}
