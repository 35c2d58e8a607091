package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// SavePage writes a page with its program into a folder, for any server of files: the page that is
// Options.Index as index.html, the assets, the program, and match.json if there are Settings. What
// the folder held is gone afterwards, so one that holds something else is refused. The folder can
// also be read by LoadBundle.
func SavePage(dir string, o Options) error {
	if err := ours(dir); err != nil {
		return err
	}
	b := o.Client()
	z, err := gzip.NewReader(bytes.NewReader(b.program.gzip))
	if err != nil {
		return err
	}
	program, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	files := b.files()
	files["client.wasm"] = program
	if o.Settings != nil {
		files[fileSettings] = o.Settings
	}
	list, err := assets.ReadDir("assets")
	if err != nil {
		return err
	}
	for _, f := range list {
		data, err := assets.ReadFile(path.Join("assets", f.Name()))
		if err != nil {
			return err
		}
		switch {
		case f.Name() == o.Index:
			files["index.html"] = o.name(data)
		case path.Ext(f.Name()) != ".html":
			files["assets/"+f.Name()] = data
		}
	}
	return save(dir, files)
}

const fileSettings = "match.json"

// ours says whether a folder can be written anew: it is not there, or empty, or was written here.
func ours(dir string) error {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(list) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range []string{fileTag, "index.html"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("%s holds other files, which would be lost: name a new folder", dir)
		}
	}
	return nil
}
