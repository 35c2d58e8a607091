//go:build !js

package entry

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// A Trust says which server is believed over HTTPS, besides those that the system trusts: one whose
// certificate has a fingerprint, or those in a file. Nil adds none.
type Trust struct{ tls *tls.Config }

// ParseTrust reads what a person gives: a fingerprint, such as sha256:9f86d0..., the SHA-256 of the
// certificate, or the name of a file with certificates in PEM.
func ParseTrust(text string) (*Trust, error) {
	if text == "" {
		return nil, nil
	}
	if print, ok := fingerprint(text); ok {
		return &Trust{&tls.Config{
			MinVersion: tls.VersionTLS12,
			// The fingerprint vouches for the server, in place of a chain of signatures.
			InsecureSkipVerify: true,
			VerifyConnection: func(s tls.ConnectionState) error {
				if len(s.PeerCertificates) == 0 {
					return errPrint
				}
				got := sha256.Sum256(s.PeerCertificates[0].Raw)
				if subtle.ConstantTimeCompare(got[:], print) != 1 {
					return fmt.Errorf("%w: it is sha256:%x", errPrint, got)
				}
				return nil
			},
		}}, nil
	}
	pem, err := os.ReadFile(text)
	if err != nil {
		return nil, fmt.Errorf("%q is neither a fingerprint (sha256: and 64 digits) nor a file of "+
			"certificates that can be read: %w", text, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", text)
	}
	return &Trust{&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}}, nil
}

var errPrint = errors.New("the server's certificate is not the one with that fingerprint")

// fingerprint reads one, with or without its prefix and colons.
func fingerprint(text string) ([]byte, bool) {
	digits, named := strings.CutPrefix(strings.ToLower(text), "sha256:")
	b, err := hex.DecodeString(strings.ReplaceAll(digits, ":", ""))
	return b, err == nil && len(b) == sha256.Size && (named || len(text) >= 2*sha256.Size)
}

func (t *Trust) config() *tls.Config {
	if t == nil {
		return nil
	}
	return t.tls
}

// Client asks over HTTP.
func (t *Trust) Client() *http.Client {
	if t == nil {
		return http.DefaultClient
	}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: t.tls, DisableKeepAlives: true,
	}}
}
