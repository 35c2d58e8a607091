package admin

import (
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestDamagedFolder: what is damaged, of another version or open to others is refused with what to
// do, and stays as it is.
func TestDamagedFolder(t *testing.T) {
	for _, x := range []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{tokensName, "{", 0o600, "put a copy in its place"},
		{tokensName, `{"version":2,"tokens":[]}`, 0o600, "use the program that wrote it"},
		{tokensName, `{"version":1,"tokens":[{"id":"a","name":"b","role":"watch","sha256":"00",` +
			`"made":"2026-01-01T00:00:00Z"}]}`, 0o600, "token 1"},
		{tokensName, `{"version":1,"tokens":[]}`, 0o644, "chmod 600"},
		{sanctionsName, `{"version":1,"next":1,"sanctions":[{}]}`, 0o600, "entry 1"},
		{sanctionsName, `{"version":9}`, 0o600, "version 9"},
		{sanctionsName, `{"version":1,"next":1,"sanctions":[{"id":1,"kind":"ban","network":` +
			`"10.0.0.1/8","by":"a","made":"2026-01-01T00:00:00Z"}]}`, 0o600, "its own bits"},
	} {
		if runtime.GOOS == "windows" && x.mode != 0o600 {
			continue
		}
		dir := newDir(t)
		f, err := OpenFolder(dir)
		must(t, err)
		must(t, os.WriteFile(f.at(x.name), []byte(x.text), x.mode))
		must(t, os.Chmod(f.at(x.name), x.mode))
		_, err = OpenFolder(dir)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.text, err, x.want)
		}
		if text, _ := os.ReadFile(f.at(x.name)); string(text) != x.text {
			t.Errorf("%s has become %s", x.text, text)
		}
	}
	dir := newDir(t)
	must(t, os.Mkdir(dir, 0o755))
	if _, err := OpenFolder(dir); runtime.GOOS != "windows" && (err == nil ||
		!strings.Contains(err.Error(), "chmod 700")) {
		t.Error(err)
	}
}

// TestAudit: lines are whole and in order whoever writes them at the same time, and one that a
// crash has torn spoils no other.
func TestAudit(t *testing.T) {
	f, err := OpenFolder(newDir(t))
	must(t, err)
	must(t, f.Log(Entry{Who: "first", What: "begin", Result: "ok"}, true))
	file, err := os.OpenFile(f.at(auditName), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = file.WriteString(`{"at":"2026-`)
	must(t, err)
	must(t, file.Close())
	other, err := OpenFolder(f.dir)
	must(t, err)
	var all sync.WaitGroup
	for i := range 4 {
		by := []*Folder{f, other}[i%2]
		all.Go(func() {
			for n := range 20 {
				_ = by.Log(Entry{Who: fmt.Sprint(i), What: "try", Result: fmt.Sprint(n),
					With: []byte(`{"a":1}`)}, false)
			}
		})
	}
	all.Wait()
	list, err := f.Logged(1000)
	if err != nil || len(list) != 81 || list[0].Who != "first" ||
		string(list[7].With) != `{"a":1}` {
		t.Errorf("%d entries, %v", len(list), err)
	}
	if list, _ := f.Logged(3); len(list) != 3 || list[2].What != "try" {
		t.Errorf("%v", list)
	}
	next := map[string]int{}
	for _, e := range list[1:] {
		if e.Result != fmt.Sprint(next[e.Who]) {
			t.Errorf("%s: %s, want %d", e.Who, e.Result, next[e.Who])
		}
		next[e.Who]++
	}
	if runtime.GOOS == "windows" {
		return
	}
	info, err := os.Stat(f.at(auditName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestSanctionsInFull: those of the same person take each other's place, those that are over are
// forgotten, and none is added that cannot be kept.
func TestSanctionsInFull(t *testing.T) {
	f, err := OpenFolder(newDir(t))
	must(t, err)
	now := time.Now()
	f.now = func() time.Time { return now }
	for range 3 {
		_, err = f.AddSanctions(Sanction{Kind: Ban, Client: 1, Until: now.Add(time.Minute)})
		must(t, err)
	}
	if list := f.Sanctions(); len(list) != 1 || list[0].ID != 3 {
		t.Errorf("%+v", list)
	}
	now = now.Add(time.Hour)
	_, err = f.AddSanctions(Sanction{Kind: Mute, Network: netip.MustParsePrefix("2001:db8::/64")})
	must(t, err)
	again, err := OpenFolder(f.dir)
	must(t, err)
	if len(again.Sanctions()) != 1 || again.Sanctions()[0].ID != 4 || again.Sanctioned(Mute, 7,
		netip.MustParseAddr("2001:db8::9%eth0")) == nil || again.Sanctioned(Mute, 7,
		netip.MustParseAddr("2001:db8:1::9")) != nil {
		t.Errorf("%+v", again.Sanctions())
	}
	// what another program adds is not lost, and counts when the folder is looked at again
	_, err = again.AddSanctions(Sanction{Kind: Ban, Client: 8})
	must(t, err)
	_, err = f.AddSanctions(Sanction{Kind: Ban, Client: 9})
	must(t, err)
	must(t, again.Reload())
	if f.Sanctioned(Ban, 8, netip.Addr{}) == nil || again.Sanctioned(Ban, 9, netip.Addr{}) == nil {
		t.Errorf("%+v, %+v", f.Sanctions(), again.Sanctions())
	}
	many := make([]Sanction, mostSanctions)
	for i := range many {
		many[i] = Sanction{ID: uint64(i + 1), Kind: Ban, Client: uint64(i + 100)}
	}
	must(t, f.setSanctions(many, mostSanctions+1))
	if _, err := f.AddSanctions(Sanction{Kind: Ban, Client: 2}); err == nil {
		t.Error("there is no end to them")
	}
	must(t, os.RemoveAll(f.dir))
	if _, err := f.AddSanctions(Sanction{Kind: Ban, Client: 2}); err == nil ||
		f.Sanctioned(Ban, 2, netip.Addr{}) != nil {
		t.Errorf("what is not on disk counts: %v", err)
	}
}

// TestPlain: a token is sent to nobody over whose way others can read it.
func TestPlain(t *testing.T) {
	for text, want := range map[string]bool{
		"http://localhost:1": true, "http://127.0.0.7:1": true, "http://[::1]:1": true,
		"https://example.org": true, "http://example.org": false, "http://192.0.2.1": false,
		"http://localhost.example.org": false,
	} {
		u, err := url.Parse(text)
		if err != nil || secure(u) != want {
			t.Errorf("%s: %v, %v", text, !want, err)
		}
	}
}

// TestFailures: however many addresses try, what is remembered is bounded, and one that tried much
// is not forgotten for those that tried once.
func TestFailures(t *testing.T) {
	var l failures
	now := time.Now()
	bad := netip.MustParseAddr("192.0.2.1")
	for range failuresAtOnce {
		l.count(bad, now)
	}
	for i := range 3 * mostFailures {
		l.count(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	if len(l.of) > mostFailures || !l.over(bad, now) || l.over(bad, now.Add(time.Minute)) {
		t.Errorf("%d are remembered, %v", len(l.of), l.of[bad])
	}
	six := netip.MustParseAddr("2001:db8::1")
	for range failuresAtOnce {
		l.count(six, now)
	}
	if !l.over(netip.MustParseAddr("2001:db8::2"), now) {
		t.Error("another address of the same network may try as many again")
	}
}

// TestTail: the log's end is remembered, in whole lines and so much of it.
func TestTail(t *testing.T) {
	var tail Tail
	log := tail.Wrap(discard).With("game", "park").WithGroup("of")
	for i := range 10_000 {
		log.Info("something happened", "i", i)
	}
	text := string(tail.Text())
	if len(text) > 2*mostTail+100 || !strings.HasSuffix(text, "game=park of.i=9999\n") ||
		!strings.HasPrefix(text, "(what came before is not remembered)\ntime=") {
		t.Errorf("%d bytes: %.100s", len(text), text)
	}
}
