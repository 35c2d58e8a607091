package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// The demo can be looked into, by whoever sits at this machine, and by nobody through a proxy.
func TestInspect(t *testing.T) {
	s := startDemo(t, func(d *flags) { d.bots = 2 })
	ask := func(path, passed string) (int, map[string]any) {
		at := fmt.Sprintf("http://%s%s", s.listener.Addr(), path)
		r, err := http.NewRequest(http.MethodGet, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		if passed != "" {
			r.Header.Set("X-Forwarded-For", passed)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		var v map[string]any
		_ = json.NewDecoder(a.Body).Decode(&v) // a page is none
		return a.StatusCode, v
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if code, v := ask("/inspect/v1/state", ""); code == http.StatusOK && v["players"] == 2.0 {
			break
		} else if time.Now().After(end) {
			t.Fatalf("%d %v", code, v)
		}
	}
	if code, _ := ask("/inspect/", ""); code != http.StatusOK {
		t.Errorf("the page: %d", code)
	}
	if code, _ := ask("/assets/inspect.js", ""); code != http.StatusOK {
		t.Errorf("its script: %d", code)
	}
	for _, path := range []string{"/inspect/", "/inspect/v1/state"} {
		if code, _ := ask(path, "203.0.113.9"); code != http.StatusForbidden {
			t.Errorf("%s, by a proxy: %d", path, code)
		}
	}
}
