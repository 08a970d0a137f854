package splitting

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"adshard/balance/splitkey"
	"adshard/bench/skew"
)

// Nodes is the experiment of §4.2: a table on one node, then split between two, by size
// and by load.
type Nodes struct {
	// Records is the number of records of 1,000 bytes, Operations the number of operations in a
	// round, of which 80 % are reads, and Rounds the number of rounds.
	Records, Operations, Rounds int
	// Dir is the directory for the stores; it must be empty.
	Dir string
}

// outstanding is the number of operations that clients have in progress: they have as many
// threads waiting for answers. No node gets further ahead of the other than that.
const outstanding = 4096

// reads is the share of the operations that are reads.
const reads = 0.8

// scenario is a placement with its results in each round.
type scenario struct {
	order, split string
	last         uint64 // the last position on the first node
	expected     float64
	rate         []float64    // operations per second
	busy         [2][]float64 // share of the time in which each node worked
}

// The scenarios.
const (
	oneNode = "one node"
	bySize  = "split by size"
	byLoad  = "split by load"
)

// orders lists the orders of keys: that of the paper's figures, and that of a hash, which is
// YCSB's default.
var orders = [...]string{"popularity", "hashed"}

// run measures all scenarios.
func (n *Nodes) run(ctx context.Context) (out []scenario, err error) {
	for i, order := range orders {
		list, err := n.order(ctx, order, uint64(i+1))
		if err != nil {
			return nil, fmt.Errorf("keys in the order %s: %w", order, err)
		}
		out = append(out, list...)
	}
	return out, nil
}

// table is a table's records and their popularity, with keys in one order.
type table struct {
	*Nodes
	order    string
	popular  *skew.Distribution
	position []uint64 // of a record, by its popularity
	estimate splitkey.Estimate
	rand     *rand.Rand
}

// placement is the table on two nodes.
type placement struct {
	scenario
	nodes [2]*node
}

// order measures the scenarios with keys in one order: on one node, whose requests determine
// the split key; with the records divided in halves; and divided at the split key. Each
// placement has its own stores. All placements run each round in turn, with the same
// operations.
func (n *Nodes) order(ctx context.Context, order string, seed uint64) (out []scenario, err error) {
	t := &table{Nodes: n, order: order, popular: skew.Zipf(n.Records, 0.99), rand: rand.New(rand.NewPCG(seed, 42)), estimate: splitkey.New(splitkey.PingPong(8), 1)}
	t.position = make([]uint64, n.Records)
	for i := range t.position {
		t.position[i] = uint64(i) + 1
	}
	if order != orders[0] {
		t.rand.Shuffle(n.Records, func(i, j int) { t.position[i], t.position[j] = t.position[j], t.position[i] })
	}
	dir := filepath.Join(n.Dir, order)
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var list []*placement
	defer func() {
		for _, p := range list {
			err = errors.Join(err, p.close())
		}
	}()
	place := func(split string, last uint64) error {
		p, err := t.place(ctx, filepath.Join(dir, fmt.Sprint(len(list))), split, last)
		list = append(list, p)
		return err
	}
	if err := place(oneNode, uint64(n.Records)); err != nil {
		return nil, err
	}
	if _, _, err := list[0].round(t.draw()); err != nil { // its only purpose is the split key
		return nil, err
	}
	key, _ := t.estimate.Key()
	if err := errors.Join(place(bySize, uint64(n.Records/2)), place(byLoad, key)); err != nil {
		return nil, err
	}
	if err := t.measure(ctx, list); err != nil {
		return nil, err
	}
	for _, p := range list {
		out = append(out, p.scenario)
	}
	return out, nil
}

// place fills two nodes, the first with the records up to a position and the second with the
// rest.
func (t *table) place(ctx context.Context, dir, split string, last uint64) (p *placement, err error) {
	p = &placement{scenario: scenario{order: t.order, split: split, last: last}}
	var first float64
	for i, at := range t.position {
		if at <= last {
			first += t.popular.Of(i)
		}
	}
	p.expected = 1 / max(first, 1-first)
	for i, part := range [2][2]uint64{{1, last}, {last + 1, uint64(t.Records)}} {
		if p.nodes[i], err = openNode(filepath.Join(dir, fmt.Sprint(i))); err != nil {
			return p, err
		}
		if err = p.nodes[i].fill(ctx, part[0], part[1]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// close closes the open stores.
func (p *placement) close() (err error) {
	for _, n := range p.nodes {
		if n != nil {
			err = errors.Join(err, n.db.Close())
		}
	}
	return err
}

// measure runs the rounds. The first round of each placement is not counted.
func (t *table) measure(ctx context.Context, list []*placement) error {
	for i := range t.Rounds + 1 {
		operations := t.draw()
		for _, p := range list {
			if err := ctx.Err(); err != nil {
				return err
			}
			rate, busy, err := p.round(operations)
			if err != nil {
				return err
			}
			if i == 0 {
				continue
			}
			p.rate = append(p.rate, rate)
			for j := range busy {
				p.busy[j] = append(p.busy[j], busy[j])
			}
		}
	}
	return nil
}

// draw returns the operations of a round and adds their keys to the estimate.
func (t *table) draw() []operation {
	list := make([]operation, t.Operations)
	for i := range list {
		list[i] = operation{at: t.position[t.popular.Draw(t.rand)], write: t.rand.Float64() >= reads}
		t.estimate.Add(list[i].at)
	}
	return list
}

// round does operations, each on its node. It returns the number of operations per second
// and the share of the time in which each node worked. The nodes take turns, so that each
// has the machine to itself; a step of both takes as long as the slower one.
func (p *placement) round(list []operation) (rate float64, busy [2]float64, err error) {
	var parts [len(p.nodes)][]operation
	var worked [len(p.nodes)]time.Duration
	var took time.Duration
	for begin := 0; begin < len(list); begin += outstanding {
		for i := range parts {
			parts[i] = parts[i][:0]
		}
		for _, o := range list[begin:min(begin+outstanding, len(list))] {
			i := 0
			if o.at > p.last {
				i = 1
			}
			parts[i] = append(parts[i], o)
		}
		var longest time.Duration
		for i, n := range p.nodes {
			spent, err := n.do(parts[i])
			if err != nil {
				return 0, busy, err
			}
			worked[i] += spent
			longest = max(longest, spent)
		}
		took += longest
	}
	for i := range worked {
		busy[i] = float64(worked[i]) / float64(took)
	}
	return float64(len(list)) / took.Seconds(), busy, nil
}
