package demo

import (
	"bytes"
	"flag"
	"image"
	idraw "image/draw"
	"image/png"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/host/internal/hosttest"
)

var mirrorsPicture = flag.String("mirrors-picture", "",
	"take a picture of the demo with mirrors, one of which was killed, into this PNG")

// TestMirrorsPicture makes the picture in docs/mirrors.md:
//
//	go test -run TestMirrorsPicture -mirrors-picture "$PWD/docs/mirrors.png" ./host/internal/demo
func TestMirrorsPicture(t *testing.T) {
	if *mirrorsPicture == "" {
		return // asked for by -mirrors-picture
	}
	s := startDemo(t, func(d *flags) {
		d.mirrors = &mirrorFlags{count: 3, timeline: "trailing"}
		// on which more is taken back than by default
		d.preset, d.level, d.bots, d.seed = "transatlantic", "foundry", 12, 5
	})
	b := openTab(t, 1480, 860)
	b.ready(s)
	b.do(chromedp.Navigate("http://" + s.listener.Addr().String() + "/?mute&fine"))
	all := "[...document.querySelectorAll('iframe[src]')].map(f => f.contentWindow.coeval)"
	b.until("everyone plays", all+".length === 3 && "+all+".every(c => c && c.stats().playing)")
	hosttest.WaitUntil(t, "the plots have something to show",
		func() bool { return fleetOf(s).all().Mirrors[0].Tick > 60*45 })
	must(t, s, map[string]any{"kill": 2})
	b.until("the player of mirror 2 goes on",
		all+"[1].stats().moves > 0 && "+all+".every(c => c.stats().health > 0)")
	b.until("something is put right and something taken back", `(() => {
		const there = list => document.querySelectorAll(list).length;
		if (!there('.notes .back') || !there('.notes .undone') || there('.away:not([hidden])') !== 1 || !`+all+`.every(c => c.stats().health > 0)) return false;
		document.getAnimations().forEach(a => { a.pause(); a.currentTime = Math.min(a.currentTime, 60); }); // a picture takes its time
		return true;
	})()`)
	data, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	for bits := 2; bits < 5; bits++ {
		slim, err := slimmer(data, bits)
		if err != nil {
			t.Fatal(err)
		}
		if len(slim) < pictureBytes || bits == 4 {
			data = slim
			break
		}
	}
	t.Logf("%d bytes; the player of mirror 2 has seen %v worlds", len(data),
		b.number(all+"[1].stats().worlds"))
	if err := os.WriteFile(*mirrorsPicture, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// pictureBytes is how large a picture may be.
const pictureBytes = 320_000

// slimmer makes a picture smaller by leaving out differences of shade that no one sees: those of
// the last few bits.
func slimmer(data []byte, bits int) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	to := image.NewNRGBA(from.Bounds())
	idraw.Draw(to, to.Bounds(), from, from.Bounds().Min, idraw.Src)
	for i := range to.Pix {
		if i%4 != 3 {
			to.Pix[i] = to.Pix[i]>>bits<<bits | 1<<bits>>1
		} else {
			to.Pix[i] = 255
		}
	}
	var out bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	err = e.Encode(&out, to)
	return out.Bytes(), err
}
