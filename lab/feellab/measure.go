package feellab

import (
	"github.com/coeval-dev/coeval/game"
	"github.com/coeval-dev/coeval/lab"
	"github.com/coeval-dev/coeval/lab/session"
	"github.com/coeval-dev/coeval/predict"
	"github.com/coeval-dev/coeval/topology/client"
	"github.com/coeval-dev/coeval/world"
)

// begun makes a guest ready to play in the world that its client was told of.
func (u *guest) begun(v *client.View) {
	u.Begun(v.Me)
	u.probe = v.Truth.Host().Clone()
}

// command asks the bot, and notes what it did.
func (u *guest) command(t world.Tick, _ world.Player, shown *world.World, in *world.Inputs) {
	u.Command(t, u.Me, shown, in)
	c := u.commands.Put(t)
	if c.image == nil {
		c.image = make([]int32, len(u.Title.Game.Commands().Slots))
	}
	c.given = in.Image(u.Me, c.image)
}

// frame is what a player's program does at each tick of its own.
func (u *guest) frame() {
	r := u.run
	v := u.Client.Frame(r.Net.Now(), u.command)
	if v.Began {
		u.begun(&v)
	}
	if v.Ended {
		r.Fail(v.Err)
	}
	if !v.Fresh {
		return
	}
	for i := range v.Notices {
		switch v.Notices[i].What {
		case predict.Foreseen:
			r.foreseen++
			if !r.o.plain {
				u.foresaw(v.World, &v.Notices[i])
			}
		case predict.Denied:
			r.denied++
		}
	}
	u.looked = v.World.Tick()
	u.Look(v.World, r.Title.Width()/20, func() bool { return false })
	if r.On {
		r.behind += u.Client.Predict().Playout().Behind()
		u.inputLags += float64(u.Client.Sent() - min(u.Client.Sent(), v.World.Tick()))
		u.inputs++
	}
}

// after is called after each tick of the server.
func (r *run) after(w *world.World, in *world.Inputs) {
	r.hits = r.hits[:0]
	r.Title.Hits(w, func(h game.Hit) bool {
		r.hits = append(r.hits, h)
		return true
	})
	if r.o.plain {
		if r.On {
			r.tally()
			r.ticks++
		}
		return
	}
	r.consult(w, in)
	r.Witness(w, func(*session.Guest) bool { return true })
	r.other.judge(in, w)
	if r.On {
		for i := range r.sightings {
			if s := &r.sightings[i]; s.tick == w.Tick() && !s.found {
				s.why, s.found = r.why(s, w, in, r.other), true
			}
		}
		for _, u := range r.guests {
			if u.probe != nil && w.Tick()%r.every == 0 {
				r.compare(u, w)
			}
		}
		r.victims(w)
		r.match(w.Tick())
		r.ticks++
	} else {
		r.sightings = r.sightings[:0]
	}
	r.Fail(r.before.Host().CopyFrom(w))
}

// consult lets the oracle take its tick: the same commands, each at the tick for which it was
// given. Every second it starts again from the server's world, since a shot that hit in one world
// and not in the other makes two different games.
func (r *run) consult(w *world.World, in *world.Inputs) {
	if w.Tick()%world.Tick(r.Title.Game.Rate()) == 0 {
		r.Fail(r.oracle.Host().CopyFrom(w))
		return
	}
	r.in.Reset()
	for _, p := range in.Joins() {
		r.in.Join(p)
	}
	for _, p := range in.Leaves() {
		r.in.Leave(p)
	}
	for _, u := range r.guests {
		if c := u.commands.At(w.Tick()); c != nil && c.given && u.Me != world.Nobody {
			r.Fail(r.in.GiveImage(u.Me, c.image))
		}
	}
	_ = r.oracle.Host().Step(r.in) // the server's world reports the same errors
}

// compare holds what a client showed for a tick against the truth.
func (r *run) compare(u *guest, w *world.World) {
	poses := u.Shown.At(w.Tick())
	if poses == nil {
		return
	}
	for _, p := range *poses {
		if !r.oracle.Has(p.ID) {
			continue
		}
		truth, alive := r.Pose(r.oracle, p.ID)
		if !alive || truth.Life != p.Life {
			continue
		}
		d := float32(p.At.Sub(truth.At).Len())
		if p.Owner != u.Me {
			r.others = append(r.others, d)
			continue
		}
		r.own = append(r.own, d)
		if is, alive := r.Pose(w, p.ID); alive && is.Life == truth.Life {
			r.drift = append(r.drift, float32(is.At.Sub(truth.At).Len()))
		}
	}
}

// totals adds up what grows.
func (u *guest) totals() (t totals) {
	if c := u.Client.Predict(); c != nil {
		t.Steps = int(c.Stats().Steps)
		for _, x := range c.Report() {
			t.Compared += x.Compared
			t.Mistaken += x.Wrong
		}
	}
	n := u.End.Counters()
	t.In, t.Out, t.Repeated = n.ReceivedBytes, n.SentBytes, u.Client.Stats().Repeated
	return t
}

// result sums it up.
func (r *run) result() Result {
	x := Result{
		Style: r.kind.Name, Network: r.o.Conditions.Name, Players: r.o.Players, Seed: r.o.Seed,
		Hits: r.hitsFound()}
	x.Seconds = float64(r.ticks) / float64(r.Title.Game.Rate())
	x.Errors = Errors{Own: summary(r.own), Others: summary(r.others), Server: summary(r.drift)}
	players := float64(r.o.Players)
	each := x.Seconds * players
	a := func(n int) float64 { return float64(n) / (each / 60) }
	x.Corrections = Corrections{
		All: a(r.Causes.All), Contact: a(r.Causes.Contact), Struck: a(r.Causes.Struck),
		Rest: a(r.Causes.Rest())}
	var all totals
	lags, inputs := 0.0, 0
	for _, u := range r.guests {
		t := lab.Less(u.totals(), u.before)
		all = lab.Sum(all, t)
		x.BytesDown += float64(t.In) / each
		x.BytesUp += float64(t.Out) / each
		x.Steps += float64(t.Steps) / float64(r.ticks) / players
		lags += u.inputLags
		inputs += u.inputs
	}
	x.Ahead, x.Behind = r.Ahead/float64(max(r.Looks, 1)), r.behind/float64(max(r.Looks, 1))
	x.EventsDenied = lab.Ratio(float64(r.denied), float64(r.foreseen))
	x.InputTicks = lags / float64(max(inputs, 1))
	x.Late = float64(all.Repeated) / float64(max(r.ticks, 1)) / players
	x.Exact = 1 - float64(all.Mistaken)/float64(max(all.Compared, 1))
	return x
}
