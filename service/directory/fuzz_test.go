package directory_test

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"testing"
	"unicode/utf8"

	"github.com/coeval-dev/coeval/service/directory"
)

// FuzzAnnouncement: whatever is announced is refused, or has texts that can be shown, numbers
// within their ranges and addresses that can be reached, and stays so when it is written and read
// again.
func FuzzAnnouncement(f *testing.F) {
	good, err := json.Marshal(newSpeaker(1).says)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"key":"","seq":1e99}`))
	f.Add([]byte(`{"game":"g","mode":"relay","name":"n","addresses":{"ws":"ws://:80/x"}} x`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var a, b directory.Announcement
		if directory.Decode(data, &a) != nil || a.Check() != nil || a.Fill() != nil {
			return
		}
		if !utf8.ValidString(a.Name) || a.Players < 0 || a.Players > a.Capacity ||
			a.Capacity > directory.MaxCapacity {
			t.Fatalf("%+v", a)
		}
		if at, err := netip.ParseAddrPort(a.Addresses.UDP); a.Addresses.UDP != "" &&
			(err != nil || at.Port() == 0 || at.Addr().IsUnspecified()) {
			t.Fatalf("%+v", a)
		}
		text, err := json.Marshal(a)
		must(t, err)
		must(t, directory.Decode(text, &b))
		must(t, b.Check())
		must(t, b.Fill())
	})
}

// FuzzQuestion: no URL makes it panic.
func FuzzQuestion(f *testing.F) {
	f.Add("game=tanks&sort=name&limit=3&after=MDA&tag=a&tag=b&room=true")
	f.Fuzz(func(t *testing.T, text string) {
		if q, err := url.ParseQuery(text); err == nil {
			_, _ = directory.ParseQuestion(q, true)
		}
	})
}
