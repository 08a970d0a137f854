package auction

import (
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// PickAd returns the index of the ad that an evenly rotating group shows for a request (serving.md
// §5.4), among its n enabled ads in ascending order of ids: xxh64 with seed 0 of the request id's
// bytes followed by the group id in decimal, mod n. n must be at least 1.
func PickAd(requestID string, group uint64, n int) int {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString(requestID)
	var digits [20]byte
	_, _ = d.Write(strconv.AppendUint(digits[:0], group, 10))
	return int(d.Sum64() % uint64(max(n, 1)))
}
