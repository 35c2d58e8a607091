package lobby

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// A Setup is what a host says of a room.
type Setup struct {
	Game    string `json:"game"`
	Version string `json:"version,omitempty"`
	Level   string `json:"level,omitempty"`
	Name    string `json:"name,omitempty"`
	// Public rooms are listed.
	Public bool `json:"public,omitempty"`
	// Most is how many may be in it. Default: 16. Teams is how many teams there are, or none.
	Most  int `json:"most,omitempty"`
	Teams int `json:"teams,omitempty"`
}

// Limits of rooms.
const (
	MaxMembers = 64
	MaxTeams   = 8
	MaxLine    = 200 // bytes of a line of chat
	mostLines  = 32  // that a room remembers
	mostKicked = 256
)

// The states of rooms.
const (
	Open     = "open"
	Waiting  = "waiting"  // in a queue, all together
	Starting = "starting" // a server is being found
)

// A Member is somebody in a room.
type Member struct {
	Player
	Ready bool `json:"ready"`
	Team  int  `json:"team"` // from 1, or 0 for none
}

// A Line is one of chat. Number counts those of a room, from 1: so nobody takes one twice who hears
// it, and finds it in the room as well.
type Line struct {
	Number int    `json:"number"`
	From   uint64 `json:"from,string"`
	Name   string `json:"name"`
	Text   string `json:"text"`
}

// A Room is a room as it is seen at one moment.
type Room struct {
	Code string `json:"code"`
	Setup
	State   string   `json:"state"`
	Host    uint64   `json:"host,string"`
	Size    int      `json:"size"`
	Members []Member `json:"members,omitempty"` // only members see them, and the chat
	Chat    []Line   `json:"chat,omitempty"`
	// Why is why the last start failed, if it did.
	Why string `json:"why,omitempty"`
}

// A room is one that is there. Its first member is the host; it always has one.
type room struct {
	Setup
	code    string
	members []*member // in the order in which they came
	lines   []Line
	said    int // lines so far
	kicked  []uint64
	sources []netip.Addr // of those kicked who have no account
	unit    *unit        // while it waits
	order   uint64       // while it starts
	why     string
}

type member struct {
	*person
	ready bool
	team  int
}

func (r *room) state() string {
	switch {
	case r.order != 0:
		return Starting
	case r.unit != nil:
		return Waiting
	}
	return Open
}

func (r *room) view(inside bool) *Room {
	v := &Room{Code: r.code, Setup: r.Setup, State: r.state(), Host: r.members[0].Client,
		Size: len(r.members)}
	if !inside {
		return v
	}
	v.Why, v.Chat = r.why, slices.Clone(r.lines)
	for _, m := range r.members {
		v.Members = append(v.Members, Member{m.Player, m.ready, m.team})
	}
	return v
}

func (r *room) everyone() (out []uint64) {
	for _, m := range r.members {
		out = append(out, m.Client)
	}
	return out
}

func (r *room) find(client uint64) *member {
	for _, m := range r.members {
		if m.Client == client {
			return m
		}
	}
	return nil
}

// changed tells everyone in a room how it is.
func (l *Lobby) changed(r *room) *Room {
	v := r.view(true)
	l.tell(r.everyone(), v)
	return v
}

// check brings a setup within its limits, or says what is wrong with it.
func (s *Setup) check() error {
	if s.Most = cmp.Or(s.Most, 16); s.Most < 1 || s.Most > MaxMembers {
		return refuse("bad_request", fmt.Sprintf("most is %d: a room has from 1 to %d members",
			s.Most, MaxMembers))
	}
	if s.Teams < 0 || s.Teams > MaxTeams {
		return refuse("bad_request", fmt.Sprintf("teams is %d: there are from 0 to %d", s.Teams,
			MaxTeams))
	}
	return nil
}

// Make makes a room, whose host is whoever asks.
func (l *Lobby) Make(now time.Duration, w Who, s Setup, me Profile) (*Room, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	p, err := l.enter(now, w)
	if err != nil {
		return nil, err
	}
	switch {
	case p.room != nil:
		return nil, errInRoom
	case p.unit != nil:
		return nil, errInQueue
	case len(l.rooms) >= l.opt.MostRooms:
		return nil, errFull
	}
	p.Profile = me
	r := &room{Setup: s, code: l.draw()}
	l.rooms[r.code] = r
	l.counts.Made++
	return l.put(r, p), nil
}

// put has somebody be in a room.
func (l *Lobby) put(r *room, p *person) *Room {
	p.room = r
	m := &member{person: p}
	if r.Teams > 0 {
		m.team = r.smallest()
	}
	r.members = append(r.members, m)
	l.counts.Joined++
	return l.changed(r)
}

// smallest is the team with the fewest members.
func (r *room) smallest() int {
	n := make([]int, r.Teams+1)
	for _, m := range r.members {
		if m.team <= r.Teams {
			n[m.team]++
		}
	}
	best := 1
	for t := 2; t <= r.Teams; t++ {
		if n[t] < n[best] {
			best = t
		}
	}
	return best
}

// Look gives a room as those see it who are not in it.
func (l *Lobby) Look(code string) (*Room, error) {
	if r := l.rooms[code]; r != nil {
		return r.view(false), nil
	}
	return nil, ErrCode
}

// Join has somebody be in a room. Whoever is in it already stays.
func (l *Lobby) Join(now time.Duration, w Who, code string, me Profile) (*Room, error) {
	r := l.rooms[code]
	if r == nil {
		return nil, ErrCode
	}
	if slices.Contains(r.kicked, w.Client) || w.Anonymous && slices.Contains(r.sources, w.From) &&
		r.find(w.Client) == nil {
		return nil, errKicked
	}
	p, err := l.enter(now, w)
	if err != nil {
		return nil, err
	}
	switch {
	case p.room == r:
		p.Profile = me
		return l.changed(r), nil
	case p.room != nil:
		return nil, errInRoom
	case p.unit != nil:
		return nil, errInQueue
	case r.order != 0 || r.unit != nil:
		return nil, errBusy
	case len(r.members) >= r.Most:
		return nil, errClosed
	}
	p.Profile = me
	return l.put(r, p), nil
}

// in finds a room and somebody in it.
func (l *Lobby) in(now time.Duration, w Who, code string) (*room, *member, error) {
	r := l.rooms[code]
	if r == nil {
		return nil, nil, ErrCode
	}
	m := r.find(w.Client)
	if m == nil {
		return nil, nil, errNotIn
	}
	l.move(m.person, w.From)
	m.heard = now
	return r, m, nil
}

func (l *Lobby) asHost(now time.Duration, w Who, code string) (*room, *member, error) {
	r, m, err := l.in(now, w, code)
	if err == nil && r.members[0] != m {
		err = errNotHost
	}
	return r, m, err
}

// Leave takes somebody out of a room.
func (l *Lobby) Leave(now time.Duration, w Who, code string) error {
	_, m, err := l.in(now, w, code)
	if err == nil {
		l.leave(now, m.person, "left")
	}
	return err
}

// leave takes somebody out of their room. A room that waits in a queue does so no more, as those
// who wait are others now; one whose last member leaves is gone.
func (l *Lobby) leave(now time.Duration, p *person, why string) {
	r := p.room
	if r.unit != nil {
		l.unqueue(now, p)
	}
	r.members = slices.DeleteFunc(r.members, func(m *member) bool { return m.person == p })
	p.room = nil
	l.tell([]uint64{p.Client}, Out{r.code, why})
	if len(r.members) == 0 {
		delete(l.rooms, r.code)
		return
	}
	l.changed(r)
}

// Kick takes somebody out of a room for good.
func (l *Lobby) Kick(now time.Duration, w Who, code string, whom uint64) (*Room, error) {
	r, host, err := l.asHost(now, w, code)
	if err != nil {
		return nil, err
	}
	m := r.find(whom)
	switch {
	case m == nil:
		return nil, errLeaves
	case m == host:
		return nil, refuse("bad_request", "you cannot remove yourself: leave the room")
	case len(r.kicked) >= mostKicked:
		return nil, refuse("full", "too many were removed from this room: make another")
	}
	r.kicked = append(r.kicked, whom)
	l.counts.Kicked++
	l.leave(now, m.person, "kicked")
	// Whoever has no account could come back as somebody else, unless friends share the address.
	if m.anonymous && !m.From.IsLoopback() &&
		!slices.ContainsFunc(r.members, func(o *member) bool { return o.From == m.From }) {
		r.sources = append(r.sources, m.From)
	}
	return r.view(true), nil
}

// Me is what members change of themselves. What is nil stays.
type Me struct {
	Ready *bool          `json:"ready,omitempty"`
	Team  *int           `json:"team,omitempty"`
	Name  *string        `json:"name,omitempty"`
	Trips map[string]int `json:"trips,omitempty"`
	Skill *int           `json:"skill,omitempty"`
	Data  *string        `json:"data,omitempty"`
}

// Set changes what a member says of themselves.
func (l *Lobby) Set(now time.Duration, w Who, code string, me Me) (*Room, error) {
	r, m, err := l.in(now, w, code)
	if err != nil {
		return nil, err
	}
	if me.Team != nil && (*me.Team < 0 || *me.Team > r.Teams) {
		return nil, refuse("bad_request", fmt.Sprintf("team is %d: this room has %d teams, "+
			"numbered from 1", *me.Team, r.Teams))
	}
	set(&m.ready, me.Ready)
	set(&m.team, me.Team)
	set(&m.Name, me.Name)
	set(&m.Skill, me.Skill)
	set(&m.Data, me.Data)
	if me.Trips != nil {
		m.Trips = me.Trips
	}
	return l.changed(r), nil
}

func set[T any](is *T, to *T) {
	if to != nil {
		*is = *to
	}
}

// Change changes what the host says of the room. Nobody is ready for what they have not seen.
func (l *Lobby) Change(now time.Duration, w Who, code string, s Setup) (*Room, error) {
	r, _, err := l.asHost(now, w, code)
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	switch {
	case r.state() != Open:
		return nil, errBusy
	case s.Game != r.Game || s.Version != r.Version:
		return nil, refuse("bad_request", "a room stays one of its game: make another")
	case s.Most < len(r.members):
		return nil, refuse("bad_request", "more are in the room than that: remove some first")
	}
	r.Setup = s
	for _, m := range r.members {
		if m.ready = false; m.team > s.Teams {
			m.team = 0
		}
	}
	return l.changed(r), nil
}

// Say says a line to everyone in a room.
func (l *Lobby) Say(now time.Duration, w Who, code, text string) error {
	r, m, err := l.in(now, w, code)
	if err != nil {
		return err
	}
	if !m.chat.pass(now) {
		return errFast
	}
	r.said++
	line := Line{r.said, m.Client, m.Name, text}
	if len(r.lines) == mostLines {
		r.lines = slices.Delete(r.lines, 0, 1)
	}
	r.lines = append(r.lines, line)
	l.tell(r.everyone(), line)
	return nil
}

// A bucket has what somebody may still say: five lines, and one more each second.
type bucket struct {
	used time.Duration // when the last line that was said will be forgotten
}

const perLine, mostAtOnce = time.Second, 5

func (b *bucket) pass(now time.Duration) bool {
	from := max(b.used, now)
	if from-now > (mostAtOnce-1)*perLine {
		return false
	}
	b.used = from + perLine
	return true
}

// List gives public rooms of a game that have room, or of all games: the fullest first.
func (l *Lobby) List(game, version string, most int) []*Room {
	var all []*room
	for _, r := range l.rooms {
		if r.Public && (game == "" || r.Game == game) && (version == "" || r.Version == version) &&
			r.state() == Open && len(r.members) < r.Most {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *room) int {
		return cmp.Or(len(b.members)-len(a.members), cmp.Compare(a.code, b.code))
	})
	out := []*Room{}
	for _, r := range all[:min(len(all), most)] {
		out = append(out, r.view(false))
	}
	return out
}
