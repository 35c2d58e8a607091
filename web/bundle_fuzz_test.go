package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
)

// FuzzLoadBundle: whatever the files of a bundle hold, what is loaded is whole: both forms of the
// program are the same program, of the size and with the tag that were written.
func FuzzLoadBundle(f *testing.F) {
	program := append([]byte("\x00asm"), bytes.Repeat([]byte("game"), 50)...)
	b, err := QuickBundle(program, []byte("start"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b.program.zst, b.program.gzip, []byte("start"), []byte(b.Tag+" 204"))
	f.Add([]byte{}, []byte{}, []byte{}, []byte("x -1"))
	f.Add(b.program.zst, gzipped(bytes.Repeat([]byte{0}, 1<<20), gzip.BestSpeed), []byte(nil),
		[]byte("x 268435456"))
	f.Fuzz(func(t *testing.T, zst, gz, starter, tag []byte) {
		b, err := LoadBundle(fstest.MapFS{
			fileZstd: {Data: zst}, fileGzip: {Data: gz}, fileStarter: {Data: starter},
			fileTag: {Data: tag},
		})
		if err != nil {
			return
		}
		z, err := gzip.NewReader(bytes.NewReader(b.program.gzip))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		d, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		again, err := d.DecodeAll(b.program.zst, nil)
		if err != nil || !bytes.Equal(plain, again) || len(plain) != b.program.size ||
			tagOf(plain, starter) != b.Tag {
			t.Fatalf("a bundle that is not whole was loaded: %v", err)
		}
	})
}
