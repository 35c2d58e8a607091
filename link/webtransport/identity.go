package webtransport

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"sync"
	"time"
)

// Hash is the SHA-256 digest of a certificate, as serverCertificateHashes wants
// it.
type Hash [sha256.Size]byte

// Identity is a self-signed certificate that renews itself. Browsers accept one
// by its digest only if it is valid for less than 14 days, so a server that runs
// for longer needs another from time to time; the next is made early enough that
// pages which were told both digests never meet an unknown one.
type Identity struct {
	hosts []string
	now   func() time.Time

	mu            sync.Mutex
	current, next *certificate
}

type certificate struct {
	tls   *tls.Certificate
	hash  Hash
	until time.Time
}

const (
	validity = 10 * 24 * time.Hour // browsers allow 14 days
	overlap  = 5 * 24 * time.Hour  // how long the next is known before it is used
	skew     = time.Hour           // how wrong a player's clock may be
)

// NewIdentity makes a certificate for names and addresses of hosts.
func NewIdentity(hosts ...string) (*Identity, error) { return newIdentity(hosts, time.Now) }

func newIdentity(hosts []string, now func() time.Time) (*Identity, error) {
	if len(hosts) == 0 {
		return nil, errors.New(
			"webtransport: an identity needs a host's name or address, such as localhost")
	}
	i := &Identity{hosts: hosts, now: now}
	var err error
	if i.current, err = i.issue(now()); err != nil {
		return nil, err
	}
	i.next, err = i.issue(now().Add(validity - overlap))
	return i, err
}

// Hashes are the digests to tell browsers: of the certificate in use and of the
// one after it. Ask again for each page that is served.
func (i *Identity) Hashes() []Hash {
	i.mu.Lock()
	defer i.mu.Unlock()
	// If renewing fails, the old ones are still the best answer.
	_ = i.renew()
	return []Hash{i.current.hash, i.next.hash}
}

// TLS is a configuration that uses the identity.
func (i *Identity) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			i.mu.Lock()
			defer i.mu.Unlock()
			if err := i.renew(); err != nil {
				return nil, err
			}
			return i.current.tls, nil
		},
	}
}

// renew moves on to the next certificate when the current one nears its end.
func (i *Identity) renew() error {
	now := i.now()
	if now.Before(i.current.until.Add(-skew)) {
		return nil
	}
	from := now
	if now.Before(i.next.until.Add(-skew)) {
		i.current, from = i.next, i.next.until.Add(-overlap)
	} else {
		// Nobody asked for so long that both have expired.
		c, err := i.issue(now)
		if err != nil {
			return err
		}
		i.current, from = c, now.Add(validity-overlap)
	}
	next, err := i.issue(from)
	if err == nil {
		i.next = next
	}
	return err
}

// issue makes a certificate as browsers require for serverCertificateHashes:
// version 3, an elliptic curve key, valid for less than 14 days.
func (i *Identity) issue(from time.Time) (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("webtransport: key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("webtransport: serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: i.hosts[0]},
		NotBefore:    from.Add(-skew),
		NotAfter:     from.Add(validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, h := range i.hosts {
		if a, err := netip.ParseAddr(h); err == nil {
			template.IPAddresses = append(template.IPAddresses, a.AsSlice())
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("webtransport: certificate: %w", err)
	}
	return &certificate{
		tls:   &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		hash:  sha256.Sum256(der),
		until: template.NotAfter,
	}, nil
}

// verify accepts a server by the digest of its certificate, under the rules that
// browsers have.
func verify(hashes []Hash, now func() time.Time) func([][]byte, [][]*x509.Certificate) error {
	return func(chain [][]byte, _ [][]*x509.Certificate) error {
		if len(chain) == 0 {
			return errors.New("the server has no certificate")
		}
		got := Hash(sha256.Sum256(chain[0]))
		for _, h := range hashes {
			if h != got {
				continue
			}
			c, err := x509.ParseCertificate(chain[0])
			if err != nil {
				return err
			}
			if now().Before(c.NotBefore) || now().After(c.NotAfter) {
				return errors.New("the server's certificate has expired, get its new digest")
			}
			return nil
		}
		return fmt.Errorf(
			"the server's certificate has digest %x, which is not among those expected", got[:8])
	}
}
