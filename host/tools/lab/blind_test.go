package lab_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/coeval-dev/coeval/host/tools/internal/toolstest"
	"github.com/coeval-dev/coeval/lab/blind"
)

// What cannot be played, or kept, is said before anything is opened, and no file is touched.
func TestBlindRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, change func(s *blind.Sheet)) string {
		s, err := blind.NewSheet(blind.Plan{Game: "pong", Sides: [2]string{"coeval", "lockstep"},
			Question: blind.Better, Trials: 2, Interval: 8000, Network: "cable", Players: 4},
			"ann", 3)
		if err != nil {
			t.Fatal(err)
		}
		change(s)
		data, err := s.Data()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	full := file("full.json", func(s *blind.Sheet) { s.Answers = []int{0, 1} })
	begun := file("begun.json", func(s *blind.Sheet) { s.Answers = []int{0} })
	other := file("other.json", func(s *blind.Sheet) { s.Version = 7 })
	torn := filepath.Join(dir, "torn.json")
	if data, err := os.ReadFile(full); err != nil ||
		os.WriteFile(torn, data[:len(data)/2], 0o600) != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	pair := "demo pong --no-open --port 0 --trials 2 --blind coeval,lockstep "
	for args, want := range map[string]string{
		"demo pong --no-open --blind coeval,":               "no architecture",
		"demo pong --no-open --blind coeval,quake9":         "no architecture",
		"demo pong --no-open --blind=coeval":                "name two",
		"demo pong --no-open --blind rollback=0,99":         "from 0 to 20",
		"demo pong --no-open --blind coeval,halflife":       "rewound",
		"demo pong --no-open --blind --blind=rollback=1,1":  "both are the same",
		pair + "--preset tincan":                            "tincan",
		pair + "--question which":                           "must be abx or better",
		pair + "--trials 0":                                 "from 1 to 1000",
		pair + "--interval 1ms":                             "intervals of 1ms",
		pair + "--map nowhere":                              "nowhere",
		pair + "--answers " + full:                          "is finished: coeval lab blind",
		pair + "--answers " + torn:                          "is damaged",
		pair + "--answers " + other:                         "version 7",
		pair + "--trials 3 --answers " + begun:              "trials 2 and not 3",
		pair + "--person bob --answers " + begun:            "those of \"ann\"",
		pair + "--answers " + filepath.Join(dir, "no", "x"): "cannot be written",
		pair + "--answers " + dir:                           "director",
		pair + "--bots 1 --preset satellite":                "choose another network",
		"lab blind":                                         "name the files",
		"lab blind " + torn:                                 "torn.json: it is damaged",
		"lab blind " + full + " " + other:                   "other.json: its answers are of",
		"lab blind " + filepath.Join(dir, "nothing"):        "nothing",
	} {
		code, out, errs := toolstest.Try(strings.Fields(args)...)
		if code == toolstest.ExitOK || !strings.Contains(errs, want) {
			t.Errorf("%s: code %d, %s%s, want %q", args, code, out, errs, want)
		}
	}
	if after := listing(t, dir); after != before {
		t.Errorf("before there was %s, and after that %s", before, after)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		data, _ := os.ReadFile(filepath.Join(dir, f.Name()))
		all.WriteString(f.Name() + " " + string(data))
	}
	return all.String()
}

// A visitor reads what a program prints, and acts as its page.
type visitor struct {
	t    *testing.T
	mu   sync.Mutex
	text bytes.Buffer
	at   chan string
}

var address = regexp.MustCompile(`the game is at http://(\S+)/ `)

func (v *visitor) Write(b []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.text.Write(b)
	if m := address.FindSubmatch(v.text.Bytes()); m != nil && v.at != nil {
		v.at <- string(m[1])
		v.at = nil
	}
	return len(b), nil
}

// takes answers the trials of a test, and ends it after so many.
func (v *visitor) takes(at string, trials int, choice string) {
	order := func(body string) (string, bool) {
		r, err := http.Post("http://"+at+"/api/blind", "application/json", strings.NewReader(body))
		if err != nil {
			v.t.Error(err)
			return "", false
		}
		defer r.Body.Close()
		var all bytes.Buffer
		_, _ = all.ReadFrom(r.Body)
		return all.String(), r.StatusCode == http.StatusOK
	}
	ws, _, err := websocket.Dial(v.t.Context(), "ws://"+at+"/api/screens", nil)
	if err != nil {
		v.t.Error(err)
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(8 << 20)
	ask := make([]byte, 4*(1+17+1)+12)
	for at, word := range map[int]uint32{0: 1, 18: 1, 19: 1, 20: math.Float32bits(300),
		21: math.Float32bits(200)} {
		binary.LittleEndian.PutUint32(ask[4*at:], word)
	}
	order(`{"begin": true}`)
	for frame := 0; trials > 0; frame++ {
		time.Sleep(20 * time.Millisecond) // as a browser would
		if err := ws.Write(v.t.Context(), websocket.MessageBinary, ask); err != nil {
			v.t.Error(err)
			return
		}
		if _, _, err := ws.Read(v.t.Context()); err != nil {
			v.t.Error(err)
			return
		}
		if frame%10 != 0 {
			continue
		}
		for _, trial := range []string{"1", "2"} {
			if _, ok := order(`{"trial": ` + trial + `, "answer": ` + choice + `}`); ok {
				trials--
			}
		}
	}
}

// TestBlindFromTheShell: a test is begun, stopped, continued and finished by command lines and a
// page, and lab blind says of each what it shows.
func TestBlindFromTheShell(t *testing.T) {
	t.Parallel() // it mostly waits
	file := filepath.Join(t.TempDir(), "ann.json")
	args := []string{"demo", "pong", "--blind", "lockstep,rollback", "--trials", "2", "--interval",
		"1s", "--answers", file, "--person", "ann", "--port", "0", "--no-open"}
	run := func(trials int, choice string) string {
		ctx, stop := context.WithTimeout(t.Context(), 90*time.Second)
		defer stop()
		at := make(chan string, 1)
		v := &visitor{t: t, at: at}
		go func() {
			defer stop()
			select {
			case a := <-at:
				v.takes(a, trials, choice)
			case <-ctx.Done():
			}
		}()
		var errs bytes.Buffer
		if code := toolstest.Bundled().Run(ctx, args, v, &errs); code != toolstest.ExitOK {
			t.Errorf("code %d: %s", code, errs.String())
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		return v.text.String()
	}
	if out := run(1, "0"); !strings.Contains(out, "2 of 2 trials are left") ||
		!strings.Contains(out, "stopped after 1 of 2 trials: no verdict") {
		t.Errorf("it says %s", out)
	}
	plain := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	if code, out, errs := toolstest.Try("lab", "blind", file); code != toolstest.ExitOK ||
		!strings.Contains(plain(out), "no verdict") || strings.Contains(out, "was preferred") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if out := run(1, "1"); !strings.Contains(out, "1 of 2 trials are left") ||
		!strings.Contains(out, "no difference is shown") ||
		!strings.Contains(out, "rollbacks a second: 0 with lockstep") {
		t.Errorf("it says %s", out)
	}
	code, out, errs := toolstest.Try("lab", "blind", "--json", file)
	var r blind.Results
	if err := json.Unmarshal([]byte(out), &r); code != toolstest.ExitOK || err != nil ||
		len(r.Groups) != 1 || r.Groups[0].Verdict.Trials != 2 ||
		r.Groups[0].Measured[0].Seconds != 2 {
		t.Errorf("code %d, %v: %s%s", code, err, out, errs)
	}
	code, out, errs = toolstest.Try("lab", "blind", file, file)
	for _, want := range []string{"pong, lockstep against rollback on cable: which is better?",
		"ann", "own input is seen after, ms", "is the same test as"} {
		if code != toolstest.ExitOK || !strings.Contains(plain(out), want) {
			t.Errorf("code %d, and not %q: %s%s", code, want, out, errs)
		}
	}
	t.Log(out)
}
