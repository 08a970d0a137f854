package compared

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy/draft"
	"adshard/balance/strategy/options"
)

const esdbName = "esdb"

// ESDB is dynamic secondary hashing (Zhang et al., "ESDB", SIGMOD 2022, 2.2 and 4). There is a
// fixed number of partitions (the paper's shards), which are dealt to shards (its nodes). A
// tenant (an owner) has several successive partitions; their number, its spread, depends on the
// tenant's part of the whole load. Record g of tenant k is in partition
//
//	(h₁(k) + h₂(g) mod L(k)) mod Partitions
//
// where L(k), the spread, is a power of 2. It is the least with which no partition has more than
// twice an equal part of the whole from this tenant (the two functions that decide this in the
// paper are "manual"; package adshard/bench/esdb does the same). There are two phases. At the
// start, the spread follows what is stored, which is the items' weights. While the system runs,
// it follows the load of the tenants. The paper uses write throughput for this; but the load of a
// search system comes from queries and not from writes, so the load that slaves report is used
// here.
//
// A spread is a rule. Of all rules that a tenant has had, the largest is used, so a spread never
// shrinks. The memory has the rules, and which shard has which partition; both are saved together
// with the model. A rule takes effect with that model. In the paper, all writers agree on the time
// at which a rule takes effect, since each of them applies rules by itself; here they get the
// model. If the option shards changes, the memory is dropped, and the first phase begins again.
//
// In the paper, a rule is for records to come, and nothing moves: reads look wherever any rule
// may have put a record. Here only the slices, which are runs of keys, say where items are, and
// they cannot tell old items from new ones. So items of a tenant move when its spread grows: half
// of them if it doubles. h₂ is the item's part of the key with its bits reversed; then the items
// with the same h₂ mod L are a run of keys, and there are L such runs. In the paper, the spread
// is limited so that a query of one tenant asks few partitions. That gains nothing here, since
// each query asks all shards.
//
// Partitions are dealt to shards in turn at the start, so that successive ones are on different
// shards. When shards come and go, they are dealt as by ConsistentFixed. Neither is from the
// paper.
//
// In orders other than ByOwner there are no tenants, only partitions.
type ESDB struct{ Partitions int }

const (
	// mostPartitions, mostRules and mostParts bound the memory and the number of slices.
	mostPartitions, mostRules, mostParts = 4096, 8192, 50_000
	// mostOfPart is the most that one tenant may have of a partition, as a multiple of an equal
	// part of the whole.
	mostOfPart = 2
	// ownerBits is the number of bits in a key that belong to the item.
	ownerBits = 32
)

func readESDB(r *options.Reader) ESDB {
	e := ESDB{Partitions: 512}
	r.Count(&e.Partitions, "shards", mostPartitions, "partitions, which are dealt to shards; many more than shards")
	e.Partitions = max(1, e.Partitions)
	return e
}

// Name implements balance.Strategy.
func (ESDB) Name() string { return esdbName }

// Initial implements balance.Strategy. It is the first phase.
func (e ESDB) Initial(in balance.Input) (balance.Proposal, error) {
	s := e.recall(in, nil)
	p, err := draft.Initial(in, s)
	p.Memory = s.memory()
	return p, err
}

// Iterate implements balance.Strategy. It is the second phase.
func (e ESDB) Iterate(in balance.Input) (balance.Proposal, error) {
	b := draft.New(in, 1)
	if b.Active == 0 {
		b.Leave(0, "no shard is active")
		p := b.Proposal()
		p.Memory = in.Memory
		return p, nil
	}
	s := e.recall(in, nil)
	if in.Few == "" {
		b.Measured()
		s.follow(b)
	} else {
		b.Leave(0, "no tenant is spread further: %s", in.Few)
	}
	want := s.Pieces()
	elsewhere := b.Elsewhere(want)
	b.Toward(want)
	b.Join(want)
	_, ratio := b.HottestShard()
	b.Leave(0, "%d tenants have more than one partition; %.3f %% of all weight is elsewhere than the rules have it; max/mean is %.3f",
		len(s.rules), 100*b.Cost(0, elsewhere), ratio)
	p := b.Proposal()
	p.Memory = s.memory()
	return p, nil
}

// Refuges implements balance.Refuge: the partitions of shards that leave are dealt to other
// shards.
func (e ESDB) Refuges(in balance.Input, leaving []balance.Slice) []balance.ShardID {
	left := make(map[balance.ShardID]bool)
	for _, s := range leaving {
		left[s.Shard] = true
	}
	return draft.Refuges(in, leaving, e.recall(in, left))
}

// rule says over how many partitions a tenant is spread, if that is more than one.
type rule struct {
	tenant balance.Key // its first key
	spread int
}

// sharding is the layout of ESDB.
type sharding struct {
	owners     []balance.ShardID // shard of each partition
	rules      []rule            // in ascending order of tenants
	list       []draft.Piece     // cache of the pieces for the present rules; partitions has the partition of each
	partitions []int
}

// recall returns the remembered sharding. Partitions of shards that are gone, or that are in
// left, are dealt to others. Without a memory, tenants are spread by what they have stored.
func (e ESDB) recall(in balance.Input, left map[balance.ShardID]bool) *sharding {
	s, ok := e.read(in.Memory)
	if !ok {
		s = &sharding{owners: inTurn(in, e.Partitions)}
		var total uint64
		list := tenants(in)
		for _, t := range list {
			total += t.Weight
		}
		for _, t := range list {
			s.spread(t.Lo, float64(t.Weight)/float64(max(1, total)))
		}
	}
	s.owners = ConsistentFixed{Ranges: e.Partitions, Seed: 1}.deal(in, s.owners, left).owners
	return s
}

// inTurn deals partitions to shards one after another, by their shares.
func inTurn(in balance.Input, partitions int) []balance.ShardID {
	f := newFixed(in, make([]balance.ShardID, partitions), nil)
	for i := range f.owners {
		if h := f.extreme(-1); h != nil {
			f.give(i, h)
		}
	}
	return f.owners
}

// tenants returns the owners with their weights, or nil if owners are not intervals of keys.
func tenants(in balance.Input) []draft.Piece {
	if _, _, whole := in.Order.OwnerOf(0); !whole {
		return nil
	}
	return draft.Owners(in)
}

// spread makes a rule for a tenant with this part of the whole, if the tenant is hot: if its
// present spread gives it more than mostOfPart equal parts of a partition. It returns the spread
// before and after, and whether there was no room for a rule.
func (s *sharding) spread(tenant balance.Key, part float64) (before, after int, full bool) {
	i, ok := slices.BinarySearchFunc(s.rules, tenant, func(r rule, k balance.Key) int { return cmp.Compare(r.tenant, k) })
	before = 1
	if ok {
		before = s.rules[i].spread
	}
	after = before
	for part*float64(len(s.owners)) > mostOfPart*float64(after)*(1+1e-9) && 2*after <= len(s.owners) { // sums are rounded
		after *= 2
	}
	switch {
	case after == before:
	case s.parts()+after > mostParts || !ok && len(s.rules) == mostRules:
		return before, before, true
	case ok:
		s.rules[i].spread = after
	default:
		s.rules = slices.Insert(s.rules, i, rule{tenant, after})
	}
	return before, after, false
}

// parts returns the number of runs of keys of the tenants with rules.
func (s *sharding) parts() (sum int) {
	for _, r := range s.rules {
		sum += r.spread
	}
	return sum
}

// follow spreads hot tenants further, by their load.
func (s *sharding) follow(b *draft.Draft) {
	said := 0
	for _, t := range loaded(b) {
		part := t.load / max(b.Total, 1e-300)
		before, after, full := s.spread(t.lo, part)
		if after == before && !full {
			continue
		}
		if said++; said > draft.MostStaying {
			continue
		}
		if full {
			b.Leave(0, "the tenant at %x has %.3f of the load in %d partitions, and there are too many rules for another one", uint64(t.lo), part, before)
			continue
		}
		b.Leave(0, "the tenant at %x has %.3f of the load: it goes from %d to %d partitions, and about %.3f %% of all weight moves for it",
			uint64(t.lo), part, before, after, 100*b.Cost(0, t.weight)*(1-float64(before)/float64(after)))
	}
}

// tenantLoad is the load of a tenant.
type tenantLoad struct {
	lo     balance.Key
	load   float64
	weight uint64
}

// loaded returns the loads of the tenants.
func loaded(b *draft.Draft) (list []tenantLoad) {
	if _, _, whole := b.In.Order.OwnerOf(0); !whole {
		return nil
	}
	var own []load.Item
	for i := range b.Parts {
		own = load.OfItems(b.In, b.Parts[i].Slice, own[:0])
		for _, v := range own {
			lo, _, _ := b.In.Order.OwnerOf(v.Key)
			if n := len(list); n == 0 || list[n-1].lo != lo {
				list = append(list, tenantLoad{lo: lo})
			}
			t := &list[len(list)-1]
			t.load += v.Load
			t.weight += uint64(v.Weight)
		}
	}
	return list
}

// begin returns the first key of a partition, which is also the first key of a tenant: so no
// tenant is in two partitions.
func (s *sharding) begin(partition int) balance.Key {
	return rangeBegin(partition, len(s.owners)) &^ (1<<ownerBits - 1)
}

// first returns h₁ of a tenant, the tenant's first partition. No further hash is needed, since
// the first half of a key is a hash of the tenant.
func (s *sharding) first(tenant balance.Key) int {
	return rangeOf(tenant|(1<<ownerBits-1), len(s.owners))
}

// Pieces implements draft.Layout. It returns the partitions, with the tenants that have rules cut
// out of them.
func (s *sharding) Pieces() []draft.Piece {
	type start struct {
		lo        balance.Key
		partition int
		why       string
	}
	var out, rest []start
	for _, r := range s.rules {
		wide, first := balance.Key(1)<<ownerBits/balance.Key(r.spread), s.first(r.tenant)
		for i := range r.spread {
			partition := (first + offset(i, r.spread)) % len(s.owners)
			out = append(out, start{r.tenant + balance.Key(i)*wide, partition,
				fmt.Sprintf("a tenant that is spread over %d partitions from %d on has a part in partition %d", r.spread, first, partition)})
		}
		if after := r.tenant + 1<<ownerBits; after != 0 {
			partition := s.first(after)
			rest = append(rest, start{after, partition, fmt.Sprintf("partition %d", partition)})
		}
	}
	for i := range s.owners {
		rest = append(rest, start{s.begin(i), i, fmt.Sprintf("partition %d", i)})
	}
	out = append(out, rest...) // of pieces with the same first key, the first one is used
	slices.SortStableFunc(out, func(a, b start) int { return cmp.Compare(a.lo, b.lo) })
	out = slices.CompactFunc(out, func(a, b start) bool { return a.lo == b.lo })
	s.list, s.partitions = make([]draft.Piece, len(out)), make([]int, len(out))
	for i, v := range out {
		s.list[i], s.partitions[i] = draft.Piece{Lo: v.lo, Shard: s.owners[v.partition], Why: v.why}, v.partition
	}
	return s.list
}

// offset returns h₂ mod spread of the i-th of `spread` runs of items: i with its bits reversed.
// So when the spread doubles, half of each run stays where it is.
func offset(i, spread int) int {
	return int(bits.Reverse32(uint32(i)) >> (32 - bits.TrailingZeros(uint(spread))))
}

// Next implements draft.Layout. It returns the shard of the keys' partition, or of the next
// partition whose shard is good.
func (s *sharding) Next(keys balance.Interval, good func(balance.ShardID) bool) balance.ShardID {
	if s.list == nil {
		s.Pieces()
	}
	at := sort.Search(len(s.list), func(i int) bool { return s.list[i].Lo > keys.Lo }) - 1
	asked := make(map[balance.ShardID]bool)
	for i := range s.owners {
		n := s.owners[(s.partitions[at]+i)%len(s.owners)]
		if n == 0 || asked[n] {
			continue
		}
		if asked[n] = true; good(n) {
			return n
		}
	}
	return 0
}

// memory returns the number of partitions, their shards, and the rules, which take 5 bytes each.
func (s *sharding) memory() []byte {
	b := binary.AppendUvarint(nil, uint64(len(s.owners)))
	for _, n := range s.owners {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, r := range s.rules {
		b = binary.BigEndian.AppendUint32(b, uint32(r.tenant>>ownerBits))
		b = append(b, byte(bits.TrailingZeros(uint(r.spread))))
	}
	return b
}

// read decodes a memory. It returns false if there is none, or if it has another number of
// partitions.
func (e ESDB) read(b []byte) (*sharding, bool) {
	count, n := binary.Uvarint(b)
	if n <= 0 || count != uint64(e.Partitions) {
		return nil, false
	}
	b = b[n:]
	s := &sharding{owners: make([]balance.ShardID, e.Partitions)}
	for i := range s.owners {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > 1<<32-1 {
			return nil, false
		}
		s.owners[i], b = balance.ShardID(v), b[n:]
	}
	for ; len(b) >= 5; b = b[5:] {
		r := rule{balance.Key(binary.BigEndian.Uint32(b)) << ownerBits, 1 << (b[4] % 16)}
		if r.spread > e.Partitions || len(s.rules) > 0 && s.rules[len(s.rules)-1].tenant >= r.tenant {
			return nil, false
		}
		s.rules = append(s.rules, r)
	}
	return s, len(b) == 0
}
