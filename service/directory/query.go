package directory

import (
	"encoding/hex"

	"github.com/coeval-dev/coeval/service/directory/packet"
)

// A viewed is what a client may ask for by a datagram, but for where it begins.
type viewed struct {
	protocol, version uint64
	room              bool
	region            string
}

// query answers what a client asks for with at most so many bytes, those with the most players
// first. Nothing is kept for whoever asks, whose address may be anyone's: what was found is kept
// for as long as the listing, by what there is, and not by what is asked.
func (l *listing) query(q *packet.Query, to []byte, most int) []byte {
	list := l.view(viewed{q.Protocol, q.Version, q.Room, q.Region})
	a := packet.Answer{Nonce: q.Nonce, First: q.First, Total: uint16(min(len(list), 1<<16-1))}
	start, count := len(to), 0
	to = a.AppendHead(to, 0)
	for _, e := range list[min(int(q.First), len(list)):] {
		if count == 255 || len(to)-start+len(e.wire) > most {
			break
		}
		to = append(to, e.wire...)
		count++
	}
	a.AppendHead(to[:start], byte(count)) // over the one that is there
	return to
}

// view is all that fits, by players.
func (l *listing) view(v viewed) []*listed {
	if v.version != 0 && !l.versions[v.version] || v.region != "" && !l.regions[v.region] {
		return nil
	}
	from := l.all
	if v.protocol != 0 {
		if from = l.games[v.protocol]; from == nil {
			return nil
		}
	}
	if list, ok := l.views.get(v); ok {
		return list
	}
	f := filter{region: v.region, room: v.room}
	var list []*listed
	for _, e := range from[0] {
		if e.wire != nil && (v.version == 0 || v.version == e.version) && f.match(e) {
			list = append(list, e)
		}
	}
	l.views.put(v, list, 8*len(list))
	return list
}

// packet is an entry as datagrams have it, or nil.
func (e *listed) packet() []byte {
	if len(e.udp) == 0 {
		return nil
	}
	s := packet.Server{Mode: map[string]byte{Server: 0, Mirror: 1, Relay: 2}[e.Mode],
		Players: uint16(e.Players), Capacity: uint16(e.Capacity), Name: e.Name,
		Places: e.udp[:min(len(e.udp), packet.MaxPlaces)]}
	_, _ = hex.Decode(s.ID[:], []byte(e.ID)) // it is one
	return s.Append(nil)
}
