package replicas

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"adshard/internal/node/fanout"
	"adshard/internal/node/fanout/choice"
	"adshard/search"
)

// patience and timeout apply to each query.
const (
	timeout  = 5 * time.Second
	patience = timeout / 4
)

// Asker asks one or more replicas a query.
type Asker func(ctx context.Context, q *search.Query) error

// request asks for the ads of a query.
func request(q *search.Query) *search.Request {
	return &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4, Reserve: 10_000, RequestID: "adbench"}
}

// InTurn returns an Asker that asks one replica after another.
func InTurn(slaves []*Slow) Asker {
	var n atomic.Uint64
	return func(ctx context.Context, q *search.Query) error {
		_, err := slaves[n.Add(1)%uint64(len(slaves))].Search(ctx, request(q))
		return err
	}
}

// Chosen returns an Asker that asks only the replica that a master would choose first,
// with or without regard to the query's topic.
func Chosen(slaves []*Slow, byTopic bool) Asker {
	var known []*choice.Replica
	for i := range slaves {
		known = append(known, choice.NewReplica(fmt.Sprint("slave-", i)))
	}
	set, topics, began := choice.NewSet(choice.NewShard(), known), new(choice.Topics), time.Now()
	return func(ctx context.Context, q *search.Query) error {
		c := choice.Call{Now: time.Since(began), Patience: patience, Random: rand.Uint64()}
		if byTopic {
			c.Topic = topics.Of(q)
		}
		i := set.First(c)
		if i == choice.None {
			return errors.New("no replica can be asked")
		}
		_, err := slaves[i].Search(ctx, request(q))
		now := time.Since(began)
		set.Ended(i, now, now-c.Now, choice.Full)
		return err
	}
}

// AsMaster returns an Asker that asks as a master does, with hedges.
func AsMaster(slaves []*Slow) Asker {
	var list []fanout.Replica
	for i, s := range slaves {
		list = append(list, fanout.NewReplica(fmt.Sprint("slave-", i), fanout.Concurrent(s)))
	}
	shard := fanout.NewShard("shard-0", search.WholeRing(), choice.NewShard(), list...)
	f := fanout.New(one{&fanout.Map{Shards: []fanout.Shard{shard}}}, nil)
	return func(ctx context.Context, q *search.Query) error {
		a, err := f.Search(ctx, request(q))
		if err == nil && len(a.Missing) > 0 {
			err = fmt.Errorf("an answer lacks %v", a.Missing)
		}
		return err
	}
}

// one is a map that does not change.
type one struct{ *fanout.Map }

// Current implements fanout.Maps.
func (o one) Current() *fanout.Map { return o.Map }

// Newer implements fanout.Maps.
func (o one) Newer(ctx context.Context, _ *fanout.Map) *fanout.Map {
	<-ctx.Done()
	return nil
}
