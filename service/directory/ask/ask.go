package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/coeval-dev/coeval/service/directory"
)

// A Client asks one directory.
type Client struct {
	base string
	http *http.Client
}

// New makes a client of the directory at a URL. Without an http.Client it trusts whom the system
// trusts.
func New(url string, c *http.Client) (*Client, error) {
	base, err := directory.Base(url)
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = http.DefaultClient
	}
	return &Client{base, c}, nil
}

// A Filter says what is asked for. What is empty is not asked about.
type Filter struct {
	Game, Version, Mode, Region string
	// Name is a part of the name, however it is written.
	Name string
	// Tags must all be there.
	Tags []string
	// Room asks for those that have a place for one more.
	Room bool
	// Sort is players, room, name or new. Default: players.
	Sort string
	// Limit is how many are wanted. Default: 200.
	Limit int
}

// Limits of what a directory may take and answer. Pages are of 200 entries at most.
const (
	askTime    = 10 * time.Second
	mostAnswer = 32 << 20
	pageSize   = 200
	mostPages  = 100
)

func (f *Filter) values() url.Values {
	v := url.Values{}
	for name, value := range map[string]string{"game": f.Game, "version": f.Version,
		"mode": f.Mode, "region": f.Region, "name": f.Name, "sort": f.Sort} {
		if value != "" {
			v.Set(name, value)
		}
	}
	for _, t := range f.Tags {
		v.Add("tag", t)
	}
	if f.Room {
		v.Set("room", "true")
	}
	return v
}

// Entries asks for the list, page by page.
func (c *Client) Entries(ctx context.Context, f Filter) (list []directory.Entry, err error) {
	want := f.Limit
	if want <= 0 {
		want = pageSize
	}
	v := f.values()
	seen := map[string]bool{}
	for range mostPages {
		v.Set("limit", strconv.Itoa(min(want-len(list), pageSize)))
		var page struct {
			Entries []directory.Entry `json:"entries"`
			Next    string            `json:"next"`
		}
		if err := c.do(ctx, http.MethodGet, "entries?"+v.Encode(), "", &page); err != nil {
			return list, err
		}
		for i := range page.Entries {
			// Something may have come or gone between two pages.
			if e := &page.Entries[i]; !seen[e.ID] && len(list) < want {
				seen[e.ID] = true
				list = append(list, *e)
			}
		}
		if page.Next == "" || len(list) >= want {
			break
		}
		v.Set("after", page.Next)
	}
	return list, nil
}

// Token asks for a token of an entry. Bearer says whose, where the directory wants to know.
func (c *Client) Token(
	ctx context.Context, id, bearer string,
) (t directory.TokenAnswer, err error) {
	err = c.do(ctx, http.MethodPost, "entries/"+url.PathEscape(id)+"/token", bearer, &t)
	if err == nil && t.Token == "" {
		err = errors.New("the directory's answer has no token in it")
	}
	return t, err
}

// do asks, and reads the answer into what is given, if it is.
func (c *Client) do(ctx context.Context, method, name, bearer string, into any) error {
	return c.send(ctx, method, name, bearer, nil, into)
}

// send is do with a body.
func (c *Client) send(
	ctx context.Context, method, name, bearer string, body, into any,
) error {
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		text = bytes.NewReader(b)
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, c.base+directory.Path+name, text)
	if err != nil {
		return err
	}
	if bearer != "" {
		q.Header.Set("Authorization", "Bearer "+bearer)
	}
	r, err := c.http.Do(q)
	if err != nil {
		return c.silent(err)
	}
	defer r.Body.Close()
	said, err := io.ReadAll(io.LimitReader(r.Body, mostAnswer))
	if err != nil {
		return fmt.Errorf("the directory at %s did not answer to the end: %w", c.base, err)
	}
	if r.StatusCode != http.StatusOK {
		return c.refusal(r, said)
	}
	if into != nil && json.Unmarshal(said, into) != nil {
		return c.nonsense()
	}
	return nil
}

// refusal is what a directory says that does not do what was asked.
func (c *Client) refusal(r *http.Response, said []byte) error {
	e := &directory.Error{Status: r.StatusCode}
	if json.Unmarshal(said, e) != nil || e.Message == "" {
		e.Message = fmt.Sprintf("%s answers %s, which no directory does: check its URL", c.base,
			r.Status)
	}
	return e
}

// silent is that there is no answer.
func (c *Client) silent(err error) error {
	return fmt.Errorf("the directory at %s does not answer: check its URL, and that it runs: %w",
		c.base, err)
}

// nonsense is that an answer is none of a directory.
func (c *Client) nonsense() error {
	return fmt.Errorf("%s does not answer as a directory does: check its URL", c.base)
}
