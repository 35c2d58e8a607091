package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/host/internal/titles"
	"github.com/coeval-dev/coeval/world"
)

func TestVersionJSON(t *testing.T) {
	p := &Program{Name: "coeval", List: titles.List{{Game: world.Define("chess")}}}
	var out bytes.Buffer
	p.Run(t.Context(), []string{"version", "--json"}, &out, io.Discard,
		[]*cobra.Command{VersionCommand(p)})
	stdout := out.String()
	var b build
	dec := json.NewDecoder(strings.NewReader(stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	if b.Module != "github.com/coeval-dev/coeval" || b.Version == "" || b.Go != runtime.Version() ||
		b.Platform != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("%+v", b)
	}
}

func TestDescribe(t *testing.T) {
	b := describe(&debug.BuildInfo{
		Main: debug.Module{Path: "example.com/m", Version: "v1.2.3"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2030-01-02T03:04:05Z"}, {
				Key: "vcs.modified", Value: "true"},
		},
	})
	b.name = "coeval"
	want := regexp.MustCompile(
		`(?s)^coeval +v1\.2\.3\ncommit +abc \(2030-01-02T03:04:05Z, with uncommitted changes\)\ngo .*\nplatform .*\n$`)
	if !want.MatchString(b.String()) {
		t.Errorf("printed %q", b.String())
	}
	if b := describe(nil); b.Version != "unknown" || b.Go == "" {
		t.Errorf("without build information: %+v", b)
	}
}
