//go:build !js

// Package crimp are the commands that try the reliable multicast on a real network.
package crimp

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/coeval-dev/coeval/conn/token"
	"github.com/coeval-dev/coeval/crimp"
	"github.com/coeval-dev/coeval/host"
	"github.com/coeval-dev/coeval/host/internal/cli"
	"github.com/coeval-dev/coeval/link"
	"github.com/coeval-dev/coeval/link/multicast"
	"github.com/coeval-dev/coeval/link/udp"
	"github.com/coeval-dev/coeval/membership"
)

const long = `Try the reliable multicast on a real network, with IP multicast or over a mesh
of unicast.

One program founds the group: "listen" without --to. All others join it with --to,
and either send or listen. All are given the same key, and the same --group or
--mesh. Made with: {program} token key --out group.key`

const example = `  {program} crimp listen --key group.key --listen :4001 --group 239.1.2.3:4000 --interface eth0
  {program} crimp send --key group.key --to 192.0.2.7:4001 --group 239.1.2.3:4000 --interface eth0
  {program} crimp listen --key group.key --to 192.0.2.7:4001 --group 239.1.2.3:4000 --interface eth0 --json

  {program} crimp listen --key group.key --listen 192.0.2.7:4001 --mesh
  {program} crimp send --key group.key --listen 192.0.2.8:4001 --to 192.0.2.7:4001 --mesh`

// Command is {program} crimp.
func Command(_ *host.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "crimp",
		Short:   "Send and listen by reliable multicast, on a real network",
		Long:    long,
		Example: example,
	}
	cmd.AddCommand(listenCommand(), sendCommand())
	return cmd
}

// program is what both commands share.
type program struct {
	keyFile, group, device, listen, to string
	mesh, json                         bool
	ttl, members                       int
	history                            time.Duration
	signatures                         bool
	fec                                string
	lose                               float64

	// Of send:
	packets, size int
	period        time.Duration
	// Of listen:
	until int
	wait  int // begin to send when there are so many members
}

func (p *program) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.keyFile, "key", "", "`FILE` with the key that all members share")
	f.StringVar(&p.group, "group", "", "multicast `ADDR` and port, like 239.1.2.3:4000")
	f.StringVar(&p.device, "interface", "",
		"network interface for multicast; the one that routes choose if not given")
	f.IntVar(&p.ttl, "ttl", 1, "how many routers multicast may pass")
	f.BoolVar(&p.mesh, "mesh", false, "send to each member by unicast, where there is no multicast")
	f.StringVar(&p.listen, "listen", ":0",
		"`ADDR` and port of this member for unicast; with --mesh others must reach it there")
	f.StringVar(&p.to, "to", "", "`ADDR` of a member of the group; none: found it")
	f.DurationVar(&p.history, "history", time.Second,
		"how long a packet is of use; the same at all members")
	f.StringVar(&p.fec, "fec", "auto", "forward error correction: auto, none, repeat or parity")
	f.Float64Var(&p.lose, "lose", 0,
		"throw away this share of the datagrams that come, 0 to 0.9, to see what recovery does")
	f.BoolVar(&p.json, "json", false, "print JSON, one object a line")
	if err := cmd.MarkFlagRequired("key"); err != nil {
		panic(err) // only if the flag did not exist
	}
}

func listenCommand() *cobra.Command {
	var p program
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Be in a group and say what comes; found it without --to",
		Long: "Be in a group and say each second what has come. Without --to it founds the " +
			"group.",
		Example: example,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.run(cmd) },
	}
	p.flags(cmd)
	cmd.Flags().IntVar(&p.until, "until", 0,
		"end when so many packets were delivered or given up; 0: when interrupted")
	cmd.Flags().IntVar(&p.members, "members", 64, "most members of a group that is founded here")
	cmd.Flags().BoolVar(&p.signatures, "signatures", false,
		"packets are signed, in place of a tag for each member; the founder decides")
	return cmd
}

func sendCommand() *cobra.Command {
	var p program
	cmd := &cobra.Command{
		Use:   "send",
		Short: "Join a group and send packets to it",
		Long: "Join a group, send packets to it at a steady rate, repair what others miss, " +
			"and leave.",
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.to == "" {
				return cli.Usagef(
					"--to is needed: the address of the member that founded the group with " +
						"{program} crimp listen")
			}
			if p.packets < 1 || p.period <= 0 || p.size < stampSize {
				return cli.Usagef(
					"--packets is %d, --period %v and --size %d: there must be packets, time "+
						"between them, and at least %d bytes in each", p.packets, p.period, p.size,
					stampSize)
			}
			return p.run(cmd)
		},
	}
	p.flags(cmd)
	cmd.Flags().IntVar(&p.packets, "packets", 2000, "how many")
	cmd.Flags().DurationVar(&p.period, "period", 30*time.Millisecond, "time between two")
	cmd.Flags().IntVar(&p.size, "size", 64, "bytes of each message")
	cmd.Flags().IntVar(&p.wait, "wait", 2, "begin when the group has so many members")
	return cmd
}

// forwards are the ways of forward error correction.
var forwards = map[string]crimp.ForwardMode{
	"auto": 0, "none": crimp.ForwardNone, "repeat": crimp.ForwardRepeat,
	"parity": crimp.ForwardParity}

// open makes the link and the node.
func (p *program) open(cmd *cobra.Command, start time.Time) (link.Link, *crimp.Node, error) {
	if p.mesh == (p.group != "") {
		return nil, nil, cli.Usagef("either --group with a multicast address or --mesh is needed")
	}
	if !(p.lose >= 0 && p.lose <= 0.9) {
		return nil, nil, cli.Usagef("--lose is %v: choose 0 to 0.9", p.lose)
	}
	key, err := cli.ReadKey(p.keyFile)
	if err != nil {
		return nil, nil, err
	}
	o := crimp.Options{History: p.history}
	var ok bool
	if o.Forward.Mode, ok = forwards[p.fec]; !ok {
		return nil, nil, cli.Usagef("--fec is %q: choose auto, none, repeat or parity", p.fec)
	}
	var l link.Link
	site := uint8(0)
	if p.mesh {
		l, err = udp.Listen(p.listen, udp.Options{})
	} else {
		site = 1
		if o.Multicast, err = netip.ParseAddrPort(p.group); err != nil {
			return nil, nil, cli.Usagef("--group is %q: write it like 239.1.2.3:4000", p.group)
		}
		l, err = multicast.Open(multicast.Options{Group: o.Multicast, Interface: p.device,
			TTL: p.ttl, Listen: p.listen})
	}
	if err != nil {
		return nil, nil, err
	}
	node, err := p.node(cmd, l, o, key, site, start)
	if err != nil {
		l.Close()
		return nil, nil, err
	}
	return l, node, nil
}

func (p *program) node(cmd *cobra.Command, l link.Link, o crimp.Options, key token.Key, site uint8,
	start time.Time) (*crimp.Node, error) {
	rand.Read(o.Seed[:])
	var secret [32]byte
	rand.Read(secret[:])
	var err error
	if o.Identity, err = crimp.NewIdentity(secret); err != nil {
		return nil, err
	}
	card := crimp.Card{Addr: l.LocalAddr(), Site: site}
	if p.mesh && card.Addr.Addr().IsUnspecified() {
		return nil, cli.Usagef(
			"--listen is %s: with --mesh it must be an address at which the others reach this "+
				"machine, like 192.0.2.7:4001", p.listen)
	}
	mo := membership.Options{
		Options: o, Card: card, Protocol: token.ProtocolID(protocolName), Keys: []token.Key{key},
		Wall: start.Unix(), Found: p.to == "", MaxMembers: p.members, Patience: patience}
	if p.signatures {
		mo.Proof = crimp.Signatures
	}
	if !mo.Found {
		to, err := udp.Resolve(cmd.Context(), p.to)
		if err != nil {
			return nil, err
		}
		mo.Ask = []netip.AddrPort{to}
	}
	m, err := membership.New(mo)
	if err != nil {
		return nil, err
	}
	return crimp.NewNode(o, m)
}

// patience is how long a member that joins tries to be let in.
const patience = 15 * time.Second

// protocolName is what members of a group agree on, whatever their programs are called.
const protocolName = "coeval crimp"

// stampSize is what a message begins with: the sender's time of day.
const stampSize = 8

func (p *program) run(cmd *cobra.Command) error {
	start := time.Now()
	l, node, err := p.open(cmd, start)
	if err != nil {
		return err
	}
	defer l.Close()
	d := &driver{p: p, cmd: cmd, link: l, node: node, start: start, members: 1}
	if p.to == "" && !p.json {
		fmt.Fprintf(cmd.OutOrStdout(), "founded a group; others join with --to %v\n", l.LocalAddr())
	}
	return d.run()
}
