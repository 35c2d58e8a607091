//go:build !js

package directorylab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A subject is the directory that is measured: a process of its own, on one core.
type subject struct {
	cmd       *exec.Cmd
	http, udp netip.AddrPort
	said      bytes.Buffer
	reading   chan struct{}
}

// begin starts a directory with a database.
func begin(ctx context.Context, url string, o Options) (*subject, error) {
	s := &subject{reading: make(chan struct{}), cmd: o.Start("directory", "--json", "--store", url,
		"--listen", "127.0.0.1:0")}
	s.cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	pipe, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := pinned(s.cmd.Start); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = s.cmd.Process.Kill() })
	found := make(chan bool, 1)
	go s.read(pipe, found)
	if <-found {
		precede(s.cmd.Process.Pid)
		precede(os.Getpid())
		return s, nil
	}
	<-s.reading
	return nil, fmt.Errorf("the directory does not start: %w: %s", s.cmd.Wait(), &s.said)
}

// read reads the log, which says where the directory answers.
func (s *subject) read(pipe io.Reader, found chan<- bool) {
	defer close(s.reading)
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		var line struct{ Msg, UDP, HTTP string }
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Msg != "listing" {
			s.said.Write(append(lines.Bytes(), '\n'))
			continue
		}
		var a, b error
		s.udp, a = netip.ParseAddrPort(line.UDP)
		s.http, b = netip.ParseAddrPort(line.HTTP)
		found <- a == nil && b == nil
		_, _ = io.Copy(io.Discard, pipe) // until the process ends
		return
	}
	found <- false
}

// end ends it in good order.
func (s *subject) end() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-s.reading
	return s.cmd.Wait()
}

// count is the sum of a metric, of all that have a label.
func (s *subject) count(name, label string) (sum int64, err error) {
	r, err := http.Get("http://" + s.http.String() + "/metrics")
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	lines, found := bufio.NewScanner(r.Body), false
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), "coeval_"+name)
		if !ok || !strings.Contains(rest, label) {
			continue
		}
		_, value, _ := strings.Cut(rest, " ")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, err
		}
		sum, found = sum+int64(v), true
	}
	if !found {
		return 0, errors.Join(lines.Err(), fmt.Errorf("there is no metric %s", name))
	}
	return sum, lines.Err()
}

// A usage is what a process has run so far, for how long it could have and others did, and the
// memory that it has: where the system says so.
type usage struct {
	ran, waited time.Duration
	megabytes   float64
}

func (s *subject) usage() (u usage) {
	base := fmt.Sprintf("/proc/%d/", s.cmd.Process.Pid)
	tasks, _ := os.ReadDir(base + "task") // elsewhere there are none
	for _, t := range tasks {
		if f := fields(base + "task/" + t.Name() + "/schedstat"); len(f) > 1 {
			u.ran += time.Duration(f[0])
			u.waited += time.Duration(f[1])
		}
	}
	if f := fields(base + "statm"); len(f) > 1 {
		u.megabytes = float64(f[1]) * float64(os.Getpagesize()) / 1e6
	}
	return u
}

// fields are the numbers in a file.
func fields(name string) (out []int64) {
	text, _ := os.ReadFile(name) // nothing is in one that there is not
	for _, f := range strings.Fields(string(text)) {
		n, _ := strconv.ParseInt(f, 10, 64) // they are numbers
		out = append(out, n)
	}
	return out
}
