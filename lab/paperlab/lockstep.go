package paperlab

import (
	"context"
	"fmt"
	"time"

	"github.com/coeval-dev/coeval/lab"
)

// lockstep has one of four players further and further away.
func lockstep(ctx context.Context, o *Options, p lab.Progress) (*Finding, error) {
	const players, near = 4, 10 // milliseconds to where lines meet
	f := &Finding{Seeds: o.seeds()}
	s, err := lab.NewSubject(o.Title, o.Level, players)
	if err != nil {
		return nil, err
	}
	f.Game = s.Name()
	slow := []int{10, 40, 80, 160}
	if o.Quick {
		slow = []int{10, 80}
	}
	archs := []string{"doom", "lockstep", "packetserver", "rollback"}
	t := Table{Title: "Four players, three of them 10 ms from where lines meet, and one further " +
		"away: from a command to one's own picture, ms, and how much of the time that stands " +
		"still", Keys: 2,
		Heads: []string{"architecture", "the slowest, ms away", "slowest round trip",
			"published: own delay", "own delay, the near", "own delay, the far",
			"near ones stand still, %", "the far one does, %"}}
	published := map[string]string{
		"doom": "a round trip to the slowest, for all", "lockstep": "the same",
		"packetserver": "only the slow player's is longer", "rollback": "–"}
	done := 0.0
	grew := map[string][]float64{}
	for _, arch := range archs {
		for _, far := range slow {
			network := fmt.Sprintf("latency=%dms", near)
			network += "+" + network + "+" + network + fmt.Sprintf("+latency=%dms", far)
			share := 1 / float64(len(archs)*len(slow))
			list, err := tunnelFigures(ctx, o, p.Within(done, share), trial{arch: arch,
				network: network, players: players, time: 10 * time.Second})
			if err != nil {
				return nil, err
			}
			done += share
			isFar := func(i int) bool { return i == players-1 }
			isNear := func(i int) bool { return !isFar(i) }
			t.add(arch, fmt.Sprint(far), fmt.Sprint(2*(near+far)), published[arch],
				interval(pickOf(list, "own_ms", isNear), 0),
				interval(pickOf(list, "own_ms", isFar), 0),
				interval(pickOf(list, "still", isNear), 1),
				interval(pickOf(list, "still", isFar), 1))
			grew[arch] = append(grew[arch], pickOf(list, "own_ms", isNear)...)
		}
	}
	f.Tables = append(f.Tables, t)
	first, last := grew["lockstep"][0], grew["lockstep"][len(grew["lockstep"])-1]
	f.expect(last > first+float64(slow[len(slow)-1]-slow[0])/2,
		"lock step's delay did not grow with the slowest player: %.0f and %.0f ms", first, last)
	first, last = grew["packetserver"][0], grew["packetserver"][len(grew["packetserver"])-1]
	f.expect(last < first+10, "a packet server let the near players wait for the far one: "+
		"%.0f and %.0f ms", first, last)
	f.differs("The paper speaks of a full round trip between input and picture. Between peers a " +
		"command needs only one way to the others, and theirs one way here, at the same time: so " +
		"our delay is about one way to the slowest, half of what is published, and a margin.")
	f.differs("A lock step that waits for commands stands still when one is lost; ours repeats " +
		"commands until they are acknowledged, DOOM's asks for what is missing.")
	f.differs("Rollback shows one's own input after two ticks, wherever the others are. It guesses " +
		"eight ticks at most, and beyond that it has to stand still; the paper does not know it.")
	f.differs("A packet server does what the paper says: who is far away waits longer and alone.")
	return f, nil
}
