package admin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/trace"
)

// bundle answers with all that helps to find out what is wrong, as a tar.gz. Its flight recording
// holds the world's secrets.
func (a *API) bundle(c *call) (any, error) {
	now := a.folder.now().UTC()
	name := fmt.Sprintf("%s-%s", a.game.Title.Name(), now.Format("20060102T150405Z"))
	var out bytes.Buffer
	if err := a.writeBundle(c, &out, name, now); err != nil {
		return nil, err
	}
	h := c.out.Header()
	h.Set("Content-Type", "application/gzip")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name+".tar.gz"))
	_, _ = c.out.Write(out.Bytes()) // who has gone need not be told
	return nil, nil
}

// writeBundle writes the files. What cannot be found out is said in a file, and the others are
// there all the same.
func (a *API) writeBundle(c *call, out *bytes.Buffer, dir string, now time.Time) error {
	zip := gzip.NewWriter(out)
	files := tar.NewWriter(zip)
	var failed []string
	add := func(name string, data []byte, err error) {
		if err != nil {
			failed = append(failed, name+": "+err.Error())
			return
		}
		h := &tar.Header{Name: dir + "/" + name, Mode: 0o600, Size: int64(len(data)), ModTime: now}
		if err := files.WriteHeader(h); err == nil {
			_, _ = files.Write(data) // Close says it
		}
	}
	add("build.txt", buildText(), nil)
	status, err := a.status(c)
	text, encodeErr := json.MarshalIndent(status, "", "  ")
	add("status.json", text, errors.Join(err, encodeErr))
	people, err := a.players(c)
	text, encodeErr = json.MarshalIndent(people, "", "  ")
	add("players.json", text, errors.Join(err, encodeErr))
	knobs, err := a.listKnobs(c)
	text, encodeErr = json.MarshalIndent(knobs, "", "  ")
	add("knobs.json", text, errors.Join(err, encodeErr))
	add("metrics.txt", a.game.Metrics(), nil)
	add("settings.txt", a.settingsText(), nil)
	if a.game.Log != nil {
		add("log.txt", a.game.Log.Text(), nil)
	}
	for _, p := range []struct {
		profile, name string
		debug         int
	}{{"goroutine", "goroutines.txt", 2}, {"heap", "heap.pprof", 0}} {
		var b bytes.Buffer
		err := pprof.Lookup(p.profile).WriteTo(&b, p.debug)
		add(p.name, b.Bytes(), err)
	}
	if data, err := a.flight(c); data != nil || err != nil {
		add("flight.trace", data, err)
	}
	if len(failed) > 0 {
		add("missing.txt", []byte(strings.Join(failed, "\n")+"\n"), nil)
	}
	return errors.Join(files.Close(), zip.Close())
}

// flight is a trace of the last seconds, if the server remembers them, or nil.
func (a *API) flight(c *call) ([]byte, error) {
	var f *server.Flight
	if err := a.with(c, func(s *server.Server) error { f = s.Flight(); return nil }); err != nil ||
		f == nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err := trace.WriteRun(&out, f.World, f.Inputs, trace.Options{Note: "for a diagnosis"})
	return out.Bytes(), err
}

// hidden are words in names of settings whose values are nobody's business.
var hidden = []string{"key", "token", "secret", "password"}

func (a *API) settingsText() []byte {
	var out bytes.Buffer
	for _, s := range a.game.Settings {
		value := s.Value
		for _, word := range hidden {
			if strings.Contains(strings.ToLower(s.Name), word) {
				value = "(not told)"
			}
		}
		fmt.Fprintf(&out, "%s = %s\n", s.Name, value)
	}
	if out.Len() == 0 {
		return []byte("the program was not started by a command line\n")
	}
	return out.Bytes()
}

// buildText says what the program is and runs on.
func buildText() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s %s/%s, %d cores\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.GOMAXPROCS(0))
	if info, ok := debug.ReadBuildInfo(); ok {
		out.WriteString(info.String())
	}
	return out.Bytes()
}
