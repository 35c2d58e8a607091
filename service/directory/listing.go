package directory

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/coeval-dev/coeval/conn/token"
)

// A listing is all that is listed at one moment. It is made some times a second if something has
// changed, and then only read: so however many ask, none waits for another.
type listing struct {
	all   *ranks
	games map[uint64]*ranks // by the number that the game has in packets
	// What entries there are of, so that whoever asks for another has nothing searched for it.
	versions map[uint64]bool
	regions  map[string]bool

	pages answers[string, []byte]
	views answers[viewed, []*listed]
}

// A listed entry never changes; one that did is another. What is answered is written once.
type listed struct {
	Entry
	json     []byte
	wire     []byte // as datagrams have it; nothing if no datagram reaches it
	lower    string // the name, to be searched
	protocol uint64
	version  uint64
	udp      []netip.AddrPort
	places   [len(orders)]string // where it stands in each order; no two are the same
}

// orders are how entries may be sorted. Each value is followed by the ID, so that no two are the
// same.
var orders = [...]struct {
	name  string
	value func(e *Entry) string
}{
	{"players", func(e *Entry) string { return fmt.Sprintf("%05d", MaxCapacity-e.Players) }},
	{"room", func(e *Entry) string {
		return fmt.Sprintf("%05d", MaxCapacity-e.Capacity+e.Players)
	}},
	{"name", func(e *Entry) string { return strings.ToLower(e.Name) }},
	{"new", func(e *Entry) string { return fmt.Sprintf("%019d", 1<<62-e.Since) }},
}

func show(e Entry) *listed {
	l := &listed{Entry: e, lower: strings.ToLower(e.Name), protocol: token.ProtocolID(e.Game)}
	l.json, _ = json.Marshal(e)            // it has nothing that cannot be written
	l.version, _ = parseVersion(e.Version) // it was checked
	for i := range e.Places {
		if at, err := netip.ParseAddrPort(e.Places[i].Addresses.UDP); err == nil {
			l.udp = append(l.udp, at)
		}
	}
	for i := range orders {
		l.places[i] = orders[i].value(&e) + "\x00" + e.ID
	}
	l.wire = l.packet()
	return l
}

// page is the answer to a question as it stands in a URL, which is written once for all who ask the
// same.
func (l *listing) page(raw string) ([]byte, error) {
	if out, ok := l.pages.get(raw); ok {
		return out, nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, errors.New("the part of the URL behind the question mark is none")
	}
	q, err := parseQuestion(values, true)
	if err != nil {
		return nil, err
	}
	out := l.find(&q, nil)
	if len(raw) <= longestKept {
		l.pages.put(raw, out, len(out))
	}
	return out, nil
}

// A filter says which entries somebody wants.
type filter struct {
	game, version, mode, region, name string
	tags                              []string
	room                              bool
}

func (f *filter) match(e *listed) bool {
	if f.game != "" && f.game != e.Game || f.version != "" && f.version != e.Version ||
		f.mode != "" && f.mode != e.Mode || f.room && e.Players >= e.Capacity ||
		f.name != "" && !strings.Contains(e.lower, f.name) {
		return false
	}
	for _, t := range f.tags {
		if !slices.Contains(e.Tags, t) {
			return false
		}
	}
	return f.region == "" || f.region == e.Region ||
		slices.ContainsFunc(e.Places, func(p Place) bool { return p.Region == f.region })
}

// A question is a filter, an order and a page.
type question struct {
	filter
	order int
	limit int
	after string // value and ID after which the page begins
}

const (
	defaultPage = 50
	mostPage    = 200
)

// parseQuestion reads a question from a URL. What it does not know is an error, so that a mistyped
// filter is not taken for none.
func parseQuestion(q url.Values, pages bool) (out question, err error) {
	out.limit = defaultPage
	for name, values := range q {
		v := values[0]
		if len(values) > 1 && name != "tag" || len(values) > MaxTags {
			return out, fmt.Errorf("%.20q is given %d times", name, len(values))
		}
		for _, v := range values {
			if err := checkText("the value of "+strconv.Quote(name), v, false, 256); err != nil {
				return out, err
			}
		}
		switch {
		case name == "game":
			out.game = v
		case name == "version":
			out.version = v
			_, err = parseVersion(v)
		case name == "mode":
			out.mode = v
			if v != Server && v != Mirror && v != Relay {
				err = errors.New("mode must be server, mirror or relay")
			}
		case name == "region":
			out.region = v
		case name == "name":
			out.name = strings.ToLower(v)
		case name == "tag":
			out.tags = values
		case name == "room":
			if out.room = v == "true"; !out.room && v != "false" {
				err = errors.New("room must be true or false")
			}
		case name == "sort" && pages:
			out.order = slices.IndexFunc(orderNames(), func(n string) bool { return n == v })
			if out.order < 0 {
				err = errors.New("sort must be " + strings.Join(orderNames(), ", "))
			}
		case name == "limit" && pages:
			out.limit, err = strconv.Atoi(v)
			if err != nil || out.limit < 1 || out.limit > mostPage {
				err = fmt.Errorf("limit must be from 1 to %d", mostPage)
			}
		case name == "after" && pages:
			var text []byte
			if text, err = base64.RawURLEncoding.DecodeString(v); err != nil {
				err = errors.New("after must be what next was of the page before")
			}
			out.after = string(text)
		default:
			err = fmt.Errorf("there is no filter %.40q", name)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func orderNames() (out []string) {
	for _, o := range orders {
		out = append(out, o.name)
	}
	return out
}

// find writes what a question finds, as JSON.
func (l *listing) find(q *question, out []byte) []byte {
	list := l.of(q.game)[q.order]
	first := 0
	if q.after != "" {
		first = sort.Search(len(list), func(i int) bool {
			return list[i].places[q.order] > q.after
		})
	}
	out = append(out, `{"entries":[`...)
	n, last := 0, (*listed)(nil)
	for _, e := range list[first:] {
		if !q.match(e) {
			continue
		}
		if n == q.limit {
			out = append(out, `],"next":"`...)
			out = base64.RawURLEncoding.AppendEncode(out, []byte(last.places[q.order]))
			return append(out, "\"}\n"...)
		}
		if n++; n > 1 {
			out = append(out, ',')
		}
		out, last = append(out, e.json...), e
	}
	if note := l.note(q); n == 0 && note != "" {
		text, _ := json.Marshal(note) // a text can be written
		out = append(append(append(out, `],"note":`...), text...), "}\n"...)
		return out
	}
	return append(out, "]}\n"...)
}

// note says what to do where nothing is found of a version.
func (l *listing) note(q *question) string {
	v, _ := parseVersion(q.version) // it was checked
	if v == 0 || q.after != "" || l.versions[v] {
		return ""
	}
	versions := map[string]bool{}
	for _, e := range l.of(q.game)[0] {
		if versions[e.Version] = true; len(versions) == 4 {
			break
		}
	}
	list := slices.Sorted(maps.Keys(versions))
	if len(list) == 0 {
		return "nobody plays this game here, in any version"
	}
	return fmt.Sprintf("nobody has version %s: there are servers with %s; get the game as they "+
		"have it, or ask without version", q.version, strings.Join(list, ", "))
}
