package find_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/host/internal/browsertest"
)

// TestServersPage: the page of a server lists what the directory has, in a real browser, and
// measures it. Somebody looks for a name, a region and room, and joins another server by a click.
func TestServersPage(t *testing.T) {
	b := browsertest.Open(t, 1000, 720, nil)
	d := aDirectory(t)
	built := builtClient(t)
	page := []string{"--page", "--client", built}
	first, _ := aServer(t, d, "Friday night", append(page, "--region", "eu-north", "--tag",
		"beginners", "--players", "8")...)
	other, _ := aServer(t, d, "The long table", append(page, "--region", "eu-west", "--tag", "fast",
		"--tag", "ranked", "--players", "16")...)
	_, end := aServer(t, d, "No page here", "--websocket", "--region", "us-east")
	at := func(line map[string]string) string {
		return strings.TrimSuffix(strings.Replace(line["ws"], "ws:", "http:", 1), "/coeval")
	}
	b.Do(chromedp.Navigate(at(first) + "/"))
	b.Until("the game's page leads to the list", `document.querySelector("#loading a")`)
	// What the page says changes while it loads, so that the link may move under a pointer.
	b.Run(`document.querySelector("#loading a").click()`)
	arrive(b, "#filters")
	rows := func(n int) {
		b.Until(fmt.Sprintf("%d servers are listed", n),
			fmt.Sprintf(`document.querySelectorAll("#list tr").length === %d`, n))
	}
	rows(3)
	b.Until("all are measured", `document.querySelectorAll("#list .trip b").length === 3`)
	b.Until("the nearest can be played on", `!document.getElementById("nearest").disabled`)
	b.Shot("servers")
	if text := b.Text(`document.querySelector("#list").innerText`); !strings.Contains(text,
		"has no page") || !strings.Contains(text, "Join here") || !strings.Contains(text, "0/16") {
		t.Errorf("%s", text)
	}
	b.Do(chromedp.Focus("#search"), chromedp.SendKeys("#search", "LONG"))
	rows(1)
	b.Run(`document.getElementById("search").value = ""`)
	b.Run(`(e => { e.value = "us-east"; e.dispatchEvent(new Event("input")); })(region)`)
	rows(1)
	b.Run(`(e => { e.value = ""; e.dispatchEvent(new Event("input")); })(region)`)
	b.Click("#room")
	rows(3)
	end() // it says goodbye, and the list is live
	rows(2)
	b.Click(`[data-sort="players"]`)
	b.Until("a column sorts", `document.querySelector('[data-sort="players"].on')`)
	b.Do(chromedp.EmulateViewport(420, 760))
	b.Until("the page is narrow", `innerWidth === 420`)
	b.Shot("servers-phone")
	b.Do(chromedp.EmulateViewport(1000, 720))
	b.Until("the page is wide again", `innerWidth === 1000`) // or a click goes where it was
	b.Do(chromedp.SendKeys("#search", "long"))
	rows(1)
	b.Click("#list button")
	arrive(b, "#loading")
	b.Until("the other server's page is shown", fmt.Sprintf(
		`location.origin === %q && document.body.classList.contains("play")`, at(other)))
}

// arrive waits until another page is there, which has something.
func arrive(b *browsertest.Tab, selector string) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.WaitReady(selector)); err != nil {
		b.Shot("failed")
		b.T.Fatalf("there is no page with %s: %v", selector, err)
	}
}
