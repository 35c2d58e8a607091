package replays

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image/gif"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/coeval-dev/coeval/draw"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/trace"
	"github.com/coeval-dev/coeval/world"
)

// whole has a test leave nothing behind when it is over.
func whole(t *testing.T) { t.Cleanup(func() { goleak.VerifyNone(t) }) }

// record has bots play a title for some ticks, and gives the file of its trace.
func record(t testing.TB, title *game.Title, players int, ticks world.Tick) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), title.Name()+".trace")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := title.Game.New(world.Settings{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	tw, err := trace.NewWriter(f, w, trace.Options{Note: "bots"})
	if err != nil {
		t.Fatal(err)
	}
	in := title.Game.NewInputs()
	var bots []game.Bot
	for p := range players {
		bots = append(bots, title.NewBot(uint64(p+1)))
	}
	for at := world.Tick(1); at <= ticks; at++ {
		in.Reset()
		for i, b := range bots {
			if p := world.Player(i + 1); at == 1 {
				in.Join(p)
			} else if err := b(w, p, at, in); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Host().Step(in); err != nil {
			t.Fatal(err)
		}
		if err := tw.Tick(in, w); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// otherwise makes a recording in which a player stood still from a tick on.
func otherwise(t testing.TB, title *game.Title, file string, from world.Tick) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := trace.NewSeeker(title.Game, bytes.NewReader(data), int64(len(data)),
		trace.SeekOptions{})
	if err != nil {
		t.Fatal(err)
	}
	still := make([]int32, len(s.Header().Commands.Slots))
	for i := range still {
		still[i] = s.Header().Commands.Slots[i].Absent
	}
	b := s.Branch(from, func(_ world.Tick, in *world.Inputs) error {
		return in.GiveImage(1, still)
	})
	var out bytes.Buffer
	if err := b.Cut(&out, 0, b.Last(), trace.Options{}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "other.trace")
	if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func program() *cli.Program {
	return &cli.Program{List: []*game.Title{arena.Title, painted}, Name: "coeval"}
}

// painted is pong with a picture behind it, and a sound.
var painted = func() *game.Title {
	t := pong.Title.Clone()
	t.Screen.Draw = func(s *draw.Surface, f *game.Frame) {
		pong.Title.Screen.Draw(s, f)
		s.Picture("back", 20, 20, 4, func(s *draw.Surface) { s.Clear(draw.RGB(0x203040)) })
		s.Image("back", 10, 10, 20, 20, 0, draw.White)
		s.Image("ball.png", 10, 10, 4, 4, 0, draw.White)
	}
	t.Screen.Assets = fstest.MapFS{"ball.png": {Data: []byte("no picture at all")}}
	return t
}()

// A page is one that is served for a test.
type page struct {
	t   testing.TB
	url string
	s   *site
}

func serve(t testing.TB, files ...string) *page {
	t.Helper()
	var o flags
	s, close, err := o.open(program(), files)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := s.serve(ctx, l)
	t.Cleanup(func() {
		cancel()
		<-ended
		if err := close(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return &page{t, "http://" + l.Addr().String(), s}
}

// get asks for something, and gives the answer.
func (p *page) get(path string, wanted int) []byte {
	p.t.Helper()
	r, err := http.Get(p.url + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != wanted {
		p.t.Fatalf("%s: %s, %v: %.300s", path, r.Status, err, data)
	}
	return data
}

func (p *page) json(path string, v any) {
	p.t.Helper()
	if err := json.Unmarshal(p.get(path, http.StatusOK), v); err != nil {
		p.t.Fatalf("%s: %v", path, err)
	}
}

// films waits until all films have been looked through.
func (p *page) films() (l listing) {
	p.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		p.json("/api/films", &l)
		done := true
		for _, f := range l.Films {
			done = done && f.Done
		}
		if done {
			return l
		}
		if time.Now().After(end) {
			p.t.Fatalf("not looked through: %+v", l)
		}
	}
}

func TestFilm(t *testing.T) {
	whole(t)
	p := serve(t, record(t, arena.Title, 6, 1500))
	l := p.films()
	f := l.Films[0]
	if l.Game != "arena" || f.First != 0 || f.Last != 1500 || f.Apart+f.Damage+f.Wrong != "" ||
		f.Keys < 4 || len(l.Commands) == 0 {
		t.Fatalf("%+v", f)
	}
	joins, events := 0, 0
	for _, m := range f.Marks {
		if m.Kind == "join" && m.Tick == 1 {
			joins++
		}
	}
	for _, list := range f.Events {
		for _, n := range list {
			events += int(n)
		}
	}
	if joins != 6 || events < 50 {
		t.Errorf("%d joins, %d events, %v", joins, events, f.Marks)
	}
	var i instant
	p.json("/api/instant?at=900", &i)
	if i.Tick != 900 || len(i.Entities) < 6 || len(i.Players) != 6 || i.Players[0].Command == "" ||
		len(i.Players[0].Values) != len(l.Commands) {
		t.Errorf("%+v", i)
	}
	var again instant
	p.get("/api/instant?at=3", http.StatusOK)
	p.json("/api/instant?at=900", &again)
	if again.Hash != i.Hash {
		t.Errorf("tick 900 is %s and then %s", i.Hash, again.Hash)
	}
	var all []field
	p.json("/api/entity?at=900&id="+i.Entities[0].ID, &all)
	if len(all) < 2 || all[0].Name == "" {
		t.Errorf("%+v", all)
	}
	p.json("/api/entity?at=900&id=123456", &all)
	if len(all) != 0 {
		t.Errorf("of what is not there: %+v", all)
	}
	for _, path := range []string{
		"/api/instant?at=x", "/api/instant?at=-1", "/api/instant?film=9&at=1",
		"/api/entity?at=1&id=zz", "/frame?w=1e9&at=4", "/frame?at=NaN",
		"/api/clip.gif?from=9&to=9", "/api/clip.gif?from=0&to=1400",
		"/api/test?from=1&to=2&field=Nothing&id=1",
	} {
		r, err := http.Get(p.url + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode/100 != 4 {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}

// What the page is sent is what the title draws, and whoever has the library is not sent it again.
func TestFrames(t *testing.T) {
	whole(t)
	p := serve(t, record(t, painted, 2, 200))
	known, size := 0, 0
	for _, at := range []float64{0, 20, 20.5, 21, 90, 5, 199} {
		data := p.get(fmt.Sprintf("/frame?view=a&at=%v&w=800&h=450&me=1&lib=%d", at, known), 200)
		word := binary.LittleEndian.Uint32
		library, from, list := word(data), word(data[4:]), word(data[8:])
		if int(from) != known || len(data) != 20+int(library+list) || list == 0 {
			t.Fatalf("at %v: library %d from %d, list %d, of %d bytes", at, library, from, list,
				len(data))
		}
		known += int(library)
		var r draw.Reader
		r.Read(data[20+library:])
		calls := 0
		for range r.Calls() {
			calls++
		}
		if r.Err() != nil || calls < 10 {
			t.Errorf("at %v: %d calls, %v", at, calls, r.Err())
		}
		size = known
	}
	if got := p.get("/file?name=ball.png", 200); string(got) != "no picture at all" {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"none.png", "../go.mod", "/etc/passwd", ""} {
		p.get("/file?name="+name, http.StatusNotFound)
	}
	if size == 0 {
		t.Error("no library came")
	}
	for i := range 3 * mostViews {
		p.get(fmt.Sprintf("/frame?view=v%d&at=%d", i, i), 200)
	}
	f := p.s.films[0]
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.views.byName); n > mostViews {
		t.Errorf("%d views are kept", n)
	}
}

func TestSideBySide(t *testing.T) {
	whole(t)
	file := record(t, arena.Title, 4, 700)
	p := serve(t, file, otherwise(t, arena.Title, file, 300))
	l := p.films()
	if len(l.Films) != 2 {
		t.Fatalf("%+v", l.Films)
	}
	d := l.Films[1].Differs
	if len(d) == 0 || d[0][0] < 300 || d[0][0] > 310 {
		t.Errorf("they differ at %v", d)
	}
	var out struct {
		Tick, Other world.Tick
		List        []difference
	}
	p.json("/api/differences?a=0&b=1&at=299", &out)
	if len(out.List) != 0 {
		t.Errorf("before: %+v", out.List)
	}
	p.json("/api/differences?a=0&b=1&at=500", &out)
	if len(out.List) == 0 || out.List[0].A == out.List[0].B || out.List[0].Field == "" {
		t.Errorf("after: %+v", out.List)
	}
}

func TestWhatIf(t *testing.T) {
	whole(t)
	p := serve(t, record(t, arena.Title, 4, 500))
	p.films()
	name := p.films().Commands[0].Name
	post := func(body string) (int, string) {
		r, err := http.Post(p.url+"/api/branch", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		data, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(data)
	}
	for _, bad := range []string{
		"", "{", `{"film":0,"player":1,"from":0,"ticks":5,"silent":true}`,
		`{"film":0,"player":1,"from":9000,"silent":true}`, `{"film":0,"player":1,"from":100}`,
		`{"film":3,"player":1,"from":100,"silent":true}`,
		`{"film":0,"player":1,"from":100,"set":{"Nothing":1}}`,
		`{"film":0,"player":1,"from":100,"set":{"` + name + `":99999999}}`,
		`{"film":0,"player":1,"from":100,"silent":true,"more":1}`,
	} {
		if code, text := post(bad); code != http.StatusBadRequest || text == "" {
			t.Errorf("%s: %d %s", bad, code, text)
		}
	}
	code, text := post(`{"film":0,"player":2,"from":100,"ticks":400,"silent":true}`)
	if code != 200 {
		t.Fatal(text)
	}
	l := p.films()
	b := l.Films[1]
	if !b.Branch || b.From != 100 || !strings.Contains(b.Note, "what if player 2") ||
		len(b.Differs) == 0 || b.Differs[0][0] < 100 {
		t.Errorf("%+v", b)
	}
	// As a trace of its own it is what would have been.
	data := p.get("/api/clip.trace?film=1&from=50&to=300", 200)
	r, err := trace.Open(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	res, err := trace.Replay(arena.Game, r, trace.ReplayOptions{})
	var i instant
	p.json("/api/instant?film=1&at=300", &i)
	if err != nil || res.Mismatch != nil || fmt.Sprintf("%016x", res.Hash) != i.Hash {
		t.Errorf("%+v %v", res, err)
	}
	for n := 1; n < mostBranches; n++ {
		post(`{"film":0,"player":2,"from":100,"silent":true}`)
	}
	if code, _ := post(`{"film":0,"player":2,"from":100,"silent":true}`); code != 400 {
		t.Errorf("one more than there may be: %d", code)
	}
	r2, err := http.PostForm(p.url+"/api/forget?film=1", url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	_ = r2.Body.Close()
	p.get("/api/instant?film=1&at=3", http.StatusBadRequest)
	if code, text := post(`{"film":0,"player":2,"from":100,"silent":true}`); code != 200 {
		t.Errorf("after one was closed: %s", text)
	}
	p.films()
}

func TestClips(t *testing.T) {
	whole(t)
	p := serve(t, record(t, arena.Title, 3, 400))
	g, err := gif.DecodeAll(bytes.NewReader(
		p.get("/api/clip.gif?from=100&to=160&width=240&me=1", 200)))
	if err != nil || len(g.Image) != 21 || g.Image[0].Rect.Dx() != 240 {
		t.Fatalf("%v: %d frames", err, len(g.Image))
	}
	moved := false
	for _, f := range g.Image[1:] {
		for _, c := range f.Pix {
			moved = moved || int(c) != len(f.Palette)-1
		}
	}
	if !moved {
		t.Error("nothing moves")
	}
	data := p.get("/api/clip.trace?from=100&to=160", 200)
	r, err := trace.Open(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	res, err := trace.Replay(arena.Game, r, trace.ReplayOptions{})
	if err != nil || res.First != 100 || res.Last != 160 || res.Mismatch != nil {
		t.Errorf("%+v %v", res, err)
	}
	var i instant
	p.json("/api/instant?at=160", &i)
	var out struct{ Line, File, Import string }
	p.json("/api/test?from=100&to=160", &out)
	if out.Line != `tracetest.Repeats(t, arena.Title.Game, "testdata/arena-100-160.trace")` {
		t.Errorf("%+v", out)
	}
	var all []field
	p.json("/api/entity?at=160&id="+i.Entities[0].ID, &all)
	p.json("/api/test?from=100&to=160&id="+i.Entities[0].ID+"&field="+
		url.QueryEscape(all[0].Name), &out)
	if !strings.HasPrefix(out.Line, "tracetest.Holds(t, arena.Title.Game, ") ||
		!strings.Contains(out.Line, all[0].Name) {
		t.Errorf("%+v", out)
	}
}

// What is wrong with a file is said, and what there is of it is shown.
func TestWrongFiles(t *testing.T) {
	whole(t)
	file := record(t, pong.Title, 2, 600)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) string {
		name = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	cut := serve(t, write("cut.trace", data[:len(data)*2/3]))
	if f := cut.films().Films[0]; f.Damage == "" || f.Last >= 600 || f.Last < 60 {
		t.Errorf("%+v", f)
	}
	flipped := bytes.Clone(data)
	flipped[len(flipped)*3/4] ^= 4
	if f := serve(t, write("flipped.trace", flipped)).films().Films[0]; f.Damage == "" {
		t.Errorf("%+v", f)
	}
	other := record(t, arena.Title, 2, 60)
	newer := bytes.Clone(data)
	newer[13] = '9'
	for name, x := range map[string]struct {
		files []string
		says  string
	}{
		"none":      {[]string{filepath.Join(t.TempDir(), "none")}, "no such file"},
		"empty":     {[]string{write("empty", nil)}, "does not begin like one"},
		"no trace":  {[]string{write("a.gif", []byte("GIF89a, and more"))}, "does not begin"},
		"a folder":  {[]string{t.TempDir()}, "not one in which a game was kept"},
		"newer":     {[]string{write("newer.trace", newer)}, "use a program of its version"},
		"two games": {[]string{file, other}, "give recordings of one match"},
	} {
		var o flags
		if _, _, err := o.open(program(), x.files); err == nil ||
			!strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var o flags
	p := &cli.Program{List: []*game.Title{pong.Title}, Name: "mine"}
	if _, _, err := o.open(p, []string{other}); err == nil ||
		!strings.Contains(err.Error(), `of game "arena"`) {
		t.Errorf("of another program's game: %v", err)
	}
}

// A page of someone else's cannot ask.
func TestOtherPages(t *testing.T) {
	whole(t)
	p := serve(t, record(t, pong.Title, 2, 60))
	r, err := http.NewRequest(http.MethodGet, p.url+"/api/films", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", "https://example.org")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Body.Close()
	if a.StatusCode != http.StatusForbidden {
		t.Error(a.Status)
	}
}
