package gateway

import (
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/service/dis"
)

// Setting is a line that is measured: what its gateways do.
type Setting struct {
	Name    string
	Options Options
}

// Settings are those that Measure compares, each leaving away more than the one before; the first
// is a line without gateways.
func Settings() []Setting {
	const every = 100 * time.Millisecond
	return []Setting{
		{"each PDU a packet", Options{Every: -1, Plain: true, Loud: true}},
		{"gathered by time, 100 ms", Options{Every: every, Plain: true, Loud: true}},
		{"gathered by quorum, 8", Options{Quorum: 8, Plain: true, Loud: true}},
		{"gathered by both", Options{Every: every, Quorum: 8, Plain: true, Loud: true}},
		{"and what one has of the other", Options{Every: every, Quorum: 8, Loud: true}},
		{"and quiescent", Options{Every: every, Quorum: 8}},
	}
}

// Measured is what a line carried, with 28 bytes of IP and UDP for each packet.
type Measured struct {
	Name              string  `json:"name"`
	Said              int     `json:"said"` // PDUs, on the side that is told of
	Packets           uint64  `json:"packets"`
	Bytes             uint64  `json:"bytes"`
	FewerPackets      float64 `json:"fewer_packets_percent"` // than a packet for each PDU
	FewerBytes        float64 `json:"fewer_bytes_percent"`
	FewerThanGathered float64 `json:"fewer_bytes_than_gathered_percent"`
	Wrong             int     `json:"wrong"`   // PDUs heard that nobody said, but for beats
	Unheard           int     `json:"unheard"` // entities that were not known there at the end
}

const overhead = 28

// Measure has a number of entities move about on one side, a third of them standing still, with
// beats of 5 s for all as in version 6, for some seconds, and says what the line carried under each
// setting, what came out verified.
func Measure(entities, seconds int, seed uint64) (all []Measured) {
	for _, s := range Settings() {
		all = append(all, measure(s, entities, seconds, seed))
	}
	first, gathered := &all[0], &all[3]
	for i := range all {
		m := &all[i]
		m.FewerPackets = 100 * (1 - float64(m.Packets)/float64(first.Packets))
		m.FewerBytes = 100 * (1 - float64(m.Bytes)/float64(first.Bytes))
		m.FewerThanGathered = 100 * (1 - float64(m.Bytes)/float64(gathered.Bytes))
	}
	return all
}

// flyer is an entity that is measured with.
type flyer struct {
	r     det.Rand
	body  reckon.Body
	moves bool
}

func (f *flyer) tick(seconds float64) {
	if !f.moves {
		return
	}
	if f.r.Chance(float64(seconds / 6)) {
		f.body.Spin = det.Vec3{Z: f.r.Range(-0.3, 0.3)}
	}
	f.body = reckon.RPB.After(&f.body, seconds)
}

func measure(s Setting, entities, seconds int, seed uint64) Measured {
	const rate = 30
	a, b := New(s.Options, 1), New(s.Options, 2)
	there := dis.NewExercise(dis.Options{})
	sender := dis.Sender{Site: 1, Application: 1, Header: dis.Header{Version: 6, Exercise: 1},
		Rules: reckon.Rules{Beats: reckon.StandardBeats}}
	sender.Rules.Beats.Still = sender.Rules.Beats.Moving
	ground := dis.NewGround(dis.Spot{Lat: det.Degrees(37.8), Lon: det.Degrees(-122.4)}, 0)
	all := make([]flyer, entities)
	for i := range all {
		f := &all[i]
		f.r = det.At(seed, uint64(i), 0)
		f.moves = i%3 != 0
		level := reckon.Body{Pos: det.Vec3{X: f.r.Range(-5e3, 5e3), Y: f.r.Range(-5e3, 5e3)},
			Facing: det.TurnBy(det.Vec3{Z: f.r.Range(-3, 3)})}
		f.body = ground.BodyToWorld(&level)
		if f.moves {
			f.body.Vel = det.Vec3{X: f.r.Range(5, 25)}
		}
		sender.Describe(uint16(i+1), &dis.EntityState{Force: uint8(1 + i%2),
			Marking: dis.Mark("vehicle"),
			Type:    dis.Type{Kind: dis.Platform, Domain: dis.Land, Country: 225, Category: 1}})
	}
	m := Measured{Name: s.Name}
	said := map[string]bool{}
	start := time.Date(2026, 3, 1, 11, 30, 0, 0, time.UTC)
	for tick := range seconds * rate {
		now := time.Duration(tick) * time.Second / rate
		stamp := dis.Absolute(start.Add(now))
		for i := range all {
			f := &all[i]
			f.tick(1.0 / rate)
			d, why := sender.Move(nil, now, stamp, uint16(i+1), reckon.RPB, &f.body)
			if why == reckon.Kept {
				continue
			}
			m.Said++
			said[string(d)] = true
			a.FromExercise(now, stamp, d)
		}
		a.Tick(now, stamp)
		for _, p := range a.ToLine {
			m.Packets++
			m.Bytes += uint64(len(p)) + overhead
			b.FromLine(now, stamp, p)
		}
		a.Reset()
		b.Tick(now, stamp)
		beats := int(b.Counters.Kept)
		for _, d := range b.ToExercise {
			if !said[string(d)] {
				m.Wrong++
			}
			there.Receive(now, stamp, d, nil)
		}
		if tick == seconds*rate-1 {
			m.Wrong = max(0, m.Wrong-beats)
		}
		b.Reset()
		there.Tick(now)
	}
	m.Unheard = entities - there.Len()
	return m
}
