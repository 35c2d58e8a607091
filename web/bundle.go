package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// A Bundle is a program for the browser.
type Bundle struct {
	// Tag changes whenever the program does.
	Tag     string
	program packed
	starter packed
}

// packed is one file in every encoding that it is served in.
type packed struct {
	size             int // plain
	plain, gzip, zst []byte
}

// pack compresses a small file.
func pack(data []byte) packed {
	p := packed{size: len(data), plain: data}
	p.gzip = gzipped(data, gzip.BestCompression)
	return p
}

func gzipped(data []byte, level int) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, level) // one that there is
	_, _ = z.Write(data)                   // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// serve answers with the smallest form that the browser takes.
func (p *packed) serve(w http.ResponseWriter, r *http.Request, tag string) {
	h := w.Header()
	h.Set("ETag", `"`+tag+`"`)
	h.Set("Cache-Control", "no-cache") // it is asked for each time, and mostly answered by 304
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == `"`+tag+`"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	data, plain := p.plain, p.plain != nil
	accept := r.Header.Get("Accept-Encoding")
	switch {
	case p.zst != nil && accepts(accept, "zstd"):
		data = p.zst
		h.Set("Content-Encoding", "zstd")
	case p.gzip != nil && (accepts(accept, "gzip") || !plain):
		data = p.gzip
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	h.Set("X-Size", strconv.Itoa(p.size))
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // who has gone need not be told
	}
}

// accepts reads what a browser says it takes.
func accepts(header, encoding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), encoding) &&
			strings.ReplaceAll(q, " ", "") != "q=0" {
			return true
		}
	}
	return false
}

func (b *Bundle) serveProgram(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/wasm")
	b.program.serve(w, r, b.Tag)
}

func (b *Bundle) serveStarter(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	b.starter.serve(w, r, b.Tag)
}

// Sizes says how many bytes the program has: plain, and as browsers are sent it.
func (b *Bundle) Sizes() (plain, gzip, zstd int) {
	return b.program.size, len(b.program.gzip), len(b.program.zst)
}

// PageSize is how many bytes the page of a game has, compressed. Those of mirrors and peers are
// pages of the demo, those of rooms and of matches at a relay are others, and so are those for
// looking inside.
func PageSize() (n int) {
	list, err := assets.ReadDir("assets")
	if err != nil {
		return 0
	}
	for _, f := range list {
		switch page, _, _ := strings.Cut(f.Name(), "."); page {
		case "mirrors", "peers", "match", "rooms", "tool", "paint", "replay", "replaytables",
			"inspect", "inspectparts", "pane":
			continue
		}
		if data, err := assets.ReadFile("assets/" + f.Name()); err == nil {
			n += len(gzipped(data, gzip.BestCompression))
		}
	}
	return n
}

// NewBundle compresses a program as far as it goes, which takes a few seconds, and the script that
// starts it.
func NewBundle(program, starter []byte) (*Bundle, error) {
	return newBundle(program, starter, zstd.SpeedBestCompression, gzip.BestCompression)
}

// QuickBundle compresses a program in a fraction of a second, and so a little less well: for a
// browser on the same machine, whose player waits.
func QuickBundle(program, starter []byte) (*Bundle, error) {
	return newBundle(program, starter, zstd.SpeedBetterCompression, gzip.BestSpeed)
}

func newBundle(program, starter []byte, level zstd.EncoderLevel, gzipLevel int) (*Bundle, error) {
	if !bytes.HasPrefix(program, []byte("\x00asm")) {
		return nil, fmt.Errorf("web: what was built is no WebAssembly")
	}
	b := &Bundle{Tag: tagOf(program, starter), starter: pack(starter)}
	b.program = packed{size: len(program)}
	done := make(chan []byte)
	go func() { done <- gzipped(program, gzipLevel) }()
	// browsers take no larger window
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithWindowSize(8<<20))
	if err != nil {
		<-done
		return nil, err
	}
	b.program.zst = z.EncodeAll(program, nil)
	b.program.gzip = <-done
	return b, nil
}

func tagOf(list ...[]byte) string {
	h := sha256.New()
	for _, x := range list {
		h.Write(x)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// The files of a bundle in a folder.
const (
	fileZstd    = "client.wasm.zst"
	fileGzip    = "client.wasm.gz"
	fileStarter = "wasm_exec.js"
	fileTag     = "tag"
)

// Save writes a bundle into a folder, whole or not at all.
func (b *Bundle) Save(dir string) error { return save(dir, b.files()) }

func (b *Bundle) files() map[string][]byte {
	return map[string][]byte{
		fileZstd: b.program.zst, fileGzip: b.program.gzip, fileStarter: b.starter.plain,
		fileTag: []byte(b.Tag + " " + strconv.Itoa(b.program.size))}
}

// save writes files into a folder, all of them or none.
func save(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil { // others may serve it
		return err
	}
	for name, data := range files {
		file := filepath.Join(tmp, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(tmp, dir)
}

// LoadBundle reads what Save wrote into a folder. What was damaged meanwhile is refused.
func LoadBundle(from fs.FS) (*Bundle, error) {
	var data [4][]byte
	for i, name := range []string{fileZstd, fileGzip, fileStarter, fileTag} {
		var err error
		if data[i], err = fs.ReadFile(from, name); err != nil {
			return nil, err
		}
	}
	tag, size, ok := strings.Cut(string(data[3]), " ")
	n, err := strconv.Atoi(size)
	if !ok || err != nil || n < 0 || n > 1<<28 {
		return nil, fmt.Errorf("web: the file %s is damaged", fileTag)
	}
	z, err := gzip.NewReader(bytes.NewReader(data[1]))
	if err != nil {
		return nil, fmt.Errorf("web: the file %s is damaged: %w", fileGzip, err)
	}
	plain, err := io.ReadAll(io.LimitReader(z, int64(n)+1))
	if err != nil || len(plain) != n || tagOf(plain, data[2]) != tag {
		return nil, fmt.Errorf("web: the file %s is damaged", fileGzip)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(uint64(n)+1<<20))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if again, err := d.DecodeAll(data[0], nil); err != nil || !bytes.Equal(again, plain) {
		return nil, fmt.Errorf("web: the file %s is damaged", fileZstd)
	}
	return &Bundle{
			Tag: tag, program: packed{size: n, gzip: data[1], zst: data[0]},
			starter: pack(data[2])},
		nil
}
