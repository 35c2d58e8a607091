package scene

import (
	"math"
	"slices"
	"strconv"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/games/arena"
	"github.com/coeval-dev/coeval/games/arena/client/sound"
	"github.com/coeval-dev/coeval/world"
)

// A Frame is what a Scene is given each time that something is drawn.
type Frame struct {
	World *world.World
	Me    world.Player // whose eyes these are; Nobody for someone who watches
	Dt    float64      // seconds since the last frame
	// Look is where the player points on the screen, from the middle: a vector of length one for
	// its edge.
	Look det.Vec2
	// Screen is how much of the map the screen shows. If it is zero the camera may stand anywhere.
	Screen det.Vec2
	// Lead is how many seconds the present is past the world's tick: things are shown that much
	// further on their way. Others is the same for what belongs to other players.
	Lead, Others float64
	// Fresh says that the world has gone on since the last frame, so that its events have not been
	// seen.
	Fresh bool
}

// A Body is a fighter as it is shown.
type Body struct {
	ID     world.ID
	Player world.Player
	Pos    det.Vec2
	Vel    det.Vec2
	Aim    det.Angle
	Weapon arena.Weapon
	Color  Color
	Name   string
	Health int
	Mine   bool
	Stride float64 // how far it has walked, for its feet
	Flash  float64 // from 1 when it is hit, down to 0
	Kick   float64 // the same when it fires
}

// A Light shines for a moment or for as long as something is there.
type Light struct {
	Pos    det.Vec2
	Radius float64
	Color  Color // times its strength
}

// A Scorch is what stays on the floor for a while.
type Scorch struct {
	Pos         det.Vec2
	Size, Angle float64
	Age         float64
}

// A Ray is a beam of the rail gun that fades.
type Ray struct {
	From, To det.Vec2
	Age      float64
	Color    Color
}

// A Scene follows a world from frame to frame and keeps what only the eye needs. The zero value is
// an empty one; Update fills it. It belongs to one goroutine.
type Scene struct {
	Camera    Camera
	Particles Particles
	Feed      Feed
	Geometry  arena.Scene // walls and doors, as they are now
	Map       *arena.Map
	Bodies    []Body
	Lights    []Light // of this frame
	Scorches  []Scorch
	Rays      []Ray
	// Noise is called with what is to be heard. It may be nil.
	Noise func(s sound.Sound, p sound.Source)

	// Me is one's own fighter as it is shown, or nil while one is dead or watches; Eye is from
	// where one sees, and Sight what is seen.
	Me    *Body
	Eye   det.Vec2
	Sight []det.Vec2
	Time  float64
	// Hurt is how much one was hurt of late, and HurtFrom where it came from.
	Hurt     float64
	HurtFrom det.Angle
	// Landed is from 1 when one's own shot hit someone, down to 0.
	Landed float64
	// Killer is who killed one last, while one is dead.
	Killer world.Player

	eye     arena.Eye
	flashes []glint
	memory  map[world.ID]*memory
	names   map[world.Player]string
	teams   map[world.Player]int
	me      world.Player
	seen    bool
}

// glint is a light that goes out.
type glint struct {
	Light
	age, life float64
}

// memory is what is remembered of a fighter between frames.
type memory struct {
	stride, step float64
	flash, kick  float64
	life         uint8
	last         det.Vec2
	aim          det.Angle
	touched      bool
}

const (
	maxScorches = 80
	maxGlints   = 24
	scorchLife  = 25.0
	rayLife     = 0.7
	stepLength  = 1.1
)

// SightReach is how far one sees.
const SightReach = arena.ViewReach

// Update takes the scene to the next frame.
func (s *Scene) Update(f Frame) {
	if f.World == nil {
		return
	}
	if s.memory == nil {
		s.memory, s.names, s.teams = map[world.ID]*memory{}, map[world.Player]string{},
			map[world.Player]int{}
	}
	dt := min(f.Dt, 0.1) // what stood still goes on, and does not jump
	s.Time += dt
	s.me = f.Me
	if !s.Geometry.Look(f.World) {
		return
	}
	if s.Map != s.Geometry.Map {
		s.open(s.Geometry.Map)
	}
	s.sheets(f.World)
	s.bodies(&f, dt)
	s.look(&f, dt)
	if f.Fresh {
		s.Hear(f.World)
	}
	s.age(dt)
	s.Particles.Update(dt)
	s.Feed.Update(dt)
	s.shine(f.World, &f, dt)
}

// open begins on another map.
func (s *Scene) open(m *arena.Map) {
	s.Map = m
	s.Particles.Clear()
	s.Scorches, s.Rays, s.flashes = s.Scorches[:0], s.Rays[:0], s.flashes[:0]
	clear(s.memory)
	s.Camera.Jump()
	s.seen = false
}

// sheets learns who is called what.
func (s *Scene) sheets(w *world.World) {
	for id, sh := range world.All[arena.Sheet](w) {
		p := w.Owner(id)
		s.names[p], s.teams[p] = sh.Name, sh.Team
	}
}

// NameOf is what a player is called.
func (s *Scene) NameOf(p world.Player) string {
	if n := s.names[p]; n != "" {
		return n
	}
	if p == world.Nobody {
		return "nobody"
	}
	return "player " + strconv.Itoa(int(p))
}

// ColorOf is a player's color.
func (s *Scene) ColorOf(p world.Player) Color { return PlayerColor(p, s.me, s.teams[p]) }

// bodies gathers the fighters that are to be seen.
func (s *Scene) bodies(f *Frame, dt float64) {
	w := f.World
	for _, m := range s.memory {
		m.touched = false
	}
	s.Bodies = s.Bodies[:0]
	s.Me = nil
	mine := -1
	for id, o := range world.All[arena.Fighter](w) {
		if !o.Alive() {
			continue
		}
		m := s.memory[id]
		if m == nil {
			m = &memory{life: o.Life, last: o.Pos}
			s.memory[id] = m
		}
		m.touched = true
		p := w.Owner(id)
		own := p == f.Me && p != world.Nobody
		lead := f.Others
		if own {
			lead = f.Lead
		}
		if m.life != o.Life { // it has appeared anew
			m.life, m.last = o.Life, o.Pos
			if own {
				s.Camera.Jump()
			}
		}
		m.walk(s, o, own, dt)
		m.flash, m.kick = max(0, m.flash-dt*5), max(0, m.kick-dt*9)
		m.aim = o.Aim
		if own {
			mine = len(s.Bodies)
		}
		s.Bodies = append(s.Bodies,
			Body{ID: id, Player: p, Pos: o.Pos.MulAdd(o.Vel, lead), Vel: o.Vel, Aim: o.Aim,
				Weapon: o.Weapon, Color: s.ColorOf(p), Name: s.NameOf(p),
				Health: o.Health, Mine: own, Stride: m.stride, Flash: m.flash, Kick: m.kick})
	}
	if mine >= 0 {
		s.Me = &s.Bodies[mine]
	}
	for id, m := range s.memory {
		if !m.touched {
			delete(s.memory, id)
		}
	}
}

// walk moves the feet.
func (m *memory) walk(s *Scene, o *arena.Fighter, own bool, dt float64) {
	moved := o.Vel.Len() * dt
	m.stride += moved
	m.last = o.Pos
	if m.step += moved; m.step > stepLength {
		m.step = 0
		volume := 0.22
		if own {
			volume = 0.1
		}
		s.noiseAt(sound.Step, o.Pos, volume, 9)
	}
}

// look places the camera and finds what is in sight.
func (s *Scene) look(f *Frame, dt float64) {
	switch {
	case s.Me != nil:
		s.Eye, s.seen = s.Me.Pos, true
		s.Camera.Stand(s.Me.Pos, f.Look, dt)
		s.Killer = world.Nobody
	case f.Me == world.Nobody && len(s.Bodies) > 0:
		s.Eye, s.seen = s.Bodies[0].Pos, true
		s.Camera.Drift(s.Eye, dt)
	case !s.seen:
		s.Eye = det.Vec2{X: float64(s.Map.Width) / 2, Y: float64(s.Map.Height) / 2}
		s.Camera.Drift(s.Eye, dt)
	default: // dead: one lies where one fell
		s.Camera.Drift(s.Eye, dt)
	}
	if f.Screen.X > 0 {
		s.Camera.Keep(float64(s.Map.Width), float64(s.Map.Height), f.Screen)
	}
	s.Sight = s.eye.See(&s.Geometry, s.Eye, SightReach)
	s.Hurt, s.Landed = max(0, s.Hurt-dt*1.4), max(0, s.Landed-dt*5)
}

// age lets time pass for what fades.
func (s *Scene) age(dt float64) {
	s.Scorches = aged(s.Scorches, dt,
		func(m *Scorch) (*float64, float64) { return &m.Age, scorchLife })
	s.Rays = aged(s.Rays, dt, func(r *Ray) (*float64, float64) { return &r.Age, rayLife })
	s.flashes = aged(s.flashes, dt, func(g *glint) (*float64, float64) { return &g.age, g.life })
}

// aged lets all in a list grow older, and keeps what has not lived as long as it may.
func aged[T any](list []T, by float64, of func(*T) (age *float64, life float64)) []T {
	kept := list[:0]
	for _, x := range list {
		age, life := of(&x)
		if *age += by; *age < life {
			kept = append(kept, x)
		}
	}
	return kept
}

// upTo adds to a list in which the oldest give way.
func upTo[T any](most int, list []T, x T) []T {
	if len(list) == most {
		list = slices.Delete(list, 0, 1)
	}
	return append(list, x)
}

// Done is how much of a ray's time is over.
func (r *Ray) Done() float64 { return min(1, r.Age/rayLife) }

// Fade is how much of a scorch is left to see.
func (m *Scorch) Fade() float64 { return min(1, (scorchLife-m.Age)/5) }

// shine gathers the lights of this frame.
func (s *Scene) shine(w *world.World, f *Frame, dt float64) {
	s.Lights = s.Lights[:0]
	for id, o := range world.All[arena.Shot](w) {
		lead := f.Others
		if p := w.Owner(id); p == f.Me {
			lead = f.Lead
		}
		at := o.Pos.MulAdd(o.Vel, lead)
		switch o.Weapon {
		case arena.Launcher:
			s.trail(at, o.Vel, dt)
			s.Lights = append(s.Lights, Light{at, 4.5, Fire.Mul(0.9)})
		default:
			s.Lights = append(s.Lights, Light{at, 2, Plasma.Mul(0.5)})
		}
	}
	for _, p := range world.All[arena.Pickup](w) {
		if p.There(w) {
			s.Lights = append(s.Lights,
				Light{p.Pos, 2.2,
					KindColor(p.Kind).Mul(float32(0.32 + 0.1*math.Sin(s.Time*3+p.Pos.X)))})
		}
	}
	for i := range s.Bodies {
		b := &s.Bodies[i]
		s.Lights = append(s.Lights, Light{b.Pos, 1.9, b.Color.Mul(0.25)})
	}
	for _, g := range s.flashes {
		k := 1 - g.age/g.life
		l := g.Light
		l.Color = l.Color.Mul(float32(k * k))
		s.Lights = append(s.Lights, l)
	}
}

// flash lets a light shine and go out.
func (s *Scene) flash(at det.Vec2, radius float64, c Color, life, strength float64) {
	g := glint{Light{at, radius, c.Mul(float32(strength))}, 0, life}
	s.flashes = upTo(maxGlints, s.flashes, g)
}

func (s *Scene) noise(n sound.Sound, p sound.Source) {
	if s.Noise != nil {
		s.Noise(n, p.Detune(s.Particles.dice.between(-0.06, 0.06)))
	}
}

func (s *Scene) noiseAt(n sound.Sound, at det.Vec2, volume, reach float64) {
	s.noise(n, sound.At(at.X-s.Eye.X, at.Y-s.Eye.Y, volume, reach))
}
