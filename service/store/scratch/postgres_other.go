//go:build !unix

package scratch

import "errors"

// Programs is where the programs of PostgreSQL are: on this system they are not looked for.
func Programs() string { return "" }

// A Server cannot be started on this system.
type Server struct{}

var errNone = errors.New("a server of PostgreSQL is started on Unix only")

// Start says that it cannot.
func Start() (*Server, error) { return nil, errNone }

// Database says that it cannot.
func (s *Server) Database() (string, error) { return "", errNone }

// Stop does nothing.
func (s *Server) Stop() error { return nil }
