package find_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/coeval-dev/coeval/host/internal/browsertest"
	"github.com/coeval-dev/coeval/service/directory/ask"
	"github.com/coeval-dev/coeval/service/directory/lobby"
	"github.com/coeval-dev/coeval/web"
)

// fixedAddress is one that nobody has, of a port that systems give to nobody who wants any: it is
// still free when whoever had it comes back.
func fixedAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		at := fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(10_000))
		l, err := net.Listen("tcp", at)
		if err != nil {
			continue
		}
		c, err := net.ListenPacket("udp", at)
		_ = l.Close()
		if err == nil {
			_ = c.Close()
			return at
		}
	}
	t.Fatal("no port is free")
	return ""
}

// TestRoomsPageTrouble: the directory is not there yet, goes away in the middle and comes back
// without the room; codes are wrong; accounts are not known any more; no server has room. The page
// says what is the matter each time, and goes on.
func TestRoomsPageTrouble(t *testing.T) {
	b := browsertest.Open(t, 360, 740, nil)
	at, store := fixedAddress(t), filepath.Join(t.TempDir(), "d.db")
	client, err := ask.New("http://"+at, nil)
	if err != nil {
		t.Fatal(err)
	}
	up := func() (end func()) {
		_, end = begin(t, "listing", "directory", "--listen", at, "--store", store)
		return end
	}
	site := httptest.NewServer(web.Page(web.Options{Index: "play.html", Game: "pong",
		Servers: &web.Servers{Directory: "http://" + at, Game: "pong"}}))
	t.Cleanup(site.Close)
	says := func(text string) {
		t.Helper()
		b.Until("the page says "+text, fmt.Sprintf(
			`document.getElementById("says").textContent.includes(%q)`, text))
	}
	b.Do(chromedp.Navigate(site.URL + "/rooms#room=QQQQQQ"))
	says("does not answer. It is asked again")
	b.Shot("rooms-away")
	end := up()
	says("there is no room with this code: check the letters")
	b.Until("the wrong code is not in the address", `location.hash === ""`)
	b.Shot("rooms-narrow")
	b.Do(chromedp.SendKeys("#code", "no such code\n"))
	says("there is no room with this code")
	b.Click("#queue button")
	says("--queue GAME=SIZE")
	b.Do(chromedp.SendKeys("#name", "ann"))
	b.Click("#make button")
	b.Until("a room is made", `!document.getElementById("inside").hidden`)
	b.Until("nothing is wrong any more", `document.getElementById("says").hidden`)
	b.Click("#start")
	says("no server of this game has room for all")
	b.Shot("room-narrow")

	// Another comes and talks while the page is cut off by a directory that is started anew: it has
	// no rooms then, and the page says so, and is somebody as before.
	was := b.Text(`coevalRooms.is().client`)
	end()
	says("does not answer. It is asked again")
	b.Do(chromedp.SendKeys("#line", "hello?\n"))
	b.Until("a line that could not be said is not lost",
		`document.getElementById("line").value === "hello?"`)
	end = up()
	says("the directory was started anew")
	b.Until("one can make another room", `!document.getElementById("outside").hidden`)
	if is := b.Text(`coevalRooms.is().client`); is != was {
		t.Errorf("after a restart the tab is %s, and was %s", is, was)
	}

	// An account that the directory does not know any more is replaced; what somebody is sent with
	// is not, as another would be a stranger to those who sent them.
	secret, err := client.NewAccount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	room, err := client.As(secret).Make(t.Context(), lobby.Setup{Game: "pong", Public: true,
		Name: `"><script>document.title = "taken over"</script>`}, lobby.Profile{Name: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	b.Until("the public room is listed", `document.querySelector("#rooms button")`)
	b.Run(`sessionStorage.setItem("coeval.account", "anon.AAAA")`)
	b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(site.URL+"/rooms"))
	b.Until("the room is listed for somebody new", `document.querySelector("#rooms button")`)
	if title := b.Text(`document.title`); title != "coeval pong" {
		t.Errorf("the title is %q", title)
	}
	b.Click("#rooms button")
	b.Until("one is in the room", fmt.Sprintf(
		`document.getElementById("shown").textContent === %q`, room.Code))
	b.Until("what the other says of themselves is text", `
		document.getElementById("called").textContent.startsWith('"><script>')`)
	b.Do(chromedp.Navigate("about:blank"),
		chromedp.Navigate(site.URL+"/rooms#account=header.expired.signature&room="+room.Code))
	says("come again from where you signed in")
	end()
}
