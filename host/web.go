//go:build !js

package host

import (
	"crypto/tls"

	"github.com/coeval-dev/coeval/host/internal/serve"
)

// WebOptions say how a program answers over HTTP. The zero value is plain HTTP, which gives metrics
// and status to this machine alone.
type WebOptions struct {
	// TLSCert and TLSKey are files in PEM: all is then answered over HTTPS. With TLSSelfSigned a
	// certificate is made, which clients trust by its fingerprint; see Server.Fingerprint. TLS is
	// for programs with a configuration of their own.
	TLSCert, TLSKey string
	TLSSelfSigned   bool
	TLS             *tls.Config
	// MetricsFrom are addresses and networks that may ask for /metrics and /status besides this
	// machine, such as 10.0.0.0/8; "all" is everyone.
	MetricsFrom []string
	// Proxies are addresses and networks by which others come, and whose X-Forwarded-For counts for
	// where these are.
	Proxies []string
	// Origins are hosts whose pages may get tokens and connect to a server. Default: all, since
	// whoever has no token gets nowhere.
	Origins []string
}

func (o *WebOptions) inside() serve.WebOptions {
	return serve.WebOptions{
		Certificate: o.TLSCert, Key: o.TLSKey, SelfSigned: o.TLSSelfSigned, TLS: o.TLS,
		MetricsFrom: o.MetricsFrom, Proxies: o.Proxies,
	}
}
