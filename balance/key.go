package balance

import (
	"fmt"
	"slices"

	"adshard/barrels/certify"
)

// Key is the position of an item on the ring of 2⁶⁴ keys.
type Key uint64

// unmix64 inverts certify.Mix.
func unmix64(x uint64) uint64 {
	x ^= x>>31 ^ x>>62
	x *= 0x319642b2d24d8ec3
	x ^= x>>27 ^ x>>54
	x *= 0x96de1b173f119089
	return x ^ x>>30 ^ x>>60
}

// mix32 is the finaliser of MurmurHash3 (Appleby), a bijection.
func mix32(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	x *= 0xc2b2ae35
	return x ^ x>>16
}

func unmix32(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7ed1b41d
	x ^= x>>13 ^ x>>26
	x *= 0xa5cb9243
	return x ^ x>>16
}

// Order maps an item's ids to its key and back. All orders are bijections, so
// no two items have the same key.
type Order uint8

// The orders of design.md, "Items, keys, slices".
const (
	// ByOwner: mix32 of the owner's id, then mix32 of the item's id: an owner
	// (advertiser) is one interval of keys. Ids must be below 2³².
	ByOwner Order = iota
	// ByHash: a mix of the item's id: every slice is a mix of owners.
	ByHash
	// ByID: the item's id, as in thesis 6.5: items made one after the other are
	// neighbours. Where ids are small, so are all keys.
	ByID
)

// Orders returns the names of the orders in configurations, that of an order at its number.
func Orders() []string { return []string{"advertiser", "hash", "id"} }

// Key returns the key of an item of an owner, ids from 1. It fails when an id
// does not fit the order.
func (o Order) Key(owner, item uint64) (Key, error) {
	switch o {
	case ByHash:
		return Key(certify.Mix(item)), nil
	case ByID:
		return Key(item), nil
	}
	if owner>>32 != 0 || item>>32 != 0 {
		return 0, fmt.Errorf("balance: ids %d and %d do not fit 32 bits; use the order \"hash\"", owner, item)
	}
	return Key(uint64(mix32(uint32(owner)))<<32 | uint64(mix32(uint32(item)))), nil
}

// Item returns the item's id from its key.
func (o Order) Item(k Key) uint64 {
	switch o {
	case ByHash:
		return unmix64(uint64(k))
	case ByID:
		return uint64(k)
	}
	return uint64(unmix32(uint32(k)))
}

// Owner returns the interval of keys of an owner, both ends inclusive; only
// ByOwner has one.
func (o Order) Owner(owner uint64) (lo, hi Key, ok bool) {
	if o != ByOwner || owner>>32 != 0 {
		return 0, 0, false
	}
	lo = Key(uint64(mix32(uint32(owner))) << 32)
	return lo, lo | 0xffffffff, true
}

// OwnerOf returns the interval of keys of the owner of key k, both ends
// inclusive; only ByOwner has one.
func (o Order) OwnerOf(k Key) (lo, hi Key, ok bool) {
	if o != ByOwner {
		return 0, 0, false
	}
	return k &^ 0xffffffff, k | 0xffffffff, true
}

// String returns the order's name in configurations; "" for an unknown order.
func (o Order) String() string {
	if int(o) >= len(Orders()) {
		return ""
	}
	return Orders()[o]
}

// ParseOrder reads an order's name.
func ParseOrder(name string) (Order, bool) {
	i := slices.Index(Orders(), name)
	return Order(max(0, i)), i >= 0
}
