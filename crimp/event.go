package crimp

import "github.com/coeval-dev/coeval/member"

// EventKind says what an Event is about.
type EventKind uint8

const (
	// Delivered: Data is the message of packet Seq of Member.
	Delivered EventKind = iota + 1
	// GaveUp: packet Seq of Member was lost, and its life has ended before it could be
	// recovered. It will never be delivered. Where How is Agreed, all members give it up, for
	// none has it; otherwise others may have it.
	GaveUp
	// Joined: Member is now in the group.
	Joined
	// Left: Member is no longer in the group; Reason says why. If it was agreed what of it
	// counts, Seq is its last packet, and all up to there were delivered or given up before.
	Left
	// Established: this node is a member now, with the identifier Member.
	Established
	// Denied: the group does not want this node; Reason says why, and Data, for people.
	Denied
	// Dismissed: this node is no longer a member; Reason says why. It may join anew.
	Dismissed
	// StateWanted: at the node that decides, Member waits for the state. Take it now, and give it
	// to Node.ProvideState before the next call of Receive.
	StateWanted
	// State: at a member that joins, Data is the state of the group. What was delivered
	// before it need not be applied; what comes after must be.
	State
	// Clash: a packet came that was made with this member's own identity, elsewhere.
	// Two machines run with one identity.
	Clash
	// Revoked: packets Seq and More after it of Member, who is gone, were delivered here, but
	// the others have agreed that they do not count. Undo what they did, or leave and join
	// anew. Some of them may have been given up before.
	Revoked
	// Whispered: Data is what Member said to this member alone.
	Whispered
	// Led: from an authority that elects: Member decides about members from here on.
	Led
	// CutOff: from an authority that elects: a majority of the members is not heard any
	// more. What is done from here on may not count.
	CutOff
	// Reunited: after CutOff, a majority is heard again, and this node is still a member.
	Reunited
	// Equivocated: Member has signed two digests of its packets that contradict each other. It
	// has told different things to different members.
	Equivocated
	// Disputed: Member has signed a digest of packets Seq and More after it that does not fit what
	// came of it here. It, or whoever made what came, lies; nobody else can tell.
	Disputed
)

var eventNames = [...]string{
	"", "delivered", "gave up", "joined", "left", "established", "denied", "dismissed",
	"state wanted", "state", "clash",
	"revoked", "whispered", "led", "cut off", "reunited", "equivocated", "disputed"}

func (k EventKind) String() string { return nameOf(k, eventNames[:], "unknown event") }

// nameOf is what a kind is called.
func nameOf[K ~uint8](k K, names []string, otherwise string) string {
	if int(k) < len(names) {
		return names[k]
	}
	return otherwise
}

// Event is something that happened in a group. Events come in the order in which they
// happened. Data is good until the next call of Receive, Tick or Events.
type Event struct {
	Kind   EventKind
	Member member.ID
	Seq    Sequence
	More   uint32 // GaveUp, Revoked: so many packets after Seq as well
	How    How
	Reason Reason
	Data   []byte
}

// How is by which way a packet came.
type How uint8

const (
	// First: as it was sent at first.
	First How = iota
	// Repaired: sent again, because somebody asked for it.
	Repaired
	// Forwarded: made from what other packets carried of it.
	Forwarded
	// Own: sent by this member itself; only in total order.
	Own
	// Lossy: sent by SendLossy. Seq counts those packets of the member by themselves.
	Lossy
	// Agreed: not at all; the members have agreed to give it up.
	Agreed
)

var howNames = [...]string{"first", "repaired", "forwarded", "own", "lossy", "agreed"}

func (h How) String() string { return nameOf(h, howNames[:], "unknown way") }

// Reason is why a member is not in the group.
type Reason uint8

const (
	// ReasonLeft: it said that it leaves.
	ReasonLeft Reason = iota + 1
	// ReasonSilent: nothing was heard of it for three quarters of the history.
	ReasonSilent
	// ReasonReplaced: another came with the same identity.
	ReasonReplaced
	// ReasonFull: the group takes no more.
	ReasonFull
	// ReasonRefused: whoever decides does not want it.
	ReasonRefused
	// ReasonMismatch: its options are not those of the group.
	ReasonMismatch
	// ReasonUnreachable: nobody who was asked lets it in.
	ReasonUnreachable
	// ReasonToken: its token is not good.
	ReasonToken
	// ReasonClosed: the group has ended.
	ReasonClosed
	// ReasonProgram: it runs another program, or another version of it, than the group.
	ReasonProgram
	// ReasonGame: it, or its token, is of another game than the group.
	ReasonGame
	// ReasonOutdated: it has missed so many rosters that it cannot follow any more.
	ReasonOutdated
	// ReasonEquivocated: it has told different things to different members, and signed both.
	ReasonEquivocated
)

var reasonNames = [...]string{
	"", "left", "silent for too long", "replaced by another with the same identity",
	"group is full",
	"refused", "options differ from the group's", "nobody answers", "token is not good",
	"group has ended",
	"runs another program or version", "is of another game", "missed too many changes of members",
	"told different things to different members"}

func (r Reason) String() string { return nameOf(r, reasonNames[:], "unknown reason") }

var advice = [...]string{
	ReasonSilent:      "check the network between this member and the others, then join again",
	ReasonReplaced:    "give each machine an identity of its own",
	ReasonFull:        "wait until one leaves, or let the group have more members",
	ReasonMismatch:    "use the same order and history at all members",
	ReasonUnreachable: "check the addresses and ports that are asked, and that a member runs there",
	ReasonToken:       "use a token, or key, that the group knows, and check both clocks",
	ReasonProgram:     "run the same version, with the same settings, on all machines",
	ReasonGame:        "ask a group of the same game",
	ReasonOutdated:    "join again",
}

// Advice says what a person can do about it, or nothing.
func (r Reason) Advice() string { return nameOf(r, advice[:], "") }
