package host

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coeval-dev/coeval/host/internal/page"
)

var updateImports = flag.Bool("update-imports", false, "write testdata/imports anew")

// TestImports lists what each kind of program compiles besides the standard library: one that
// serves, by Serve or by Main; one that has the tools; one for the browser, where it plays on
// servers and where it plays in matches, too. After a change that is
// meant, write the lists anew:
//
//	go test ./host -run TestImports -update-imports
func TestImports(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, x := range []struct {
		list, program, system string
		without               []string // what must not be among them, whatever the list says
	}{
		{"serve", "github.com/coeval-dev/coeval/host", "linux/amd64", []string{
			"github.com/coeval-dev/coeval/lab", "github.com/coeval-dev/coeval/stepvet",
			"github.com/coeval-dev/coeval/games", "golang.org/x/tools",
			"github.com/coeval-dev/coeval/replica/quake3",
			"github.com/coeval-dev/coeval/replica/doom3",
			"github.com/coeval-dev/coeval/codec/quake3", "github.com/coeval-dev/coeval/codec/doom3",
			"github.com/coeval-dev/coeval/codec/raw",
		}},
		{"tools", "github.com/coeval-dev/coeval/host/tools", "linux/amd64",
			[]string{"github.com/coeval-dev/coeval/games"}},
		{"browser", "github.com/coeval-dev/coeval/host", "js/wasm", []string{
			"github.com/spf13", "github.com/prometheus", "github.com/quic-go",
			"github.com/coder/websocket", "golang.org/x/term", "golang.org/x/sys",
			"github.com/coeval-dev/coeval/lab", "github.com/coeval-dev/coeval/web",
			"github.com/coeval-dev/coeval/topology/server",
			"github.com/coeval-dev/coeval/topology/mirror", "github.com/coeval-dev/coeval/crimp",
			"github.com/coeval-dev/coeval/replica/quake3",
			"github.com/coeval-dev/coeval/replica/doom3", "github.com/coeval-dev/coeval/codec/raw",
		}},
		{"browser-match", "-tags=" + page.MatchTag + " github.com/coeval-dev/coeval/host",
			"js/wasm", []string{"github.com/coeval-dev/coeval/topology/server",
				"github.com/quic-go", "github.com/coeval-dev/coeval/web"}},
		{"browser-tools", "github.com/coeval-dev/coeval/host/tools", "js/wasm", nil},
	} {
		t.Run(x.list, func(t *testing.T) {
			system, processor, _ := strings.Cut(x.system, "/")
			cmd := exec.Command("go", append([]string{"list", "-deps", "-f",
				"{{if not .Standard}}{{.ImportPath}}{{end}}"}, strings.Fields(x.program)...)...)
			cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Fields(string(out))
			slices.Sort(got)
			for _, p := range got {
				for _, bad := range x.without {
					if p == bad || strings.HasPrefix(p, bad+"/") {
						t.Errorf("%s is compiled in", p)
					}
				}
			}
			name := filepath.Join("testdata", "imports", x.list+".txt")
			text := strings.Join(got, "\n") + "\n"
			if *updateImports {
				if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range got {
				if !slices.Contains(strings.Fields(string(want)), p) {
					t.Errorf("%s is compiled in, and not in %s", p, name)
				}
			}
			for p := range strings.FieldsSeq(string(want)) {
				if !slices.Contains(got, p) {
					t.Errorf("%s is not compiled in any more, and in %s", p, name)
				}
			}
		})
	}
}
