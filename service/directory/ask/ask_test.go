package ask_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/ask"
)

// at makes a server that answers as a test says. That a real directory answers as expected is
// tested where the command find is.
func at(t *testing.T, h http.HandlerFunc) *ask.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := ask.New(s.URL+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPages: the list is read to its end or to the limit, and no entry comes twice, whatever
// happens between two pages.
func TestPages(t *testing.T) {
	t.Parallel()
	asked := 0
	c := at(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		after, _ := strconv.Atoi(r.URL.Query().Get("after"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		if r.URL.Query().Get("game") != "pong" || limit < 1 || limit > 200 {
			t.Errorf("asked %s", r.URL)
		}
		var page struct {
			Entries []directory.Entry `json:"entries"`
			Next    string            `json:"next,omitempty"`
		}
		for i := max(after-1, 0); i < min(450, after+limit); i++ { // one of the page before
			page.Entries = append(page.Entries, directory.Entry{ID: fmt.Sprint(i)})
		}
		if after+limit < 450 {
			page.Next = fmt.Sprint(after + limit)
		}
		_ = json.NewEncoder(w).Encode(page)
	})
	for _, x := range []struct{ limit, want, pages int }{
		{0, 200, 1}, {7, 7, 1}, {300, 300, 3}, {1000, 450, 3},
	} {
		asked = 0
		list, err := c.Entries(t.Context(), ask.Filter{Game: "pong", Limit: x.limit})
		if err != nil || len(list) != x.want || asked > x.pages {
			t.Errorf("limit %d: %d entries by %d pages, %v", x.limit, len(list), asked, err)
		}
	}
}

// TestEndless: a directory whose list never ends is not asked for ever.
func TestEndless(t *testing.T) {
	t.Parallel()
	c := at(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"entries":[],"next":"x"}`)
	})
	if list, err := c.Entries(t.Context(), ask.Filter{}); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

// TestErrors: what is wrong is said, with what to do.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		status     int
		body, says string
	}{
		{429, `{"code":"too_many","error":"too much is asked"}`, "too much is asked"},
		{404, "not here", "check its URL"},
		{200, "<html>", "check its URL"},
		{200, `{"entries":7}`, "check its URL"},
	} {
		c := at(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(x.status)
			fmt.Fprint(w, x.body)
		})
		_, err := c.Entries(t.Context(), ask.Filter{})
		if err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%d %s: %v", x.status, x.body, err)
		}
		var e *directory.Error
		if x.status != 200 && (!errors.As(err, &e) || e.Status != x.status) {
			t.Errorf("%d %s: %v", x.status, x.body, err)
		}
	}
	for _, url := range []string{"", "find.example.org", "ftp://x", "http://u:p@x", "http://x?a"} {
		if _, err := ask.New(url, nil); err == nil {
			t.Errorf("%q", url)
		}
	}
	c, err := ask.New("http://127.0.0.1:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Entries(t.Context(), ask.Filter{}); err == nil ||
		!strings.Contains(err.Error(), "that it runs") {
		t.Error(err)
	}
	c = at(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "{}") })
	if _, err := c.Token(t.Context(), "x", ""); err == nil {
		t.Error("a token of nothing")
	}
}

// TestToken: whose token it is to be is said to the directory.
func TestToken(t *testing.T) {
	t.Parallel()
	c := at(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/directory/v1/entries/ab/token" ||
			r.Header.Get("Authorization") != "Bearer me" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		fmt.Fprint(w, `{"game":"pong","token":"x","expires":7}`)
	})
	if got, err := c.Token(t.Context(), "ab", "me"); err != nil || got.Token != "x" {
		t.Error(got, err)
	}
}
