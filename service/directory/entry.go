package directory

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Every is how often a server says that it is there, and Silent after how long without that it is
// gone.
const (
	Every  = 10 * time.Second
	Silent = 3 * Every
)

// The modes of entries.
const (
	Server = "server"
	Mirror = "mirror" // a group of several places that are one game
	Relay  = "relay"
)

// Addresses are where players reach a place, by carrier. Those that are empty there are not. In an
// Announcement the host may be left out: it is then that of whoever announces.
type Addresses struct {
	UDP string `json:"udp,omitempty"` // address and port
	WS  string `json:"ws,omitempty"`  // URL of a WebSocket
	WT  string `json:"wt,omitempty"`  // URL of WebTransport
}

// An Announcement is what a server, a mirror or a relay says of itself. A group of mirrors has one
// key, and each mirror announces its own place.
type Announcement struct {
	Key       string    `json:"key"` // Ed25519, in hexadecimal digits
	Seq       int64     `json:"seq"` // above that of the last request
	Game      string    `json:"game"`
	Version   string    `json:"version,omitempty"` // hash of the game's declarations
	Level     string    `json:"level,omitempty"`
	Mode      string    `json:"mode"`
	Name      string    `json:"name"`
	Region    string    `json:"region,omitempty"`
	Tags      []string  `json:"tags,omitempty"`
	Players   int       `json:"players"`  // at this place
	Capacity  int       `json:"capacity"` // of all places together
	Place     string    `json:"place,omitempty"`
	Addresses Addresses `json:"addresses"`
	// Door is the URL at which a server that is open hands out tokens itself.
	Door string `json:"door,omitempty"`
	// Page says that people play on a page, at the root of where the WebSocket is.
	Page bool `json:"page,omitempty"`
	// Directory is the host of the directory that it is for, and the port if there is one: what is
	// signed for one is nothing to another.
	Directory string `json:"directory,omitempty"`
	// Keys are the fingerprints of the keys that open tokens here; see Fingerprint.
	Keys []string `json:"keys,omitempty"`
}

// An Alive is what a server says every ten seconds.
type Alive struct {
	Lease    string `json:"lease"` // from Registered
	Seq      int64  `json:"seq"`
	Place    string `json:"place,omitempty"`
	Level    string `json:"level,omitempty"`
	Players  int    `json:"players"`
	Capacity int    `json:"capacity"`
}

// A Goodbye takes a place out of the list.
type Goodbye struct {
	Lease string `json:"lease"`
	Seq   int64  `json:"seq"`
	Place string `json:"place,omitempty"`
}

// A Registered is the answer to an Announcement that is listed.
type Registered struct {
	ID    string `json:"id"`
	Lease string `json:"lease"`
	// Every is after how many seconds the directory wants to hear from the server again.
	Every int `json:"every"`
	// Addresses are those that are listed: each answered there.
	Addresses Addresses `json:"addresses"`
	// Unproven are carriers that did not answer and are not listed, with why.
	Unproven map[string]string `json:"unproven,omitempty"`
}

// An Entry is what is listed: a server, a relay, or a group of mirrors.
type Entry struct {
	ID       string   `json:"id"`
	Game     string   `json:"game"`
	Version  string   `json:"version,omitempty"`
	Level    string   `json:"level,omitempty"`
	Mode     string   `json:"mode"`
	Name     string   `json:"name"`
	Region   string   `json:"region,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Players  int      `json:"players"`
	Capacity int      `json:"capacity"`
	Places   []Place  `json:"places"`
	// Tokens says that this directory issues tokens for it.
	Tokens bool `json:"tokens,omitempty"`
	// Since is when it was registered, as Unix time in seconds.
	Since int64 `json:"since"`
}

// A Place is where an entry is: a server has one.
type Place struct {
	Name      string    `json:"name,omitempty"`
	Region    string    `json:"region,omitempty"`
	Players   int       `json:"players"`
	Addresses Addresses `json:"addresses"`
	Door      string    `json:"door,omitempty"`
	// Page says that people play on a page, at the root of where the WebSocket is.
	Page bool `json:"page,omitempty"`
}

// Limits of what an entry says.
const (
	MaxText     = 64 // bytes of a name, a level, a region, a place, a game
	MaxTag      = 24
	MaxTags     = 8
	MaxURL      = 200
	MaxKeys     = 4
	MaxPlaces   = 32
	MaxCapacity = 16000
)

// checkText says what is wrong with a text that people read.
func checkText(what, text string, empty bool, most int) error {
	switch {
	case text == "" && !empty:
		return fmt.Errorf("%s is empty: give one", what)
	case len(text) > most:
		return fmt.Errorf("%s has %d bytes: at most %d are listed", what, len(text), most)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unprintable):
		return fmt.Errorf("%s is not a line of text", what)
	case strings.TrimSpace(text) != text:
		return fmt.Errorf("%s begins or ends with a space", what)
	}
	return nil
}

func unprintable(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0xfffd || r == 0x2028 || r == 0x2029 ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Check says what is wrong with an announcement, and brings numbers within their ranges: a server
// that lies about its players is not believed beyond its capacity.
func (a *Announcement) Check() error {
	for _, x := range []struct {
		what, text string
		empty      bool
	}{{"the game", a.Game, false}, {"the level", a.Level, true}, {"the name", a.Name, false},
		{"the region", a.Region, true}, {"the place", a.Place, a.Mode != Mirror},
		{"the directory", a.Directory, true}} {
		most := MaxText
		if x.what == "the directory" {
			most = MaxURL
		}
		if err := checkText(x.what, x.text, x.empty, most); err != nil {
			return err
		}
	}
	if !slices.Contains([]string{Server, Mirror, Relay}, a.Mode) {
		return fmt.Errorf("the mode is %.20q: it must be server, mirror or relay", a.Mode)
	}
	if a.Mode != Mirror && a.Place != "" {
		return errors.New("only a mirror has a place beside others")
	}
	if _, err := parseVersion(a.Version); err != nil {
		return err
	}
	if len(a.Tags) > MaxTags {
		return fmt.Errorf("there are %d tags: at most %d are listed", len(a.Tags), MaxTags)
	}
	for _, t := range a.Tags {
		if err := checkText("a tag", t, false, MaxTag); err != nil {
			return err
		}
	}
	slices.Sort(a.Tags)
	a.Tags = slices.Compact(a.Tags)
	if len(a.Keys) > MaxKeys {
		return fmt.Errorf("there are %d keys: at most %d are", len(a.Keys), MaxKeys)
	}
	for _, k := range a.Keys {
		if len(k) != 16 || strings.Trim(k, "0123456789abcdef") != "" {
			return errors.New("a fingerprint of a key has 16 hexadecimal digits")
		}
	}
	if a.Addresses == (Addresses{}) {
		return errors.New("there is no address: give at least one of udp and ws")
	}
	a.clamp()
	return nil
}

func (a *Announcement) clamp() {
	a.Players, a.Capacity = clamp(a.Players, a.Capacity)
}

// clamp brings numbers within what there can be.
func clamp(players, capacity int) (int, int) {
	capacity = min(max(capacity, 0), MaxCapacity)
	return min(max(players, 0), capacity), capacity
}

// parseVersion reads the hash of a game's declarations, or nothing.
func parseVersion(text string) (v uint64, err error) {
	if text == "" {
		return 0, nil
	}
	if len(text) != 16 || strings.Trim(text, "0123456789abcdef") != "" {
		return 0, errors.New("the version is the hash of the game's declarations: 16 hexadecimal " +
			"digits")
	}
	_, err = fmt.Sscanf(text, "%x", &v)
	return v, err
}

// fill puts the address of whoever announces where the announcement names no host, and checks what
// it names.
func (a *Announcement) fill(from netip.Addr) (err error) {
	if a.Addresses.UDP != "" {
		if a.Addresses.UDP, err = fillUDP(a.Addresses.UDP, from); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		what    string
		url     *string
		schemes []string
	}{{"ws", &a.Addresses.WS, []string{"ws", "wss"}}, {"wt", &a.Addresses.WT, []string{"https"}},
		{"the door", &a.Door, []string{"http", "https"}}} {
		if *x.url == "" {
			continue
		}
		if *x.url, err = fillURL(*x.url, x.schemes, from); err != nil {
			return fmt.Errorf("%s: %w", x.what, err)
		}
	}
	return nil
}

func fillUDP(text string, from netip.Addr) (string, error) {
	if strings.HasPrefix(text, ":") {
		text = "[::]" + text
	}
	p, err := netip.ParseAddrPort(text)
	if err != nil || p.Port() == 0 || p.Addr().Zone() != "" {
		return "", fmt.Errorf("udp is %.60q: give an address and a port, such as "+
			"203.0.113.7:4000, or :4000", text)
	}
	ip := p.Addr().Unmap()
	if ip.IsUnspecified() {
		ip = from
	}
	if err := mayClaim(ip, from); err != nil {
		return "", fmt.Errorf("udp: %w", err)
	}
	return netip.AddrPortFrom(ip, p.Port()).String(), nil
}

func fillURL(text string, schemes []string, from netip.Addr) (string, error) {
	if len(text) > MaxURL {
		return "", fmt.Errorf("the URL has %d bytes: at most %d are listed", len(text), MaxURL)
	}
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.User != nil || u.Fragment != "" ||
		u.Opaque != "" {
		return "", fmt.Errorf("%.60q is not a URL of %s", text, strings.Join(schemes, " or "))
	}
	if u.Hostname() == "" {
		host := from.String()
		if from.Is6() {
			host = "[" + host + "]"
		}
		if u.Port() != "" {
			host += ":" + u.Port()
		}
		u.Host = host
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		if err := mayClaim(ip, from); err != nil {
			return "", err
		}
	}
	return u.String(), nil
}
