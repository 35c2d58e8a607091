//go:build !js

package mirrors

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/host/internal/keeping"
	"github.com/coeval-dev/coeval/host/internal/operators"
	"github.com/coeval-dev/coeval/host/internal/upgrade"
	"github.com/coeval-dev/coeval/keep"
	"github.com/coeval-dev/coeval/service/admin"
	"github.com/coeval-dev/coeval/topology/server"
	"github.com/coeval-dev/coeval/world"
)

// This file is how a mirror takes over the game of a group that runs, and founds a new group with
// it. The group that runs decides, by its überserver: it gives the game away or plays on, and a
// mirror computes nothing before it knows that all of that group hold the first.

// UpgradeOptions say whose game a mirror takes over.
type UpgradeOptions struct {
	// Access is how mirrors that run are asked, as operators ask them. Without servers none are.
	operators.Access
	// Within is for how long the world may stand still. Default: 1 s.
	Within time.Duration
	// Try only tries whether the game could be taken over.
	Try bool
}

// A successor takes a game over. Nil takes none.
type successor struct {
	opt     UpgradeOptions
	log     *slog.Logger
	title   *game.Title
	targets []operators.Target
	at      int // the target that answered last
	old     *world.Declared
	trial   *admin.World
	final   *admin.World
	stopped time.Time      // when the world did, or a little earlier
	claim   *keep.Handover // what the folder of a mirror says that ended before it knew
	own     string         // where players reach this mirror
	halted  bool           // the group stands still because of this mirror
	written bool           // the folder has a game that is not known to be this mirror's
	unsure  bool           // and nobody answers who knows
	moved   bool           // the first tick was computed
	still   atomic.Int64   // for how long the world stood still, in nanoseconds
}

// newSuccessor finds those who are asked.
func (o *Options) newSuccessor() (*successor, error) {
	if len(o.Upgrade.Servers) == 0 {
		return nil, nil
	}
	s := &successor{opt: o.Upgrade, log: o.Log, title: o.Mirror.Server.Title}
	if s.opt.Within == 0 {
		s.opt.Within = upgrade.Within
	}
	var err error
	s.targets, err = s.opt.Targets("--upgrade")
	return s, err
}

// playsOn makes an error one for people.
func playsOn(err error) error {
	return fmt.Errorf("the mirrors that run play on, as this one cannot take over their game: %w",
		err)
}

// post has something done by a mirror of the group that runs: the one that answered last, or
// another.
func (s *successor) post(ctx context.Context, name string, body, into any) (err error) {
	for range s.targets {
		t := s.targets[s.at]
		e := t.Post(ctx, name, body, into)
		var refused *admin.Error
		if e == nil || errors.As(e, &refused) && refused.Status < http.StatusInternalServerError ||
			ctx.Err() != nil {
			return said(t, e)
		}
		err = errors.Join(err, t.Explain(e))
		s.at = (s.at + 1) % len(s.targets)
	}
	return err
}

// said is what a mirror that answers has refused, with its code.
func said(t operators.Target, err error) error {
	var refused *admin.Error
	if errors.As(err, &refused) {
		refused.Message = t.Explain(err).Error()
		return refused
	}
	return t.Explain(err)
}

// moment is a world as packages that load it know it.
func moment(w *admin.World) *upgrade.Moment {
	m := &upgrade.Moment{Tick: w.Tick, Level: w.Level.Of(), Declared: w.Declared, Build: w.Build,
		Key: w.Key, World: w.World}
	for _, x := range w.Seats {
		m.Seats = append(m.Seats, server.SavedSeat{Client: x.Client, Player: x.Player, Name: x.Name,
			UserData: x.UserData, Inside: x.Inside})
	}
	return m
}

// try loads what is settled now, and looks at all that can be known to be wrong, while the others
// play.
func (s *successor) try(ctx context.Context, o *Options) (err error) {
	s.trial = new(admin.World)
	if err := s.post(ctx, "world", admin.WorldRequest{}, s.trial); err != nil {
		return err
	}
	if !slices.ContainsFunc(o.Mirror.Keys, func(k token.Key) bool {
		return bytes.Equal(upgrade.KeySum(k), s.trial.Key)
	}) {
		return errors.New("the mirrors that run have another key, so their players could not come " +
			"back: give it by --key")
	}
	m := moment(s.trial)
	old, report, err := m.Try(s.title)
	if err != nil {
		return err
	}
	s.old = old
	if err := upgrade.CheckStore(ctx, s.title.Game, o.Store); err != nil {
		return err
	}
	if most := cmp.Or(o.Mirror.Server.Players, 64); len(m.Seats) > most {
		return fmt.Errorf("%d play, and this mirror is to have room for %d: give as many by "+
			"--players as the mirrors that run have", len(m.Seats), most)
	}
	changes := 0
	if report != nil {
		changes = len(report.Changes)
		for _, c := range report.Changes[:min(changes, mostChanges)] {
			s.log.Info("the game declares something else now, and its world is converted",
				"change", c.String())
		}
	}
	s.log.Info("the game of the mirrors that run can be gone on with", "tick", m.Tick, "changes",
		changes, "seats", len(m.Seats), "build", m.Build)
	return nil
}

// mostChanges is how many of them are said.
const mostChanges = 100

// begin sees whether there is something to take over, and tries it. It gives nil if the folder has
// the game already.
func (s *successor) begin(ctx context.Context, h *host) (*successor, error) {
	if s == nil {
		return nil, nil
	}
	s.own = h.sockets.public.String()
	if dir := h.Keep.Dir; dir != "" {
		memory, err := keep.Remembered(keeping.Disk(dir))
		if err != nil {
			return nil, err
		}
		if s.claim, err = keep.HandedOver(keeping.Disk(dir)); err != nil {
			return nil, err
		}
		switch {
		case s.claim != nil && !s.claim.Ceded:
			if err := s.ask(ctx, dir); err != nil {
				return nil, err
			}
		case memory != nil: // it was started once more, by the same command line
			h.Log.Info("the folder has the game of this mirror's group, so nothing is taken over",
				"folder", dir)
			return nil, nil
		}
		if s.claim != nil {
			return s, nil
		}
	}
	if err := s.try(ctx, &h.Options); err != nil {
		return nil, playsOn(err)
	}
	return s, nil
}

// ask finds out whether the game was given to this mirror, which ended before it knew.
func (s *successor) ask(ctx context.Context, dir string) (err error) {
	for _, t := range s.targets {
		var h admin.Handover
		if e := t.Get(ctx, "handover", &h); e != nil {
			err = errors.Join(err, t.Explain(e))
			continue
		}
		if h.Ceded || len(h.To) > 0 {
			if h.Tick != uint64(s.claim.Tick) || !slices.Contains(h.To, s.own) {
				return fmt.Errorf("the game was given to the mirrors at %v, and not to this one, "+
					"which is at %s", h.To, s.own)
			}
			s.log.Info("this mirror was given the game before it was started anew", "tick", h.Tick)
			return nil
		}
		s.claim = nil
		return keeping.Discard(dir)
	}
	// The folder says what to do.
	return fmt.Errorf("%s: %w: it may have been given to this mirror, and none of those answers "+
		"that know. If they have ended, and the files handover in their folders name this mirror "+
		"(%s), remove that file in this folder and start it without --upgrade; if they play, remove "+
		"the folder: %w", dir, keep.ErrHandedOver, s.own, err)
}

// last has the group that runs halt, and has the mirror be founded with its last world.
func (s *successor) last(ctx context.Context, h *host) (err error) {
	if s == nil {
		return nil
	}
	if h.Mirror.Found = true; s.claim != nil {
		return s.lastKept(h)
	}
	if h.keeper != nil && h.keeper.Kept() != nil {
		return playsOn(fmt.Errorf("%s has a game already: name a folder that is empty or not there "+
			"yet", h.Keep.Dir))
	}
	began := time.Now()
	s.halted = true
	var halt admin.Handover
	if err := s.post(ctx, "halt", admin.HaltRequest{Within: s.opt.Within.String()},
		&halt); err != nil {
		return err
	}
	s.carryUsed(ctx, h)
	s.final, s.stopped = new(admin.World), time.Now()
	if err := s.post(ctx, "world", admin.WorldRequest{Final: true}, s.final); err != nil {
		return err
	}
	s.stopped = s.stopped.Add(-time.Duration(s.final.StillMS * float64(time.Millisecond)))
	w, _, err := moment(s.final).Load(s.title, s.old)
	if err != nil {
		return fmt.Errorf("the last world cannot be loaded: %w", err)
	}
	if got := fmt.Sprintf("%016x", w.Hash()); s.old.Hash == s.title.Game.Hash() &&
		got != s.final.Hash {
		return fmt.Errorf("the last world is not as the others have it: its hash is %s, and theirs "+
			"%s", got, s.final.Hash)
	}
	snapshot := moment(s.final).Snapshot(w)
	h.Mirror.Handover.Inherit, h.Mirror.Handover.Epoch = &snapshot, s.final.Epoch+1
	if h.keeper != nil {
		if err := h.keeper.Claim(keep.Handover{Where: s.opt.Servers, Tick: w.Tick(),
			Epoch: s.final.Epoch + 1}); err != nil {
			return err
		}
		s.written = true
	}
	s.log.Debug("the last world is here", "tick", s.final.Tick, "took",
		time.Since(began).String())
	return nil
}

// lastKept goes on with the last world that this mirror wrote down before it was given the game.
func (s *successor) lastKept(h *host) error {
	if h.back {
		h.Mirror.Found = false
		return nil
	}
	k := h.keeper.Kept()
	if k == nil || k.World.Tick() < s.claim.Tick {
		return fmt.Errorf("the game was given to this mirror after tick %d, and the folder has not "+
			"that world: go on with a folder of the mirrors that had it, as the file handover in "+
			"it says", s.claim.Tick)
	}
	h.Mirror.Handover.Inherit, h.Mirror.Handover.Epoch = &k.Snapshot, s.claim.Epoch
	return nil
}

// cedeTime is how long the group that runs is asked what it has decided.
const cedeTime = time.Minute

// take has the game be this mirror's, which is ready to compute.
func (s *successor) take(ctx context.Context, h *host) error {
	if s == nil {
		return nil
	}
	if s.claim == nil {
		if err := s.cede(ctx); err != nil {
			return err
		}
	}
	s.halted, s.written = false, false
	if h.keeper != nil {
		if err := h.keeper.Own(); err != nil {
			s.log.Error("this mirror has the game, and its folder still says that it is not known to "+
				"have it: remove the file handover there", "folder", h.Keep.Dir, "error", err)
		}
	}
	if s.final != nil {
		h.upgrades.done = s.final.Upgrades + 1
		s.log.Info("going on with the game of the mirrors before", "tick", s.final.Tick, "hash",
			s.final.Hash, "seats", len(s.final.Seats), "level", s.final.Level.Name)
	}
	return nil
}

// cede asks that the game be given to this mirror, until it is known what came of it: whoever asks
// to end this program waits for that.
func (s *successor) cede(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cedeTime)
	defer cancel()
	for ctx.Err() == nil {
		var got admin.Handover
		err = s.post(ctx, "cede", admin.CedeRequest{Tick: s.final.Tick, To: []string{s.own}}, &got)
		var refused *admin.Error
		switch {
		case err == nil && got.Ceded && got.Tick == s.final.Tick && slices.Contains(got.To, s.own):
			return nil
		case err == nil && got.Ceded:
			s.halted = false
			return fmt.Errorf("the game was given to other mirrors, at %v", got.To)
		case errors.As(err, &refused) && refused.Code == "goes_on":
			s.halted = false
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	s.unsure = true
	return fmt.Errorf("it is not known whether this mirror was given the game, and none of those "+
		"answers that know: %w", err)
}

// refuse has the group that runs play on, unless it does so already or may have given the game
// away.
func (s *successor) refuse(ctx context.Context, err error) error {
	if s == nil || s.unsure {
		return err
	}
	if s.halted {
		s.halted = false
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goOnTime)
		defer cancel()
		if e := s.post(ctx, "goon", nil, nil); e != nil {
			s.log.Warn("the mirrors that run were not told to go on, which they will by themselves",
				"within", s.opt.Within.String(), "error", e)
		}
	}
	if s.claim != nil {
		return err
	}
	return playsOn(err)
}

// goOnTime is how long it may take to tell others to go on.
const goOnTime = 5 * time.Second

// discard removes from the folder what is not this mirror's.
func (s *successor) discard(dir string) {
	if s == nil || !s.written || s.unsure {
		return
	}
	if err := keeping.Discard(dir); err != nil {
		s.log.Error("the folder has a world that is not this mirror's: remove it", "folder", dir,
			"error", err)
	}
}

// ticked is told each tick, and says of the first for how long the world stood still.
func (s *successor) ticked(t world.Tick) {
	if s == nil || s.moved || s.final == nil || uint64(t) <= s.final.Tick {
		return
	}
	s.moved = true
	still := time.Since(s.stopped)
	s.still.Store(int64(still))
	s.log.Info("the world moves again", "tick", uint64(t), "stood_still",
		still.Round(time.Microsecond).String(), "milliseconds", float64(still.Microseconds())/1000)
}
