package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	_ "image/jpeg"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var film = flag.String("film", "",
	"record the demo in a browser, with a bot at the keys, into this GIF")

// A shot is the page as it was at a moment.
type shot struct {
	at   time.Duration
	data []byte // of a JPEG
}

// TestFilm makes the recording that README shows:
//
//	go test -run TestFilm -film "$PWD/docs/demo.gif" ./host/internal/demo
//
// It plays for a while and keeps the five seconds in which the most happens. Make it on a machine
// that has nothing else to do, or it is not smooth.
func TestFilm(t *testing.T) {
	if *film == "" {
		return // asked for by -film
	}
	s := startDemo(t,
		func(d *flags) { d.level, d.bots, d.preset, d.seed = "foundry", 12, "lte", 11 })
	b := openTab(t, 832, 468)
	b.ready(s)
	b.do(chromedp.Navigate("http://" + s.listener.Addr().String() +
		"/?mute&fine&autopilot&name=you"))
	game := "document.getElementById('game').contentWindow.coeval"
	b.until("the game is on",
		fmt.Sprintf(
			"%s && %s.stats().playing && %s.stats().health > 0 && %s.stats().snapshots > 200", game,
			game, game, game))
	// so that more of it is in the picture
	b.run("document.getElementById('unfold').click()")
	b.run("document.getElementById('panel').style.zoom = 0.75")
	b.run("window.before = " + game + ".stats().frames")
	b.until("it is drawn so", game+".stats().frames > window.before + 10")
	shots := b.film(40 * time.Second)
	t.Logf("%d pictures in %v, %.0f frames a second in the browser", len(shots),
		shots[len(shots)-1].at.Round(time.Second), b.number(game+".stats().fps"))
	frames := steady(t, shots, filmStep)
	from := liveliest(frames, int(5*time.Second/filmStep))
	frames = frames[from:min(from+int(5*time.Second/filmStep), len(frames))]
	var data []byte
	// the less there is to keep, the smaller
	for slack := 6; slack == 6 || len(data) > filmBytes && slack < 24; slack += 2 {
		var err error
		if data, err = animate(frames, filmStep, 10*slack*slack); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(*film, data, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", *film, len(data))
	if len(data) > filmBytes {
		t.Error("that is too much for a page to load")
	}
}

const (
	filmStep  = 90 * time.Millisecond // GIF counts in hundredths of a second
	filmWidth = 640
	filmBytes = 1_450_000
)

// film takes pictures for a while, as many as the browser gives.
func (b *tab) film(d time.Duration) (list []shot) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		frames, stop := target.Subscribe("Page.screencastFrame")
		defer stop()
		quality := int64(94)
		if _, err := cdp.Call(ctx, target, page.StartScreencast,
			page.StartScreencastParams{
				Format: page.StartScreencastFormatJpeg, Quality: &quality}); err != nil {
			return err
		}
		var first time.Time
		for v := range frames {
			var e page.EventScreencastFrame
			if err := json.Unmarshal(v, &e); err != nil {
				return err
			}
			if _, err := cdp.Call(ctx, target, page.ScreencastFrameAck,
				page.ScreencastFrameAckParams{SessionID: e.SessionID}); err != nil {
				return err
			}
			if first.IsZero() {
				first = time.Now()
			}
			list = append(list, shot{time.Since(first), e.Data})
			if time.Since(first) > d {
				break
			}
		}
		_, err := cdp.Call(ctx, target, page.StopScreencast, cdp.Empty{})
		return err
	}))
	return list
}

// steady makes of pictures that came when they did some at equal distances, each of the size of the
// film.
func steady(t *testing.T, shots []shot, step time.Duration) (list []*image.RGBA) {
	t.Helper()
	n := 0
	for at := time.Duration(0); n < len(shots); at += step {
		for n+1 < len(shots) && shots[n+1].at <= at {
			n++
		}
		m, _, err := image.Decode(bytes.NewReader(shots[n].data))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, shrink(m, filmWidth))
		if n+1 == len(shots) {
			break
		}
	}
	return list
}
