//go:build !js

package replays

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"net/http"
	"strings"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/draw/raster"
	"github.com/coeval-dev/coeval/host/internal/recording"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// Bounds of a clip.
const (
	clipRate   = 20  // frames a second
	mostFrames = 400 // that is 20 seconds
	assetBytes = 16 << 20
)

// span is the part of a film that a request asks for.
func (s *site) span(r *http.Request) (f *film, from, to world.Tick, err error) {
	if f, err = s.film(r, "film"); err != nil {
		return nil, 0, 0, err
	}
	if from, err = tickOf(r, "from"); err != nil {
		return nil, 0, 0, err
	}
	if to, err = tickOf(r, "to"); err != nil {
		return nil, 0, 0, err
	}
	from, to = max(from, f.seeker.First()), min(to, f.last())
	if to <= from {
		return nil, 0, 0, badf("a clip from tick %d to %d has nothing in it: set its beginning and "+
			"its end", from, to)
	}
	return f, from, to, nil
}

// gif draws a clip as the title does, without a browser.
func (s *site) gif(w http.ResponseWriter, r *http.Request) error {
	f, from, to, err := s.span(r)
	if err != nil {
		return err
	}
	width, err := number(r, "width", 64, 960, 480)
	if err != nil {
		return err
	}
	me, err := number(r, "me", 0, 65535, 0)
	if err != nil {
		return err
	}
	if !s.title.Screen.Drawn() {
		return badf("%s has no Screen, so there is nothing to draw", s.title.Name())
	}
	step := max(1, float64(s.title.Game.Rate())/clipRate)
	if frames := float64(to-from) / step; frames > mostFrames {
		return badf("the clip has %.0f seconds; a GIF has at most %d: choose a shorter part",
			frames/clipRate, mostFrames/clipRate)
	}
	out, err := f.film(r, shot{view: "gif", me: world.Player(me), width: 2 * width,
		height: 2 * width * 9 / 16}, from, to, step, int(width))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "image/gif")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%d.gif"`,
		s.title.Name(), from))
	_, _ = w.Write(out) // who has gone need not be told
	return nil
}

// film makes a GIF. Between two frames others may look at the film.
func (f *film) film(r *http.Request, o shot, from, to world.Tick, step float64,
	width int) ([]byte, error) {
	images := raster.Raster{Images: raster.Files(f.title.Screen.Assets, assetBytes)}
	big := image.NewRGBA(image.Rect(0, 0, width, width*9/16))
	var frames []*image.RGBA
	f.mu.Lock()
	delete(f.views.byName, o.view) // the clip does not depend on what was filmed before
	f.mu.Unlock()
	for at := float64(from); at <= float64(to); at += step {
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		o.at = at
		f.mu.Lock()
		err := f.draw(o, func(s *draw.Surface) error {
			return images.Draw(big, s.Library(), s.List())
		})
		f.mu.Unlock()
		if err != nil {
			return nil, err
		}
		one := image.NewRGBA(big.Rect)
		copy(one.Pix, big.Pix)
		frames = append(frames, one)
	}
	var out bytes.Buffer
	err := gif.EncodeAll(&out, animate(frames, 100/clipRate))
	return out.Bytes(), err
}

// cut is a clip as a trace that stands alone, for a test.
func (s *site) cut(w http.ResponseWriter, r *http.Request) error {
	f, from, to, err := s.span(r)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	f.mu.Lock()
	err = f.seeker.Cut(&out, from, to, trace.Options{Build: recording.Build(),
		StateEvery: -1, Note: strings.TrimSpace("cut from " + f.name + " " + f.note)})
	f.mu.Unlock()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s"`,
		clipName(s.title.Name(), from, to)))
	_, _ = w.Write(out.Bytes()) // who has gone need not be told
	return nil
}

func clipName(game string, from, to world.Tick) string {
	return fmt.Sprintf("%s-%d-%d.trace", game, from, to)
}

// test is the line of Go that asserts a clip: that the game computes it again, or that it comes to
// a value in a field.
func (s *site) test(w http.ResponseWriter, r *http.Request) error {
	f, from, to, err := s.span(r)
	if err != nil {
		return err
	}
	file := "testdata/" + clipName(s.title.Name(), from, to)
	rules := packageOf(f) + ".Title.Game"
	line := fmt.Sprintf("tracetest.Repeats(t, %s, %q)", rules, file)
	if name := r.FormValue("field"); name != "" {
		var value string
		if err := f.at(to, func(w *world.World) error {
			id, err := idOf(r)
			if err != nil {
				return err
			}
			v, err := w.Host().Field(id, name)
			value = v.String()
			return err
		}); err != nil {
			return err
		}
		line = fmt.Sprintf("tracetest.Holds(t, %s, %q, 0x%s, %q, %q)", rules, file,
			r.FormValue("id"), name, value)
	}
	return reply(w, map[string]string{"line": line, "file": file,
		"import": "github.com/coeval-dev/coeval/trace/tracetest"})
}

// packageOf guesses the package of a title by the type of its commands or its first class.
func packageOf(f *film) string {
	name := ""
	if c := f.seeker.Header().Commands; c != nil {
		name = c.Name
	} else if classes := f.title.Game.Classes(); len(classes) > 0 {
		name = classes[0].Schema().Name
	}
	if pkg, _, ok := strings.Cut(name, "."); ok {
		return pkg
	}
	return f.title.Name()
}
