//go:build !js

package peer

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/pong"
	"github.com/coeval-dev/coeval/host/internal/hosttest"
	"github.com/coeval-dev/coeval/topology/peers"
	"github.com/coeval-dev/coeval/topology/relay"
	"github.com/coeval-dev/coeval/world"
)

func sample() *Invitation {
	v := &Invitation{Game: "pong", Expires: time.Now().Add(time.Hour).Truncate(time.Second),
		Addrs: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.7:4747"),
			netip.MustParseAddrPort("[2001:db8::1]:9")}}
	for i := range v.Secret {
		v.Secret[i] = byte(i)
	}
	return v
}

func TestInvitation(t *testing.T) {
	v := sample()
	text := v.String()
	for _, given := range []string{text, "  " + text + "\n", text[:30] + "\n " + text[30:]} {
		got, err := ParseInvitation(given)
		if err != nil {
			t.Fatal(err)
		}
		if got.Game != v.Game || got.Secret != v.Secret || !got.Expires.Equal(v.Expires) ||
			len(got.Addrs) != 2 || got.Addrs[1] != v.Addrs[1] {
			t.Errorf("%+v", got)
		}
	}
	body := text[len(invitationMark):]
	empty := *v
	empty.Addrs = nil
	for _, x := range []struct{ text, want string }{
		{"", "is no invitation"},
		{"localhost:4000", "is no invitation"},
		{body, "is no invitation"},
		{"coeval-peer-2:" + body, "another version"},
		{text[:len(text)-3], "missing or was changed"},
		{text + "AA", "missing or was changed"},
		{invitationMark, "missing or was changed"},
		{invitationMark + "!!!", "missing or was changed"},
		{invitationMark + base64.RawURLEncoding.EncodeToString(make([]byte, 50)), "missing or"},
		{strings.Replace(text, body[:4], "AAAA", 1), "missing or was changed"},
		{invitationMark + strings.Repeat("A", mostInvitation), "missing or was changed"},
		{empty.String(), "missing or was changed"},
	} {
		if _, err := ParseInvitation(x.text); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%.40q: %v, want %q", x.text, err, x.want)
		}
	}
	if err := v.fits("arena"); err == nil ||
		!strings.Contains(err.Error(), "to pong, and this is arena") {
		t.Error(err)
	}
	if err := v.lasts(time.Now().Add(2 * time.Hour)); err == nil ||
		!strings.Contains(err.Error(), "has expired") {
		t.Error(err)
	}
	if err := errors.Join(v.fits("pong"), v.lasts(time.Now())); err != nil {
		t.Error(err)
	}
}

func FuzzInvitation(f *testing.F) {
	f.Add(sample().String())
	f.Add(invitationMark + "AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseInvitation(text)
		if err != nil {
			return
		}
		again, err := ParseInvitation(v.String())
		if err != nil || again.Secret != v.Secret || again.Game != v.Game {
			t.Fatalf("%+v, %v", again, err)
		}
	})
}

// TestIdentity: who starts again is the same, two at once are two, and in another match each is
// somebody else.
func TestIdentity(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // where other systems look
	t.Setenv("LocalAppData", t.TempDir())
	take := func(name string) *identity {
		t.Helper()
		id, err := openIdentity(name, "a game/of mine")
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first, second := take(""), take("")
	if first.seed == second.seed {
		t.Error("two at once are one")
	}
	was := first.seed
	first.close()
	if first = take(""); first.seed != was {
		t.Error("who starts again is another")
	}
	if a, b := first.in(&[32]byte{1}), first.in(&[32]byte{2}); a == b || a == first.seed {
		t.Error("in two matches it is the same")
	}
	own := filepath.Join(t.TempDir(), "me")
	mine := take(own)
	if _, err := openIdentity(own, "pong"); err == nil ||
		!strings.Contains(err.Error(), "another program plays with it") {
		t.Error(err)
	}
	mine.close()
	if err := os.WriteFile(own, []byte("what is this"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openIdentity(own, "pong"); err == nil ||
		!strings.Contains(err.Error(), "is no identity") {
		t.Error(err)
	}
	first.close()
	second.close()
}

var bundled = hosttest.NewProgram(arena.Title, pong.Title)

func TestCommandLine(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	old := sample()
	old.Expires = time.Now().Add(-time.Hour)
	other := sample()
	other.Game = "chess"
	for _, x := range []struct{ args, want string }{
		{"host", "which game?"},
		{"host pong", "this is not a terminal"},
		{"host pong --seats 99 --json", "--seats is 99"},
		{"host pong --start 9 --json", "--start is 9"},
		{"host pong --style doom3 --json", "--style is \"doom3\""},
		{"host pong --style lockstep --depth 4 --json", "--depth goes with"},
		{"host pong --depth 99 --json", "--depth is 99"},
		{"host pong --delay 99 --json", "--delay is 99"},
		{"host pong --packets -1 --json", "--packets is -1"},
		{"host pong --patience 1ms --json", "--patience is 1ms"},
		{"host pong --level nowhere --json", "nowhere"},
		{"host pong --commit --json", "--commit goes with --style lockstep"},
		{"host pong --commit --style doom --json", "--commit does not go with"},
		{"host pong --listen nowhere --json", "--listen nowhere"},
		{"host pong --mesh --json", "--mesh goes with --relay"},
		{"host pong --wait 1s --json", "--wait goes with --relay"},
		{"host pong --wait 1s --relay x:1 --mesh --json", "--wait goes with --relay"},
		{"host pong --wait 1m --relay x:1 --json", "--wait is 1m"},
		{"host pong --commit --style lockstep --relay x:1 --json", "--commit goes with --mesh"},
		{"host pong --style doom --relay x:1 --json", "--style doom goes with --mesh"},
		{"host pong --alone --relay x:1 --json", "--alone goes with --mesh"},
		{"host pong --patience 1s --relay x:1 --json", "--patience goes with --mesh"},
		{"join pong K7QF-3M9P --relay x:1 --json", "is no code"},
		{"join", "which match?"},
		{"join pong", "is no invitation"},
		{"join " + sample().String()[:40], "missing or was changed"},
		{"join --json " + old.String(), "has expired 1h"},
		{"join --json " + other.String(), "there is no game \"chess\""},
		{"join --json arena " + sample().String(), "to pong, and this is arena"},
		{"join --json --behind 5s " + sample().String(), "--behind is 5s"},
		{"join --json --style doom " + sample().String(), "for who founds"},
	} {
		code, stdout, stderr := bundled.Try([]*cobra.Command{Command(&bundled.Program)},
			append([]string{"peer"}, strings.Fields(x.args)...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, x.want) {
			t.Errorf("%s: code %d, %q, %q; want %q", x.args, code, stdout, stderr, x.want)
		}
	}
	if Switched(peers.Rollback(), peers.Lockstep()).Depth != 0 ||
		Switched(peers.Lockstep(), peers.Style{Depth: 3}).Depth != 3 ||
		Switched(peers.Lockstep(), peers.Lockstep()).Depth == 0 {
		t.Error("the key does not switch")
	}
	if err := (&session{}).reason(t.Context(), nil, &peers.RefusedError{Why: "full"}); err == nil ||
		errors.Is(err, &peers.RefusedError{}) || !strings.Contains(err.Error(), "full") {
		t.Error(err)
	}
}

// TestDifferencesAreKept: both worlds are there for desync, as often as they say something.
func TestDifferencesAreKept(t *testing.T) {
	dir := t.TempDir()
	b := bundles{dir: dir, game: "a game"}
	n := peers.News{Kind: peers.Repaired, Tick: 7, Mine: []byte("m"), Theirs: []byte("t")}
	how := b.keep(&n)
	folder := filepath.Join(dir, "desync-a_game-7")
	if !strings.Contains(how, "{program} desync "+filepath.Join(folder, "mine.state")) {
		t.Error(how)
	}
	for name, want := range map[string]string{"mine.state": "m", "theirs.state": "t"} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); string(got) != want {
			t.Error(name, string(got), err)
		}
	}
	for i := range mostBundles + 3 {
		n.Tick = world.Tick(100 + i)
		b.keep(&n)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != mostBundles {
		t.Error(len(list), err)
	}
	none := bundles{dir: "none", game: "a game"}
	if how := none.keep(&n); how != "" {
		t.Error(how)
	}
}

// TestShortCode reads codes as people write them, and refuses what is none.
func TestShortCode(t *testing.T) {
	c := shortCode{word: drawWord()}
	copy(c.code[:], "K7QF3M9P")
	for _, text := range []string{c.String(), strings.ToLower(c.String()),
		strings.ReplaceAll(c.String(), "-", "")} {
		if got, err := parseShortCode(text); err != nil || got != c {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "K7QF-3M9P", c.String() + "A", "K7QF-3M9P-0000-1111",
		"coeval-peer-1:abc"} {
		if _, err := parseShortCode(text); err == nil {
			t.Errorf("%q was taken for a code", text)
		}
	}
	c.word = "7XK2QW9D"
	page, err := os.ReadFile("../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("For `%s` it is `%x`", c.word, c.secret()); !strings.Contains(
		string(page), want) {
		t.Errorf("docs/protocol.md should say: %s", want)
	}
}

// TestSeats: what lets a program return is kept for its owner alone, in place of what was known of
// the same match, not for too many, and not longer than it is of use. A file that makes no sense is
// as good as none.
func TestSeats(t *testing.T) {
	id, err := openIdentity(filepath.Join(t.TempDir(), "me"), "pong")
	if err != nil {
		t.Fatal(err)
	}
	defer id.close()
	now := time.Now()
	code := func(i int) shortCode {
		return shortCode{relay.Code([]byte(fmt.Sprintf("K7QF3M9%c", 'A'+i))), "7XK2QW9D"}
	}
	keep := func(i int, secret string) {
		t.Helper()
		x := seat{"there:4300", "pong", code(i).String(), secret, now}
		if err := id.seats(now).keep(x); err != nil {
			t.Fatal(err)
		}
	}
	keep(0, strings.Repeat("ab", relay.SecretSize))
	keep(0, strings.Repeat("cd", relay.SecretSize))
	if got := id.seats(now).secret("there:4300", code(0).code); got[0] != 0xcd {
		t.Errorf("%x is kept", got)
	}
	for _, other := range []struct {
		at   string
		code relay.Code
	}{{"elsewhere:4300", code(0).code}, {"there:4300", code(1).code}} {
		if got := id.seats(now).secret(other.at, other.code); got != [relay.SecretSize]byte{} {
			t.Errorf("%v: %x", other, got)
		}
	}
	name := id.file.Name() + ".seats"
	info, err := os.Stat(name)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for i := range mostSeats + 2 {
		keep(i, strings.Repeat("ef", relay.SecretSize))
	}
	all := id.seats(now)
	if !all.has("there:4300", code(3).String()) || all.has("", code(3).String()) {
		t.Error("it does not know where it was")
	}
	if len(all.list) != mostSeats || all.left("there:4300", "pong", now).Code !=
		code(mostSeats+1).String() || all.left("there:4300", "chess", now) != nil {
		t.Errorf("%d are kept", len(all.list))
	}
	if old := id.seats(now.Add(8 * 24 * time.Hour)); len(old.list) != 0 {
		t.Errorf("%d are kept for too long", len(old.list))
	}
	for i := range mostSeats + 2 {
		all.drop("there:4300", code(i).String())
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Error("a file without seats is left:", err)
	}
	for _, text := range []string{"", "{", `{"version":9}`, `{"version":1,"seats":[{"code":"x"}]}`,
		`{"version":1,"seats":[{"relay":"there:4300","code":"` + code(0).String() +
			`","secret":"xyz","since":"` + now.Format(time.RFC3339) + `"}]}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := id.seats(now).secret("there:4300", code(0).code); got != [16]byte{} {
			t.Errorf("%s: %x", text, got)
		}
	}
	if err := (&seats{}).keep(seat{}); err != nil { // of an identity that nobody keeps
		t.Error(err)
	}
}

// FuzzShortCode: what is read as a code is written as one that reads the same.
func FuzzShortCode(f *testing.F) {
	f.Add("K7QF-3M9P-7XK2-QW9D")
	f.Add("k7qf3m9p 7xk2qw9d")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseShortCode(text)
		if err != nil {
			return
		}
		if again, err := parseShortCode(c.String()); err != nil || again != c {
			t.Fatalf("%q: %v, %v", text, again, err)
		}
	})
}
