//go:build unix

package scratch

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Programs is where the programs of PostgreSQL are: those of the newest version, or nothing.
func Programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is right
	slices.Sort(found)
	if len(found) == 0 {
		path, err := exec.LookPath("postgres")
		if err != nil {
			return ""
		}
		return filepath.Dir(path)
	}
	return filepath.Dir(found[len(found)-1])
}

// A Server is a PostgreSQL of a program's own, in a folder, reached by a socket in it. It flushes
// what it commits as any server does.
type Server struct {
	dir     string
	bin     string
	as      *syscall.Credential // another user than root, which it refuses
	process *exec.Cmd
	said    bytes.Buffer
	mu      sync.Mutex
	made    int // databases
}

// Start makes and starts a server in a folder of its own. Stop ends it.
func Start() (*Server, error) {
	s := &Server{bin: Programs()}
	if s.bin == "" {
		return nil, errors.New("PostgreSQL is not installed")
	}
	var err error
	// The path of a socket may have 107 bytes, so the folder is not the test's.
	if s.dir, err = os.MkdirTemp("/tmp", "pg"); err != nil {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	if err := s.Resume(); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Server) prepare() error {
	if os.Geteuid() == 0 {
		if err := s.drop(); err != nil {
			return err
		}
	}
	init := s.command("initdb", "-D", filepath.Join(s.dir, "data"), "-U", "coeval", "-A", "trust",
		"-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if out, err := init.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

// drop has the programs run as a user without rights.
func (s *Server) drop() error {
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return err
	}
	s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(s.dir, int(uid), int(gid))
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=" + s.dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	return cmd
}

// Resume starts the server, and waits until it answers.
func (s *Server) Resume() error {
	s.said.Reset()
	s.process = s.command("postgres", "-D", filepath.Join(s.dir, "data"), "-k", s.dir,
		"-c", "listen_addresses=", "-c", "fsync=on", "-c", "shared_buffers=64MB",
		"-c", "max_connections=40")
	s.process.Stdout, s.process.Stderr = &s.said, &s.said
	if err := s.process.Start(); err != nil {
		return err
	}
	for range 3000 {
		if s.command("pg_isready", "-h", s.dir, "-q").Run() == nil {
			return nil
		}
		if s.process.Process.Signal(syscall.Signal(0)) != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("the server does not start:\n%s", &s.said)
}

// Crash ends the server as a failure of power would, but for what the system has in memory.
func (s *Server) Crash() error {
	// SIGQUIT is what pg_ctl calls an immediate stop: nothing is flushed, and recovery follows. A
	// SIGKILL would leave its children behind.
	if err := s.process.Process.Signal(syscall.SIGQUIT); err != nil {
		return err
	}
	_ = s.process.Wait() // it ends with an error, as it should
	return nil
}

// Stop ends the server, and removes its folder.
func (s *Server) Stop() error {
	if s.process != nil && s.process.Process != nil {
		_ = s.process.Process.Signal(syscall.SIGQUIT) // it may have ended
		_ = s.process.Wait()
	}
	return os.RemoveAll(s.dir)
}

// Database makes an empty database, and gives its URL: a schema in the one there is, which is made
// far sooner.
func (s *Server) Database() (string, error) {
	s.mu.Lock()
	s.made++
	name := "test" + strconv.Itoa(s.made)
	s.mu.Unlock()
	if err := s.SQL("postgres", "CREATE SCHEMA "+name); err != nil {
		return "", err
	}
	return s.URL("coeval", name), nil
}

// URL is that of a schema for a user.
func (s *Server) URL(as, schema string) string {
	q := url.Values{"host": {s.dir}, "search_path": {schema}}
	return "postgres://" + as + "@/postgres?" + q.Encode()
}

// SQL runs a statement.
func (s *Server) SQL(name, statement string) error {
	out, err := s.command("psql", "-h", s.dir, "-U", "coeval", "-d", name, "-v",
		"ON_ERROR_STOP=1", "-qc", statement).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", statement, err, out)
	}
	return nil
}
