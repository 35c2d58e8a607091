package find_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/host/internal/browsertest"
	"github.com/coeval-dev/coeval/service/directory/ask"
	"github.com/coeval-dev/coeval/service/directory/lobby"
)

// TestRoomsPage: somebody makes a room in a page, others come by its code and by its link, they
// talk, one is removed, and the match is at a server that has a page, though another is nearer.
func TestRoomsPage(t *testing.T) {
	b := browsertest.Open(t, 1000, 760, nil)
	key := filepath.Join(t.TempDir(), "servers.key")
	if code, _, errs := try(t, several, "token", "key", "--out", key); code != 0 {
		t.Fatal(errs)
	}
	d := aDirectory(t, "--key", key, "--queue", "pong=2")
	own, _ := aServer(t, d, "Here", "--key", key, "--page", "--client", builtClient(t))
	_, _ = aServer(t, d, "Without a page", "--key", key)
	site := strings.TrimSuffix(strings.Replace(own["ws"], "ws:", "http:", 1), "/coeval")
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	client, err := ask.New(d, nil)
	do(err)
	friend := func() *ask.Member {
		secret, err := client.NewAccount(t.Context())
		do(err)
		return client.As(secret)
	}
	b.Do(chromedp.Navigate(site + "/rooms"))
	b.Until("one can make a room", `!document.getElementById("outside").hidden`)
	b.Do(chromedp.SendKeys("#name", "ann"), chromedp.SendKeys("#title", "Friday"))
	b.Click("#public")
	b.Shot("rooms")
	b.Click("#make button")
	b.Until("one is in the room", `document.querySelectorAll("#members li").length === 1`)
	code := b.Text(`document.getElementById("shown").textContent`)
	if at := b.Text(`location.hash`); at != "#room="+code {
		t.Errorf("the link of the room is %q", at)
	}

	bob, eve := friend(), friend()
	list, err := client.Rooms(t.Context(), "pong")
	if do(err); len(list) != 1 || list[0].Name != "Friday" {
		t.Errorf("rooms: %+v", list)
	}
	for name, who := range map[string]*ask.Member{"<img src=x>": bob, "eve": eve} {
		_, err := who.Join(t.Context(), code, lobby.Profile{Name: name})
		do(err)
	}
	b.Until("the others are there", `document.querySelectorAll("#members li").length === 3`)
	do(bob.Say(t.Context(), code, "hello <i>ann</i>"))
	b.Until("what one says is text", `[...document.querySelectorAll("#chat li")].some(
		l => l.textContent === "<img src=x>hello <i>ann</i>")`)
	b.Until("and so are names", `[...document.querySelectorAll("#members .name")].some(
		n => n.textContent === "<img src=x>") && !document.querySelector("#page img")`)
	b.Do(chromedp.SendKeys("#line", "hello bob\n"))
	b.Until("one's own line is there", `document.querySelectorAll("#chat li").length === 2`)
	yes := true
	do(bob.Set(t.Context(), code, lobby.Me{Ready: &yes}))
	b.Until("bob is ready", `document.querySelector("#members .ready")`)
	b.Shot("room")
	b.Run(`[...document.querySelectorAll("#members li")].find(l => l.textContent.includes("eve"))` +
		`.querySelector("button").id = "remove"`)
	b.Click("#remove")
	b.Until("eve is removed", `document.querySelectorAll("#members li").length === 2`)
	b.Until("all are ready", `document.getElementById("start").textContent === "Start"`)
	b.Click("#start")
	arrive(b, "#loading")
	if at := b.Text(`location.origin`); at != site {
		t.Errorf("the match is at %s", at)
	}
	is, err := bob.Me(t.Context())
	if do(err); is.Start == nil || is.Start.UDP == "" || is.Start.Page != site+"/" {
		t.Errorf("bob goes to %+v", is.Start)
	}
	do(bob.Leave(t.Context(), code))
	byLink(b, site, friend())
}

// byLink has somebody in the browser come to another's room by its link, which is on a phone, and
// wait in the queue.
func byLink(b *browsertest.Tab, site string, host *ask.Member) {
	b.T.Helper()
	must := func(err error) {
		b.T.Helper()
		if err != nil {
			b.T.Fatal(err)
		}
	}
	ctx := context.WithoutCancel(b.T.Context())
	room, err := host.Make(ctx, lobby.Setup{Game: "pong", Teams: 2}, lobby.Profile{Name: "host"})
	must(err)
	b.Do(chromedp.EmulateViewport(390, 780), chromedp.Navigate("about:blank"),
		chromedp.Navigate(site+"/rooms#room="+room.Code))
	b.Until("the link leads into the room", fmt.Sprintf(
		`document.getElementById("shown").textContent === %q`, room.Code))
	b.Click("#ready")
	b.Until("one is ready", `document.querySelector("#members .ready")`)
	b.Choose("#team", "2")
	b.Until("one is in a team", `coevalRooms.is().room.members.some(m => m.team === 2)`)
	b.Shot("room-phone")
	is, err := host.Me(ctx)
	must(err)
	for _, m := range is.Room.Members {
		if m.Client != is.Client {
			must(host.Kick(ctx, room.Code, m.Client))
		}
	}
	b.Until("the page says why one is out",
		`document.getElementById("says").textContent.includes("removed")`)
	b.Click("#queue button")
	b.Until("one waits", `!document.getElementById("waiting").hidden`)
	must(host.Leave(ctx, room.Code))
	must(host.Enqueue(ctx, "pong", "", lobby.Profile{Name: "host"}))
	arrive(b, "#loading")
}
