package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// repository is what the image is built from.
const repository = "../.."

// An image is what deploy/Containerfile makes, in folders of this machine: there is no engine here
// that would do it, so the test follows the file line by line.
type image struct {
	t            *testing.T
	built, root  string // what the first stage leaves in /out; the last one's files
	last         bool   // the lines are those of the last stage
	args, env    []string
	workdir      string
	uid, gid     int
	volume       string
	exposed      []string
	signal       string
	entry, start []string // ENTRYPOINT and CMD
}

// buildImage does what an engine does.
func buildImage(t *testing.T) *image {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "deploy/Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	top, err := os.MkdirTemp("", "image") // another user gets to it, as to no folder of a test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(top); err != nil {
			t.Error(err)
		}
	})
	m := &image{t: t, built: filepath.Join(top, "out"), root: filepath.Join(top, "root")}
	m.must(errors.Join(os.Chmod(top, 0o711), os.Mkdir(m.built, 0o755), os.Mkdir(m.root, 0o755)))
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if !m.do(word, rest) {
			t.Fatalf("the test does not know %s", line)
		}
	}
	return m
}

func (m *image) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// do carries out one line. It reports false if it does not know how.
func (m *image) do(word, rest string) bool {
	switch word {
	case "FROM":
		m.last = rest == "scratch"
		return m.last || rest == "golang:1.26 AS build"
	case "ARG":
		m.args = append(m.args, rest)
	case "WORKDIR":
		m.workdir = rest
	case "COPY":
		m.copy(strings.Fields(rest))
	case "RUN":
		m.run(rest)
	case "USER":
		user, group, _ := strings.Cut(rest, ":")
		var err, also error
		m.uid, err = strconv.Atoi(user)
		m.gid, also = strconv.Atoi(group)
		m.must(errors.Join(err, also))
	case "VOLUME":
		m.volume = rest
	case "EXPOSE":
		m.exposed = strings.Fields(rest)
	case "ENV":
		m.env = append(m.env, strings.Fields(rest)...)
	case "STOPSIGNAL":
		m.signal = rest
	case "ENTRYPOINT":
		m.must(json.Unmarshal([]byte(rest), &m.entry))
	case "CMD":
		m.must(json.Unmarshal([]byte(rest), &m.start))
	default:
		return false
	}
	return true
}

// run runs a line of the first stage in the repository, which is its working directory. What it
// downloads is here already.
func (m *image) run(line string) {
	m.t.Helper()
	if m.last {
		m.t.Fatalf("nothing can be run in an image that has no shell: %s", line)
	}
	if line == "go mod download" {
		return
	}
	cmd := exec.Command("sh", "-c", strings.ReplaceAll(line, "/out", m.built))
	cmd.Dir, cmd.Env = repository, append(os.Environ(), m.args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("%s: %v: %s", line, err, out)
	}
}

// copy copies from the first stage to the last; what is copied to the first is there already.
func (m *image) copy(words []string) {
	m.t.Helper()
	from := slices.Contains(words, "--from=build")
	owner := slices.Contains(words, "--chown=65532:65532")
	words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "--") })
	if from != m.last || len(words) < 2 {
		m.t.Fatalf("COPY %q", words)
	}
	if !m.last {
		for _, name := range words[:len(words)-1] {
			_, err := os.Stat(filepath.Join(repository, name))
			m.must(err)
		}
		return
	}
	source, to := words[0], filepath.Join(m.root, words[1])
	if rest, ok := strings.CutPrefix(source, "/out/"); ok {
		source = filepath.Join(m.built, rest)
	}
	m.must(os.MkdirAll(filepath.Dir(to), 0o755))
	info, err := os.Stat(source)
	switch {
	case errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(source, "/etc/ssl/"):
		return // the image golang has it, and this machine does not
	case err != nil:
		m.t.Fatal(err)
	case info.IsDir():
		m.must(errors.Join(os.Mkdir(to, 0o755), os.Chmod(to, info.Mode().Perm())))
	default:
		m.copyFile(source, to, info.Mode().Perm())
	}
	if owner {
		m.must(os.Chown(to, 65532, 65532))
	}
}

func (m *image) copyFile(source, to string, mode fs.FileMode) {
	from, err := os.Open(source)
	m.must(err)
	defer from.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, mode)
	m.must(err)
	_, err = io.Copy(f, from)
	m.must(errors.Join(err, f.Close()))
}

// command is a program in a container of the image: its files are all there are, and its user is
// not root.
func (m *image) command(env []string, args ...string) *exec.Cmd {
	args = append(slices.Clone(m.entry), args...)
	cmd := exec.CommandContext(m.t.Context(), args[0], args[1:]...)
	cmd.Env, cmd.Dir = append(slices.Clone(m.env), env...), m.workdir
	cmd.WaitDelay = 10 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: m.root,
		Credential: &syscall.Credential{Uid: uint32(m.uid), Gid: uint32(m.gid)}}
	return cmd
}

// TestContainer: the image that deploy/Containerfile makes holds a program that needs nothing
// else, runs without root, keeps its game in the volume and ends when it is told to.
func TestContainer(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("it builds the program once more")
	}
	if os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("only root can start a program in other files")
		}
		t.Skip("only root can start a program in other files")
	}
	m := buildImage(t)
	if m.uid == 0 || m.gid == 0 || m.signal != "SIGTERM" || m.workdir != m.volume {
		t.Errorf("user %d:%d, %s, in %s with a volume at %s", m.uid, m.gid, m.signal, m.workdir,
			m.volume)
	}
	m.writable()
	help, err := m.command(nil, "serve", "--help").CombinedOutput()
	if err != nil || !strings.Contains(string(help), `(default ":4000")`) ||
		!slices.Equal(m.exposed, []string{"4000/udp", "4000/tcp"}) {
		t.Errorf("%v is exposed: %v\n%s", m.exposed, err, help)
	}
	m.serves("")
	m.serves("going on with the game that was kept")
	kept, err := os.Stat(filepath.Join(m.root, m.volume, "kept"))
	if err != nil || kept.Sys().(*syscall.Stat_t).Uid != uint32(m.uid) {
		t.Errorf("%v, %v", kept, err)
	}
}

// writable checks that the user of the image can write to its volume and nowhere else.
func (m *image) writable() {
	m.must(filepath.WalkDir(m.root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		own := info.Sys().(*syscall.Stat_t).Uid == uint32(m.uid)
		if is := name == filepath.Join(m.root, m.volume); own != is ||
			info.Mode().Perm()&0o002 != 0 {
			m.t.Errorf("%s: %v, the user's own: %t", name, info.Mode(), own)
		}
		return nil
	}))
}

// serves runs a container of the image as it starts by itself, on a port that is free, waits until
// it is ready, and stops it.
func (m *image) serves(says string) {
	t := m.t
	t.Helper()
	cmd := m.command([]string{"COEVAL_LISTEN=127.0.0.1:0"}, m.start...)
	pipe, err := cmd.StderrPipe()
	m.must(err)
	m.must(cmd.Start())
	var at string
	lines := bufio.NewScanner(pipe)
	for at == "" && lines.Scan() {
		line := map[string]any{}
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			t.Logf("%s", lines.Text())
		}
		if line["msg"] == says {
			says = ""
		}
		at, _ = line["http"].(string)
	}
	if at == "" || says != "" {
		t.Fatalf("it does not serve, or does not say %q: %v", says, cmd.Wait())
	}
	for ready := false; !ready && t.Context().Err() == nil; time.Sleep(5 * time.Millisecond) {
		if r, err := http.Get("http://" + at + "/readyz"); err == nil {
			_ = r.Body.Close()
			ready = r.StatusCode == http.StatusOK
		}
	}
	m.must(cmd.Process.Signal(syscall.SIGTERM))
	_, _ = io.Copy(io.Discard, pipe)
	m.must(cmd.Wait())
}
