package jwt_test

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/directory/jwt"
)

var secret = []byte(strings.Repeat("s", 32))

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// sign makes a token as a backend would.
func sign(header, claims string, key func([]byte) []byte) string {
	text := encode([]byte(header)) + "." + encode([]byte(claims))
	return text + "." + encode(key([]byte(text)))
}

func hs256(b []byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write(b)
	return m.Sum(nil)
}

// A backend signs that somebody is player 42.
func Example() {
	v, err := jwt.New(secret)
	if err != nil {
		panic(err)
	}
	v.Now = func() time.Time { return time.Unix(1000, 0) }
	who, err := v.Verify(context.Background(), sign(`{"alg":"HS256"}`,
		`{"sub":"42","exp":2000,"name":"ada"}`, hs256))
	fmt.Println(who.Client, who.Name, err)
	// Output: 42 ada <nil>
}

func TestRefused(t *testing.T) {
	public, private, _ := ed25519.GenerateKey(nil)
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	file := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	v, err := jwt.New(file)
	if err != nil {
		t.Fatal(err)
	}
	v.Now = func() time.Time { return time.Unix(1000, 0) }
	ed := func(b []byte) []byte { return ed25519.Sign(private, b) }
	byFile := func(b []byte) []byte { // the public key taken for a secret
		m := hmac.New(sha256.New, file)
		m.Write(b)
		return m.Sum(nil)
	}
	const good = `{"sub":"42","exp":2000}`
	for _, x := range []struct {
		header, claims string
		key            func([]byte) []byte
		ok             bool
	}{
		{`{"alg":"EdDSA"}`, good, ed, true},
		{`{"alg":"HS256"}`, good, byFile, false},
		{`{"alg":"none"}`, good, func([]byte) []byte { return nil }, false},
		{`{"alg":"EdDSA","crit":["x"]}`, good, ed, false},
		{`{"alg":"EdDSA"}`, `{"sub":"42","exp":999}`, ed, false},
		{`{"alg":"EdDSA"}`, `{"sub":"42"}`, ed, false},
		{`{"alg":"EdDSA"}`, `{"sub":"42","exp":2000,"nbf":1500}`, ed, false},
		{`{"alg":"EdDSA"}`, `{"sub":"ada","exp":2000}`, ed, false},
		{`{"alg":"EdDSA"}`, `{"sub":"0","exp":2000}`, ed, false},
		{`{"alg":"EdDSA"}`, good, hs256, false},
	} {
		if _, err := v.Verify(t.Context(), sign(x.header, x.claims, x.key)); (err == nil) != x.ok {
			t.Errorf("%s %s: %v", x.header, x.claims, err)
		}
	}
	if _, err := jwt.New([]byte("short")); err == nil {
		t.Error("a short secret")
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(sign(`{"alg":"HS256"}`, `{"sub":"42","exp":2e9}`, hs256))
	f.Fuzz(func(t *testing.T, text string) {
		v, err := jwt.New([]byte(strings.Repeat("another secret ", 3)))
		if err != nil {
			t.Fatal(err)
		}
		if who, err := v.Verify(t.Context(), text); err == nil {
			t.Fatalf("%v without the secret", who)
		}
	})
}
