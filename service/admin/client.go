package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// A Client asks an API, for programs that administer servers.
type Client struct {
	// URL is where the server answers, such as https://play.example.org:4900.
	URL *url.URL
	// Secret is the token.
	Secret string
	// HTTP makes requests. Default: http.DefaultClient.
	HTTP *http.Client
}

// mostAnswer bounds what is read of an answer.
const mostAnswer = 256 << 20

// ErrPlain says that a token was not sent, as others could have read it on the way.
var ErrPlain = errors.New("a token is sent only over HTTPS, or to this machine itself")

// Get asks for something, and reads the answer into a value, or as it is into a *[]byte.
func (c *Client) Get(ctx context.Context, name string, into any) error {
	return c.ask(ctx, http.MethodGet, name, nil, into)
}

// Post has something done: a body that is no []byte is sent as JSON.
func (c *Client) Post(ctx context.Context, name string, body, into any) error {
	data, raw := body.([]byte)
	if !raw && body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return err
		}
	}
	return c.ask(ctx, http.MethodPost, name, data, into)
}

// ask makes a request. An error of the API is an *Error.
func (c *Client) ask(ctx context.Context, method, name string, body []byte, into any) error {
	if !secure(c.URL) {
		return fmt.Errorf("%w: %s is neither", ErrPlain, c.URL)
	}
	path, query, _ := strings.Cut(name, "?")
	u := c.URL.JoinPath(Path + path)
	u.RawQuery = query
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.Secret)
	by := *http.DefaultClient
	if c.HTTP != nil {
		by = *c.HTTP
	}
	// a token is for the server that was named
	by.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := by.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		e := &Error{}
		if json.Unmarshal(data, e) != nil || e.Message == "" {
			return fmt.Errorf("%s does not answer as the admin API of a server does (%s): is it the "+
				"address that the server has as --admin?", c.URL, answer.Status)
		}
		e.Status = answer.StatusCode
		return e
	}
	if raw, ok := into.(*[]byte); ok {
		*raw = data
		return nil
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s does not answer as the admin API of a server does: %w", c.URL, err)
	}
	return nil
}

// secure says whether a secret may be sent to a server: nobody else can read it on the way.
func secure(u *url.URL) bool {
	host := u.Hostname()
	return u.Scheme == "https" || host == "localhost" || addressOf(host).IsLoopback()
}
