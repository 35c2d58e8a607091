package cluster_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/service/cluster"
	"github.com/coeval-dev/coeval/service/cluster/clustertest"
)

// authority signs certificates for loopback.
type authority struct {
	t    testing.TB
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t testing.TB) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	a := &authority{t: t, key: key}
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true}
	return a
}

// config has both ends show a certificate of the authority.
func (a *authority) config() *tls.Config {
	root, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, &a.key.PublicKey, a.key)
	must(a.t, err)
	parsed, err := x509.ParseCertificate(root)
	must(a.t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.t, err)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: a.cert.NotBefore,
		NotAfter: a.cert.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, leaf, parsed, &own.PublicKey, a.key)
	must(a.t, err)
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool, ClientCAs: pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: own}}}
}

// TestTLS: three nodes speak with each other and with programs over TLS alone, and know each other
// by certificates.
func TestTLS(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	n := clustertest.Start(t, 3, cluster.Options{TLS: ca.config(), Secret: "of the test"})
	at, err := add(t.Context(), n.Open[0], "zone", 0, "over TLS")
	must(t, err)
	last, err := n.Open[1].Journal().Last(t.Context(), "zone")
	must(t, err)
	if last.Sequence != at || string(last.Data) != "over TLS" {
		t.Fatalf("another node has %+v", last)
	}

	// A node without TLS, or with a certificate of somebody else, is not let in, although it knows
	// the secret.
	n.Stop(2)
	for name, c := range map[string]*tls.Config{"without TLS": nil,
		"with a certificate of another authority": newAuthority(t).config()} {
		stranger := n.Options[2]
		stranger.TLS, stranger.Dir = c, t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		if c, err := cluster.Embed(ctx, stranger); err == nil {
			_ = c.Close()
			t.Errorf("a node %s is let in", name)
		}
		cancel()
	}
	at, err = add(t.Context(), n.Open[0], "zone", at, "with two")
	must(t, err)
	n.Resume(2)
	_, err = add(t.Context(), n.Open[2], "zone", at, "with three")
	must(t, err)
}
