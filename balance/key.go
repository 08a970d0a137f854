package balance

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
