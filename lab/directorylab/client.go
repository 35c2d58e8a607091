//go:build !js

package directorylab

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/coeval-dev/coeval/service/directory"
)

// A client is a connection to the directory, of a server or of somebody who asks. It is as small as
// can be: there are ten thousand, on the core that the directory does not have.
type client struct {
	net.Conn
	in   *bufio.Reader
	host string
	body []byte
}

// patience is how long anything may take before it has failed.
const patience = 10 * time.Second

func (s *subject) dial() (*client, error) {
	c, err := net.Dial("tcp", s.http.String())
	if err != nil {
		return nil, err
	}
	return &client{Conn: c, in: bufio.NewReaderSize(c, 2048), host: s.http.String()}, nil
}

// get asks for something.
func (c *client) get(name string, into any) error {
	return c.do(fmt.Appendf(nil, "GET %s%s HTTP/1.1\r\nHost: %s\r\n\r\n", directory.Path, name,
		c.host), into)
}

// post says something that is signed.
func (c *client) post(path string, body []byte, signature string, into any) error {
	return c.do(append(fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\n%s: %s\r\n"+
		"Content-Length: %d\r\n\r\n", path, c.host, directory.SignatureHeader, signature,
		len(body)), body...), into)
}

func (c *client) do(request []byte, into any) error {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := c.Write(request); err != nil {
		return err
	}
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	c.body = c.body[:0]
	for {
		if len(c.body) == cap(c.body) {
			c.body = append(c.body, 0)[:len(c.body)]
		}
		n, err := r.Body.Read(c.body[len(c.body):cap(c.body)])
		c.body = c.body[:len(c.body)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", r.Status, c.body)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(c.body, into)
}

type page struct {
	Entries []struct{ ID string }
	Next    string
}
