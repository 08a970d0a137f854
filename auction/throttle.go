package auction

import (
	"math/bits"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Whole is the share of a campaign that takes part in all requests.
const Whole = 1_000_000

// TakesPart reports whether a campaign takes part in a request, if it must sit out withheld of
// every Whole requests (serving.md §10.2). It does if xxh64 with seed 0 of the request id's bytes,
// a slash and the campaign id in decimal, as a fraction of 2⁶⁴, is below (Whole − withheld) ÷
// Whole.
func TakesPart(requestID string, campaign uint64, withheld uint32) bool {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString(requestID)
	var room [21]byte
	_, _ = d.Write(strconv.AppendUint(append(room[:0], '/'), campaign, 10))
	drawn, _ := bits.Mul64(d.Sum64(), Whole)
	return drawn+uint64(withheld) < Whole
}
