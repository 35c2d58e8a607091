package tunnel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/coeval-dev/coeval/game"
)

// What was measured is good as long as what it depends on is the same: the source of the packages
// that an architecture is made of, and that of the title. Both are asked of the go command, where
// the program runs within its module. A program that runs elsewhere goes by itself: any other build
// of it measures anew.

// Sources tells the digest of packages with all that they import.
type Sources struct {
	files map[string]string   // digest of each package's own files
	deps  map[string][]string // what each imports, with all that follows
	whole string              // in place of all that, for a program that runs elsewhere
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir  string
	Standard         bool
	GoFiles, SFiles  []string
	EmbedFiles, Deps []string
}

// ReadSources asks the go command about packages.
func ReadSources(packages []string) *Sources {
	s := new(Sources)
	s.load(packages)
	return s
}

func (s *Sources) load(packages []string) {
	s.files, s.deps = map[string]string{}, map[string][]string{}
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Dir,Standard," +
		"GoFiles,SFiles,EmbedFiles,Deps", "--"}, packages...)...)
	out, err := cmd.Output()
	if err != nil {
		s.whole = program()
		return
	}
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			s.whole = program()
			return
		}
		s.deps[p.ImportPath] = p.Deps
		if !p.Standard {
			s.files[p.ImportPath] = p.digest()
		}
	}
}

// digest is of the files of a package.
func (p *listed) digest() string {
	h := sha256.New()
	for _, name := range slices.Concat(p.GoFiles, p.SFiles, p.EmbedFiles) {
		fmt.Fprintln(h, name)
		if err := addFile(h, filepath.Join(p.Dir, name)); err != nil {
			fmt.Fprintln(h, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func addFile(h hash.Hash, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(h, f)
	return err
}

// program is a digest of the program that runs.
func program() string {
	h := sha256.New()
	if self, err := os.Executable(); err != nil || addFile(h, self) != nil {
		if info, ok := debug.ReadBuildInfo(); ok {
			fmt.Fprint(h, info)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Of is the digest of some packages and all that they import.
func (s *Sources) Of(packages []string) string {
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version(), runtime.GOARCH)
	if s.whole != "" {
		fmt.Fprintln(h, s.whole)
		return hex.EncodeToString(h.Sum(nil))
	}
	var all []string
	for _, p := range packages {
		all = append(append(all, p), s.deps[p]...)
	}
	slices.Sort(all)
	for _, p := range slices.Compact(all) {
		if f, ok := s.files[p]; ok {
			fmt.Fprintln(h, p, f)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// PackagesOf are the packages that a title's own code is in: those of its types and functions.
func PackagesOf(t *game.Title) []string {
	var list []string
	add := func(path string) {
		if path != "" && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	for _, f := range []any{t.Bot, t.Control, t.Levels.Settings, t.Levels.Endless, t.Shots.Clear,
		t.Shots.Hits, t.Sight.Rules, t.Sight.Views} {
		v := reflect.ValueOf(f)
		if v.Kind() != reflect.Func || v.IsNil() {
			continue
		}
		if fn := runtime.FuncForPC(v.Pointer()); fn != nil {
			add(packageOf(fn.Name()))
		}
	}
	for i := range t.Knobs {
		if fn := runtime.FuncForPC(reflect.ValueOf(t.Knobs[i].Set).Pointer()); fn != nil {
			add(packageOf(fn.Name()))
		}
	}
	for _, c := range t.Game.Classes() {
		add(reflect.TypeOf(c.New()).Elem().PkgPath())
	}
	slices.Sort(list)
	return list
}

// packageOf is the package of a function's full name: what is before the first dot after the last
// slash.
func packageOf(name string) string {
	slash := strings.LastIndex(name, "/")
	if dot := strings.Index(name[slash+1:], "."); dot >= 0 {
		return name[:slash+1+dot]
	}
	return ""
}
