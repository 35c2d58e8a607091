//go:build !js

package host

import (
	"crypto/tls"
	"time"

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
	// Queries are what those are told who have not joined, over UDP and HTTP: some of ping, info,
	// who, message and own, separated by commas, or all, or none. Default: all but message.
	Queries string
	// Uploads is a folder, of up to a gigabyte, for what players send in one piece; see
	// game.Upload. Default: none, and what the game does not take by itself is refused.
	Uploads string
	// Admin is how operators of a server or a mirror see and act, and how that ends.
	Admin AdminOptions
}

// AdminOptions say how operators see and act while a server or a mirror runs, by the command admin
// or any program that asks over HTTP, and how it ends. The zero value is not at all, and at once.
type AdminOptions struct {
	// Listen is the address of the API for operators, such as "127.0.0.1:4900". One that other
	// machines reach needs TLS. Dir is the folder with their tokens, which the command admin token
	// makes, with bans and mutes, which count without Listen, too, and with the audit log.
	Listen, Dir string
	// Inspect is the address of a page that shows the game while it runs, such as "127.0.0.1:4950":
	// players, where every byte goes, the world, and ticks. One that other machines reach needs TLS
	// and a Dir, and asks for a token. See docs/inspect.md.
	Inspect string
	// Drain is how long players have to go on elsewhere when the context ends, while nobody new is
	// let in; a mirror's go to the others, for 3 s by default. DrainTo are where those of a server
	// go: servers with the same key. Without, they play on for that long.
	Drain   time.Duration
	DrainTo []string
}

func (o *AdminOptions) inside() serve.AdminOptions {
	return serve.AdminOptions{
		Listen: o.Listen, Dir: o.Dir, Inspect: o.Inspect, Drain: o.Drain, DrainTo: o.DrainTo,
	}
}

func (o *WebOptions) inside() serve.WebOptions {
	return serve.WebOptions{
		Certificate: o.TLSCert, Key: o.TLSKey, SelfSigned: o.TLSSelfSigned, TLS: o.TLS,
		MetricsFrom: o.MetricsFrom, Proxies: o.Proxies,
	}
}
