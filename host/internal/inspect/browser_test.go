package inspect_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/host/internal/browsertest"
	"github.com/coeval-dev/coeval/host/internal/inspect"
	"github.com/coeval-dev/coeval/host/internal/serve"
)

// An operator looks at everything, and acts.
func TestBrowser(t *testing.T) {
	r := run(t, 5, serve.Options{})
	r.full(5)
	b := browsertest.Open(t, 1280, 860, nil)
	b.Do(chromedp.Navigate(r.url + "/"))
	b.Until("it is told how the server is", "inspector.events > 4")
	b.Until("there are plots", `document.querySelectorAll("#plots canvas").length === 8 &&
		document.getElementById("cost").textContent.includes("1 watching")`)
	b.Shot("overview")

	b.Click("#tab-people")
	b.Until("everyone is there", `document.querySelectorAll("#who tr").length === 5`)
	b.Click("#who tr:nth-child(2)")
	b.Until("one is looked at", `document.querySelectorAll("#one-plots canvas").length === 8`)
	b.Shot("people")
	b.Click(`[data-show="traffic"]`)
	b.Until("where that one's bytes go",
		`document.getElementById("traffic-of").value === "player=2" &&
		document.querySelector("#adds").dataset.difference === "0"`)
	b.Choose("#traffic-of", "")
	b.Until("where all bytes go", `document.getElementById("adds").textContent.includes("sockets") &&
		document.querySelector("#adds").dataset.difference === "0"`)
	b.Until("a tree that is open", `document.querySelectorAll("#out .leaf").length > 10`)
	b.Click("#out details details summary")
	b.Until("another part is opened", `document.querySelector("#out details details[open]")`)
	b.Shot("traffic")

	b.Click("#tab-world")
	b.Until("the world is there", "inspector.shown?.length > 5")
	b.Choose("#view-of", "player=1")
	b.Until("what one is shown", `inspector.shown.length > 0 && inspector.shown.every(e => e.view)`)
	b.Click("#things tr")
	b.Until("its fields", `document.querySelectorAll("#fields tr").length > 2`)
	b.Shot("world")

	b.Click("#tab-ticks")
	b.Until("ticks are there", `document.querySelectorAll("#slowest tr").length > 5 &&
		document.querySelectorAll("#means tr").length === 7`)
	b.Run(`document.getElementById("seconds").value = 1`)
	b.Click("#profile")
	b.Until("a profile", "inspector.profiled > 500")
	b.Click("#goroutines")
	b.Until("goroutines", `document.getElementById("stacks").textContent.includes("topology/server")`)
	b.Shot("ticks")

	// Who has no token does nothing; who has one does.
	b.Click("#tab-console")
	b.Click(`[data-post="pause"]`)
	b.Until("it is refused", `document.getElementById("answer").textContent.includes("not done")`)
	b.Run(`(e => { e.value = "` + r.token + `"; e.dispatchEvent(new Event("change")); })(
		document.getElementById("token"))`)
	b.Click(`[data-post="pause"]`)
	b.Until("it is paused", `document.getElementById("status").textContent === "paused"`)
	b.Click(`[data-post="resume"]`)
	b.Until("it goes on", `document.getElementById("status").textContent === "running"`)
	b.Shot("console")
	b.Click("#tab-people")
	b.Until("someone is there to kick", `document.querySelector('[data-act="kick"]').offsetParent`)
	b.Click(`[data-act="kick"]`)
	b.Until("someone is gone", `document.getElementById("answer").textContent.includes("kick")`)
	if code, data := r.get("/admin/v1/audit", r.token); code != 200 ||
		!strings.Contains(string(data), "POST pause") ||
		!strings.Contains(string(data), "POST kick") {
		t.Errorf("the audit log: %d %s", code, data)
	}
	b.Click("#theme")
	b.Click("#tab-overview")
	b.Until("plots of the other colours", `document.querySelectorAll("#plots canvas").length === 8`)
	b.Shot("theme")
}

func TestNarrow(t *testing.T) {
	r := run(t, 2, serve.Options{})
	r.full(2)
	b := browsertest.Open(t, 360, 740, nil)
	b.Do(chromedp.Navigate(r.url + "/#traffic"))
	b.Until("bytes", `document.querySelectorAll("#out .leaf").length > 10`)
	b.Shot("narrow-traffic")
	for _, tab := range []string{"overview", "people", "traffic", "world", "ticks", "console"} {
		b.Click("#tab-" + tab)
		b.Until(tab+" is shown", `!document.getElementById("`+tab+`").hidden`)
		if w := b.Number("document.documentElement.scrollWidth"); w > 360 {
			t.Errorf("%s is %v wide", tab, w)
		}
	}
	b.Click("#tab-world")
	b.Until("the world is there", "inspector.shown?.length > 2")
	b.Shot("narrow-world")
	var st inspect.State
	if r.json("state", &st); st.Looking.Watchers != 1 {
		t.Errorf("%+v", st.Looking)
	}
}
