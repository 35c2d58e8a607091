package admin_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"time"

	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/mem"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/topology/server"
)

// A server with an API for operators, and an operator who lets the world stand still. A real program
// serves the API over TLS, or to its own machine alone; host.Serve does all of it.
func Example() {
	dir, err := os.MkdirTemp("", "admin")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	folder, err := admin.OpenFolder(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	secret, token, err := folder.MakeToken(admin.Operate, "ada", time.Hour)
	if err != nil {
		fmt.Println(err)
		return
	}
	inside, _ := mem.NewHub(mem.Options{}).Open(netip.AddrPort{})
	o := server.Options{Title: pong.Title, Links: []link.Link{inside}}
	folder.Enforce(&o.Rules) // bans count at the door
	s, err := server.New(o)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error)
	go func() { over <- s.Run(ctx) }()
	site := httptest.NewServer(admin.New(folder, admin.Game{
		Title: pong.Title, Do: s.Do, Server: func() *server.Server { return s },
	}, nil))
	u, _ := url.Parse(site.URL)
	client := admin.Client{URL: u, Secret: secret}
	var answer admin.Paused
	err = client.Post(ctx, "pause", admin.PauseRequest{Why: "a phone rings"}, &answer)
	fmt.Println(token.Name, "may", token.Role, "and pauses:", answer.Paused, err)

	site.Close()
	stop()
	fmt.Println(<-over, s.Close())
	// Output:
	// ada may operate and pauses: true <nil>
	// <nil> <nil>
}
