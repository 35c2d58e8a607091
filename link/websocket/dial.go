//go:build !js

package websocket

import (
	"crypto/tls"
	"net/http"

	"github.com/coder/websocket"
)

// trusted is a tls.Config, which browsers have no use for.
type trusted = tls.Config

func dialOptions(o *Options) *websocket.DialOptions {
	if o.Trust == nil {
		return &websocket.DialOptions{}
	}
	return &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: o.Trust,
	}}}
}
