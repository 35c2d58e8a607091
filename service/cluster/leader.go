package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Leader names the node through which all appends to a zone pass at present, or nothing if there is
// none, as while another is elected. When it dies, appends wait for that election, 4 to 9 s. So a
// zone is best owned by a server that does not die with it: another machine than the leader's.
func (c *Cluster) Leader(ctx context.Context, zone string) (string, error) {
	if c.nats == nil {
		return "", nil
	}
	ctx, cancel := c.nats.bound(ctx)
	defer cancel()
	s := &c.nats.journals[place(zone, len(c.nats.journals))]
	info, err := c.nats.info(ctx, s.name)
	if err != nil || info.Cluster == nil {
		return "", err
	}
	return info.Cluster.Leader, nil
}

// Move has another node lead the stream of a zone's journal, and with it those of all zones that
// share it: the node that is named, or whichever NATS picks if none is. It is for a server that
// finds its own node the leader of what it owns, and no other server to own it. Appends wait for
// less than a second.
func (c *Cluster) Move(ctx context.Context, zone, to string) error {
	if c.nats == nil || c.nats.replicas == 1 {
		return nil
	}
	ctx, cancel := c.nats.bound(ctx)
	defer cancel()
	var request []byte
	if to != "" {
		request = fmt.Appendf(nil, `{"placement":{"preferred":%q}}`, to)
	}
	s := &c.nats.journals[place(zone, len(c.nats.journals))]
	m, err := c.nats.asker.ask(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+s.name, nil, request)
	if err != nil {
		return err
	}
	var a ack
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return err
	}
	if a.Error != nil {
		return errors.New("nats: " + a.Error.Description)
	}
	return nil
}

// Streams names the streams of NATS that belong to the cluster, for those who look after them:
// what is to be backed up, and never to be deleted by hand.
func (c *Cluster) Streams() []string {
	if c.nats == nil {
		return nil
	}
	names := []string{c.nats.world.name, c.nats.store.name}
	for _, s := range c.nats.journals {
		names = append(names, s.name)
	}
	return names
}
