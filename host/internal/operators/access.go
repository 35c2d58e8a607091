//go:build !js

package operators

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"

	"github.com/coeval-dev/coeval/host/entry"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/service/admin"
)

// Access is how an operator gets at servers that run.
type Access struct {
	// Servers are where they answer operators.
	Servers []string
	// TokenFile has the operator's token, and Trust is the fingerprint or file of the servers'
	// certificate, where nobody has signed it.
	TokenFile, Trust string
}

// A Target is a server that is asked.
type Target struct {
	Name string
	*admin.Client
}

// Targets are the servers that were named. The flag that did is for errors.
func (a *Access) Targets(flag string) (list []Target, err error) {
	if a.TokenFile == "" {
		return nil, cli.Usagef("--token-file is needed, the file with your token; make one beside " +
			"the server with: {program} admin token make --dir FOLDER --role operate --name NAME " +
			"--out FILE")
	}
	secret, err := readSecret(a.TokenFile)
	if err != nil {
		return nil, err
	}
	trust, err := entry.ParseTrust(a.Trust)
	if err != nil {
		return nil, cli.Usagef("--trust: %w", err)
	}
	for _, name := range a.Servers {
		u, err := entry.Base(strings.TrimSpace(name), "")
		if err != nil {
			return nil, cli.Usagef("%s: %w", flag, err)
		}
		if a.Trust != "" && !strings.Contains(name, "://") {
			u.Scheme = "https"
		}
		list = append(list, Target{u.String(),
			&admin.Client{URL: u, Secret: secret, HTTP: trust.Client()}})
	}
	if len(list) == 0 {
		return nil, cli.Usagef("%s names no server", flag)
	}
	return list, nil
}

// readSecret reads a token, and sees that it is its owner's alone.
func readSecret(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", fmt.Errorf("the token: %w", err)
	}
	if mode := info.Mode(); mode.IsRegular() && mode.Perm()&0o077 != 0 &&
		runtime.GOOS != "windows" {
		return "", fmt.Errorf("others on this machine can get at the token in %s (its mode is "+
			"%04o); close it with: chmod 600 %s", name, mode.Perm(), name)
	}
	text, err := cli.ReadFile(name, 1<<12)
	if err != nil {
		return "", fmt.Errorf("the token: %w", err)
	}
	secret, err := admin.ParseSecret(string(text))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return secret, nil
}

// Explain says what to do about an error.
func (t Target) Explain(err error) error {
	var refused *admin.Error
	var unknown *tls.CertificateVerificationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		text := refused.Message
		switch refused.Status {
		case http.StatusUnauthorized, http.StatusForbidden:
			text += "; make a token beside the server with: {program} admin token make"
		}
		return errors.New(text)
	case errors.As(err, &unknown):
		return fmt.Errorf("%s has a certificate that is not trusted: %w; if it is the right one, "+
			"give its fingerprint or file by --trust", t.Name, unknown.Err)
	case errors.Is(err, admin.ErrPlain):
		return fmt.Errorf("%w; write https://..., and start the server with --tls-cert "+
			"or --tls-self-signed", err)
	case errors.Is(err, context.Canceled):
		return err
	}
	return fmt.Errorf("no server answers operators at %s: check the address, and that the server "+
		"was started with --admin: %w", t.Name, err)
}
