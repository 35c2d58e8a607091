package directory_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/service/directory"
	"github.com/coeval-dev/coeval/service/directory/records"
)

// receipt gets a token for a server, and gives what the server reads in it.
func (p *person) receipt(base string, x *speaker) (out directory.ResultPlayer, err error) {
	q, err := http.NewRequest("POST", base+directory.Path+"entries/"+x.is.ID+"/token", nil)
	if err != nil {
		return out, err
	}
	q.Header.Set("Authorization", "Bearer "+p.Secret)
	var a directory.TokenAnswer
	if status, text, err := do(q, &a); err != nil || status != 200 {
		return out, fmt.Errorf("%d %s %w", status, text, err)
	}
	t, err := token.ParseText(a.Token)
	if err != nil {
		return out, err
	}
	g, err := token.Open(serverKey, t.Sealed)
	return directory.ResultPlayer{Client: g.Client, Rank: 1,
		Receipt: base64.StdEncoding.EncodeToString(g.UserData)}, err
}

// report reports a match.
func (x *speaker) report(
	base, match string, boards []directory.Board, players ...directory.ResultPlayer,
) (int, string, error) {
	x.seq++
	return x.post(base, directory.Path+"entries/"+x.is.ID+"/results", directory.Result{
		Lease: x.is.Lease, Seq: x.seq, Match: match, Players: players, Boards: boards}, nil)
}

func (s *stage) standings(query string) (p directory.StandingsPage) {
	s.Helper()
	s.want(200)((&person{stage: s}).ask("GET", "standings?"+query, nil, &p))
	return p
}

// TestResults: a server's results count once each, for those whom the directory sent there, and are
// there after a restart.
func TestResults(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := withLobby(t, url, directory.LobbyOptions{})
		x, y := s.gameServer(1), s.gameServer(2)
		ann, bob := s.person(), s.person()
		a, err := ann.receipt(s.http.URL, x)
		must(t, err)
		b, err := bob.receipt(s.http.URL, x)
		must(t, err)
		a.Score, b.Score, b.Rank = 7, 3, 2
		boards := []directory.Board{{Name: "best", How: directory.Best},
			{Name: "all", How: directory.Sum}, {Name: "elo", How: directory.Rating}}
		bot := directory.ResultPlayer{Client: 99, Score: 100, Rank: 1}
		for range 2 { // the second time it is known
			s.want(200)(x.report(s.http.URL, "1", boards, a, b, bot))
		}
		a.Score, b.Score = 2, 9
		s.want(200)(x.report(s.http.URL, "2", boards, a, b))
		forged := a
		forged.Client = b.Client
		for _, x := range []struct { // they were never sent there, or others were
			*speaker
			directory.ResultPlayer
		}{{y, a}, {x, forged}, {x, directory.ResultPlayer{Client: 5, Rank: 1, Receipt: "AQ=="}}} {
			status, text, err := x.report(s.http.URL, "3", boards, x.ResultPlayer)
			if must(t, err); status != 200 || !strings.Contains(text, `"left_out":1`) &&
				!strings.Contains(text, `"counted":false`) {
				t.Errorf("%d %s", status, text)
			}
		}
		eve := newSpeaker(3)
		eve.is, eve.seq = x.is, x.seq+100
		s.want(403)(eve.report(s.http.URL, "4", boards, a))
		s.want(409)(x.report(s.http.URL, "5", []directory.Board{{Name: "new", How: directory.Sum},
			{Name: "best", How: directory.Sum}}, a))
		s.want(400)(x.report(s.http.URL, "6", boards, a, a))
		s.want(400)(x.report(s.http.URL, "6", []directory.Board{{Name: "x", How: "luck"}}, a))
		s.close()

		s = withLobby(t, url, directory.LobbyOptions{})
		want := map[string][2]int64{"best": {7, 9}, "all": {9, 12}, "elo": {1530560, 1469440}}
		for board, values := range want {
			for i, p := range []*person{ann, bob} {
				page := s.standings(fmt.Sprintf("game=tanks&board=%s&client=%d", board, p.Client))
				if len(page.Standings) != 2 || page.Mine == nil || page.Mine.Value != values[i] ||
					page.Mine.Matches != 2 || page.Standings[page.Mine.Rank-1] != *page.Mine ||
					page.Standings[0].Value < page.Standings[1].Value {
					t.Errorf("%s: %+v %+v, want %d", board, page, page.Mine, values[i])
				}
			}
		}
		if p := s.standings("game=tanks&board=new"); len(p.Standings) != 0 {
			t.Errorf("a result that was refused counts: %+v", p)
		}
		var list struct{ Boards []directory.Board }
		s.want(200)((&person{stage: s}).ask("GET", "boards?game=tanks", nil, &list))
		if len(list.Boards) != 3 {
			t.Errorf("%+v", list)
		}
	})
}

// TestPages: a leaderboard in pages has everyone once, in order, whatever is the same.
func TestPages(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := withLobby(t, url, directory.LobbyOptions{})
		r := rand.New(rand.NewPCG(7, 7))
		p := &directory.Report{Entry: "e", Match: "m", Game: "tanks",
			Boards: []directory.Board{{Name: "b", How: directory.Best}}}
		for range 53 {
			p.Players = append(p.Players, directory.Reported{Client: r.Uint64() >> r.IntN(60),
				Name: "x", Score: int64(r.IntN(9)) - 4, Rank: 1})
		}
		if ok, err := s.keeper.Report(t.Context(), p); err != nil || !ok {
			t.Fatal(ok, err)
		}
		var all []directory.Standing
		after := ""
		for {
			page := s.standings("game=tanks&board=b&limit=7&after=" + after)
			all = append(all, page.Standings...)
			if after = page.Next; after == "" {
				break
			}
		}
		seen := map[uint64]bool{}
		for i, x := range all {
			if x.Rank != i+1 || seen[x.Client] || i > 0 && all[i-1].Value < x.Value {
				t.Fatalf("%d: %+v", i, x)
			}
			seen[x.Client] = true
		}
		if len(all) != 53 {
			t.Errorf("%d of 53", len(all))
		}
		must(t, s.keeper.Forget(t.Context(), 1))
		if ok, err := s.keeper.Report(t.Context(), p); err != nil || !ok {
			t.Errorf("a result that was forgotten: %v %v", ok, err)
		}
	})
	s := withLobby(t, t.TempDir()+"/d.db", directory.LobbyOptions{})
	for _, q := range []string{"", "game=a", "game=a&board=b&limit=0", "game=a&board=b&after=x",
		"game=a&board=b&client=ann", "game=a&board=b&colour=red", "game=a&game=b&board=b"} {
		s.want(400)((&person{stage: s}).ask("GET", "standings?"+q, nil, nil))
	}
}

// TestRate: what some win others lose, the better win less, and a draw brings two closer.
func TestRate(t *testing.T) {
	for _, x := range []struct {
		is    []int64
		ranks []int
		want  string
	}{
		{[]int64{1500000, 1500000}, []int{1, 2}, "[1516000 1484000]"},
		{[]int64{1700000, 1500000}, []int{1, 2}, "[1707680 1492320]"},
		{[]int64{1700000, 1500000}, []int{2, 1}, "[1675680 1524320]"},
		{[]int64{1700000, 1500000}, []int{1, 1}, "[1691680 1508320]"},
		{[]int64{9000000, 0}, []int{1, 2}, "[9000320 -320]"},
		{[]int64{1500000, 1500000, 1500000}, []int{1, 2, 3}, "[1516000 1500000 1484000]"},
		{[]int64{1500000}, []int{1}, "[1500000]"}, {nil, nil, "[]"},
	} {
		if got := fmt.Sprint(directory.Rate(x.is, x.ranks)); got != x.want {
			t.Errorf("%v %v: %s, want %s", x.is, x.ranks, got, x.want)
		}
	}
}

// TestKillResults kills a directory again and again while a server reports results, and says again
// what was not acknowledged. Each match counts once, and none that was acknowledged is lost.
func TestKillResults(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes and kills them")
	}
	rounds := 3
	if os.Getenv("COEVAL_SOAK") != "" {
		rounds = 60
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	boards := []directory.Board{{Name: "all", How: directory.Sum}}
	onEach(t, func(t *testing.T, url string) {
		r := rand.New(rand.NewPCG(seed, 3))
		x := newSpeaker(1)
		x.says.Keys = []string{directory.Fingerprint(serverKey)}
		p := &person{}
		var player directory.ResultPlayer
		match, known := 1, 0
		for range rounds {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childURL+"="+url)
			in, err := cmd.StdinPipe()
			must(t, err)
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			base, err := bufio.NewReader(out).ReadString('\n')
			if base = strings.TrimSpace(base); err != nil || !strings.HasPrefix(base, "http") {
				t.Fatalf("%s %v", base, err)
			}
			if player.Receipt == "" {
				player = p.first(t, base, x)
			}
			player.Score = 1
			stop := time.AfterFunc(time.Duration(20+r.IntN(150))*time.Millisecond,
				func() { _ = cmd.Process.Kill() })
			for {
				status, text, err := x.report(base, fmt.Sprint(match), boards, player)
				if err != nil {
					break // it was killed
				}
				if status != 200 {
					t.Fatalf("%d %s", status, text)
				}
				known = match
				match++
			}
			stop.Stop()
			_ = cmd.Wait() // it was killed
			_ = in.Close()
			k, err := records.Open(t.Context(), url)
			must(t, err)
			list, err := k.Standings(t.Context(), directory.BoardQuestion{Game: "tanks",
				Board: "all", Limit: 9})
			must(t, err)
			must(t, k.Close())
			if n := 0; known > 0 {
				if len(list) == 1 {
					n = int(list[0].Value)
				}
				if n != known && n != known+1 {
					t.Fatalf("%d matches are counted, and %d were acknowledged", n, known)
				}
			}
		}
		t.Logf("%d matches were acknowledged", known)
	})
}

// first registers a server, and gets a player's receipt for it.
func (p *person) first(t *testing.T, base string, x *speaker) directory.ResultPlayer {
	status, text, err := x.register(base)
	if err != nil || status != 200 {
		t.Fatalf("%d %s %v", status, text, err)
	}
	q, err := http.NewRequest("POST", base+directory.Path+"accounts", nil)
	must(t, err)
	if status, text, err := do(q, &p.AnonymousAccount); err != nil || status != 200 {
		t.Fatalf("%d %s %v", status, text, err)
	}
	for {
		r, err := p.receipt(base, x)
		if err == nil {
			return r
		}
		if !strings.Contains(err.Error(), "404") && !strings.Contains(err.Error(), "409") {
			t.Fatal(err) // it is not that it is not yet listed
		}
		time.Sleep(10 * time.Millisecond)
	}
}
