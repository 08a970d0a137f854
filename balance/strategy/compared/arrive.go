package compared

import (
	"encoding/binary"
	"slices"
	"sort"

	"adshard/balance"
	"adshard/balance/strategy/draft"
)

// seated is the common part of strategies that begin with the arcs of tokens, and later move slices to other shards
// because of their load.
type seated struct{ Tokens Tokens }

// Initial implements balance.Strategy.
func (s seated) Initial(in balance.Input) (balance.Proposal, error) {
	p, err := ConsistentRandom(s).Initial(in)
	p.Memory = everyone(in)
	return p, err
}

// Refuges implements balance.Refuge.
func (s seated) Refuges(in balance.Input, leaving []balance.Slice) []balance.ShardID {
	return ConsistentRandom(s).Refuges(in, leaving)
}

// arrive gives shards that have joined the arcs of their tokens. It returns the memory, which lists the shards that have
// theirs, and whether all shards do, so that slices may move elsewhere again. It does not wait for what cannot move
// although nothing is moving. A shard that has nothing and may take nothing, since it has just joined or was emptied, gets
// its arcs when it may take slices. A shard that gave everything away is not treated as new.
func arrive(b *draft.Draft, in balance.Input, t Tokens) (memory []byte, all bool) {
	all = true
	known := settledShards(in.Memory)
	if known == nil { // without a memory, shards with slices are assumed to have their arcs
		known = make(map[balance.ShardID]bool)
		for i := range b.Shards {
			known[b.Shards[i].ID] = b.Shards[i].Slices > 0
		}
	}
	for i, sh := range in.Model.Shards() {
		if sh.State == balance.Active && !known[sh.ID] {
			known[sh.ID] = seat(b, i, t.of(sh, min(draft.ShareOf(in, sh.ID), mostTokens/uint64(t.each())+1)))
			all = all && known[sh.ID]
		}
		if known[sh.ID] && !shut(b, i) {
			memory = binary.AppendUvarint(memory, uint64(sh.ID))
		}
	}
	return memory, all
}

// shut reports whether a shard has nothing and may take nothing.
func shut(b *draft.Draft, shard int) bool {
	return b.Shards[shard].Slices == 0 && !slices.ContainsFunc(b.Parts, func(p draft.Part) bool {
		ok, _ := b.May(p.ID, shard)
		return ok
	})
}

// everyone returns the memory that says that all shards have the arcs of their tokens.
func everyone(in balance.Input) (memory []byte) {
	for _, sh := range in.Model.Shards() {
		memory = binary.AppendUvarint(memory, uint64(sh.ID))
	}
	return memory
}

// settledShards decodes a memory. It returns nil if there is none, or it is that of another strategy.
func settledShards(memory []byte) map[balance.ShardID]bool {
	if len(memory) == 0 {
		return nil
	}
	out := make(map[balance.ShardID]bool)
	for len(memory) > 0 {
		v, n := binary.Uvarint(memory)
		if n <= 0 || v > 1<<32-1 {
			return nil
		}
		out[balance.ShardID(v)] = true
		memory = memory[n:]
	}
	return out
}

// seat starts to move the arcs of a shard's tokens to the shard, and reports whether it has all of them.
func seat(b *draft.Draft, shard int, tokens []token) (all bool) {
	all = true
	waits := slices.ContainsFunc(b.Parts, func(p draft.Part) bool { return p.Move.Phase == balance.Copying })
	for _, t := range tokens {
		k := sort.Search(len(b.Parts), func(i int) bool { return b.Parts[i].Hi >= t.key })
		p := &b.Parts[k]
		if p.At == shard && p.Hi == t.key {
			continue
		}
		if p.Busy {
			all = false
			continue
		}
		own := draft.Segment{Interval: balance.Interval{Lo: p.Lo, Hi: t.key}, To: shard, Why: "the arc of one of its tokens, since it has joined"}
		list := []draft.Segment{own}
		if t.key < p.Hi {
			list = append(list, draft.Segment{Interval: balance.Interval{Lo: t.key + 1, Hi: p.Hi}, To: p.At})
		}
		if b.Carry(p, list) {
			all, waits = false, true
		} else if waits {
			all = false
		}
	}
	return all
}
