package bits

import "github.com/coeval-dev/coeval/det"

type weapon uint8

type serial uint64

type part struct {
	Kind  weapon
	Hot   bool
	Heat  int16
	Label string
}

func (p *part) Sync(s *Sync) {
	Enum(s, &p.Kind, 5)
	if s.Bool(&p.Hot) {
		s.Int16(&p.Heat, -40, 900)
	}
	s.String(&p.Label, 6)
}

// everything has a field for each quantiser, for tests that must miss none.
type everything struct {
	Flag      bool
	Tiny      int8
	Short     int16
	Plain     int
	Word      int32
	Wide      int64
	Huge      int64
	Byte      uint8
	Port      uint16
	Colour    uint32
	Mask      uint64
	Named     weapon
	Serial    serial
	Weapon    weapon
	Speed     float64
	Odd       float64
	Mass      float32
	Exact     float64
	Exact32   float32
	Small     float64
	Half      float64
	Heading   det.Angle
	Fine      det.Angle
	Flat      det.Vec2
	Rect      det.Vec2
	Pos       det.Vec3
	Box       det.Vec3
	Normal    det.Vec3
	Rough     det.Vec3
	Turn      det.Quat
	Signed    int64
	Unsigned  uint64
	Name      string
	Blob      []byte
	Target    Option[det.Vec2]
	Parts     []part
	Ammo      [3]uint8
	Burning   bool
	Heat      int
	Spreading bool
	Reach     float64
	Last      int
}

func (e *everything) Sync(s *Sync) {
	s.Bool(&e.Flag)
	s.Int8(&e.Tiny, -100, 100)
	s.Int16(&e.Short, -1000, 2000)
	s.Int(&e.Plain, 5, 104)
	s.Int32(&e.Word, -1<<31, 1<<31-1)
	s.Int64(&e.Wide, -5, 1<<40)
	s.Int64(&e.Huge, -1<<63, 1<<63-1)
	s.Uint8(&e.Byte, 0, 4)
	s.Uint16(&e.Port, 1024, 65535)
	s.Uint32(&e.Colour, 0, 1<<32-1)
	s.Uint64(&e.Mask, 3, 1<<64-1)
	Integer(s, &e.Named, 1, 9)
	Integer(s, &e.Serial, 1, 1<<63+5)
	Enum(s, &e.Weapon, 7)
	s.Float(&e.Speed, -64, 64, 1.0/16)
	s.Float(&e.Odd, -0.35, 7.77, 0.1)
	s.Float32(&e.Mass, 0, 1000, 0.25)
	s.FullFloat(&e.Exact)
	s.FullFloat32(&e.Exact32)
	s.SmallFloat(&e.Small, 3, 4)
	s.SmallFloat(&e.Half, 5, 10)
	s.Angle(&e.Heading, 10)
	s.Angle(&e.Fine, 31)
	s.Vec2(&e.Flat, 0, 1024, 1.0/32)
	s.Vec2In(&e.Rect, det.Vec2{X: -1, Y: 0}, det.Vec2{X: 1, Y: 50}, 0.01)
	s.Vec3(&e.Pos, -500, 500, 1.0/512)
	s.Vec3In(&e.Box, det.Vec3{X: -10, Y: -20, Z: 0}, det.Vec3{X: 10, Y: 20, Z: 5}, 0.125)
	s.Direction(&e.Normal, 9)
	s.CoarseDirection(&e.Rough)
	s.Quat(&e.Turn, 9)
	s.Varint(&e.Signed)
	s.Uvarint(&e.Unsigned)
	s.String(&e.Name, 13)
	s.Bytes(&e.Blob, 5)
	Optional(s, &e.Target, func(v *det.Vec2, s *Sync) { s.Vec2(v, -8, 8, 0.5) })
	Slice(s, &e.Parts, 3, (*part).Sync)
	for i := range e.Ammo {
		s.Uint8(&e.Ammo[i], 0, 200)
	}
	if s.Bool(&e.Burning) {
		s.Int(&e.Heat, 0, 10)
		if s.Bool(&e.Spreading) {
			s.Float(&e.Reach, 0, 5, 0.5)
		}
	}
	s.Int(&e.Last, -3, 3)
}
