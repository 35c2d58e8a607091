package replays

import (
	"fmt"
	"image"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/host/internal/browsertest"
)

// colors counts how many colors a picture has: something is drawn where there are several.
func colors(img *image.RGBA) int {
	seen := map[[3]uint8]bool{}
	for i := 0; i < len(img.Pix); i += 4 {
		seen[[3]uint8(img.Pix[i:i+3])] = true
	}
	return len(seen)
}

// A person opens a recording, plays it, goes everywhere, and clicks through all there is.
func TestBrowser(t *testing.T) {
	file := record(t, arena.Title, 6, 1800)
	p := serve(t, file, otherwise(t, arena.Title, file, 900))
	b := browsertest.Open(t, 1280, 800, nil)
	b.Do(chromedp.Navigate(p.url + "/"))
	b.Until("both are drawn", "replay.panes?.length === 2 && replay.panes.every(p => p.frames > 0)")
	b.Until("both were looked through", `document.getElementById("status").textContent === "looked through"`)
	if n := colors(b.Picture(".pane canvas")); n < 8 {
		t.Errorf("the first frame has %d colors", n)
	}
	b.Click("#play")
	b.Until("it plays", "replay.tick > 30")
	b.Click("#play")
	b.Until("it stands still", "!replay.playing")
	at := b.Number("replay.tick")
	b.Click("#step")
	b.Until("one tick on", fmt.Sprintf("replay.tick === %v && replay.panes.every(p => p.at === %v)", at+1, at+1))
	b.Click("#back")
	b.Until("one tick back", fmt.Sprintf("replay.tick === %v", at))
	b.Run(`document.getElementById("scrub").value = 1200; document.getElementById("scrub").dispatchEvent(new Event("input"))`)
	b.Until("it is elsewhere", "replay.panes.every(p => p.at === 1200)")
	b.Until("they differ there", `document.querySelector(".pane.differs") && replay.tables.instant.tick === 1200`)

	b.Choose(".pane select", "2")
	b.Until("player 2 is looked at", "replay.panes[0].me === 2 && !replay.panes[0].asking")
	b.Click("#list tr")
	b.Until("its fields are there, of both", `document.querySelectorAll("#fields tr").length > 3 &&
		document.querySelector("#fields tr").cells.length === 4`)
	b.Shot("entities")
	b.Click("#fields tr:nth-child(2)")
	for tab, there := range map[string]string{
		"players":     `document.querySelectorAll("#who tr").length === 6`,
		"events":      `!document.getElementById("events").hidden`,
		"marks":       `document.querySelectorAll("#jumps tr").length >= 6`,
		"differences": `document.querySelectorAll("#fields-differ tr").length > 0`,
	} {
		b.Click("#tab-" + tab)
		b.Until(tab+" are shown", there)
		b.Shot(tab)
	}
	b.Click("#tab-whatif")
	b.Until("there is something to do otherwise", `document.querySelectorAll("#command input").length > 2`)
	b.Click("#rest")
	b.Click("#branch")
	b.Until("what would have been is beside it", "replay.panes.length === 3 && replay.panes[2].frames > 0")
	b.Shot("whatif")
	b.Click(`[aria-label="close what would have been"]`)
	b.Until("it is closed", "replay.panes.length === 2")

	b.Click("#tab-clip")
	b.Click("#clip-from")
	b.Run("replay.go(1260)")
	b.Click("#clip-to")
	b.Click("#line-of-go")
	b.Until("the line is there", `document.getElementById("go").textContent.includes("tracetest.Holds(t, arena.Title.Game")`)
	b.Shot("clip")
	b.Run(`fetch(document.getElementById("gif").href).then(r => r.arrayBuffer()).then(b => { window.gif = b.byteLength; })`)
	b.Until("the GIF is there", "window.gif > 1000")

	// By keys alone, and incidents that one can jump to.
	b.Run(`document.activeElement.blur(); replay.go(0)`)
	b.Run(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: ".", bubbles: true}))`)
	b.Until("a key steps", "replay.tick === 1")
	b.Run(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "n", bubbles: true}))`)
	b.Until("a key jumps", "replay.tick > 1")
	if b.Text(`document.querySelector("[role=tab][aria-selected=true]").id`) != "tab-clip" {
		t.Error("the tab has changed")
	}
	b.Click("#theme")
	b.Shot("theme")
	if w := b.Number("document.documentElement.scrollWidth"); w > 1280 {
		t.Errorf("the page is %v wide", w)
	}
}

// On a telephone all of it is there, one below the other.
func TestNarrow(t *testing.T) {
	p := serve(t, record(t, arena.Title, 3, 300))
	b := browsertest.Open(t, 360, 740, nil)
	b.Do(chromedp.Navigate(p.url + "/"))
	b.Until("it is drawn", "replay.panes?.length === 1 && replay.panes[0].frames > 0")
	b.Click("#play")
	b.Until("it plays", "replay.tick > 5")
	if w := b.Number("document.documentElement.scrollWidth"); w > 360 {
		t.Errorf("the page is %v wide", w)
	}
	b.Click("#tab-players")
	b.Until("who plays is there", `document.querySelectorAll("#who tr").length === 3`)
	b.Shot("narrow")
}
