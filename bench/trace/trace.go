package trace

import (
	"adshard/balance"
	loads "adshard/balance/load"
)

// Trace is the cost of queries by item (ad group).
type Trace struct {
	// Clock is that of the database that was read.
	Clock uint64
	Order balance.Order
	// Keys are those of all items, rising; Weights are as a balancer weighs
	// them, Keywords how many each has.
	Keys     []balance.Key
	Weights  []uint32
	Keywords []uint32
	// Queries are what was asked. The costs of query q are at Starts[q] to
	// Starts[q+1] of Items (indexes of Keys, rising), Examined and Matched.
	Queries  []string
	Starts   []int
	Items    []uint32
	Examined []uint32
	Matched  []uint32
	Topics   Topics
}

// Cost is what an item costs one query.
type Cost struct {
	Item              uint32 // index of Trace.Keys
	Examined, Matched uint32
}

// Query calls visit for each item that costs a query something, by rising key.
func (t *Trace) Query(q int, visit func(Cost)) {
	for i := t.Starts[q]; i < t.Starts[q+1]; i++ {
		visit(Cost{t.Items[i], t.Examined[i], t.Matched[i]})
	}
}

// Load returns what each item costs per query on average, weighted; weights of
// queries sum to 1.
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

// Of returns the load of one cost; a trace knows no microseconds.
func Of(w loads.Weights, c Cost) float64 {
	return w.Examined*float64(c.Examined) + w.Matched*float64(c.Matched)
}

// add appends the costs of the next query, by rising item.
func (t *Trace) add(costs []Cost) {
	for _, c := range costs {
		t.Items = append(t.Items, c.Item)
		t.Examined = append(t.Examined, c.Examined)
		t.Matched = append(t.Matched, c.Matched)
	}
	t.Starts = append(t.Starts, len(t.Items))
}

// Index returns the items as a balancer's index.
func (t *Trace) Index() *balance.Index {
	x := new(balance.Index)
	for i, k := range t.Keys {
		x.Put(k, t.Weights[i])
	}
	return x
}
