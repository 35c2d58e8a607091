package query

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"github.com/coeval-dev/coeval/link"
)

// AnswerOptions say what a server answers. Seed has no default.
type AnswerOptions struct {
	// Seed is 32 random bytes.
	Seed [32]byte
	// Answers are the kinds that are answered; to others it is said that they are off.
	Answers Kinds
	// Every is how old an answer may be: however many ask, Info and Who are called no more often.
	// Default: 250 ms.
	Every time.Duration
	// Info says what the server is, and Who who plays, by appending them. What is nil is off.
	Info func(*Info)
	Who  func([]Player) []Player
	// Own are the game's own, up to MaxQueries.
	Own []OwnQuery
	// Message is told what somebody wants the operator to read, and where they are.
	Message func(from netip.AddrPort, text string)
	Limits  Limits
}

// An OwnQuery is what a game answers under a name.
type OwnQuery struct {
	// Name has at most MaxOwn bytes.
	Name string
	// Every is how old an answer may be. Default: 1 s.
	Every time.Duration
	// Answer appends the answer, up to MaxBody bytes.
	Answer func(to []byte) []byte
}

// Counts tell what a Responder met.
type Counts struct {
	// Queries and Answers count by kind, and Off those that were only told that a kind is off.
	Queries, Answers     [kinds]uint64
	Off                  uint64
	BytesIn, BytesOut    uint64 // of queries, and of answers
	Malformed            uint64
	Flooded, Crowded     uint64 // not answered: too many came, from all or from one address
	Messages             uint64 // that were told
	Made                 uint64 // answers that were made, however often they were sent
	ProvenIn, StrangerIn uint64 // queries with a good cookie, and without
}

// A Responder answers queries. It remembers nothing of those who ask, sends no more than it was
// sent, and allocates nothing for a query.
type Responder struct {
	opt       AnswerOptions
	cookies   cookies
	nonces    nonces // for lots
	key       [2]uint64
	strangers *budget
	proven    *budget
	window    int64 // number of the one that is
	letters   letters

	info  content
	who   roll
	own   []content
	count Counts
}

// NewResponder makes a responder.
func NewResponder(o AnswerOptions) *Responder {
	o.Limits.fill()
	if o.Every <= 0 {
		o.Every = 250 * time.Millisecond
	}
	o.Own = slices.Clone(o.Own[:min(len(o.Own), MaxQueries)])
	for kind, off := range map[Kind]bool{AskInfo: o.Info == nil, AskWho: o.Who == nil,
		Message: o.Message == nil} {
		if off {
			o.Answers &^= 1 << (kind - 1)
		}
	}
	r := &Responder{opt: o, cookies: newCookies(&o.Seed), nonces: newNonces(&o.Seed),
		strangers: newBudget(o.Limits.Strangers, o.Limits.Each),
		proven:    newBudget(o.Limits.Proven, o.Limits.Each), own: make([]content, len(o.Own))}
	r.key = [2]uint64{r.nonces.draw(), r.nonces.draw()}
	r.info.every, r.who.every = o.Every, o.Every
	for i := range r.own {
		if r.own[i].every = o.Own[i].Every; r.own[i].every <= 0 {
			r.own[i].every = time.Second
		}
	}
	return r
}

// Counts tell what it met so far.
func (r *Responder) Counts() Counts { return r.count }

// Answers are the kinds that are answered. Without any of the game's own, those are not.
func (r *Responder) Answers() Kinds {
	if len(r.opt.Own) == 0 {
		return r.opt.Answers &^ (1 << (Own - 1))
	}
	return r.opt.Answers
}

// Own lists the names of the game's own queries that are answered.
func (r *Responder) Own() (names []string) {
	for i := range r.opt.Own {
		if r.opt.Answers.Has(Own) {
			names = append(names, r.opt.Own[i].Name)
		}
	}
	return names
}

// Takes says whether a datagram is for a responder, by its first byte.
func (r *Responder) Takes(data []byte) bool { return len(data) > 0 && data[0] == KindQuery }

// Answer appends the answer to a datagram, if it has one: never more bytes than came. Datagrams
// that are no queries have none.
func (r *Responder) Answer(now time.Duration, d *link.Datagram, to []byte) []byte {
	q, ok := ParseQuery(d.Data)
	if !ok {
		r.count.Malformed++
		return to
	}
	r.count.Queries[q.Kind]++
	r.count.BytesIn += uint64(len(d.Data))
	proven, ok := r.admit(now, d, &q)
	if !ok {
		return to
	}
	a := Answer{Kind: q.Kind, Nonce: q.Nonce, Cookie: r.cookies.give(d.Addr, now), Held: d.Waited}
	if q.Kind == Message && r.opt.Answers.Has(Message) {
		a.Status = Prove
		if proven {
			a.Status = r.message(now, d.Addr, q.Text)
		}
	} else {
		a.Status, a.Body = r.Content(now, &q, len(d.Data)-answerHead)
	}
	out := a.Append(to, len(d.Data))
	if r.count.Answers[q.Kind]++; a.Status == Off {
		r.count.Off++
	}
	r.count.BytesOut += uint64(len(out) - len(to))
	return out
}

// admit says whether a query is answered, and whether it comes from where it says.
func (r *Responder) admit(now time.Duration, d *link.Datagram, q *Query) (proven, ok bool) {
	if w := int64(now / window); w != r.window {
		passed := w - r.window
		r.strangers.next(passed)
		r.proven.next(passed)
		r.window = w
	}
	from := r.strangers
	if proven = r.cookies.good(&q.Cookie, d.Addr, now); proven {
		from = r.proven
		r.count.ProvenIn++
	} else {
		r.count.StrangerIn++
	}
	switch from.take(row(&r.key, d.Addr.Addr()), r.nonces.draw()) {
	case flooded:
		r.count.Flooded++
	case crowded:
		r.count.Crowded++
	default:
		return proven, true
	}
	return proven, false
}

// Content is the body of the answer to a query, in at most so many bytes for a list of players.
// It is good until the next call. Programs that answer by another way than datagrams use it.
func (r *Responder) Content(now time.Duration, q *Query, most int) (Status, []byte) {
	if !r.opt.Answers.Has(q.Kind) {
		return Off, nil
	}
	switch q.Kind {
	case AskInfo:
		if r.info.due(now) {
			r.makeInfo()
		}
		return OK, r.info.body
	case AskWho:
		if r.who.due(now) {
			r.who.make(r.opt.Who)
			r.count.Made++
		}
		return OK, r.who.page(int(q.First), min(most, MaxBody))
	case Own:
		for i := range r.opt.Own {
			if o := &r.opt.Own[i]; o.Name == string(q.Text) {
				if c := &r.own[i]; c.due(now) {
					c.body = o.Answer(c.body[:0])
					c.body = c.body[:min(len(c.body), MaxBody)]
					r.count.Made++
				}
				return OK, r.own[i].body
			}
		}
		return Unknown, nil
	}
	return OK, nil // of a ping
}

func (r *Responder) makeInfo() {
	i := Info{Answers: r.Answers(), Places: 1}
	r.opt.Info(&i)
	i.Own = r.Own()
	r.info.body = i.AppendInfo(r.info.body[:0])
	r.count.Made++
}

// content is an answer that is kept for a while.
type content struct {
	body  []byte
	every time.Duration
	made  time.Duration
	any   bool
}

// due says whether it has to be made anew, and takes it that it will be.
func (c *content) due(now time.Duration) bool {
	if c.any && now-c.made < c.every {
		return false
	}
	c.any, c.made = true, now
	return true
}

// roll is the list of players, written once for all who ask for a part of it.
type roll struct {
	content
	players []Player
	ends    []int // of each player in body
	out     []byte
}

func (l *roll) make(who func([]Player) []Player) {
	l.players = who(l.players[:0])
	l.players = l.players[:min(len(l.players), 1<<16-1)]
	l.body, l.ends = l.body[:0], l.ends[:0]
	for i := range l.players {
		l.body = l.players[i].append(l.body)
		l.ends = append(l.ends, len(l.body))
	}
}

// page is as much of the list as fits into so many bytes, after the first few.
func (l *roll) page(first, most int) []byte {
	first = min(first, len(l.ends))
	start := 0
	if first > 0 {
		start = l.ends[first-1]
	}
	last := first
	for last < len(l.ends) && last-first < MaxPlayers && l.ends[last]-start+whoHead <= most {
		last++
	}
	b := binary.BigEndian.AppendUint16(l.out[:0], uint16(len(l.ends)))
	b = append(binary.BigEndian.AppendUint16(b, uint16(first)), byte(last-first))
	if last > first {
		b = append(b, l.body[start:l.ends[last-1]]...)
	}
	l.out = b
	return b
}
