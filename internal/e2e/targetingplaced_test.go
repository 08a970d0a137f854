package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"adshard/balance"
	"adshard/fault"
	"adshard/internal/goldentest"
	"adshard/internal/node/fanout"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/overload"
	"adshard/internal/node/shardserver"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
	"adshard/targeting"
)

// TestTargetingEdgesPlaced runs each case on two of the placements: 1, 3 and 7 shards, of one replica or two, called directly or
// over streams. Slices are distributed at random, and some shards hold slices that they do not serve yet, or no longer serve.
func TestTargetingEdgesPlaced(t *testing.T) {
	var placements []placement
	for _, shards := range []int{1, 3, 7} {
		for _, replicas := range []int{1, 2} {
			placements = append(placements, placement{shards, replicas, false}, placement{shards, replicas, true})
		}
	}
	dice := rand.New(rand.NewPCG(40, 0))
	d := json.NewDecoder(bytes.NewReader(goldentest.Read(t, "targeting/edges/cases.jsonl")))
	for n := 0; d.More(); n++ {
		var c targetingCase
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		if testing.Short() && n%5 > 0 {
			continue
		}
		data := importTargeting(t, c)
		for i := range 2 {
			p := placements[(n+5*i)%len(placements)]
			t.Run(fmt.Sprint(c.Name, "/", p), func(t *testing.T) {
				h := data.handler(c, data.placed(t, p, dice))
				for i, r := range c.Requests {
					if diff := askTargeted(t, h, r.Request, r.Want); diff != "" {
						t.Errorf("%s\nrequest %d %v:\n%s", c.Comment, i, r.Request, diff)
					}
				}
			})
		}
	}
}

// placement is how data is distributed, and how slaves are called.
type placement struct {
	shards, replicas int
	streams          bool
}

func (p placement) String() string {
	return fmt.Sprintf("shards=%d,replicas=%d,streams=%v", p.shards, p.replicas, p.streams)
}

// oneMap is a map that does not change.
type oneMap struct{ m *fanout.Map }

func (o oneMap) Current() *fanout.Map { return o.m }
func (oneMap) Newer(ctx context.Context, _ *fanout.Map) *fanout.Map {
	<-ctx.Done()
	return nil
}

// placed serves the data from slaves in this process.
func (d *targetingData) placed(t *testing.T, p placement, dice *rand.Rand) *fanout.Fanout {
	t.Helper()
	all := records(t, d.all, balance.ByHash)
	m := &fanout.Map{Epoch: 1, View: placedView}
	for i, table := range drawTables(all, p.shards, dice) {
		shard, width := fmt.Sprint("shard-", i), search.Width{}
		for _, s := range table.Slices {
			if s.From > 0 && s.Until == 0 {
				width = width.Add(search.IntervalWidth(s.Lo, s.Hi))
			}
		}
		var replicas []fanout.Replica
		for r := range p.replicas {
			name := fmt.Sprint(shard, "-", r)
			own := proto.CloneOf(table)
			own.Shard = shard
			replicas = append(replicas, fanout.NewReplica(name, d.slave(t, all, own, name, p.streams)))
		}
		m.Shards = append(m.Shards, fanout.NewShard(shard, width, choice.NewShard(), replicas...))
	}
	return fanout.New(oneMap{m}, nil)
}

const placedView = 3

// drawTables cuts the ring at groups and gives each slice to a shard. Other shards may hold it too, not served yet or no
// longer served.
func drawTables(all *pb.NodeData, shards int, dice *rand.Rand) []*pb.SliceTable {
	tables := make([]*pb.SliceTable, shards)
	for i := range tables {
		tables[i] = &pb.SliceTable{View: placedView}
	}
	cuts := []uint64{0}
	for _, it := range all.Items {
		if dice.IntN(3) > 0 {
			cuts = append(cuts, it.Group.Key)
		}
	}
	for range shards {
		cuts = append(cuts, dice.Uint64())
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for id, lo := range cuts {
		hi := ^uint64(0)
		if id+1 < len(cuts) {
			hi = cuts[id+1] - 1
		}
		owner := dice.IntN(shards)
		for i, table := range tables {
			held := &pb.HeldSlice{Id: uint64(id + 1), Lo: lo, Hi: hi, Generation: 1}
			switch {
			case i == owner:
				held.From = 1 + dice.Uint64N(placedView)
			case dice.IntN(2) == 0:
				continue
			case dice.IntN(2) == 0:
				held.From, held.Until = 1, placedView-1
			}
			table.Slices = append(table.Slices, held)
		}
	}
	return tables
}

// slave serves the slices of a table.
func (d *targetingData) slave(t *testing.T, all *pb.NodeData, table *pb.SliceTable, name string, streams bool) fanout.Slave {
	t.Helper()
	data := proto.CloneOf(all)
	data.Slices = table
	data.Items = slices.DeleteFunc(data.Items, func(i *pb.Item) bool {
		return !slices.ContainsFunc(table.Slices, func(s *pb.HeldSlice) bool { return s.Lo <= i.Group.Key && i.Group.Key <= s.Hi })
	})
	service := shardserver.New(shardserver.Identity{Name: name}, filled(t, data, name), wholeStore{}, overload.New(overload.ForSlave(64)), nil, nil)
	service.Block(caseLists(d.lists))
	t.Cleanup(service.Close)
	dial, address := fanout.Streams(words.Default, nil, slog.New(slog.DiscardHandler)), "local"
	if streams {
		address = serveSlave(t, service)
	} else {
		dial = fanout.Within(func(string) fanout.Local { return service.Local() }, dial)
	}
	slave, hangUp, err := dial(fanout.Target{Shard: table.Shard, ID: search.NewShardID("", "", table.Shard), Replica: name, Address: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hangUp() })
	for end := time.Now().Add(time.Minute); streams && !slave.(*fanout.Client).Up(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal("there is no stream")
		}
	}
	return slave
}

// serveSlave serves a slave over gRPC until the end of the test, and returns its address.
func serveSlave(t *testing.T, service *shardserver.Server) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, served := grpc.NewServer(wire.SlaveOptions(words.Default, nil)...), make(chan struct{})
	pb.RegisterSlaveServer(server, service)
	go func() { defer close(served); _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Stop(); <-served })
	return listener.Addr().String()
}

// wholeStore is the upkeep of a complete store.
type wholeStore struct{}

func (wholeStore) WhyIncomplete() string         { return "" }
func (wholeStore) Lag() time.Duration            { return 0 }
func (wholeStore) Discard(_, _ uint64, _ string) {}

// caseLists are the block lists of a case, as slaves have them.
type caseLists map[string]*targeting.Blocks

func (l caseLists) Find(name string, version uint64) *targeting.Blocks {
	if version != listVersion {
		return nil
	}
	return l[name]
}

func (l caseLists) Blocks(_ context.Context, name string, version uint64) (*targeting.Blocks, error) {
	if b := l.Find(name, version); b != nil {
		return b, nil
	}
	return nil, fault.Newf(fault.Behind, "test", "no version %d of %s", version, name)
}
