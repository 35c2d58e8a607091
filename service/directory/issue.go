package directory

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/service/admin"
)

// An Account is who somebody is, as a verifier says.
type Account struct {
	// Client is the player's number in tokens and bans. It is never zero.
	Client uint64
	// Name is what the account is called, for the audit log and leaderboards.
	Name string

	anonymous bool // known by nothing but a secret of this directory's
	passing   bool // somebody new, who will not come back
}

// A Verifier finds out who asks for a token, by what is in "Authorization: Bearer". Package jwt has
// one. An error is told to whoever asks.
type Verifier interface {
	Verify(ctx context.Context, bearer string) (Account, error)
}

var verifier atomic.Pointer[Verifier]

// UseVerifier has the program's directory know accounts by a verifier, in place of --jwt-key. An
// operator with accounts of their own has it by one line of a program; see docs/directory.md.
func UseVerifier(v Verifier) { verifier.Store(&v) }

// OwnVerifier is the program's own, or nil.
func OwnVerifier() Verifier {
	if v := verifier.Load(); v != nil {
		return *v
	}
	return nil
}

// An Issuer issues connect tokens for what is listed.
type Issuer struct {
	// Keys are those that count now, the newest first: a server is given a token of the newest of
	// them that it has. They may change at any time.
	Keys func() []token.Key
	// Verifier knows accounts. Without it everyone is someone new.
	Verifier Verifier
	// Folder has bans, by account and address, and the audit log. It may be nil.
	Folder *admin.Folder
	// Life is how long a token lets somebody in. Default: a minute.
	Life time.Duration
}

// Issues says whether tokens can be issued for a server that has a key.
func (i *Issuer) Issues(fingerprint string) bool {
	return i != nil && slices.ContainsFunc(i.Keys(), func(k token.Key) bool {
		return Fingerprint(k) == fingerprint
	})
}

// A TokenAnswer is the answer to whoever asks for a token.
type TokenAnswer struct {
	Game  string `json:"game"`
	Token string `json:"token"`
	// Expires is Unix time in seconds.
	Expires int64 `json:"expires"`
}

func (a *API) token(c *call) (any, error) {
	if len(c.body) > 0 {
		return nil, bad(errors.New("there is nothing to say: leave the body empty"))
	}
	e := a.Book.lookup(c.id)
	if e == nil {
		return nil, known(ErrUnknown)
	}
	if a.Issuer == nil || !e.Tokens {
		return nil, refuse(http.StatusConflict, "no_tokens", fmt.Errorf("this directory issues no "+
			"tokens for %q: ask at its door, if it has one; its operator starts it with the "+
			"directory's --key", e.Name))
	}
	who, err := a.who(c)
	if err != nil {
		return nil, err
	}
	t, err := a.issue(who, c.from, e, a.Book.keysOf(c.id))
	if err == nil && a.Lobby != nil {
		a.Lobby.expect(e)
	}
	return t, err
}

// keysOf are the fingerprints of the keys that every place of an entry has.
func (b *Book) keysOf(id string) (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[id]
	if e == nil {
		return nil
	}
	first := true
	for _, p := range e.places {
		keys := p.record.Announcement.Keys
		if first {
			out, first = slices.Clone(keys), false
			continue
		}
		out = slices.DeleteFunc(out, func(k string) bool { return !slices.Contains(keys, k) })
	}
	return out
}

// sanctioned says that somebody is banned or muted, if they are.
func (i *Issuer) sanctioned(kind string, who Account, from netip.Addr) error {
	if i == nil || i.Folder == nil {
		return nil
	}
	s := i.Folder.Sanctioned(kind, who.Client, from)
	if s == nil {
		return nil
	}
	code, text := "banned", "you are banned"
	if kind == admin.Mute {
		code, text = "muted", "you are muted"
	}
	if s.Why != "" {
		text += ": " + s.Why
	}
	return refuse(http.StatusForbidden, code, errors.New(text))
}

// issue issues a token for an entry whose places have keys with these fingerprints.
func (a *API) issue(
	who Account, from netip.Addr, e *listed, fingerprints []string,
) (out TokenAnswer, err error) {
	i, now := a.Issuer, a.Book.opt.Wall()
	if err := i.sanctioned(admin.Ban, who, from); err != nil {
		i.log(from, who, e, err.Error())
		return out, err
	}
	keys := i.Keys()
	at := slices.IndexFunc(keys, func(k token.Key) bool {
		return slices.Contains(fingerprints, Fingerprint(k))
	})
	if at < 0 {
		return out, refuse(http.StatusConflict, "no_tokens", fmt.Errorf("%q has none of the keys "+
			"of this directory: its operator gives it the new one", e.Name))
	}
	life := i.Life
	if life == 0 {
		life = time.Minute
	}
	g := token.Grant{Protocol: e.protocol, Client: who.Client, Issued: now,
		Expires: now + int64(life/time.Second)}
	g.Servers = append(g.Servers, e.udp[:min(len(e.udp), token.MaxServers)]...)
	if a.Lobby != nil {
		g.UserData = a.Lobby.receipt(e.ID, who, now)
	}
	t, err := token.Issue(keys[at], g, rand.Reader)
	if err != nil {
		return out, err
	}
	i.log(from, who, e, "ok")
	return TokenAnswer{Game: e.Game, Token: t.Text(), Expires: g.Expires}, nil
}

// who finds out who asks.
func (a *API) who(c *call) (Account, error) {
	kind, bearer, _ := strings.Cut(c.Header.Get("Authorization"), " ")
	if a.Issuer != nil && a.Issuer.Verifier != nil {
		return a.Issuer.verified(c, kind, bearer)
	}
	if a.Lobby == nil || bearer == "" {
		return Account{Client: random() | 1, Name: "-", passing: true}, nil
	}
	client, ok := a.Lobby.anonymous(bearer)
	if !ok || !strings.EqualFold(kind, "Bearer") {
		return Account{}, refuse(http.StatusUnauthorized, "account", errors.New("the secret is "+
			"not one of this directory: get one by POST "+Path+"accounts"))
	}
	return Account{Client: client, Name: "-", anonymous: true}, nil
}

// verified is who the operator's verifier says that it is.
func (i *Issuer) verified(c *call, kind, bearer string) (Account, error) {
	if !strings.EqualFold(kind, "Bearer") || bearer == "" {
		return Account{}, refuse(http.StatusUnauthorized, "account",
			errors.New("say who you are by Authorization: Bearer"))
	}
	who, err := i.Verifier.Verify(c.Context(), bearer)
	if err == nil && who.Client == 0 {
		err = errors.New("the account has no number")
	}
	if err != nil {
		return who, refuse(http.StatusUnauthorized, "account", err)
	}
	return who, nil
}

// log notes who was given a token. It harms nobody if that cannot be written.
func (i *Issuer) log(from netip.Addr, who Account, e *listed, result string) {
	if i.Folder == nil {
		return
	}
	with, _ := json.Marshal(map[string]string{"client": fmt.Sprint(who.Client), "entry": e.ID,
		"game": e.Game}) // it has nothing that cannot be written
	_ = i.Folder.Log(admin.Entry{Who: who.Name, From: from.String(), What: "POST token",
		With: with, Result: result}, false)
}
