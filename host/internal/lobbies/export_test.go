package lobbies

import (
	"context"
	"io"

	"github.com/coeval-dev/coeval/service/directory/ask"
	"github.com/coeval-dev/coeval/service/directory/lobby"
)

// A Guest is somebody in a room, whose lines a test types.
type Guest struct{ g *gathering }

// NewGuest has somebody join a room, or make one without a code.
func NewGuest(
	ctx context.Context, c *ask.Client, name, code string, out io.Writer,
) (*Guest, error) {
	secret, err := c.NewAccount(ctx)
	if err != nil {
		return nil, err
	}
	f := &flags{directory: c, member: c.As(secret), code: code}
	f.me = lobby.Profile{Name: name}
	if code == "" {
		r, err := f.member.Make(ctx, lobby.Setup{Game: "pong", Teams: 2}, f.me)
		f.code = r.Code
		return &Guest{&gathering{flags: f, out: out}}, err
	}
	_, err = f.member.Join(ctx, code, f.me)
	return &Guest{&gathering{flags: f, out: out}}, err
}

// Code is the room's.
func (x *Guest) Code() string { return x.g.code }

// Type does what somebody types.
func (x *Guest) Type(ctx context.Context, line string) (bool, error) { return x.g.do(ctx, line) }

// Look tells what is new.
func (x *Guest) Look(ctx context.Context) error {
	is, err := x.g.member.Me(ctx)
	_, err = x.g.take(ctx, &report{is, err})
	return err
}

// Attend tells what is new as the command does, until the context ends.
func (x *Guest) Attend(ctx context.Context) error {
	_, err := x.g.attend(ctx)
	return err
}
