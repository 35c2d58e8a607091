package scene

import (
	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/sound"
	"github.com/coeval-dev/coeval/world"
)

// Hear turns what happened in a tick into what is seen and heard. Update does so for a Fresh frame;
// it is for those who compute several ticks between two frames.
func (s *Scene) Hear(w *world.World) {
	if s.memory == nil {
		return // nothing was shown yet
	}
	for e, v := range world.Events[arena.Fired](w) {
		s.fired(e.About, v)
	}
	for e, v := range world.Events[arena.Beam](w) {
		s.Rays = append(s.Rays,
			Ray{From: v.From, To: v.To, Color: Rail.Mix(s.ColorOf(w.Owner(e.About)), 0.25)})
		s.coil(v.From, v.To)
		s.sparks(v.To, v.From.Sub(v.To).Angle(), Rail, 10)
	}
	for _, v := range world.Events[arena.Spark](w) {
		s.sparks(v.At, v.Out, Plasma, 7)
		s.noiseAt(sound.Spark, v.At, 0.35, 14)
	}
	for _, v := range world.Events[arena.Explosion](w) {
		s.explosion(v.At)
		s.noiseAt(sound.Burst, v.At, 1, 30)
		if d := v.At.Sub(s.Eye).Len(); d < 12 {
			s.Camera.Shake(0.75 * (1 - d/12))
		}
	}
	for e, v := range world.Events[arena.Damaged](w) {
		s.damaged(w, e.About, v)
	}
	for _, v := range world.Events[arena.Killed](w) {
		s.killed(w, v)
	}
	for e, v := range world.Events[arena.Spawned](w) {
		s.arrival(v.At, s.ColorOf(w.Owner(e.About)))
		s.noiseAt(sound.Appear, v.At, 0.5, 16)
	}
	for e, v := range world.Events[arena.PickedUp](w) {
		s.pickedUp(w, e.About, v)
	}
	for e := range world.Events[arena.DoorMoved](w) {
		if d := world.Get[arena.Door](w, e.About); d != nil {
			s.noiseAt(sound.Door, d.Pos, 0.5, 14)
		}
	}
	for _, v := range world.Events[arena.Said](w) {
		text := v.Text
		if text == "" {
			text = "waves"
		}
		s.Feed.say(s.NameOf(v.By), s.ColorOf(v.By), text)
		s.noise(sound.Chat, sound.Here(0.4))
	}
	for range world.Events[arena.RoundBegan](w) {
		s.Feed.Announce("fight!", Warning)
		s.noise(sound.Begin, sound.Here(0.6))
	}
	for _, v := range world.Events[arena.RoundOver](w) {
		switch {
		case v.Team > 0:
			s.Feed.Announce([]string{"", "red wins the round", "blue wins the round"}[v.Team%3],
				Warning)
		case v.Winner == world.Nobody:
			s.Feed.Announce("a draw", Warning)
		case v.Winner == s.me:
			s.Feed.Announce("you win the round", Good)
		default:
			s.Feed.Announce(s.NameOf(v.Winner)+" wins the round", Warning)
		}
		s.noise(sound.Over, sound.Here(0.6))
	}
}

// guns are how a shot of each weapon looks, sounds and kicks.
var guns = [4]struct {
	flash         float64
	sound         sound.Sound
	volume, reach float64
	kick          float64
}{
	arena.None:     {0.7, sound.Bolt, 0.45, 20, 0},
	arena.Blaster:  {0.7, sound.Bolt, 0.45, 20, 0.06},
	arena.Launcher: {1.1, sound.Launch, 0.8, 24, 0.18},
	arena.Rail:     {1.2, sound.Beam, 0.9, 30, 0.24},
}

func (s *Scene) fired(by world.ID, v *arena.Fired) {
	if m := s.memory[by]; m != nil {
		m.kick = 1
	}
	g := &guns[v.Weapon%4]
	s.muzzle(v.At, v.Aim, WeaponColor(v.Weapon), g.flash)
	s.noiseAt(g.sound, v.At, g.volume, g.reach)
	if s.Me != nil && s.Me.ID == by {
		s.Camera.Shake(g.kick)
	}
}

func (s *Scene) damaged(w *world.World, id world.ID, v *arena.Damaged) {
	victim := w.Owner(id)
	if m := s.memory[id]; m != nil {
		m.flash = 1
		s.splinters(m.last, v.From, s.ColorOf(victim), 4+v.Amount/6)
	}
	switch {
	case victim == s.me:
		s.Hurt = min(1, s.Hurt+0.25+float64(v.Amount)/80)
		s.HurtFrom = v.From
		s.Camera.Shake(0.15 + float64(v.Amount)/160)
		s.noise(sound.Hurt, sound.Here(0.7))
	case v.By == s.me && s.me != world.Nobody:
		s.Landed = 1
		s.noise(sound.Hit, sound.Here(0.45))
	}
}

func (s *Scene) killed(w *world.World, v *arena.Killed) {
	at, there := s.posOf(w, v.Victim)
	if there {
		s.wreck(at, s.ColorOf(v.Victim))
		s.noiseAt(sound.Death, at, 0.7, 22)
	}
	s.Feed.kill(Kill{By: s.NameOf(v.By), Victim: s.NameOf(v.Victim), ByColor: s.ColorOf(v.By),
		VictimColor: s.ColorOf(v.Victim), Weapon: v.Weapon,
		Accident: v.By == v.Victim, Mine: s.me != world.Nobody &&
			(v.By == s.me || v.Victim == s.me), by: v.By, victim: v.Victim})
	switch {
	case s.me == world.Nobody:
	case v.Victim == s.me:
		s.Killer = v.By
		s.Camera.Shake(0.8)
	case v.By == s.me:
		s.Feed.Announce("you got "+s.NameOf(v.Victim), Own)
		s.noise(sound.Kill, sound.Here(0.6))
	}
}

// posOf is where a player's fighter is, dead or alive.
func (s *Scene) posOf(w *world.World, p world.Player) (at det.Vec2, ok bool) {
	for id, f := range world.All[arena.Fighter](w) {
		if w.Owner(id) == p {
			return f.Pos, true
		}
	}
	return at, false
}

func (s *Scene) pickedUp(w *world.World, id world.ID, v *arena.PickedUp) {
	p := world.Get[arena.Pickup](w, id)
	if p == nil {
		return
	}
	s.taken(p.Pos, KindColor(v.Kind))
	n := sound.Ammo
	if v.Kind == arena.SmallPack || v.Kind == arena.LargePack {
		n = sound.Health
	}
	s.noiseAt(n, p.Pos, 0.6, 12)
	if v.By == s.me && s.me != world.Nobody {
		s.Feed.hint(kindNames[v.Kind], KindColor(v.Kind))
	}
}

// kindNames are what players read about something to pick up.
var kindNames = map[arena.Kind]string{
	arena.SmallPack: "health", arena.LargePack: "large health pack",
	arena.RocketBox: "rockets", arena.RocketGun: "rocket launcher",
	arena.SlugBox: "slugs", arena.RailGun: "rail gun",
}
