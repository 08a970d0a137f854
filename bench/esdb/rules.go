package esdb

import (
	"slices"
	"time"

	"adshard/barrels/certify"
)

// Tenant is the number of a tenant, from 0.
type Tenant uint32

// rule is a secondary hashing rule (t, s, k_list) of §4.2: records of its tenants that are
// created after `from` are spread over a given number of shards.
type rule struct {
	from    time.Duration
	spread  int
	tenants []Tenant
}

// rules is the rule list R, which only grows.
type rules struct {
	list []rule
	of   map[Tenant][]int // indexes in list
}

func newRules() *rules { return &rules{of: make(map[Tenant][]int)} }

// add is algorithm 2: it keeps one rule for each time and spread.
func (r *rules) add(from time.Duration, spread int, k Tenant) {
	i := slices.IndexFunc(r.list, func(v rule) bool { return v.from == from && v.spread == spread })
	if i < 0 {
		i = len(r.list)
		r.list = append(r.list, rule{from: from, spread: spread})
	}
	r.list[i].tenants = append(r.list[i].tenants, k)
	r.of[k] = append(r.of[k], i)
}

// addAll adds committed rules.
func (r *rules) addAll(list []rule) {
	for _, v := range list {
		for _, k := range v.tenants {
			r.add(v.from, v.spread, k)
		}
	}
}

// write returns the number of shards over which a record with this creation time is spread:
// the largest spread of the rules before that time. It is the same for the record's updates.
func (r *rules) write(k Tenant, created time.Duration) int {
	spread := 1
	for _, i := range r.of[k] {
		if r.list[i].from < created {
			spread = max(spread, r.list[i].spread)
		}
	}
	return spread
}

// read returns the number of shards over which the tenant's records may be spread by now.
func (r *rules) read(k Tenant) int {
	spread := 1
	for _, i := range r.of[k] {
		spread = max(spread, r.list[i].spread)
	}
	return spread
}

// first returns h₁ of a tenant: its first shard.
func first(k Tenant, shards int) int {
	return int(certify.Mix(uint64(k)+1) % uint64(shards))
}

// shard returns the shard of a record (equation 2).
func shard(k Tenant, record uint64, spread, shards int) int {
	return (first(k, shards) + int(certify.Mix(record^0x5bd1e995<<32)%uint64(spread))) % shards
}

// offset is ComputeOffsetSize: it returns the smallest power of 2 of shards with which each
// has at most two shards' share of all, but at most all shards.
func offset(part float64, shards int) int {
	spread := 1
	for spread < shards && part/float64(spread) > 2/float64(shards) {
		spread *= 2
	}
	return spread
}
