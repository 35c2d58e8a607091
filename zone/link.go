package zone

import (
	"slices"
	"time"
)

// peer is another server.
type peer struct {
	id ServerID
	watched
	firm, loose letter
	scratch     []byte
}

// letter is a message in the making.
type letter struct {
	buf []byte
}

// known gives a server, which is made if need be; nil where there would be too many.
func (s *Server) known(id ServerID) *peer {
	at, ok := s.findPeer(id)
	if !ok {
		if id == 0 || id == s.opt.Self || len(s.peers) >= maxServers {
			return nil
		}
		s.peers = slices.Insert(s.peers, at, &peer{id: id,
			watched: watched{heard: -s.opt.Silence, since: s.now}})
	}
	return s.peers[at]
}

func (s *Server) findPeer(id ServerID) (int, bool) {
	lo, hi := 0, len(s.peers)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s.peers[mid].id < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(s.peers) && s.peers[lo].id == id
}

// write opens the letter to a server for a part of at most some bytes.
func (s *Server) write(p *peer, loose bool, size int) *letter {
	l := &p.firm
	if loose {
		l = &p.loose
	}
	if len(l.buf) > 0 && len(l.buf)+size > MaxMessage {
		s.post(p, l, loose)
	}
	if len(l.buf) == 0 {
		l.buf = s.paper()
		l.buf = append(l.buf, wireVersion)
		l.buf = appendUint(l.buf, uint64(s.clusterTime()/time.Microsecond))
	}
	return l
}

// paper gives a buffer for a message, one that was used before if there is any.
func (s *Server) paper() []byte {
	if n := len(s.papers); n > 0 {
		b := s.papers[n-1]
		s.papers = s.papers[:n-1]
		return b[:0]
	}
	return make([]byte, 0, 1024)
}

func (s *Server) post(p *peer, l *letter, loose bool) {
	s.messages = append(s.messages, Message{p.id, loose, l.buf})
	l.buf = nil
}

// Messages hands out what is to be sent. It is good until the next call of the server.
func (s *Server) Messages() []Message {
	s.recycle()
	for _, p := range s.peers {
		if len(p.firm.buf) > 0 {
			s.post(p, &p.firm, false)
		}
		if len(p.loose.buf) > 0 {
			s.post(p, &p.loose, true)
		}
	}
	s.sent, s.messages = s.messages, s.sent[:0]
	return s.sent
}

// recycle takes back the paper of messages that were handed out.
func (s *Server) recycle() {
	for i := range s.sent {
		if len(s.papers) < 64 {
			s.papers = append(s.papers, s.sent[i].Data)
		}
		s.sent[i] = Message{}
	}
	s.sent = s.sent[:0]
}
