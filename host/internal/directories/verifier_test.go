package directories

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/service/directory"
)

// club knows accounts by a word.
type club map[string]directory.Account

func (c club) Verify(_ context.Context, bearer string) (directory.Account, error) {
	if a, ok := c[bearer]; ok {
		return a, nil
	}
	return directory.Account{}, errors.New("no member")
}

// TestOwnVerifier: a program's own verifier is what its directory knows accounts by, and not beside
// another.
func TestOwnVerifier(t *testing.T) {
	directory.UseVerifier(club{"word": {Client: 7}})
	t.Cleanup(func() { directory.UseVerifier(nil) })
	k, err := token.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, []byte(k.Text()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Key: name, Log: slog.New(slog.DiscardHandler)}
	i, err := (&Directory{}).issuer(&o)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := i.Verifier.Verify(t.Context(), "word"); err != nil || a.Client != 7 {
		t.Errorf("%+v: %v", a, err)
	}
	o.JWTKey = name
	if _, err := (&Directory{}).issuer(&o); err == nil {
		t.Error("two verifiers are taken")
	}
}
