package wire

import (
	"time"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/schema/pb"
)

// The types of package balance, converted to messages and back.

// ToPosition reads a position.
func ToPosition(p *pb.Position) balance.Position {
	return balance.Position{Epoch: p.GetEpoch(), Clock: p.GetClock(), Quantum: p.GetQuantum(), Offset: p.GetOffset()}
}

// FromPosition returns the message of a position, without a mark.
func FromPosition(p balance.Position) *pb.Position {
	return &pb.Position{Epoch: p.Epoch, Clock: p.Clock, Quantum: p.Quantum, Offset: p.Offset}
}

// ToTable reads a table of slices.
func ToTable(t *pb.SliceTable) balance.Table {
	out := balance.Table{View: t.GetView(), Least: t.GetLeast(), Revision: t.GetRevision(), Filled: t.GetFilled(),
		Shard: t.GetShard(), Spare: t.GetSpare()}
	for _, s := range t.GetSlices() {
		out.Slices = append(out.Slices, balance.Held{
			ID: s.Id, Lo: balance.Key(s.Lo), Hi: balance.Key(s.Hi), Generation: s.Generation,
			From: s.From, Until: s.Until, State: balance.HeldState(s.State),
		})
	}
	return out
}

// FromTable returns the message of a table of slices.
func FromTable(t balance.Table) *pb.SliceTable {
	out := &pb.SliceTable{View: t.View, Least: t.Least, Revision: t.Revision, Filled: t.Filled, Shard: t.Shard, Spare: t.Spare}
	for _, s := range t.Slices {
		out.Slices = append(out.Slices, &pb.HeldSlice{
			Id: s.ID, Lo: uint64(s.Lo), Hi: uint64(s.Hi), Generation: s.Generation,
			From: s.From, Until: s.Until, State: pb.HeldState(s.State),
		})
	}
	return out
}

// FromQuantum returns the message of a quantum.
func FromQuantum(q balance.Quantum) *pb.Quantum {
	out := &pb.Quantum{Number: q.Number, Clock: q.Clock, View: q.View}
	for _, o := range q.Ops {
		out.Ops = append(out.Ops, &pb.Operation{Kind: uint32(o.Kind), Slice: o.Slice, Shard: uint32(o.Shard),
			At: uint64(o.At), New: o.New, Name: o.Name, Address: o.Site.Address, Zone: o.Site.Zone,
			Instance: o.Site.Instance, State: uint32(o.State)})
	}
	if q.Model != nil {
		state := balance.State{Quantum: q.Number, Model: q.Model}
		out.Model = state.Encode()
	}
	return out
}

// ToQuantum reads a quantum of an epoch. Errors: those of balance.DecodeState.
func ToQuantum(epoch uint64, q *pb.Quantum) (balance.Quantum, error) {
	out := balance.Quantum{Epoch: epoch, Number: q.GetNumber(), Clock: q.GetClock(), View: q.GetView()}
	for _, o := range q.GetOps() {
		out.Ops = append(out.Ops, balance.Op{Kind: balance.OpKind(o.Kind), Slice: o.Slice, Shard: balance.ShardID(o.Shard),
			At: balance.Key(o.At), New: o.New, Name: o.Name, State: balance.ShardState(o.State),
			Site: balance.Site{Address: o.Address, Zone: o.Zone, Instance: o.Instance}})
	}
	if len(q.GetModel()) == 0 {
		return out, nil
	}
	state, err := balance.DecodeState(q.GetModel())
	if err != nil {
		return out, err
	}
	out.Model = state.Model
	return out, nil
}

// ToLoad reads the load report of a slave. It returns nil for nil.
func ToLoad(incarnation string, l *pb.Load) *load.Report {
	if l == nil {
		return nil
	}
	out := &load.Report{Incarnation: incarnation, Number: l.GetNumber(), Interval: time.Duration(min(l.GetIntervalMs(), 1<<40)) * time.Millisecond, Queries: l.GetQueries()}
	for _, s := range l.GetSlices() {
		out.Slices = append(out.Slices, load.SliceCost{Slice: s.Slice, Generation: s.Generation, Cost: toCost(s.Cost), Split: balance.Key(s.GetSplitKey())})
	}
	for _, i := range l.GetItems() {
		out.Items = append(out.Items, load.ItemCost{Key: balance.Key(i.Key), Cost: toCost(i.Cost)})
	}
	for _, t := range l.GetTopics() {
		out.Topics = append(out.Topics, load.TopicCost{Term: t.Term, Cost: toCost(t.Cost)})
	}
	for _, p := range l.GetPairs() {
		out.Pairs = append(out.Pairs, load.PairCost{Term: p.Term, Key: balance.Key(p.Key), Cost: toCost(p.Cost)})
	}
	return out
}

func toCost(c *pb.Cost) load.Cost {
	return load.Cost{Examined: c.GetExamined(), Matched: c.GetMatched(), Micros: c.GetMicros()}
}
