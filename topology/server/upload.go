package server

import (
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/conn"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/topology/wire"
	"github.com/coeval-dev/coeval/world"
)

// This file is what players send in one piece, of the kinds that the title's Uploads name. Nothing
// is taken that was not allowed when it began: each person has an allowance of bytes, everyone
// together has one of memory, and what comes too slowly is given up.

// An Upload is data that a player has sent and the game has taken.
type Upload struct {
	Seat *Seat
	Name string // of game.Upload
	Data []byte // may be kept
}

// An uploading is what is on its way from a client. Its size is reserved in Server.reserved exactly
// while kind is set.
type uploading struct {
	kind  *game.Upload
	id    conn.BulkID
	size  int
	since time.Duration
}

// An allowance is how many bytes somebody may send now. It is below zero for nobody: what is begun
// was allowed as a whole.
type allowance struct {
	left float64
	at   time.Duration
	used bool
}

// Within uploadBase and as long as a path of uploadLeast bytes a second takes, data has to come.
const (
	uploadBase  = 30 * time.Second
	uploadLeast = 2 << 10
)

// fill brings an allowance up to date.
func (a *allowance) fill(now time.Duration, perMinute, most int) {
	if !a.used {
		a.used, a.left, a.at = true, float64(most), now
	}
	a.left = min(a.left+float64(float64(perMinute)/60*(now-a.at).Seconds()), float64(most))
	a.at = now
}

// uploadBegun looks at data that begins to come, and refuses what is not wanted.
func (s *Server) uploadBegun(p *peer, e *conn.Event) {
	s.uploadOver(p)
	if p.state >= mismatched {
		_ = p.conn.RefuseBulk(e.Bulk) // all of it may have come already
		return
	}
	if !p.requests.pass(s.now, float64(s.opt.Limits.Requests), float64(4*s.opt.Limits.Requests)) {
		_ = p.conn.RefuseBulk(e.Bulk)
		s.offend(p, ManyRequests)
		return
	}
	if p.seat == nil || p.seat.gone {
		_ = p.conn.RefuseBulk(e.Bulk)
		s.offend(p, BadControl)
		return
	}
	u := s.opt.Title.UploadOf(e.Tag)
	if err := s.mayUpload(p.seat, u, e.Size); err != nil {
		_ = p.conn.RefuseBulk(e.Bulk)
		s.refuseUpload(p, e.Tag, err)
		return
	}
	p.seat.uploads.left -= float64(e.Size)
	p.uploading = uploading{kind: u, id: e.Bulk, size: e.Size, since: s.now}
	s.reserved += e.Size
}

// mayUpload says why something is not taken, or nil.
func (s *Server) mayUpload(seat *Seat, u *game.Upload, size int) error {
	if u == nil {
		return fmt.Errorf("the server does not know what that is; it takes %s", s.uploadNames())
	}
	if size > u.Most {
		return fmt.Errorf("%s has %d bytes; send at most %d", u.Name, size, u.Most)
	}
	most := s.opt.Title.MostUpload()
	perMinute := s.opt.Limits.Uploads
	if u.Take == nil && s.opt.Rules.Uploaded == nil {
		return fmt.Errorf("this server keeps no %s", u.Name)
	}
	a := &seat.uploads
	a.fill(s.now, perMinute, max(most, perMinute))
	if lacks := float64(size) - a.left; lacks > 0 {
		wait := time.Duration(lacks / float64(perMinute) * float64(time.Minute))
		return fmt.Errorf("you have sent a lot; send %s again in %v", u.Name,
			wait.Round(time.Second)+time.Second)
	}
	if s.reserved+size > max(s.opt.Limits.UploadsAtOnce, most) {
		return fmt.Errorf("others are sending as much as the server has room for; " +
			"try again in a minute")
	}
	if rule := s.opt.Rules.Upload; rule != nil {
		return rule(seat, u.Name, size)
	}
	return nil
}

func (s *Server) uploadNames() string {
	names := "nothing"
	for i := range s.opt.Title.Uploads {
		if u := &s.opt.Title.Uploads[i]; i == 0 {
			names = u.Name
		} else {
			names += ", " + u.Name
		}
	}
	return names
}

// uploadReceived takes what has come as a whole.
func (s *Server) uploadReceived(p *peer, e *conn.Event) {
	up := p.uploading
	if up.kind == nil || up.id != e.Bulk || p.seat == nil || p.state >= mismatched {
		return // it was refused when it began
	}
	s.endUpload(p)
	seat := p.seat
	if err := s.takeUpload(up.kind, seat, e.Data); err != nil {
		s.refuseUpload(p, e.Tag, err)
		return
	}
	s.stats.Uploads++
	s.stats.UploadBytes += uint64(len(e.Data))
	s.tell(News{Kind: Sent, Seat: seat, Text: fmt.Sprintf("%s, %d bytes", up.kind.Name,
		len(e.Data))})
	s.say(p, wire.Message{Kind: wire.Taken, Tag: e.Tag})
}

// takeUpload gives data to the game and then to whoever runs it. A game that panics over it goes
// on without it.
func (s *Server) takeUpload(u *game.Upload, seat *Seat, data []byte) (err error) {
	if s.failed.err != nil {
		return fmt.Errorf("the game has come to an end")
	}
	defer func() {
		if p := recover(); p != nil {
			s.tell(News{Kind: GameError, Seat: seat,
				Err: fmt.Errorf("server: the game panicked over upload %s: %v", u.Name, p)})
			err = fmt.Errorf("the game cannot use this %s", u.Name)
		}
	}()
	if u.Take != nil {
		err := s.Tell(func(in *world.Inputs) error {
			return u.Take(s.scene.world, seat.Player, data, in)
		})
		if err != nil {
			return err
		}
	}
	if keep := s.opt.Rules.Uploaded; keep != nil {
		return keep(Upload{Seat: seat, Name: u.Name, Data: data})
	}
	return nil
}

// refuseUpload says why something is not taken.
func (s *Server) refuseUpload(p *peer, tag uint32, err error) {
	s.stats.UploadsRefused++
	s.say(p, wire.Message{Kind: wire.Taken, Tag: tag, Text: wire.Clip(err.Error(), wire.MaxText)})
}

// uploadOver gives up what is on its way from a client, which has ended it or is gone: what has
// not come counts for nothing.
func (s *Server) uploadOver(p *peer) {
	if p.uploading.kind == nil {
		return
	}
	if id, came, size, ok := p.conn.BulkIncoming(); ok && id == p.uploading.id && p.seat != nil {
		p.seat.uploads.left += float64(size - came)
	}
	s.endUpload(p)
}

func (s *Server) endUpload(p *peer) {
	s.reserved -= p.uploading.size
	p.uploading = uploading{}
}

// sweepUpload gives up what comes too slowly.
func (s *Server) sweepUpload(p *peer) {
	u := &p.uploading
	if u.kind == nil || s.now-u.since <= uploadBase+time.Duration(u.size)*time.Second/uploadLeast {
		return
	}
	name, id, tag := u.kind.Name, u.id, u.kind.Tag()
	s.uploadOver(p)
	_ = p.conn.RefuseBulk(id) // it may just have come
	s.refuseUpload(p, tag, fmt.Errorf("%s came too slowly; try again where the network is better",
		name))
}
