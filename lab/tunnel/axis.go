package tunnel

// An Axis is something that is measured of every architecture, in the same way.
type Axis struct {
	// Key is its name in JSON, which stays.
	Key   string
	Group Group
	Head  string
	Unit  string
	// About says what it is, in a sentence.
	About string
	// More says that more is better; otherwise less is, or with Even, what is nearest to 1.
	More, Even bool
	// Floor is what makes no difference to anybody: intervals are held against at least so much.
	Floor float64
	// Machine says that it depends on the machine: processor time.
	Machine bool
	// Extreme says that it is the worst that happened, which grows with time.
	Extreme bool
}

// A Group is of axes that belong together.
type Group string

// The groups.
const (
	Consistency    Group = "consistency"
	Responsiveness Group = "responsiveness"
	Bandwidth      Group = "bandwidth"
	Processor      Group = "processor"
	Fairness       Group = "hits and fairness"
	Faults         Group = "faults"
)

// Axes lists all.
func Axes() []Axis { return axes }

var axes = []Axis{
	{Key: "off_others_mean", Group: Consistency, Head: "others off, mean", Unit: "widths",
		About: "how far other players are shown from where they truly are at that tick, in widths " +
			"of a body: what was wrong, summed over time", Floor: 0.02},
	{Key: "off_others_p50", Group: Consistency, Head: "median", Unit: "widths",
		About: "the same, of half of all pictures at most", Floor: 0.02},
	{Key: "off_others_p95", Group: Consistency, Head: "p95", Unit: "widths",
		About: "the same, of nineteen in twenty at most", Floor: 0.05},
	{Key: "off_others_max", Extreme: true, Group: Consistency, Head: "most", Unit: "widths",
		About: "the same, at worst", Floor: 0.5},
	{Key: "off_own_mean", Group: Consistency, Head: "oneself off, mean", Unit: "widths",
		About: "how far the player's own body is shown from where it truly is at that tick",
		Floor: 0.02},
	{Key: "off_own_p95", Group: Consistency, Head: "p95", Unit: "widths",
		About: "the same, of nineteen in twenty at most", Floor: 0.05},
	{Key: "truth_off_mean", Group: Consistency, Head: "truth off", Unit: "widths",
		About: "how far what was decided is from what would be if all commands came in time",
		Floor: 0.02},
	{Key: "events_wrong", Group: Consistency, Head: "events that differ", Unit: "%",
		About: "strict events that happened and should not have, or the reverse, as commands " +
			"came late", Floor: 1},
	{Key: "events_taken", Group: Consistency, Head: "events taken back", Unit: "%",
		About: "strict events that a player was shown and that did not happen", Floor: 1},
	{Key: "jerks", Group: Consistency, Head: "jerks", Unit: "%",
		About: "by how much more the motion of others changes from picture to picture than it truly " +
			"does: what was guessed and put right", Floor: 5},
	{Key: "unseen", Group: Consistency, Head: "unseen", Unit: "%",
		About: "other players that should be in view, by the title as it was written, and are not " +
			"shown: where knobs are set", Floor: 0.5},
	{Key: "corrections", Group: Consistency, Head: "corrections a minute",
		About: "how often a player's own body is moved by more than a twentieth of its width",
		Floor: 0.5},
	{Key: "rollbacks", Group: Consistency, Head: "rollbacks/s",
		About: "how often a machine went back to compute ticks again", Floor: 0.1},
	{Key: "rollback_deepest", Extreme: true, Group: Consistency, Head: "deepest", Unit: "ticks",
		About: "and by how many ticks at most", Floor: 1},
	{Key: "commands_late", Group: Consistency, Head: "commands late", Unit: "%",
		About: "commands that did not count at the tick for which they were given", Floor: 0.2},

	{Key: "own_ms", Group: Responsiveness, Head: "own input", Unit: "ms",
		About: "from a command to the picture in which the player sees what it did, median",
		Floor: 2},
	{Key: "own_ms_p95", Group: Responsiveness, Head: "p95", Unit: "ms",
		About: "the same, of nineteen in twenty at most", Floor: 2},
	{Key: "others_ms", Group: Responsiveness, Head: "others' input", Unit: "ms",
		About: "from a command that nobody could guess to the picture in which another player " +
			"sees what it did, median", Floor: 2},
	{Key: "others_ms_p95", Group: Responsiveness, Head: "p95", Unit: "ms",
		About: "the same, of nineteen in twenty at most", Floor: 2},
	{Key: "server_ms", Group: Responsiveness, Head: "to who decides", Unit: "ms",
		About: "from a command to the machine that decides, median", Floor: 2},
	{Key: "still", Group: Responsiveness, Head: "stood still", Unit: "%",
		About: "how much of the time the picture did not move on when it should have", Floor: 0.2},
	{Key: "still_longest_ms", Extreme: true, Group: Responsiveness, Head: "longest", Unit: "ms",
		About: "and for how long at most", Floor: 20},

	{Key: "hits_denied", Group: Fairness, Head: "hits denied", Unit: "%",
		About: "direct hits that the shooter saw and that were none", Floor: 1},
	{Key: "hits_unseen", Group: Fairness, Head: "hits unseen", Unit: "%",
		About: "direct hits that were given and that the shooter had not foreseen", Floor: 1},
	{Key: "deaths_covered", Group: Fairness, Head: "deaths behind cover", Unit: "%",
		About: "deaths by a direct hit after more than 100 ms behind cover on one's own screen",
		Floor: 1},
	{Key: "fairness", Group: Fairness, Head: "kills, far by near", Even: true,
		About: "kills of the half of the players with the longer way, for each of the others: 1 " +
			"is fair", Floor: 0.1},

	{Key: "client_down", Group: Bandwidth, Head: "client down", Unit: "B/s",
		About: "bytes a second that a player's machine receives, with the headers of IP and UDP",
		Floor: 50},
	{Key: "client_up", Group: Bandwidth, Head: "client up", Unit: "B/s",
		About: "and that it sends", Floor: 50},
	{Key: "server_out", Group: Bandwidth, Head: "servers out", Unit: "B/s",
		About: "bytes a second that all servers send to players", Floor: 50},
	{Key: "server_in", Group: Bandwidth, Head: "servers in", Unit: "B/s",
		About: "and receive from them", Floor: 50},
	{Key: "group_out", Group: Bandwidth, Head: "between servers", Unit: "B/s",
		About: "bytes a second that all servers send each other", Floor: 50},

	{Key: "client_cpu", Group: Processor, Head: "CPU, a player", Unit: "µs/tick", Machine: true,
		About: "processor time of a player's machine for a tick, without bot and picture",
		Floor: 5},
	{Key: "server_cpu", Group: Processor, Head: "CPU, servers", Unit: "µs/tick", Machine: true,
		About: "processor time of all servers for a tick and player", Floor: 5},

	{Key: "fault_ms", Extreme: true, Group: Faults, Head: "recovers in", Unit: "ms",
		About: "a player is cut off for two seconds: how long after that until it sees the truth " +
			"again", Floor: 50},
	{Key: "fault_others_ms", Extreme: true, Group: Faults, Head: "others stop for", Unit: "ms",
		About: "and for how long at most another's picture stood still because of it", Floor: 20},
}

// AxisOf finds an axis by its key.
func AxisOf(key string) (Axis, bool) {
	for _, a := range axes {
		if a.Key == key {
			return a, true
		}
	}
	return Axis{}, false
}
