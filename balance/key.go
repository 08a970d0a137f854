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

// Order is a way to map an item's ids to its key and back. All orders are bijections, so no
// two items have the same key.
type Order uint8

// The orders of design.md, "Items, keys, slices".
const (
	// ByOwner puts mix32 of the owner's id before mix32 of the item's id: the items of an
	// owner (advertiser) are one interval of keys. Ids must be below 2³².
	ByOwner Order = iota
	// ByHash mixes the bits of the item's id: every slice has items of many owners.
	ByHash
	// ByID uses the item's id itself, as in thesis 6.5: items made one after another are
	// neighbours. If ids are small, so are all keys.
	ByID
)

// Orders returns the names of the orders in configurations, indexed by Order.
func Orders() []string { return []string{"advertiser", "hash", "id"} }

// Key returns the key of an item of an owner. Ids begin at 1. It returns an error if an id
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

// Item returns the id of the item with a key.
func (o Order) Item(k Key) uint64 {
	switch o {
	case ByHash:
		return unmix64(uint64(k))
	case ByID:
		return uint64(k)
	}
	return uint64(unmix32(uint32(k)))
}

// Owner returns the interval of keys of an owner, both ends inclusive. ok is false unless
// the order is ByOwner and the id is below 2³².
func (o Order) Owner(owner uint64) (lo, hi Key, ok bool) {
	if o != ByOwner || owner>>32 != 0 {
		return 0, 0, false
	}
	lo = Key(uint64(mix32(uint32(owner))) << 32)
	return lo, lo | 0xffffffff, true
}

// OwnerOf returns the interval of keys of the owner of key k, both ends inclusive. ok is
// false unless the order is ByOwner.
func (o Order) OwnerOf(k Key) (lo, hi Key, ok bool) {
	if o != ByOwner {
		return 0, 0, false
	}
	return k &^ 0xffffffff, k | 0xffffffff, true
}

// String returns the order's name in configurations, or "" for an unknown order.
func (o Order) String() string {
	if int(o) >= len(Orders()) {
		return ""
	}
	return Orders()[o]
}

// ParseOrder returns the order with a name.
func ParseOrder(name string) (Order, bool) {
	i := slices.Index(Orders(), name)
	return Order(max(0, i)), i >= 0
}
