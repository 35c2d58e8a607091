package host

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/host/internal/browsertest"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/web"
)

// uploadByPage has somebody send files to a server of the game in a real browser, by a program for
// browsers: what is too large or empty is not sent, what the game refuses is told as text, and what
// it takes the server keeps.
func (o *outside) uploadByPage(t *testing.T, program string) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(err)
	starter, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm",
		"wasm_exec.js"))
	do(err)
	code, err := os.ReadFile(program)
	do(err)
	bundle, err := web.QuickBundle(code, starter)
	do(err)
	built, kept := filepath.Join(o.dir, "built"), filepath.Join(o.dir, "kept")
	do(bundle.Save(built))
	files := map[string]string{}
	paint := bytes.Repeat([]byte("paint"), 12_000)
	for name, data := range map[string][]byte{"good": paint, "empty": nil,
		"large": bytes.Repeat(paint, 2), "other": []byte("water"),
		"replay": bytes.Repeat(paint, 20)} {
		files[name] = filepath.Join(t.TempDir(), name+".bin")
		do(os.WriteFile(files[name], data, 0o600))
	}
	b := browsertest.Open(t, 360, 640, map[string]any{"disable-gpu": true})
	line, _, stop := o.begin("serve", "--listen", "127.0.0.1:0", "--page", "--client", built,
		"--uploads", kept)
	defer stop()
	b.Do(chromedp.Navigate(fmt.Sprintf("http://%s/?mute", line["http"])))
	b.Until("one plays", `window.coeval?.stats().playing`)
	b.Click("[data-do=upload]")
	b.Until("the form is there", `document.getElementById("upload").open`)
	b.Shot("upload")
	says := func(text string) {
		t.Helper()
		b.Until("the page says "+text, fmt.Sprintf(
			`document.getElementById("outcome").textContent.includes(%q)`, text))
	}
	choose := func(name string) {
		t.Helper()
		b.Do(chromedp.SetUploadFiles("#file", []string{files[name]}))
	}
	choose("empty")
	says("empty.bin is empty")
	choose("large")
	says("large.bin has 120 kB, and the server takes 65.5 kB: choose a smaller file.")
	b.Shot("upload-large")
	choose("other")
	b.Click("#send")
	says("The server has not taken other.bin: this is no <b>paint</b>.")
	choose("good")
	b.Click("#send")
	says("good.bin was sent.")
	b.Choose("#kind", "replay")
	b.Until("the limit is that of replays",
		`document.getElementById("limit").textContent.includes("2.1 MB")`)
	choose("replay")
	b.Run(`window.ways = new Set(); new MutationObserver(() => ways.add(
		document.getElementById("way").value)).observe(document.getElementById("way"),
		{attributes: true})`)
	b.Click("#send")
	b.Until("it goes on without the form", `document.getElementById("closing").click() ||
		!document.getElementById("upload").open`)
	b.Until("it is told that it was sent",
		`document.getElementById("warnings").textContent.includes("replay.bin was sent.")`)
	b.Until("one saw how far it had come", `ways.size > 1`)
	b.Shot("uploaded")
	for name, data := range map[string][]byte{"paint": paint, "replay": bytes.Repeat(paint, 20)} {
		hosttest.WaitUntil(t, "the "+name+" is kept", func() bool {
			list, _ := filepath.Glob(filepath.Join(kept, name+"-*"))
			if len(list) != 1 || strings.HasSuffix(list[0], ".part") {
				return false
			}
			got, err := os.ReadFile(list[0])
			return err == nil && bytes.Equal(got, data)
		})
	}
}
