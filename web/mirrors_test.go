package web

import (
	"strings"
	"testing"
)

// TestIndex asks for the page with mirrors, and for what it needs.
func TestIndex(t *testing.T) {
	h := Page(Options{Index: "mirrors.html"})
	text := string(body(t, get(h, "/", "gzip", "")))
	if !strings.Contains(text, "<title>coeval mirrors</title>") {
		t.Errorf("the page is %.200s", text)
	}
	for _, path := range []string{
		"/assets/mirrors.js", "/assets/mirrors.css", "/assets/plot.js", "/assets/style.css"} {
		if !strings.Contains(text, path) && path != "/assets/plot.js" {
			t.Errorf("the page has no %s", path)
		}
		if r := get(h, path, "gzip", ""); r.StatusCode != 200 || len(body(t, r)) < 100 {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	if strings.Contains(text, "style=") || strings.Contains(text, "onclick=") {
		t.Error("the page breaks its own policy")
	}
}
