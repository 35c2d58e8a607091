//go:build !js

package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/coeval-dev/coeval/host/internal/cli"
)

// WebOptions say how a program answers over HTTP, whatever it runs.
type WebOptions struct {
	// Certificate and Key are files in PEM, for HTTPS. SelfSigned makes a certificate that nobody
	// has signed, good for as long as the program runs, which clients trust by its fingerprint. TLS
	// is for programs that have a configuration of their own.
	Certificate, Key string
	SelfSigned       bool
	TLS              *tls.Config
	// Names are those of this machine, for a certificate of its own.
	Names []string
	// MetricsFrom are addresses and networks that may ask for /metrics and /status, besides this
	// machine; "all" is everyone. Proxies are those by which others come, of which the real address
	// is known by what they say.
	MetricsFrom, Proxies []string

	watchers, proxies []netip.Prefix
}

// Flags adds the flags.
func (o *WebOptions) Flags(f *pflag.FlagSet) {
	f.StringVar(&o.Certificate, "tls-cert", "",
		"file with a certificate in PEM: answer over HTTPS in place of HTTP")
	f.StringVar(&o.Key, "tls-key", "", "file with the key of --tls-cert")
	f.BoolVar(&o.SelfSigned, "tls-self-signed", false,
		"answer over HTTPS with a certificate that is made now, which clients trust by its "+
			"fingerprint")
	f.StringSliceVar(&o.MetricsFrom, "metrics-from", nil,
		"addresses or networks that may ask for /metrics and /status, such as 10.0.0.0/8, or all "+
			"(default: this machine alone)")
	f.StringSliceVar(&o.Proxies, "proxy", nil,
		"addresses or networks of proxies for HTTP whose word counts for where players are, by "+
			"X-Forwarded-For")
}

// Check reads what can be wrong with the options.
func (o *WebOptions) Check() (err error) {
	if (o.Certificate == "") != (o.Key == "") {
		return cli.Usagef("--tls-cert and --tls-key go together")
	}
	if o.SelfSigned && (o.Certificate != "" || o.TLS != nil) {
		return cli.Usagef(
			"--tls-self-signed makes a certificate, and there is one: give one of them")
	}
	if o.watchers, err = networks("--metrics-from", o.MetricsFrom); err != nil {
		return err
	}
	o.proxies, err = networks("--proxy", o.Proxies)
	return err
}

// networks reads a list of addresses and networks.
func networks(flag string, list []string) (out []netip.Prefix, err error) {
	for _, text := range list {
		text = strings.TrimSpace(text)
		if text == "all" {
			out = append(out, netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"))
			continue
		}
		p, err := netip.ParsePrefix(text)
		if a, e := netip.ParseAddr(text); e == nil {
			p, err = a.Unmap().Prefix(a.Unmap().BitLen())
		}
		if err != nil {
			return nil, cli.Usagef("%s has %q: give an address or a network, such as 10.0.0.0/8",
				flag, text)
		}
		out = append(out, p)
	}
	return out, nil
}

// certificate is what to answer over HTTPS with, or nil. A fingerprint is that of a certificate
// that was made here.
func (o *WebOptions) certificate() (_ *tls.Config, fingerprint string, err error) {
	switch {
	case o.TLS != nil:
		return o.TLS, "", nil
	case o.Certificate != "":
		c, err := tls.LoadX509KeyPair(o.Certificate, o.Key)
		if err != nil {
			return nil, "", fmt.Errorf("--tls-cert and --tls-key: %w", err)
		}
		return &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{c},
		}, "", nil
	case o.SelfSigned:
		c, err := selfSigned(o.Names, time.Now())
		if err != nil {
			return nil, "", err
		}
		sum := sha256.Sum256(c.Certificate[0])
		return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{c}},
			"sha256:" + hex.EncodeToString(sum[:]), nil
	}
	return nil, "", nil
}

// selfSigned makes a certificate for names and all addresses of this machine.
func selfSigned(names []string, now time.Time) (c tls.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return c, err
	}
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "coeval"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	list, _ := net.InterfaceAddrs() // without them there are the names
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			t.IPAddresses = append(t.IPAddresses, n.IP)
		}
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else if name != "localhost" {
			t.DNSNames = append(t.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
