// Package ask asks a directory what there is, and for tokens: the part of a player, as package
// announce is that of a server. It compiles no database.
//
//	c, err := ask.New("https://find.example.org", nil)
//	list, err := c.Entries(ctx, ask.Filter{Game: "pong", Room: true})
//	t, err := c.Token(ctx, list[0].ID, "")
//
// A Member is somebody in its lobby. Follow tells where they are, as it happens:
//
//	secret, err := c.NewAccount(ctx)
//	me := c.As(secret)
//	room, err := me.Join(ctx, "KDMQWZ", lobby.Profile{Name: "ann"})
//	err = me.Follow(ctx, func(is lobby.Mine) error { return show(is.Room, is.Start) })
package ask
