//go:build !js

package sqldb

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// parse reads what a database is named by, and gives it as it may be shown.
func parse(text string) (d dialect, shown string, err error) {
	scheme, rest, found := strings.Cut(text, ":")
	switch {
	case text == "" || strings.ContainsRune(text, 0):
		return nil, "", errors.New("which database? sqlite:FILE or postgres://USER@HOST/NAME")
	case found && (scheme == "postgres" || scheme == "postgresql"):
		conf, err := pgx.ParseConfig(text)
		if err != nil {
			// The library's own error repeats the URL, and leaves out the password as far as it
			// could read it.
			return nil, "", fmt.Errorf("not a URL of PostgreSQL (postgres://USER@HOST/NAME): %w",
				hidden(text, err))
		}
		return &postgres{conf}, redacted(text), nil
	case found && scheme == "sqlite":
		rest = strings.TrimPrefix(rest, "//")
		if rest == "" {
			return nil, "", errors.New("sqlite: names no file: sqlite:FILE")
		}
		return &file{name: rest}, "sqlite:" + rest, nil
	case found && strings.HasPrefix(rest, "//"):
		return nil, "", fmt.Errorf("%s: there is no such kind of database: sqlite:FILE or "+
			"postgres://USER@HOST/NAME", scheme)
	case text == ":memory:":
		return nil, "", errors.New(":memory: keeps nothing: name a file")
	}
	return &file{name: text}, "sqlite:" + text, nil
}

// redacted is a URL without its password.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "postgres"
	}
	q := u.Query()
	if q.Has("password") {
		q.Set("password", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// hidden takes a URL out of an error about it, which may hold a password.
func hidden(text string, err error) error {
	if u, bad := url.Parse(text); bad == nil {
		if _, has := u.User.Password(); !has && !u.Query().Has("password") {
			return err
		}
	}
	return errors.New("it cannot be read, and is not shown as it has a password")
}
