package trace

import (
	"adshard/balance"
	loads "adshard/balance/load"
)

// Trace holds the costs of queries by item (ad group).
type Trace struct {
	// Clock is the clock of the database that was read.
	Clock uint64
	Order balance.Order
	// Keys are the keys of all items, rising. Weights are the items' weights for
	// a balancer, Keywords their numbers of keywords.
	Keys     []balance.Key
	Weights  []uint32
	Keywords []uint32
	// Queries are the queries traced. The costs of query q are at Starts[q] to
	// Starts[q+1] of Items (indexes into Keys, rising), Examined and Matched.
	Queries  []string
	Starts   []int
	Items    []uint32
	Examined []uint32
	Matched  []uint32
	Topics   Topics
}

// Cost is what an item costs one query.
type Cost struct {
	Item              uint32 // index into Trace.Keys
	Examined, Matched uint32
}

// Query calls visit for each item that adds to a query's cost, by rising key.
func (t *Trace) Query(q int, visit func(Cost)) {
	for i := t.Starts[q]; i < t.Starts[q+1]; i++ {
		visit(Cost{t.Items[i], t.Examined[i], t.Matched[i]})
	}
}

// Load returns the weighted mean cost of each item per query. The weights of
// queries must sum to 1.
func (t *Trace) Load(queries []float64, w loads.Weights) []float64 {
	out := make([]float64, len(t.Keys))
	for q, share := range queries {
		if share == 0 {
			continue
		}
		t.Query(q, func(c Cost) { out[c.Item] += share * Of(w, c) })
	}
	return out
}

// Of returns the load of one cost, in the unit of the weights.
func Of(w loads.Weights, c Cost) float64 {
	return w.Examined*float64(c.Examined) + w.Matched*float64(c.Matched)
}

// add adds the costs of the next query, by rising item.
func (t *Trace) add(costs []Cost) {
	for _, c := range costs {
		t.Items = append(t.Items, c.Item)
		t.Examined = append(t.Examined, c.Examined)
		t.Matched = append(t.Matched, c.Matched)
	}
	t.Starts = append(t.Starts, len(t.Items))
}

// Index returns a balancer's index of the items.
func (t *Trace) Index() *balance.Index {
	x := new(balance.Index)
	for i, k := range t.Keys {
		x.Put(k, t.Weights[i])
	}
	return x
}
