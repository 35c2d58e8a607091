package raster_test

import (
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/draw/raster"
)

var look = flag.String("look", "", "write what the tests draw to this folder, to be looked at")

// keep writes a picture where someone wants to look at it.
func keep(t testing.TB, name string, img image.Image) {
	if *look == "" {
		return
	}
	f, err := os.Create(filepath.Join(*look, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
}

// TestFont draws all of the font, to be looked at.
func TestFont(t *testing.T) {
	var s draw.Surface
	s.Begin(960, 720)
	s.Clear(draw.RGB(0x101418))
	s.Overlay()
	y := 20.0
	for _, size := range []float64{8, 10, 12, 16, 20, 28, 40} {
		s.Text(10, y, size, "The quick brown fox jumps over the lazy dog 0123456789", draw.White,
			draw.Left)
		y += size * 1.5
	}
	s.Text(10, y, 24, "ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz", draw.White,
		draw.Left)
	y += 36
	s.Text(10, y, 24, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ¡¢£¤¥¦§¨©ª«¬®¯°±²³´µ¶·¸¹º»¼½¾¿",
		draw.White, draw.Left)
	y += 36
	s.Text(10, y, 24, "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß", draw.White, draw.Left)
	y += 36
	s.Text(10, y, 24, "àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ –—−‘’“”…•€←→↑↓ 世", draw.White, draw.Left)
	y += 36
	s.Text(10, y, 12, "Grüße, Ærøskøbing: 100 % ¿qué? àáâãäåæçèéêëìíîïðñòóôõö", draw.RGB(0x6ff0b0),
		draw.Left)
	y += 80
	s.Text(480, y, 140, "3 : 2 Rg", draw.White.Alpha(0.5), draw.Center)
	img := image.NewRGBA(image.Rect(0, 0, 960, 720))
	var r raster.Raster
	if err := r.Draw(img, s.Library(), s.List()); err != nil {
		t.Fatal(err)
	}
	keep(t, "font", img)
}
