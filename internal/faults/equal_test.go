package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"adshard/balance"
	"adshard/internal/node/access"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/truth"
	"adshard/internal/node/wire"
	"adshard/internal/wait"
	"adshard/schema/pb"
	"adshard/search/words"
)

// judge compares slaves with a database that does not change.
type judge struct {
	certifier truth.Certifier
	id        string // id of the database
	clock     uint64
	items     balance.Index
}

// equal compares what every slave serves with the database, by certificates of all data that searches read. No slices
// may move meanwhile.
func (g *grid) equal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := g.standstill(); err != nil {
		return err
	}
	var list api.SliceList
	for err := g.client.Get("/v1/balance/slices?limit=100000", &list); err != nil; err = g.client.Get("/v1/balance/slices?limit=100000", &list) {
		if wait.Sleep(ctx, time.Second) != nil { // on a busy machine a balancer may take longer than the client waits
			return err
		}
	}
	slaves, err := g.client.Slaves()
	if err != nil {
		return err
	}
	j, err := g.judge(ctx)
	if err != nil {
		return err
	}
	items, asked := 0, 0
	compared := make(map[string]bool) // shards with a slave that has been compared
	for _, slave := range slaves {
		shard := cmp.Or(slave.Shard, slave.Name) // with one replica a shard has its slave's name
		own := slices.DeleteFunc(slices.Clone(list.Slices), func(s api.SliceInfo) bool { return s.Slave != shard })
		n, err := g.compare(ctx, j, slave, own)
		if err != nil {
			return fmt.Errorf("%s: %w", slave.Name, err)
		}
		asked += len(own)
		if !compared[shard] {
			items += n
		}
		compared[shard] = true
	}
	if items != j.items.Len() || asked < len(list.Slices) {
		return fmt.Errorf("slices have %d ad groups, the database %d; %d of %d slices have replicas", items, j.items.Len(), asked, len(list.Slices))
	}
	return nil
}

// standstill pauses balancing and waits until nothing moves.
func (g *grid) standstill() error {
	if err := g.command("/v1/balance/pause", nil); err != nil {
		return err
	}
	// The status may be a moment old, and a last iteration may have begun before the pause.
	view, since := uint64(0), time.Now()
	return g.eventually("nothing moves, and replicas that moves left behind are back", func() bool {
		s, err := g.client.Status()
		still := err == nil && len(s.InFlight) == 0 && s.View == s.PublishedView && s.View == view
		if still { // only then all parts are asked
			still, _ = g.whole()
		}
		if !still {
			view, since = s.View, time.Now()
		}
		return still && time.Since(since) > quiet
	})
}

// compare compares slices on a slave with the database, some at a time, and returns how many ad groups they have.
func (g *grid) compare(ctx context.Context, j *judge, slave api.Slave, list []api.SliceInfo) (items int, err error) {
	conn, err := g.dial(slave)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	for some := range slices.Chunk(list, together) {
		n, err := j.compare(ctx, some, conn)
		if err != nil {
			return 0, err
		}
		items += n
	}
	return items, nil
}

// quiet is how long nothing must have moved; together is the number of slices compared at a time.
const (
	quiet    = time.Second
	together = 64
)

func (g *grid) judge(ctx context.Context) (*judge, error) {
	order, ok := balance.ParseOrder(g.order)
	if !ok {
		return nil, errors.New("no such order: " + g.order)
	}
	j := &judge{certifier: truth.Certifier{Order: order, DB: g.database.store, Builders: truth.NewBuilders(order, words.Default, 1)}}
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

// dial connects to a slave as a balancer does.
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

// compare compares slices on a slave with the database, and returns how many ad groups they have.
func (j *judge) compare(ctx context.Context, list []api.SliceInfo, conn *grpc.ClientConn) (items int, err error) {
	got, parts := make([]*balance.Certificate, len(list)), make([]truth.Part, len(list))
	all, both := errgroup.WithContext(ctx)
	for i, s := range list {
		all.Go(func() error {
			var err error
			if got[i], parts[i], err = j.ask(both, s, conn); err != nil {
				return fmt.Errorf("slice %d: %w", s.Slice, err)
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return 0, err
	}
	want, _, err := j.certifier.CertifyAll(ctx, parts)
	if err != nil {
		return 0, err
	}
	for i, s := range list {
		got, want := got[i], want[i]
		parents := truth.SameParents(got.Parents, want.Parents)
		if got.Bins != want.Bins || !parents || got.Clock < j.clock {
			return 0, fmt.Errorf("slice %d has %d ad groups at clock %d, the database %d at clock %d, and they are not the same (parents equal: %v)",
				s.Slice, got.Items, got.Clock, want.Items, want.Clock, parents)
		}
		items += int(want.Items)
	}
	return items, nil
}

// ask has a slave certify a slice, and returns its certificate and the part of the database to compare it with.
func (j *judge) ask(ctx context.Context, s api.SliceInfo, conn *grpc.ClientConn) (*balance.Certificate, truth.Part, error) {
	var lo, hi balance.Key
	if _, err := fmt.Sscanf(s.Lo+" "+s.Hi, "%x %x", &lo, &hi); err != nil {
		return nil, truth.Part{}, err
	}
	const all = ^uint64(0)
	reply, err := pb.NewSlaveClient(conn).Certify(ctx, &pb.CertifyRequest{Lo: uint64(lo), Hi: uint64(hi), Clock: j.clock, Bins: all, Database: j.id})
	if err != nil {
		return nil, truth.Part{}, err
	}
	got, of := j.certifier.FromReply(reply), truth.Part{Keys: truth.Keys(&j.items, lo, hi, all)}
	for _, p := range got.Parents {
		of.Parents = append(of.Parents, p.Parent)
	}
	return got, of, nil
}
