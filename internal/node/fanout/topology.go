package fanout

import (
	"context"
	"slices"

	"adshard/balance/maps"
	"adshard/fault"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/stream"
	"adshard/internal/node/wire"
	"adshard/search"
)

// Slave is a replica of a shard, in this process or remote.
type Slave interface {
	// Ask begins a search, under a context with a deadline, and returns. `done` gets the result,
	// once, perhaps before Ask returns.
	Ask(ctx context.Context, r *wire.Shared, done Done) Pending
	search.Explainer
}

// Done gets the answer of a slave, or an error as defined by search.Searcher. It must not block.
type Done = func(*search.Answer, error)

// Ask searches at one slave and waits for the answer. The context must have a deadline.
func Ask(ctx context.Context, s Slave, r *search.Request) (*search.Answer, error) {
	type reply struct {
		answer *search.Answer
		err    error
	}
	replies := make(chan reply, 1)
	asked := s.Ask(ctx, wire.Share(r), func(a *search.Answer, err error) { replies <- reply{a, err} })
	select {
	case r := <-replies:
		return r.answer, r.err
	case <-ctx.Done():
		if asked != nil {
			asked.GiveUp(ctx.Err())
		}
		return nil, fault.New(fault.KindOf(ctx.Err()), "master: search", ctx.Err())
	}
}

// Pending is a search under way. It is nil if the search has ended, or if the end of its context
// ends it.
type Pending = stream.Pending

// Answering is a slave that answers before it returns.
type Answering interface {
	search.Searcher
	search.Explainer
}

// Concurrent makes a Slave from one that answers before it returns: Ask gives each search its own
// goroutine. A query to shards without replicas puts such slaves into a line instead.
func Concurrent(s Answering) Slave { return concurrent{s} }

type concurrent struct{ Answering }

// Ask implements Slave.
func (c concurrent) Ask(ctx context.Context, r *wire.Shared, done Done) Pending {
	go func() { done(c.Search(ctx, r.Request())) }()
	return nil
}

// Shard is a shard of a map. Make it with NewShard.
type Shard struct {
	Name string
	// Width is how much of the ring the shard must serve in the map's view, or 0
	// if the map does not say.
	Width search.Width
	// Replicas are the one or more replicas that may be asked. Choice decides which of them is
	// asked, and refers to them by their indexes.
	Replicas []Replica
	Choice   *choice.Set
}

// Replica is one of the slaves that hold the data of a shard.
type Replica struct {
	Name  string
	Slave Slave
	// Known is what is known about the replica. All maps that name the replica share it.
	Known *choice.Replica
}

// NewReplica returns a replica about which nothing is known.
func NewReplica(name string, s Slave) Replica {
	known := choice.NewReplica(name)
	if s, ok := s.(interface{ Up() bool }); ok {
		known.Up = s.Up
	}
	return Replica{name, s, known}
}

// NewShard returns a shard of one or more replicas. `shared` holds what the shard's maps have in
// common.
func NewShard(name string, width search.Width, shared *choice.Shard, replicas ...Replica) Shard {
	known := make([]*choice.Replica, len(replicas))
	for i := range replicas {
		known[i] = replicas[i].Known
	}
	return Shard{Name: name, Width: width, Replicas: replicas, Choice: choice.NewSet(shared, known)}
}

// silent reports whether none of the replicas may be asked.
func (s *Shard) silent() bool {
	return !slices.ContainsFunc(s.Replicas, func(r Replica) bool { return !r.Known.Silent() })
}

// same reports whether two shards consist of the same slaves, whatever they are to serve.
func (s Shard) same(o Shard) bool {
	return s.Name == o.Name && slices.EqualFunc(s.Replicas, o.Replicas, func(a, b Replica) bool { return a.Name == b.Name && a.Slave == b.Slave })
}

// equal reports whether two shards consist of the same slaves and must serve the same part of the
// ring.
func (s Shard) equal(o Shard) bool { return s.same(o) && s.Width == o.Width }

// Map has the shards of one view. It does not change.
type Map struct {
	Epoch, View uint64
	// Revision counts the changes of replicas within the view.
	Revision uint64
	// Database is the id of the database whose data the shards hold; Timeline is the one in which
	// views are numbered.
	Database, Timeline string
	// Filled says that the first fill of the cluster is complete.
	Filled bool
	Shards []Shard
}

// version returns the version of the map.
func (m *Map) version() maps.Version {
	if m == nil {
		return maps.Version{}
	}
	return maps.Version{Epoch: m.Epoch, View: m.View, Revision: m.Revision, Database: m.Database, Timeline: m.Timeline, Filled: m.Filled}
}

// versionOf returns the version of the map in a message of a balancer or a slave.
func versionOf(m interface {
	GetEpoch() uint64
	GetView() uint64
	GetRevision() uint64
	GetDatabase() string
	GetTimeline() string
	GetFilled() bool
}) maps.Version {
	return maps.Version{Epoch: m.GetEpoch(), View: m.GetView(), Revision: m.GetRevision(), Database: m.GetDatabase(), Timeline: m.GetTimeline(), Filled: m.GetFilled()}
}

// replicated reports whether a shard has more than one replica.
func (m *Map) replicated() bool {
	return slices.ContainsFunc(m.Shards, func(s Shard) bool { return len(s.Replicas) > 1 })
}

// silent returns the shards none of whose replicas may be asked.
func (m *Map) silent() (list []search.Missing) {
	for i := range m.Shards {
		if s := &m.Shards[i]; s.silent() {
			list = append(list, search.Missing{Shard: s.Name, Reason: search.Silent})
		}
	}
	return list
}

// Maps gives the newest map.
type Maps interface {
	// Current returns the newest map, or nil if there is none yet.
	Current() *Map
	// Newer waits for a map other than `old`. It returns nil if ctx is done first.
	Newer(ctx context.Context, old *Map) *Map
}
