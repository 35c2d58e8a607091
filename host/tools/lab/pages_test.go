package lab_test

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/draw/raster"
	"github.com/coeval-dev/coeval/draw/vector"
	"github.com/coeval-dev/coeval/host/internal/browsertest"
	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/tunnel"
	"github.com/coeval-dev/coeval/lab/tunnel/report"
)

// crowded is a result in which all architectures are at nearly the same place of every picture.
func crowded() *tunnel.Result {
	r := &tunnel.Result{Version: tunnel.Version, Game: "made", Level: "up", Players: 3, Rate: 60,
		Seed: 1, Seconds: 4, Warm: 1,
		Networks: []tunnel.NetworkEntry{{Name: "near"}, {Name: "far"}}}
	families := []tunnel.Family{tunnel.ClientServer, tunnel.BetweenPeers, tunnel.Mirrored}
	for i := range 24 {
		name := fmt.Sprintf("architecture-%d", i+1)
		r.Architectures = append(r.Architectures,
			tunnel.Entry{Name: name, Family: families[i%3], About: "number " + fmt.Sprint(i+1)})
		for n, field := range []string{"near", "far"} {
			own, off := 100+float64(i%5), 1+float64(i%4)/100+float64(n)
			figure := func(v float64) tunnel.Figure {
				return tunnel.NewFigure([]float64{v, v, 1.01 * v})
			}
			c := tunnel.Cell{Arch: name, Field: field, Players: 3}
			c.Figures = map[string]tunnel.Figure{"others_ms": figure(own),
				"off_others_mean": figure(off)}
			s := tunnel.Sample{Seed: 1, Seconds: 4, Figures: map[string]float64{"others_ms": own},
				Series: tunnel.Series{Step: 1, All: map[string][]float64{
					"off_others_mean": {1, 2, 3, off}, "still": {0, 0, 5, 0}}},
				Incidents: []tunnel.Incident{{Kind: tunnel.ShownOff, Player: 1, Other: 2, At: 1.5,
					Tick: 90, Bad: off + float64(i)}}}
			for p := range 3 {
				s.Series.Players = append(s.Series.Players,
					map[string][]float64{"off_others_mean": {1, 2, 3, float64(p)}})
				s.Players = append(s.Players, tunnel.PlayerSample{Home: "cable", Trip: 30,
					Figures: map[string]float64{"others_ms": own + float64(p)}})
			}
			c.Samples = append(c.Samples, s)
			r.Cells = append(r.Cells, c)
		}
	}
	return r
}

// overlapping are the names of the picture that are on each other.
const overlapping = `(() => {
	const boxes = [...document.querySelectorAll("#scatter text.name")].map(
		e => [e.textContent, e.getBoundingClientRect()]);
	const bad = [];
	boxes.forEach(([name, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
		const across = a.left < b.right - 1 && b.left < a.right - 1;
		if (across && a.top < b.bottom - 2 && b.top < a.bottom - 2) bad.push(name + " on " + other);
	}));
	return bad.join(", ");
})()`

// TestReportPage clicks through a report as a person would.
func TestReportPage(t *testing.T) {
	t.Parallel()
	r := crowded()
	text, err := report.HTML(r, r.Advise(nil), r.Worst("coeval"))
	if err != nil {
		t.Fatal(err)
	}
	b := openPage(t, text)
	count := func(what string, want float64, selector string) {
		t.Helper()
		n := b.Number(fmt.Sprintf("document.querySelectorAll(%q).length", selector))
		if n != want {
			t.Errorf("%s: there are %v, want %v", what, n, want)
		}
	}
	says := func(selector, want string) {
		t.Helper()
		got := b.Text(fmt.Sprintf("document.querySelector(%q).textContent", selector))
		if !strings.Contains(got, want) {
			t.Errorf("%s says %q, want %q", selector, got, want)
		}
	}
	count("names of dots", 24, "#scatter text.name")
	if bad := b.Text(overlapping); bad != "" {
		t.Errorf("names are on each other: %s", bad)
	}
	b.Keep("scatter", b.Picture("#scatter"))
	b.Point("#scatter .mark circle")
	b.Until("pointing at a dot says what it is", "!byId('tip').hidden && "+
		"byId('tip').textContent.includes('architecture-')")
	b.Click("#scatter .mark text.name")
	says("#about", "Number 1.")

	b.Click("#families input") // those of servers
	count("names without a family", 16, "#scatter text.name")
	b.Choose("#field", "far")
	says("#scatter", "architecture-2")
	if bad := b.Text(overlapping); bad != "" {
		t.Errorf("names are on each other: %s", bad)
	}
	b.Choose("#x", "off_others_mean")
	says("#scatter", "others off, mean")

	count("a curve for each network", 2, "#series .curve")
	b.Choose("#slines", "player")
	count("a curve for each player", 3, "#series .curve")
	says("#series", "player 3, cable")
	b.Choose("#slines", "architecture")
	count("a curve for each architecture", 24, "#series .curve")
	b.Choose("#saxis", "still")
	says("#series", "stood still")
	count("a bar for each player", 3, "#bars rect")
	says("#bars", "others' input")

	count("incidents of all", 25, "#worst tr")
	b.Choose("#iarch", "architecture-7")
	count("incidents of one", 2, "#worst tr")
	says("#worst", "lab incident --game made --map up --architecture architecture-7 --network far "+
		"--players 3 --seed 1 --time 4s --warm 1s --kind off")
	b.Choose("#ikind", "denied")
	says("#worst", "nothing of that kind")

	themes(b)
}

// themes changes between light and dark, and back.
func themes(b *browsertest.Tab) {
	b.T.Helper()
	paper := func() string { return b.Text("getComputedStyle(document.body).backgroundColor") }
	light := paper()
	b.Click("#theme")
	if dark := paper(); dark == light {
		b.T.Errorf("light and dark are both %s", dark)
	}
	b.Click("#theme")
	if again := paper(); again != light {
		b.T.Errorf("light is %s, and was %s", again, light)
	}
}

// openPage opens what is in a file of its own.
func openPage(t *testing.T, text []byte) *browsertest.Tab {
	t.Helper()
	b := browsertest.Open(t, 1200, 900, map[string]any{"disable-gpu": true})
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	b.Do(chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String()))
	return b
}

// TestIncidentPage goes through a film as a person would.
func TestIncidentPage(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "film.html")
	code, _, stderr := toolstest.Try("lab", "incident", "--game", "arena", "--architecture",
		"quake3", "--network", "lte", "--players", "3", "--time", "1s", "--warm", "1s", "--kind",
		"off", "--around", "250ms", "--out", file)
	text, err := os.ReadFile(file)
	if code != toolstest.ExitOK || err != nil {
		t.Fatalf("code %d, %v: %s", code, err, stderr)
	}
	b := openPage(t, text)
	const film = "#moment0 .film"
	b.Until("the film is there", "document.querySelector('#moment0 .film .views svg')")
	about := b.Number("document.querySelectorAll('" + film + " figure[data-server=false]').length")
	if about != 2 {
		t.Errorf("there are the screens of %v, want those of who saw it and of who was seen", about)
	}
	tick := func(server bool) float64 {
		return b.Number(fmt.Sprintf("Number(document.querySelector('%s figure[data-server=%v]')."+
			"dataset.tick)", film, server))
	}
	held, shown := tick(true), tick(false)
	if held == shown || held == 0 || shown == 0 {
		t.Errorf("at one instant the server has tick %v and a screen %v", held, shown)
	}
	if b.Number("document.querySelectorAll('"+film+" circle.true').length") < 1 {
		t.Error("nobody is marked where they truly were")
	}
	for range 3 {
		b.Click(film + " button.on")
	}
	if now := tick(true); now < held+2 || now > held+4 {
		t.Errorf("three frames on the server went from tick %v to %v", held, now)
	}
	if now := tick(false); now < shown+2 || now > shown+4 {
		t.Errorf("three frames on the screen went from tick %v to %v", shown, now)
	}
	b.Run(`(e => { e.value = e.min; e.dispatchEvent(new Event("input")); })(document.querySelector("` +
		film + ` .scrub"))`)
	if now := tick(true); now > held-10 {
		t.Errorf("at the beginning the server has tick %v, and at the moment %v", now, held)
	}
	b.Keep("film", b.Picture(film))
	b.Choose(film+" .player", "all")
	if n := b.Number("document.querySelectorAll('" + film + " figure').length"); n != 4 {
		t.Errorf("of all there are %v pictures", n)
	}
	b.Choose(film+" .player", "3")
	if who := b.Text("document.querySelector('" + film +
		" figure.chosen figcaption').textContent"); !strings.Contains(who, "player 3's screen") {
		t.Errorf("through the eyes of player 3: %s", who)
	}
	b.Click(film + " button.play")
	b.Until("it plays", fmt.Sprintf("Number(document.querySelector('%s figure').dataset.tick) > %v",
		film, held-5))
	b.Click(film + " button.play")
	themes(b)
}

// TestVectorsAreThePixels: a frame as SVG is what it is as pixels, but for text.
func TestVectorsAreThePixels(t *testing.T) {
	t.Parallel()
	if os.Getenv("COEVAL_SOAK") == "" {
		return // package vector's own tests find what a change breaks
	}
	const width, height = 480, 270
	var s draw.Surface
	s.Begin(width, height)
	scene(&s)
	want := image.NewRGBA(image.Rect(0, 0, width, height))
	r := raster.Raster{Images: chequers}
	if err := r.Draw(want, s.Library(), s.List()); err != nil {
		t.Fatal(err)
	}
	sheet := vector.Sheet{Width: width, Height: height, Images: chequers}
	frame, err := sheet.Screen().Frame(s.Library(), s.List())
	if err != nil {
		t.Fatal(err)
	}
	b := openPage(t, fmt.Appendf(nil, `<!doctype html><style>body { margin: 0 }
		#frame svg { display: block; width: %dpx; isolation: isolate }</style>%s<div id="frame">%s</div>`,
		width, sheet.Defs(), sheet.SVG(frame)))
	got := b.Picture("#frame svg")
	b.Keep("vector", got)
	b.Keep("raster", want)
	if got.Bounds().Dx() != width || got.Bounds().Dy() != height {
		t.Fatalf("the picture is %v", got.Bounds())
	}
	const side = 15
	for y := 0; y < height; y += side {
		for x := 0; x < width; x += side {
			cell := image.Rect(x, y, x+side, y+side)
			if d := apart(got, want, cell); d > 14 {
				t.Errorf("at %v the two differ by %.0f of 255", cell.Min, d)
			}
		}
	}
}

// scene has each kind of call but text.
func scene(s *draw.Surface) {
	s.Clear(draw.RGB(0x203040))
	s.Camera(draw.Camera{X: 16, Y: 9, Width: 32, Height: 18, Up: true})
	s.Rect(2, 2, 5, 3, draw.RGB(0xff6b6b))
	s.Box(11, 4, 5, 3, 0.4, draw.RGB(0x69db7c))
	s.Circle(18, 4, 2, draw.RGB(0x4dabf7).Alpha(0.6))
	s.Ring(24, 4, 2, 0.5, draw.RGB(0xffc078))
	s.Glow(29, 4, 3, draw.RGB(0xffc078))
	s.Line(2, 8, 8, 12, 0.6, draw.White)
	s.Polygon(draw.RGB(0xff6b6b), 10, 8, 14, 8, 12, 12)
	s.Picture("tree", 4, 4, 24, func(s *draw.Surface) {
		s.Rect(1.7, 2.2, 0.6, 1.8, draw.RGB(0x8d6748))
		s.Circle(2, 1.4, 1.4, draw.RGB(0x2f9e44))
	})
	s.Image("tree", 18, 10, 4, 4, 0.5, draw.White)
	s.Image("chequers", 24, 10, 4, 3, 0.3, draw.RGB(0xffc078))
	s.Pixels(27, 8, 4, 4, 2, []byte{
		255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 0, 128})
	s.Clip(2, 13, 8, 13, 5, 17)
	s.Rect(0, 12, 12, 6, draw.RGB(0x69db7c))
	s.Clip()
	s.Blend(draw.Add)
	s.Circle(14, 15, 2, draw.RGB(0x804020))
	s.Blend(draw.Multiply)
	s.Circle(20, 15, 2, draw.RGB(0x8080ff))
	s.Blend(draw.Over)
	s.Overlay()
	s.Rect(0, 0, s.Width(), 20, draw.Black.Alpha(0.5))
}

func chequers(string) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, 64, 48))
	for y := range 48 {
		for x := range 64 {
			if (x/16+y/16)%2 == 0 {
				img.Set(x, y, color.White)
			}
		}
	}
	return img
}

// apart is by how much the means of two parts of pictures differ at most, of any color.
func apart(a, b image.Image, in image.Rectangle) (most float64) {
	mean := func(img image.Image, r image.Rectangle) (sum [3]float64) {
		n := float64(r.Dx()*r.Dy()) * 257
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				red, green, blue, _ := img.At(x, y).RGBA()
				for i, v := range []uint32{red, green, blue} {
					sum[i] += float64(v) / n
				}
			}
		}
		return sum
	}
	x, y := mean(a, in), mean(b, in)
	for i := range x {
		most = max(most, math.Abs(x[i]-y[i]))
	}
	return most
}
