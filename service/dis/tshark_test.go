package dis_test

import (
	"bytes"
	"context"
	"math"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coeval-dev/coeval/det"
	"github.com/coeval-dev/coeval/reckon"
	"github.com/coeval-dev/coeval/service/dis"
	"github.com/coeval-dev/coeval/service/dis/capture"
)

// everything is PDUs of all kinds, with what can vary in them drawn at random.
func everything(version uint8, seed uint64) (all []dis.PDU) {
	r := det.At(seed, 5, uint64(version))
	id := func() dis.ID {
		return dis.ID{Site: uint16(1 + r.IntN(999)), Application: uint16(1 + r.IntN(999)),
			Number: uint16(1 + r.IntN(999))}
	}
	vec := func() dis.Vec { return dis.VecOf(r.Unit3().Mul(100)) }
	pos := func() det.Vec3 { return r.Unit3().Mul(6378137) }
	kind := func() dis.Type {
		return dis.Type{Kind: 1, Domain: uint8(1 + r.IntN(5)), Country: 225,
			Category: uint8(r.IntN(9)), Subcategory: uint8(r.IntN(9))}
	}
	charge := func() dis.Charge {
		return dis.Charge{Type: dis.Type{Kind: 2, Domain: 9, Country: 225, Category: 2},
			Warhead: 1000, Fuse: 3000, Quantity: 1, Rate: 1}
	}
	header := dis.Header{Version: version, Exercise: 1, Time: dis.Absolute(time.Unix(1e9, 0))}
	request := dis.Request{From: id(), To: id(), Number: 77}
	parts := make([]dis.Parameter, r.IntN(4))
	for i := range parts {
		parts[i] = dis.Articulated(1, 0, 4107, float32(r.Float64()))
		if r.Chance(0.3) {
			parts[i] = dis.Attached(0, 1, 897, kind())
		}
	}
	e := dis.EntityState{Header: header, ID: id(), Force: 1, Type: kind(), Other: kind(),
		Marking: dis.Mark("coeval"), Parts: parts}
	e.SetBody(reckon.Model(1+r.IntN(9)), &reckon.Body{Pos: pos(), Vel: r.Unit3().Mul(9),
		Facing: det.TurnBy(r.Unit3()), Spin: r.Unit3(), Accel: r.Unit3()})
	data := []dis.Datum{{ID: 10100, Value: 5}}
	long := []dis.LongDatum{dis.TextDatum(20000, "Hello DIS"), dis.TextDatum(20001, "")}
	clock := dis.ClockAt(time.Unix(1e9, 0))
	all = []dis.PDU{&e,
		&dis.Fire{Header: header, Firer: id(), Target: id(), Munition: id(), Event: id(),
			Pos: pos(), Charge: charge(), Vel: vec(), Range: 500},
		&dis.Detonation{Header: header, Firer: id(), Target: id(), Munition: id(), Event: id(),
			Vel: vec(), Pos: pos(), Charge: charge(), At: vec(), Result: 1, Parts: parts},
		&dis.Collision{Header: header, Issuer: id(), Other: id(), Event: id(), Elastic: 1,
			Vel: vec(), Mass: 1500, At: vec()},
		&dis.CreateEntity{Header: header, Request: request},
		&dis.RemoveEntity{Header: header, Request: request},
		&dis.StartResume{Header: header, Request: request, Real: clock, Simulated: clock},
		&dis.StopFreeze{Header: header, Request: request, Real: clock, Reason: 2, Frozen: 1},
		&dis.Acknowledge{Header: header, Request: request, Flag: 1, Answer: 1},
		&dis.Data{Header: header, Request: request, Fixed: data, Long: long},
		&dis.Data{Header: header, Request: request, Fixed: data, Long: long, Set: true},
		&dis.Comment{Header: header, Request: request, Long: long},
	}
	if version == dis.Version7 {
		fire := dis.Fire{Header: header, Firer: id(), Charge: dis.Charge{Type: kind()},
			Range: float32(math.Pi)}
		fire.Status = dis.FireExpendable
		blast := dis.Detonation{Header: header, Charge: dis.Explosion(kind(), 500, 12.5)}
		blast.Status = dis.DetonationExplosion
		all = append(all, &fire, &blast)
	}
	return all
}

// Wireshark takes each PDU that we write for what it is, to its last byte, and finds nothing wrong
// with any.
func TestWiresharkAgrees(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tshark is not here; install the package tshark")
		}
		t.Skip("tshark is not here; install the package tshark to run this test")
	}
	var file bytes.Buffer
	w, err := capture.NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort("192.0.2.1:3000")
	var kinds []string
	for seed := range uint64(20) {
		for _, version := range []uint8{dis.Version6, dis.Version7} {
			for _, p := range everything(version, seed) {
				err := w.Write(capture.Datagram{At: time.Unix(1e9, 0), From: at, To: at,
					Data: p.Append(nil)})
				if err != nil {
					t.Fatal(err)
				}
				kinds = append(kinds, dis.HeaderOf(p).Kind.String())
			}
		}
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "all.pcap")
	if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, tshark, "-r", name, "-d", "udp.port==3000,dis", "-V")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v", err)
	}
	text := string(out)
	lower := strings.ToLower(text)
	for _, bad := range []string{"malformed", "expert info", "exception"} {
		if n := strings.Count(lower, bad); n > 0 {
			t.Errorf("%d times %q:\n%s", n, bad, text[:min(len(text), 3000)])
		}
	}
	got := strings.Count(text, "Distributed Interactive Simulation\n")
	if got != len(kinds) {
		t.Errorf("%d of %d PDUs are taken for DIS", got, len(kinds))
	}
	for _, want := range []string{"PDU type: Entity State (1)", "PDU type: Fire (2)",
		"PDU type: Detonation (3)", "PDU type: Collision (4)", "PDU type: Create Entity (11)",
		"PDU type: Remove Entity (12)", " (13)", " (14)", "PDU type: Acknowledge (15)",
		"PDU type: Data (20)", "PDU type: Comment (22)", "Entity Marking: coeval"} {
		if n := strings.Count(text, want); n < 40 {
			t.Errorf("%q stands in it %d times", want, n)
		}
	}
	t.Logf("%d PDUs, 0 malformed", len(kinds))
}
