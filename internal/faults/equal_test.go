package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"

	"adshard/balance"
	"adshard/internal/node/access"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/truth"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// judge compares slaves with a database that stands still.
type judge struct {
	certifier truth.Certifier
	id        string // of the database
	clock     uint64
	items     balance.Index
}

// equal compares what every slave serves with the database, by certificates of all that
// searches read. Nothing moves any more then.
func (g *grid) equal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := g.command("/v1/balance/pause", nil); err != nil {
		return err
	}
	// The status may be a moment old, and a last iteration may have begun.
	view, since := uint64(0), time.Now()
	err := g.eventually("nothing moves, and replicas that moves left behind are back", func() bool {
		s, err := g.client.Status()
		whole, _ := g.whole()
		if err != nil || !whole || len(s.InFlight) > 0 || s.View != s.PublishedView || s.View != view {
			view, since = s.View, time.Now()
			return false
		}
		return time.Since(since) > still
	})
	if err != nil {
		return err
	}
	var list api.SliceList
	if err := g.client.Get("/v1/balance/slices?limit=100000", &list); err != nil {
		return err
	}
	slaves, err := g.client.Slaves()
	if err != nil {
		return err
	}
	j, err := g.judge(ctx)
	if err != nil {
		return err
	}
	conns := make(map[string]*grpc.ClientConn)
	for _, s := range slaves {
		conn, err := g.dial(s)
		if err != nil {
			return err
		}
		defer conn.Close()
		conns[s.Name] = conn
	}
	items, asked := 0, 0
	for _, s := range list.Slices {
		for i, slave := range replicasOf(slaves, s.Slave) {
			n, err := j.compare(ctx, s, conns[slave.Name])
			if err != nil {
				return fmt.Errorf("slice %d on %s: %w", s.Slice, slave.Name, err)
			}
			if asked++; i == 0 {
				items += n
			}
		}
	}
	if items != j.items.Len() || asked < len(list.Slices) {
		return fmt.Errorf("slices have %d ad groups, the database %d; %d of %d slices have replicas", items, j.items.Len(), asked, len(list.Slices))
	}
	return nil
}

// still is how long nothing must have moved.
const still = time.Second

// replicasOf are the slaves of a shard; with one replica it has its slave's name.
func replicasOf(slaves []api.Slave, shard string) (list []api.Slave) {
	for _, s := range slaves {
		if s.Shard == shard || s.Name == shard {
			list = append(list, s)
		}
	}
	return list
}

func (g *grid) judge(ctx context.Context) (*judge, error) {
	order, ok := balance.ParseOrder(g.order)
	if !ok {
		return nil, errors.New("no such order: " + g.order)
	}
	j := &judge{certifier: truth.Certifier{Order: order, DB: g.database.store, Builders: truth.NewBuilders(order, 1)}}
	snapshot, err := g.database.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	j.clock = snapshot.Position().Clock
	for group, err := range snapshot.Groups(ctx) {
		if err != nil {
			return nil, err
		}
		key, err := order.Key(group.AdvertiserID, group.ID)
		if err != nil {
			return nil, err
		}
		j.items.Put(key, 1)
	}
	j.id, err = g.database.store.ID(ctx)
	return j, err
}

// dial calls a slave as a balancer does.
func (g *grid) dial(s api.Slave) (*grpc.ClientConn, error) {
	if g.security == nil {
		return wire.Dial(s.Address)
	}
	own, err := g.security.open(access.Balancer, "judge")
	if err != nil {
		return nil, err
	}
	return wire.Dial(s.Address, own.To(s.Name, access.Slave)...)
}

// compare compares a slice as a slave has it with the database, and returns how many ad
// groups it has.
func (j *judge) compare(ctx context.Context, s api.SliceInfo, conn *grpc.ClientConn) (int, error) {
	var lo, hi balance.Key
	if _, err := fmt.Sscanf(s.Lo+" "+s.Hi, "%x %x", &lo, &hi); err != nil {
		return 0, err
	}
	const all = ^uint64(0)
	reply, err := pb.NewSlaveClient(conn).Certify(ctx, &pb.CertifyRequest{Lo: uint64(lo), Hi: uint64(hi), Clock: j.clock, Bins: all, Database: j.id})
	if err != nil {
		return 0, err
	}
	got := truth.FromReply(reply)
	parents := make([]balance.Parent, len(got.Parents))
	for i, p := range got.Parents {
		parents[i] = p.Parent
	}
	want, _, err := j.certifier.Certify(ctx, truth.Keys(&j.items, lo, hi, all), parents)
	if err != nil {
		return 0, err
	}
	if got.Bins != want.Bins || !slices.Equal(got.Parents, want.Parents) || got.Clock < j.clock {
		return 0, fmt.Errorf("it has %d ad groups at clock %d, the database %d at clock %d, and they are not the same (parents equal: %v)",
			got.Items, got.Clock, want.Items, want.Clock, slices.Equal(got.Parents, want.Parents))
	}
	return int(want.Items), nil
}
