package ask

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/lobby"
)

// A Member is somebody in the lobby of a directory. What its methods ask for, lobby.Lobby does.
type Member struct {
	client *Client
	bearer string
}

// NewAccount draws an anonymous account, whose secret says who somebody is: keep it.
func (c *Client) NewAccount(ctx context.Context) (secret string, err error) {
	var a struct {
		Secret string `json:"secret"`
	}
	err = c.do(ctx, http.MethodPost, "accounts", "", &a)
	if err == nil && a.Secret == "" {
		err = errors.New("the directory's answer has no account in it")
	}
	return a.Secret, err
}

// As is somebody by the secret of an account, or by the JWT of a backend.
func (c *Client) As(bearer string) *Member { return &Member{c, bearer} }

// Rooms lists the public rooms of a game that have room.
func (c *Client) Rooms(ctx context.Context, game string) (list []lobby.Room, err error) {
	var page struct {
		Rooms []lobby.Room `json:"rooms"`
	}
	err = c.do(ctx, http.MethodGet, "rooms?"+url.Values{"game": {game}}.Encode(), "", &page)
	return page.Rooms, err
}

// Me says where one is. Ask every few seconds: it also says that one is there.
func (m *Member) Me(ctx context.Context) (is lobby.Mine, err error) {
	err = m.client.do(ctx, http.MethodGet, "me", m.bearer, &is)
	return is, err
}

// Make makes a room.
func (m *Member) Make(ctx context.Context, s lobby.Setup, me lobby.Profile) (lobby.Room, error) {
	return m.room(ctx, "rooms", directory.NewRoom{Room: s, Me: me})
}

// Join joins a room by its code.
func (m *Member) Join(ctx context.Context, code string, me lobby.Profile) (lobby.Room, error) {
	return m.room(ctx, in(code, "join"), me)
}

// Set changes what one says of oneself.
func (m *Member) Set(ctx context.Context, code string, me lobby.Me) error {
	return m.post(ctx, in(code, "me"), me, nil)
}

// Leave leaves a room.
func (m *Member) Leave(ctx context.Context, code string) error {
	return m.post(ctx, in(code, "leave"), nil, nil)
}

// Say says a line to the room.
func (m *Member) Say(ctx context.Context, code, line string) error {
	return m.post(ctx, in(code, "chat"), directory.ChatLine{Text: line}, nil)
}

// Kick removes a member, for the host.
func (m *Member) Kick(ctx context.Context, code string, client uint64) error {
	return m.post(ctx, in(code, "kick"), directory.Kick{Member: client}, nil)
}

// Start begins the match, for the host; with anyway, though not everyone is ready.
func (m *Member) Start(ctx context.Context, code string, anyway bool) error {
	return m.post(ctx, in(code, "start"), directory.StartRoom{Anyway: anyway}, nil)
}

// EnqueueRoom has the room wait for others as a party, for the host.
func (m *Member) EnqueueRoom(ctx context.Context, code string) error {
	return m.post(ctx, in(code, "queue"), nil, nil)
}

// Enqueue waits for others, alone.
func (m *Member) Enqueue(ctx context.Context, game, version string, me lobby.Profile) error {
	return m.post(ctx, "queue", directory.QueueUp{Game: game, Version: version, Me: me}, nil)
}

// Dequeue waits no longer.
func (m *Member) Dequeue(ctx context.Context) error {
	return m.post(ctx, "queue/leave", nil, nil)
}

func in(code, what string) string { return "rooms/" + url.PathEscape(code) + "/" + what }

func (m *Member) room(ctx context.Context, name string, body any) (r lobby.Room, err error) {
	err = m.post(ctx, name, body, &r)
	return r, err
}

func (m *Member) post(ctx context.Context, name string, body, into any) error {
	return m.client.send(ctx, http.MethodPost, name, m.bearer, body, into)
}
