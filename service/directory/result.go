package directory

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// A Result is what a server reports of a match, signed as all that it says.
type Result struct {
	Lease string `json:"lease"`
	Seq   int64  `json:"seq"`
	Place string `json:"place,omitempty"`
	// Match is what the server calls the match: the same is counted once, however often it is
	// reported.
	Match   string         `json:"match"`
	Players []ResultPlayer `json:"players"`
	// Boards are those where it counts. Default: DefaultBoards.
	Boards []Board `json:"boards,omitempty"`
}

// A ResultPlayer is how somebody did.
type ResultPlayer struct {
	Client uint64 `json:"client,string"`
	// Receipt is what the player's token said to the server, in base64: it shows that the directory
	// sent the player there. Players without a good one are left out of boards.
	Receipt string `json:"receipt,omitempty"`
	Score   int64  `json:"score"`
	// Rank is 1 for the best. Those who drew have the same.
	Rank int `json:"rank"`
}

// A Board is a leaderboard of a game, and how results count there.
type Board struct {
	Name string `json:"name"`
	How  string `json:"how"` // Best, Sum or Rating
}

// How results count on a board.
const (
	Best   = "best"   // the best score of any match
	Sum    = "sum"    // all scores together
	Rating = "rating" // by whom one has won against
)

// DefaultBoards are those of results that name none.
var DefaultBoards = []Board{{"points", Best}, {"rating", Rating}}

// A Counted is the answer to a result.
type Counted struct {
	// Counted is false if the same match was reported before.
	Counted bool `json:"counted"`
	// LeftOut is how many players had no good receipt.
	LeftOut int `json:"left_out"`
}

// Limits of results.
const (
	MaxResultPlayers = 1000
	MaxResultBoards  = 8
	MaxBoards        = 32 // of a game
	maxScore         = 1 << 53
	mostResult       = 256 << 10
	// receiptLife is for how long after a token was issued a match may be reported.
	receiptLife = 7 * 24 * time.Hour
	// resultsFor is how long the directory knows which matches were counted.
	resultsFor = 30 * 24 * time.Hour
)

// Check says what is wrong with a result.
func (r *Result) Check() error {
	if err := checkText("the match", r.Match, false, MaxText); err != nil {
		return err
	}
	if len(r.Players) > MaxResultPlayers || len(r.Boards) > MaxResultBoards {
		return fmt.Errorf("the result has %d players and %d boards: at most %d and %d are counted",
			len(r.Players), len(r.Boards), MaxResultPlayers, MaxResultBoards)
	}
	seen := map[uint64]bool{}
	for _, p := range r.Players {
		switch {
		case p.Client == 0 || seen[p.Client]:
			return errors.New("a player has no number, or is there twice")
		case p.Score > maxScore || p.Score < -maxScore:
			return errors.New("a score is beyond 2^53")
		case p.Rank < 1 || p.Rank > MaxResultPlayers:
			return fmt.Errorf("a rank is %d: they are from 1 to %d", p.Rank, MaxResultPlayers)
		}
		seen[p.Client] = true
	}
	names := map[string]bool{}
	for _, b := range r.Boards {
		if err := checkText("the board", b.Name, false, MaxText); err != nil {
			return err
		}
		if !slices.Contains([]string{Best, Sum, Rating}, b.How) || names[b.Name] {
			return fmt.Errorf("the board %q is there twice, or counts by %.20q: it must be best, "+
				"sum or rating", b.Name, b.How)
		}
		names[b.Name] = true
	}
	return nil
}

// A Report is a result that is to be counted, by players whom the directory knows.
type Report struct {
	Entry, Match, Game string
	At                 int64 // Unix time in seconds
	Players            []Reported
	Boards             []Board
}

// A Reported is a player of a Report.
type Reported struct {
	Client uint64
	Name   string
	Score  int64
	Rank   int
}

// A BoardQuestion asks for a part of a leaderboard: those below a standing, or all.
type BoardQuestion struct {
	Game, Board string
	Limit       int
	// After is the last of the page before, or nil.
	After *Standing
	// Of is whose own standing is asked for in place of a page, or 0.
	Of uint64
}

// A Standing is a line of a leaderboard.
type Standing struct {
	Rank    int    `json:"rank"`
	Client  uint64 `json:"client,string"`
	Name    string `json:"name"`
	Value   int64  `json:"value"` // of ratings in thousandths of a point
	Matches int64  `json:"matches"`
}

// ErrBoard is that a board counts otherwise, or that there are too many.
var ErrBoard = errors.New("a board of this name counts otherwise, or the game has as many as it " +
	"may: use another name")

// A Scorer keeps results and leaderboards. What Report did is durable when it returns nil.
type Scorer interface {
	// Secret is a secret of the database's own, which is made when it is first asked for.
	Secret(ctx context.Context, name string, size int) ([]byte, error)
	// Report counts a result, or says that it was counted before.
	Report(ctx context.Context, r *Report) (counted bool, err error)
	// Boards are those of a game.
	Boards(ctx context.Context, game string) ([]Board, error)
	// Standings are a part of a board.
	Standings(ctx context.Context, q BoardQuestion) ([]Standing, error)
	// Forget removes results that were reported before a time.
	Forget(ctx context.Context, before int64) error
}

// A receipt says to a server who somebody is, and to the directory that it sent them there. It is
// in the sealed part of a token: so only a server that opens tokens has it, and the player does
// not.
//
//	byte 0       receiptKind
//	bytes 1-8    when the token was issued, Unix time in seconds
//	bytes 9-24   HMAC-SHA256 of what goes before, the entry, the player and the name; its begin
//	the rest     the name
const (
	receiptKind = 1
	receiptHead = 9
	receiptMAC  = 16
)

func (l *Lobby) receipt(entry string, who Account, issued int64) []byte {
	name := who.Name[:min(len(who.Name), MaxText)]
	b := append(make([]byte, 0, receiptHead+receiptMAC+len(name)), receiptKind)
	b = binary.BigEndian.AppendUint64(b, uint64(issued))
	b = append(b, l.seal(b, entry, who.Client, name)...)
	return append(b, name...)
}

func (l *Lobby) seal(head []byte, entry string, client uint64, name string) []byte {
	m := hmac.New(sha256.New, l.secret)
	m.Write([]byte("receipt\n"))
	m.Write(head)
	m.Write(binary.BigEndian.AppendUint64(nil, client))
	m.Write([]byte(entry + "\n" + name))
	return m.Sum(nil)[:receiptMAC]
}

// openReceipt reads a receipt, if it is one of this directory for this server and player, and not
// too old.
func (l *Lobby) openReceipt(text, entry string, client uint64, now int64) (name string, ok bool) {
	if len(text) > 512 {
		return "", false
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) < receiptHead+receiptMAC || b[0] != receiptKind {
		return "", false
	}
	head, name := b[:receiptHead], string(b[receiptHead+receiptMAC:])
	issued := int64(binary.BigEndian.Uint64(head[1:]))
	return name, now-issued <= int64(receiptLife/time.Second) &&
		hmac.Equal(l.seal(head, entry, client, name), b[receiptHead:receiptHead+receiptMAC])
}

// result counts what a server reports.
func (a *API) result(c *call) (any, error) {
	l, err := a.lobby()
	if err != nil {
		return nil, err
	}
	var r Result
	if err := decode(c.body, &r); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, bad(err)
	}
	if err := a.Book.proved(c.request(), c.id, r.Place, r.Lease, r.Seq); err != nil {
		return nil, known(err)
	}
	e := a.Book.lookup(c.id)
	if e == nil {
		return nil, known(ErrUnknown)
	}
	report := &Report{Entry: c.id, Match: r.Match, Game: e.Game, At: a.Book.opt.Wall(),
		Boards: r.Boards}
	if len(report.Boards) == 0 {
		report.Boards = DefaultBoards
	}
	for _, p := range r.Players {
		name, ok := l.openReceipt(p.Receipt, c.id, p.Client, report.At)
		if !ok {
			continue // a bot, or somebody whom another backend sent
		}
		report.Players = append(report.Players, Reported{p.Client, name, p.Score, p.Rank})
	}
	counted, err := l.report(c.Context(), report)
	switch {
	case errors.Is(err, ErrBoard):
		return nil, refuse(http.StatusConflict, "board", err)
	case err != nil:
		return nil, known(err)
	}
	return Counted{Counted: counted, LeftOut: len(r.Players) - len(report.Players)}, nil
}
