package replicas

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/bench/measure"
	"adshard/internal/node/fanout"
	"adshard/internal/node/fanout/choice"
	"adshard/search"
)

// patience and timeout are those of queries.
const (
	timeout  = 5 * time.Second
	patience = timeout / 4
)

// Slave is a replica's store.
type Slave interface {
	search.Searcher
	search.Explainer
}

// Plan is who is asked what. Workers ask one query after the other, all of them once.
type Plan struct {
	Slaves  []Slave
	Queries []*search.Query
	Workers int
	// Topics: replicas are preferred by topic.
	Topics bool
}

// Outcome is what the queries took, and how many calls went to each replica.
type Outcome struct {
	Times *measure.Latencies
	Calls []int
}

// Share is the largest part of the calls that went to one replica.
func (o *Outcome) Share() float64 {
	most, sum := 0, 0
	for _, n := range o.Calls {
		most, sum = max(most, n), sum+n
	}
	return float64(most) / float64(max(1, sum))
}

// request asks for the ads of a query.
func request(q *search.Query) *search.Request {
	return &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4, Reserve: 10_000, RequestID: "adbench"}
}

func (p *Plan) known() (list []*choice.Replica) {
	for i := range p.Slaves {
		list = append(list, choice.NewReplica(fmt.Sprint("slave-", i)))
	}
	return list
}

// Chosen asks the replica that is chosen first, and no other.
func (p *Plan) Chosen(ctx context.Context) (*Outcome, error) {
	set := choice.NewSet(choice.NewShard(), p.known())
	topics := new(choice.Topics)
	began := time.Now()
	return p.each(ctx, func(ctx context.Context, q *search.Query, calls []int) error {
		c := choice.Call{Now: time.Since(began), Patience: patience, Random: rand.Uint64()}
		if p.Topics {
			c.Topic = topics.Of(q)
		}
		i := set.First(c)
		calls[i]++
		_, err := p.Slaves[i].Search(ctx, request(q))
		now := time.Since(began)
		set.Ended(i, now, now-c.Now, choice.Full)
		return err
	})
}

// Hedged asks as a master does. Outcome.Calls are counted by the slaves.
func (p *Plan) Hedged(ctx context.Context) (*Outcome, error) {
	var list []fanout.Replica
	for i, s := range p.Slaves {
		list = append(list, fanout.NewReplica(fmt.Sprint("slave-", i), fanout.Concurrent(s)))
	}
	shard := fanout.NewShard("shard-0", search.WholeRing(), choice.NewShard(), list...)
	f := fanout.New(one{&fanout.Map{Shards: []fanout.Shard{shard}}}, nil)
	return p.each(ctx, func(ctx context.Context, q *search.Query, _ []int) error {
		a, err := f.Search(ctx, request(q))
		if err == nil && len(a.Missing) > 0 {
			err = fmt.Errorf("an answer lacks %v", a.Missing)
		}
		return err
	})
}

// each asks every query.
func (p *Plan) each(ctx context.Context, ask func(context.Context, *search.Query, []int) error) (*Outcome, error) {
	all := &Outcome{Times: measure.NewLatencies(), Calls: make([]int, len(p.Slaves))}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	for w := range p.Workers {
		group.Go(func() error {
			times, calls := measure.NewLatencies(), make([]int, len(p.Slaves))
			for i := w; i < len(p.Queries); i += p.Workers {
				began := time.Now()
				call, cancel := context.WithTimeout(ctx, timeout)
				err := ask(call, p.Queries[i], calls)
				cancel()
				if err != nil {
					return err
				}
				times.Add(time.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			all.Times.Merge(times)
			for i, n := range calls {
				all.Calls[i] += n
			}
			return nil
		})
	}
	return all, group.Wait()
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
