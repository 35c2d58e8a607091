// Package browsertest drives a real browser, for tests of pages: what a person would see and click.
// Tests wait for things to happen, and never for a time to pass.
package browsertest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// patience is when a test gives up on something that should have happened long ago.
const patience = 90 * time.Second

// A Tab is one browser with one page.
type Tab struct {
	T   *testing.T
	Ctx context.Context
}

// Open starts a browser of its own, so that no tab is in the background of another. Where there is
// none the test is skipped.
func Open(t *testing.T, width, height int, flags map[string]any) *Tab {
	t.Helper()
	if testing.Short() {
		t.Skip("it drives a browser, in another process")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no chromium here")
	}
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(width, height))
	for name, value := range map[string]any{
		"disable-background-networking": true, "disable-component-update": true,
		"disable-sync": true, "no-first-run": true,
		"disable-background-timer-throttling": true, "disable-renderer-backgrounding": true,
		"disable-backgrounding-occluded-windows": true,
	} {
		o = append(o, chromedp.Flag(name, value))
	}
	for name, value := range flags {
		o = append(o, chromedp.Flag(name, value))
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), o...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &Tab{t, ctx}
	b.Do(chromedp.EmulateViewport(int64(width), int64(height)))
	said := chromedp.Console(ctx)
	go func() {
		for m, err := range said {
			if err != nil {
				return
			}
			if strings.Contains(fmt.Sprint(m), "Content Security Policy") {
				t.Errorf("the page broke its own policy: %v", m)
			}
		}
	}()
	return b
}

// Do takes steps.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	if err := chromedp.Do(b.Ctx, steps...); err != nil {
		b.T.Fatal(err)
	}
}

// Until waits until an expression is true in the page.
func (b *Tab) Until(what, expression string) {
	b.T.Helper()
	var err error
	for end := time.Now().Add(patience); ; {
		_, err = chromedp.Run(b.Ctx, chromedp.Poll[bool]("!!("+expression+")",
			chromedp.WithPollingInterval(50*time.Millisecond),
			chromedp.WithPollingTimeout(patience)))
		// Another document may have come while the old one was asked.
		if err == nil || b.Ctx.Err() != nil || time.Now().After(end) ||
			!strings.Contains(err.Error(), "Cannot find context") {
			break
		}
	}
	if err != nil {
		b.Shot("failed")
		b.T.Fatalf("never happened: %s (%s): %v\n%s", what, expression, err,
			b.Text("JSON.stringify(window.coeval ? coeval.stats() : "+
				"document.body.innerText.slice(0, 300))"))
	}
}

// Text is an expression of the page as text.
func (b *Tab) Text(expression string) string {
	v, err := chromedp.Run(b.Ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		return err.Error()
	}
	return v
}

// Number is an expression of the page that is a number.
func (b *Tab) Number(expression string) float64 {
	b.T.Helper()
	v, err := chromedp.Run(b.Ctx, chromedp.Evaluate[float64](expression))
	if err != nil {
		b.T.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Run runs a script in the page.
func (b *Tab) Run(script string) {
	b.T.Helper()
	if _, err := chromedp.Run(b.Ctx, chromedp.Evaluate[chromedp.Void](script)); err != nil {
		b.T.Fatalf("%s: %v", script, err)
	}
}

// Middle scrolls what a selector finds first into view, and is where its middle is when it stands
// still there: a page may scroll smoothly to somewhere else, be laid out, or make it anew. It is
// window.found then.
func (b *Tab) Middle(selector string) (x, y float64) {
	b.T.Helper()
	b.Until(selector+" stands still", fmt.Sprintf(`(e => {
		const r = e?.getBoundingClientRect();
		if (!r) return false;
		const at = [r.left, r.top, r.width, r.height].join();
		const still = e === window.found && at === window.foundAt;
		const x = r.left + r.width / 2, y = r.top + r.height / 2;
		const seen = y >= 0 && y <= innerHeight;
		const center = !seen || e !== window.found;
		window.found = e;
		window.foundAt = at;
		window.foundMiddle = [x, y];
		if (center) e.scrollIntoView({block: "center", behavior: "instant"});
		return still && seen;
	})(document.querySelector(%q))`, selector))
	return b.Number("foundMiddle[0]"), b.Number("foundMiddle[1]")
}

// Point moves the pointer to the middle of what a selector finds first, as a mouse does.
func (b *Tab) Point(selector string) {
	b.T.Helper()
	x, y := b.Middle(selector)
	b.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
}

// Click clicks there.
func (b *Tab) Click(selector string) {
	b.T.Helper()
	x, y := b.Middle(selector)
	b.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y),
		chromedp.MouseClickXY(x, y))
}

// Choose takes a value of a menu.
func (b *Tab) Choose(selector, value string) {
	b.T.Helper()
	b.Run(fmt.Sprintf(`(e => {
		if (![...e.options].some(o => o.value === %[2]q)) throw new Error("the menu has no %[2]s");
		e.value = %[2]q;
		e.dispatchEvent(new Event("change", {bubbles: true}));
	})(document.querySelector(%[1]q))`, selector, value))
}

// Picture is what there is to see of what a selector finds first, as far as it fits on the screen.
func (b *Tab) Picture(selector string) *image.RGBA {
	b.T.Helper()
	x, y := b.Middle(selector)
	half := func(side string) float64 {
		return b.Number("found.getBoundingClientRect()."+side) / 2
	}
	w, h := half("width"), half("height")
	shot, err := chromedp.Run(b.Ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.T.Fatalf("no picture of %s: %v", selector, err)
	}
	all, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		b.T.Fatal(err)
	}
	at := func(v float64) int { return int(math.Round(v)) }
	part := image.Rect(at(x-w), at(y-h), at(x+w), at(y+h)).Intersect(all.Bounds())
	img := image.NewRGBA(image.Rect(0, 0, part.Dx(), part.Dy()))
	draw.Draw(img, img.Rect, all, part.Min, draw.Src)
	return img
}

// Keep keeps a picture with the test's other artifacts.
func (b *Tab) Keep(name string, img image.Image) {
	b.T.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		b.T.Log(err)
	}
	b.keep(name, out.Bytes())
}

func (b *Tab) keep(name string, img []byte) {
	b.T.Helper()
	file := filepath.Join(b.T.ArtifactDir(), name+".png")
	if err := os.WriteFile(file, img, 0o600); err != nil {
		b.T.Log(err)
	}
}

// Shot keeps a picture of all.
func (b *Tab) Shot(name string) {
	b.T.Helper()
	img, err := chromedp.Run(b.Ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.T.Logf("no picture: %v", err)
		return
	}
	b.keep(name, img)
}
