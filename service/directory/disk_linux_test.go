package directory_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFullDisk: a directory whose files cannot grow any more lists on, hears servers, and says to
// whoever registers that they are to try again; when there is room, that works by itself, and all
// that was acknowledged is there.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a process")
	}
	url := "sqlite:" + filepath.Join(t.TempDir(), "d.db")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childURL+"="+url)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	base, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	base = strings.TrimSpace(base)
	room := func(bytes uint64) { // how large its files may be
		must(t, unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_FSIZE,
			&unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}, nil))
	}
	s := &stage{TB: t}
	servers := []*speaker{newSpeaker(0)}
	s.want(200)(servers[0].register(base))
	room(1 << 12)
	refused := 0
	for i := 1; refused < 3; i++ {
		x := newSpeaker(i)
		status, text, err := x.register(base)
		if must(t, err); status == 200 {
			servers = append(servers, x)
			continue
		}
		if refused++; status != 503 || !strings.Contains(text, "try again") {
			t.Fatalf("%d %s", status, text)
		}
	}
	s.want(200)(servers[0].alive(base))
	room(unix.RLIM_INFINITY)
	for i := 1000; i < 1003; i++ {
		x := newSpeaker(i)
		s.want(200)(x.register(base))
		servers = append(servers, x)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	there := make([]int, len(servers))
	for i := range there {
		there[i] = 1
	}
	check(t, url, servers, there)
}
