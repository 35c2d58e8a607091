package dis

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/coeval-dev/coeval/det"
)

// A vector is a PDU that another implementation wrote, with what it was given.
type vector struct {
	Version, Type int
	Name, Hex     string
	Fields        map[string]any
}

func (v *vector) bytes(t testing.TB) []byte {
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func vectors(t testing.TB, file string) (all []vector) {
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// Each PDU of another implementation is read to what it was given, and written again bit for bit.
func TestVectors(t *testing.T) {
	all := vectors(t, "pdus.json")
	if len(all) != 33 {
		t.Fatalf("%d vectors", len(all))
	}
	var r Reader
	for _, v := range all {
		t.Run(fmt.Sprintf("v%d %s", v.Version, v.Name), func(t *testing.T) {
			b := v.bytes(t)
			p, err := r.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			got := plain(t, neutral(p))
			for name, want := range v.Fields {
				if !reflect.DeepEqual(got[name], want) {
					t.Errorf("%s is %v, not %v", name, got[name], want)
				}
			}
			for name := range got {
				if _, ok := v.Fields[name]; !ok {
					t.Errorf("%s is %v, and nobody asked", name, got[name])
				}
			}
			if again := p.Append([]byte("x"))[1:]; !bytes.Equal(again, b) {
				t.Errorf("written again it is\n%x, not\n%x", again, b)
			}
		})
	}
}

// Captures of other simulators pass through as they came, whatever their kind.
func TestCaptures(t *testing.T) {
	var r Reader
	for _, v := range vectors(t, "captures.json") {
		b := v.bytes(t)
		p, err := r.Read(b)
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		if again := p.Append(nil); !bytes.Equal(again, b) {
			t.Errorf("%s: written again it is\n%x, not\n%x", v.Name, again, b)
		}
	}
}

type object = map[string]any

// plain is a value as JSON would bring it back.
func plain(t *testing.T, v any) (out map[string]any) {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func ids(id ID) []int { return []int{int(id.Site), int(id.Application), int(id.Number)} }

func types(t Type) []int {
	return []int{int(t.Kind), int(t.Domain), int(t.Country), int(t.Category), int(t.Subcategory),
		int(t.Specific), int(t.Extra)}
}

func place(v det.Vec3) []float64 { return []float64{v.X, v.Y, v.Z} }

// neutral is a PDU under the names of the vectors.
func neutral(p PDU) object {
	h := HeaderOf(p)
	head := object{"protocol_version": h.Version, "exercise_id": h.Exercise, "pdu_type": h.Kind,
		"protocol_family": h.Family, "timestamp": h.Time, "length": h.Length, "padding": 0}
	if h.Version == Version7 {
		head["pdu_status"] = h.Status
	}
	o := object{"header": head}
	request := func(q *Request) {
		o["originating_id"], o["receiving_id"] = ids(q.From), ids(q.To)
		if h.Kind != KindComment {
			o["request_id"] = q.Number
		}
	}
	switch p := p.(type) {
	case *EntityState:
		neutralEntity(o, p)
	case *Fire:
		o["firing_entity_id"], o["target_entity_id"] = ids(p.Firer), ids(p.Target)
		o["munition_id"], o["event_id"] = ids(p.Munition), ids(p.Event)
		o["fire_mission_index"], o["location"] = p.Mission, place(p.Pos)
		o["velocity"], o["range"] = p.Vel, p.Range
		o["descriptor"] = neutralCharge(&p.Charge, h.Status&FireExpendable != 0, false)
	case *Detonation:
		o["firing_entity_id"], o["target_entity_id"] = ids(p.Firer), ids(p.Target)
		o["exploding_entity_id"], o["event_id"] = ids(p.Munition), ids(p.Event)
		o["velocity"], o["location"], o["location_in_entity"] = p.Vel, place(p.Pos), p.At
		o["detonation_result"], o["number_of_variable_parameters"] = p.Result, len(p.Parts)
		o["variable_parameters"] = neutralParts(p.Parts)
		o["descriptor"] = neutralCharge(&p.Charge, false, h.Status&DetonationExplosion != 0)
	case *Collision:
		o["issuing_entity_id"], o["colliding_entity_id"] = ids(p.Issuer), ids(p.Other)
		o["event_id"], o["collision_type"], o["mass"] = ids(p.Event), p.Elastic, p.Mass
		o["velocity"], o["location"] = p.Vel, p.At
	case *CreateEntity:
		request(&p.Request)
	case *RemoveEntity:
		request(&p.Request)
	case *StartResume:
		request(&p.Request)
		o["real_world_time"], o["simulation_time"] = neutralClock(p.Real), neutralClock(p.Simulated)
	case *StopFreeze:
		request(&p.Request)
		o["real_world_time"], o["reason"] = neutralClock(p.Real), p.Reason
		o["frozen_behavior"] = p.Frozen
	case *Acknowledge:
		request(&p.Request)
		o["acknowledge_flag"], o["response_flag"] = p.Flag, p.Answer
	case *Data:
		request(&p.Request)
		neutralData(o, p.Fixed, p.Long)
	case *Comment:
		request(&p.Request)
		neutralData(o, p.Fixed, p.Long)
	}
	return o
}

func neutralClock(c Clock) object {
	return object{"hour": c.Hours, "time_past_hour": c.Stamp}
}

func neutralCharge(c *Charge, expendable, explosion bool) object {
	switch {
	case expendable:
		return object{"expendable_type": types(c.Type)}
	case explosion:
		material, force := c.Explosion()
		return object{"exploding_object": types(c.Type), "explosive_material": material,
			"explosive_force": force}
	}
	return object{"munition_type": types(c.Type), "warhead": c.Warhead, "fuse": c.Fuse,
		"quantity": c.Quantity, "rate": c.Rate}
}

func neutralEntity(o object, p *EntityState) {
	o["entity_id"], o["force_id"] = ids(p.ID), p.Force
	o["number_of_variable_parameters"] = len(p.Parts)
	o["entity_type"], o["alternative_entity_type"] = types(p.Type), types(p.Other)
	o["linear_velocity"], o["location"] = p.Vel, place(p.Pos)
	o["orientation_psi_theta_phi"], o["appearance"] = p.Euler, p.Looks
	o["dead_reckoning"] = object{"algorithm": p.Model,
		"parameters_hex":      hex.EncodeToString(p.Tuning[:]),
		"linear_acceleration": p.Accel, "angular_velocity": p.Spin}
	o["marking"] = object{"character_set": p.Marking.Set, "text": p.Marking.String()}
	o["capabilities"], o["variable_parameters"] = p.Can, neutralParts(p.Parts)
}

func neutralParts(parts []Parameter) []object {
	out := []object{}
	for i := range parts {
		p := &parts[i]
		o := object{"record_type": p.Kind()}
		at := func(i int) uint16 { return binary.BigEndian.Uint16(p[i:]) }
		switch p.Kind() {
		case ArticulatedPart:
			change, to, what, value := p.Value()
			o["change_indicator"], o["part_attached_to"] = change, to
			o["parameter_type"], o["value_float32"] = what, value
			o["value_hex"] = hex.EncodeToString(p[8:])
		case AttachedPart:
			detached, to, station, kind := p.Part()
			o["change_indicator"], o["part_attached_to"] = detached, to
			o["parameter_type"], o["attached_entity_type"] = station, types(kind)
			o["value_hex"] = hex.EncodeToString(p[8:])
		case Separation:
			o["reason_for_separation"], o["pre_entity_indicator"] = p[1], p[2]
			o["parent_entity_id"] = ids(getID(p[4:]))
			o["station_name"], o["station_number"] = at(12), at(14)
		case OtherType:
			o["change_indicator"], o["entity_type"] = p[1], types(getType(p[2:]))
		case Association:
			o["change_indicator"], o["association_status"] = p[1], p[2]
			o["association_type"], o["entity_id"] = p[3], ids(getID(p[4:]))
			o["own_station_location"], o["physical_connection_type"] = at(10), p[12]
			o["group_member_type"], o["group_number"] = p[13], at(14)
		}
		out = append(out, o)
	}
	return out
}

func neutralData(o object, fixed []Datum, long []LongDatum) {
	numbers, texts := []object{}, []object{}
	for _, d := range fixed {
		numbers = append(numbers, object{"datum_id": d.ID, "value": d.Value})
	}
	for _, d := range long {
		texts = append(texts, object{"datum_id": d.ID, "length_bits": d.Bits,
			"value_hex": hex.EncodeToString(d.Data), "text": string(d.Data),
			"padded_bytes": padded(d.Bits)})
	}
	o["fixed_datums"], o["variable_datums"] = numbers, texts
}

func TestPartsAsWritten(t *testing.T) {
	p := Articulated(3, 7, 4107, 0.75)
	if change, to, what, value := p.Value(); change != 3 || to != 7 || what != 4107 ||
		value != 0.75 {
		t.Error(p.Value())
	}
	kind := Type{2, 2, 225, 1, 5, 3, 7}
	a := Attached(1, 2, 897, kind)
	if detached, to, station, got := a.Part(); detached != 1 || to != 2 || station != 897 ||
		got != kind {
		t.Error(a.Part())
	}
	c := Explosion(kind, 500, 12.5)
	if material, force := c.Explosion(); material != 500 || force != 12.5 {
		t.Error(material, force)
	}
}
