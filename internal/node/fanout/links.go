package fanout

import (
	"adshard/internal/node/fanout/choice"
	"adshard/schema/pb"
	"adshard/search"
)

// connected holds what maps that name the same replicas and shards have in common.
type connected struct {
	links  map[linked]link
	shards map[search.ShardID]*choice.Shard
}

// linked identifies the end of a link.
type linked struct {
	id               search.ShardID
	replica, address string
	instance         uint64
}

type link struct {
	replica Replica
	close   func() error
}

// connect returns a shard of a map with links to its replicas, existing or new, and adds the links
// to `next`.
func (w *Watcher) connect(m *Map, s *pb.Shard, next *connected) (Shard, error) {
	id := search.NewShardID(m.Database, m.Timeline, s.GetName())
	var replicas []Replica
	for _, r := range s.GetReplicas() {
		if r.GetAddress() == "" {
			replicas = append(replicas, NewReplica(r.GetName(), noAddress{r.GetName()}))
			continue
		}
		key := linked{id, r.GetName(), r.GetAddress(), r.GetInstance()}
		l, ok := w.connected.links[key]
		if !ok {
			var err error
			var slave Slave
			if slave, l.close, err = w.dial(Target{m.Database, s.GetName(), id, r.GetName(), r.GetAddress(), r.GetInstance()}); err != nil {
				return Shard{}, err
			}
			l.replica = NewReplica(r.GetName(), slave)
			w.connected.links[key] = l // kept here as well, since the map may still be refused
		}
		next.links[key] = l
		replicas = append(replicas, l.replica)
	}
	if len(replicas) == 0 {
		replicas = []Replica{NewReplica(s.GetName(), noAddress{s.GetName()})}
	}
	shared, ok := w.connected.shards[id]
	if !ok {
		shared = choice.NewShard()
	}
	next.shards[id] = shared
	return NewShard(s.GetName(), widthOf(s), shared, replicas...), nil
}

func widthOf(s *pb.Shard) search.Width { return search.Width{Hi: s.GetWidthHi(), Lo: s.GetWidthLo()} }
