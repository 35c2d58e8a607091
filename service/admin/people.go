package admin

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// A Person is someone who has a seat, as the API lists them. The JSON names stay.
type Person struct {
	// Client is the account: the number in the token. As JSON it is a text, since it has 64 bits.
	Client uint64 `json:"client,string"`
	Player uint16 `json:"player"` // in the world; 0 for who only watches
	Name   string `json:"name"`
	Kind   string `json:"kind"`              // player or spectator
	Away   bool   `json:"away"`              // without a connection; the seat is kept
	Muted  bool   `json:"muted"`             //
	From   string `json:"address,omitempty"` // for moderators
	// Of the connection: milliseconds, shares of packets, bytes since it began, bytes a second.
	RoundTrip float64 `json:"round_trip_ms"`
	Jitter    float64 `json:"jitter_ms"`
	LossIn    float64 `json:"loss_in"`
	LossOut   float64 `json:"loss_out"`
	Sent      uint64  `json:"sent_bytes"`
	Received  uint64  `json:"received_bytes"`
	Rate      int     `json:"rate"`
	// Of the client's prediction, as it says itself: ticks ahead of the newest snapshot, ticks
	// computed again in a second, and which share of its time all of that takes.
	Ahead     float64 `json:"ahead_ticks"`
	Predicted int     `json:"predicted_again"`
	Busy      float64 `json:"busy"`
}

// People are the answer to who is there.
type People struct {
	Most    int      `json:"most_players"`
	Players []Person `json:"people"`
}

// person describes a seat.
func (a *API) person(s *server.Seat, role Role) Person {
	q, l, f := s.Quality(), s.Ledger(), s.Predicts()
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	p := Person{
		Client: s.Client, Player: uint16(s.Player), Name: s.Name, Kind: "player", Away: s.Away(),
		RoundTrip: ms(q.RoundTrip), Jitter: ms(q.Jitter), LossIn: q.LossIn, LossOut: q.LossOut,
		Sent: l.Total(), Received: l.Received, Rate: q.Rate,
		Ahead: float64(f.Ahead) / 16, Predicted: int(f.Again), Busy: f.Share(),
		Muted: a.folder.Sanctioned(Mute, s.Client, s.Addr().Addr()) != nil,
	}
	if s.Spectator() {
		p.Kind = "spectator"
	}
	if at := s.Addr(); at.IsValid() && role >= Moderate {
		p.From = at.String()
	}
	return p
}

func (a *API) players(c *call) (any, error) {
	out := People{Players: []Person{}}
	err := a.with(c, func(s *server.Server) error {
		out.Most = s.MostPlayers()
		for seat := range s.Seats {
			out.Players = append(out.Players, a.person(seat, c.token.Role))
		}
		return nil
	})
	slices.SortFunc(out.Players, func(x, y Person) int {
		return cmp.Or(-cmp.Compare(min(x.Player, 1), min(y.Player, 1)),
			cmp.Compare(x.Player, y.Player), cmp.Compare(x.Client, y.Client))
	})
	return out, err
}

// pick finds whom a text means: player:3, client:42, a number of a player or an account, or a name.
func pick(s *server.Server, who string) (*server.Seat, error) {
	if who == "" {
		return nil, bad(fmt.Errorf("say who: the number of a player, client: and an account, or a name"))
	}
	kind, rest, named := strings.Cut(who, ":")
	if !named || kind != "player" && kind != "client" {
		kind, rest = "", who
	}
	if n, err := strconv.ParseUint(rest, 10, 64); err == nil {
		if n < 1<<16 && kind != "client" {
			if seat := s.SeatOf(world.Player(n)); seat != nil && n > 0 {
				return seat, nil
			}
		}
		if seat := s.Seat(n); seat != nil && kind != "player" {
			return seat, nil
		}
	}
	var found []*server.Seat
	for _, same := range []func(string) bool{
		func(name string) bool { return name == who },
		func(name string) bool { return strings.EqualFold(name, who) },
	} {
		for seat := range s.Seats {
			if kind == "" && same(seat.Name) {
				found = append(found, seat)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, refuse(http.StatusNotFound, "nobody", "there is nobody called %.60q here; "+
			"players says who there is", who)
	}
	var list []string
	for _, seat := range found {
		list = append(list, fmt.Sprintf("client:%d", seat.Client))
	}
	slices.Sort(list)
	return nil, refuse(http.StatusConflict, "several", "%d are called %.60q: name one of %s",
		len(found), who, strings.Join(list, ", "))
}

// checkLine says what is wrong with a text that people are told.
func checkLine(what, text string, most int) error {
	if len(text) > most || !plain(text) {
		return bad(fmt.Errorf("%s must be one line of at most %d bytes", what, most))
	}
	return nil
}

// KickRequest asks to throw someone out. Nothing keeps them from coming back; see BanRequest.
type KickRequest struct {
	Who string `json:"who"`
	Why string `json:"why,omitempty"` // which they are told
}

// A Done is the answer to what was done to people.
type Done struct {
	People    []Person   `json:"people"`
	Sanctions []Sanction `json:"sanctions,omitempty"`
}

func (a *API) kick(c *call) (any, error) {
	var q KickRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	if err := checkLine("the reason", q.Why, mostWhy); err != nil {
		return nil, err
	}
	out := Done{}
	err := a.with(c, func(s *server.Server) error {
		seat, err := pick(s, q.Who)
		if err != nil {
			return err
		}
		out.People = append(out.People, a.person(seat, c.token.Role))
		s.Kick(seat, q.Why)
		return nil
	})
	return out, err
}

// SanctionRequest asks to ban or mute: someone who is here, an account, or whoever comes from an
// address or network.
type SanctionRequest struct {
	// Who is somebody who is here, or client: and an account. WithAddress also keeps out their
	// address, where that is known.
	Who         string `json:"who,omitempty"`
	WithAddress bool   `json:"with_address,omitempty"`
	// Network is an address, or a network such as 203.0.113.0/24.
	Network string `json:"network,omitempty"`
	// For is how long, such as 24h; nothing is for ever.
	For string `json:"for,omitempty"`
	Why string `json:"why,omitempty"`
}

// The shortest networks that may be banned: wider ones are a mistake.
const (
	widest4 = 8
	widest6 = 16
)

// sanctions reads a request.
func (a *API) sanctions(c *call, kind string) (q SanctionRequest, like Sanction, err error) {
	if err = c.decode(&q); err != nil {
		return q, like, err
	}
	if err = checkLine("the reason", q.Why, mostWhy); err != nil {
		return q, like, err
	}
	like = Sanction{Kind: kind, Why: q.Why, By: c.token.Name}
	if q.For != "" {
		d, err := ParseTime(q.For)
		if err != nil {
			return q, like, bad(err)
		}
		like.Until = a.folder.now().Add(d)
	}
	if (q.Who == "") == (q.Network == "") {
		return q, like, bad(fmt.Errorf("say who, or which network: one of them"))
	}
	if q.Network != "" {
		like.Network, err = ParseNetwork(q.Network)
		if err != nil {
			return q, like, bad(err)
		}
		least := widest4
		if like.Network.Addr().Is6() {
			least = widest6
		}
		if like.Network.Bits() < least {
			return q, like, bad(fmt.Errorf("%v is half the world: name a network of at least /%d",
				like.Network, least))
		}
	}
	return q, like, nil
}

// ParseTime reads how long something lasts: as Go does (90m), or in days (7d).
func ParseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok && err != nil {
		var n int
		if n, err = strconv.Atoi(days); err == nil && n <= 36500 {
			d = time.Duration(n) * 24 * time.Hour
		}
	}
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%.40q is no time: write one such as 30m, 24h or 7d, above zero", text)
	}
	return d, nil
}

// sanction bans or mutes.
func (a *API) sanction(c *call, kind string) (any, error) {
	q, like, err := a.sanctions(c, kind)
	if err != nil {
		return nil, err
	}
	add := []Sanction{like}
	if q.Who != "" {
		if add, err = a.against(c, q, like); err != nil {
			return nil, err
		}
	}
	out := Done{People: []Person{}}
	if out.Sanctions, err = a.folder.AddSanctions(add...); err != nil {
		return nil, err
	}
	// It counts; those who are here hear of it.
	err = a.with(c, func(s *server.Server) error {
		for _, seat := range slices.Collect(s.Seats) {
			x := a.folder.Sanctioned(kind, seat.Client, seat.Addr().Addr())
			if x == nil || !slices.ContainsFunc(out.Sanctions,
				func(n Sanction) bool { return n.ID == x.ID }) {
				continue
			}
			out.People = append(out.People, a.person(seat, c.token.Role))
			if kind == Ban {
				s.Kick(seat, x.text())
			} else {
				s.NoticeTo(seat, x.text())
			}
		}
		return nil
	})
	return out, err
}

// against are the sanctions against someone: who is here, or an account that is not.
func (a *API) against(c *call, q SanctionRequest, like Sanction) (list []Sanction, err error) {
	var from netip.Addr
	err = a.with(c, func(s *server.Server) error {
		seat, err := pick(s, q.Who)
		if err == nil {
			like.Client, like.Name, from = seat.Client, seat.Name, seat.Addr().Addr()
			if !plain(like.Name) {
				like.Name = "" // names are the players' own
			}
		}
		return err
	})
	account, named := strings.CutPrefix(q.Who, "client:")
	if n, e := strconv.ParseUint(account, 10, 64); err != nil && named && e == nil && n > 0 {
		like.Client, err = n, nil
	}
	if err != nil {
		return nil, err
	}
	list = []Sanction{like}
	if q.WithAddress {
		if !from.IsValid() {
			return nil, refuse(http.StatusConflict, "no_address",
				"%.60q has no connection, so no address: give the network itself", q.Who)
		}
		like.Client, like.Network = 0, netip.PrefixFrom(from.Unmap(), from.Unmap().BitLen())
		if like.Network.Addr().Is6() { // a person has a network of them
			like.Network = netip.PrefixFrom(from, 64).Masked()
		}
		list = append(list, like)
	}
	return list, nil
}

func (a *API) ban(c *call) (any, error)  { return a.sanction(c, Ban) }
func (a *API) mute(c *call) (any, error) { return a.sanction(c, Mute) }

// LiftRequest asks to end bans or mutes: by their number, client: and an account, or a network.
type LiftRequest struct {
	Which string `json:"which"`
}

func (a *API) lift(c *call, kind string) (any, error) {
	var q LiftRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	which := q.Which
	if kind == Mute { // who is here may be named
		_ = a.with(c, func(s *server.Server) error {
			if seat, err := pick(s, which); err == nil {
				which = fmt.Sprintf("client:%d", seat.Client)
			}
			return nil
		})
	}
	gone, err := a.folder.Lift(kind, which)
	if err != nil && which != q.Which {
		gone, err = a.folder.Lift(kind, q.Which)
	}
	if err != nil {
		return nil, refuse(http.StatusNotFound, "not_found", "%v: GET bans lists them", err)
	}
	return Done{People: []Person{}, Sanctions: gone}, nil
}

func (a *API) unban(c *call) (any, error)  { return a.lift(c, Ban) }
func (a *API) unmute(c *call) (any, error) { return a.lift(c, Mute) }

// Sanctions are the answer to who is banned or muted.
type Sanctions struct {
	Sanctions []Sanction `json:"sanctions"`
}

func (a *API) bans(*call) (any, error) {
	list := a.folder.Sanctions()
	if list == nil {
		list = []Sanction{}
	}
	return Sanctions{list}, nil
}

// MessageRequest asks to tell everyone something, or one person.
type MessageRequest struct {
	Text string `json:"text"`
	Who  string `json:"who,omitempty"` // nobody is everyone
}

// A Told is the answer: how many were told.
type Told struct {
	Told int `json:"told"`
}

func (a *API) message(c *call) (any, error) {
	var q MessageRequest
	if err := c.decode(&q); err != nil {
		return nil, err
	}
	if q.Text == "" {
		return nil, bad(fmt.Errorf("there is no text"))
	}
	if err := checkLine("the text", q.Text, wire.MaxText); err != nil {
		return nil, err
	}
	out := Told{}
	err := a.with(c, func(s *server.Server) error {
		if q.Who == "" {
			s.Notice(q.Text)
			p := s.Population()
			out.Told = p.Players + p.Spectators
			return nil
		}
		seat, err := pick(s, q.Who)
		if err != nil {
			return err
		}
		if seat.Away() {
			return refuse(http.StatusConflict, "away", "%.60q is away and hears nothing", q.Who)
		}
		s.NoticeTo(seat, q.Text)
		out.Told = 1
		return nil
	})
	return out, err
}
