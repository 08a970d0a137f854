package corpus

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"
)

// dice gives the random numbers of one item in one round. They depend on nothing else, so a group stays the same
// whatever else is made.
type dice struct {
	pcg *rand.PCG
	*rand.Rand
}

func newDice() dice {
	pcg := rand.NewPCG(0, 0)
	return dice{pcg, rand.New(pcg)}
}

func (d dice) reset(seed uint64, round, number int) {
	d.pcg.Seed(seed, mix(uint64(round), uint64(number)))
}

// chance returns true n times in 1000.
func (d dice) chance(permille int) bool { return d.IntN(1000) < permille }

func pick[T any](d dice, from []T) T { return from[d.IntN(len(from))] }

func mix(a, b uint64) uint64 {
	var key [16]byte
	binary.LittleEndian.PutUint64(key[:8], a)
	binary.LittleEndian.PutUint64(key[8:], b)
	return xxhash.Sum64(key[:])
}

// spread holds the quantiles (i+0.5)/64 of a log-normal distribution with
// sigma 0.7, in permille of its median.
var spread = [64]int{
	184, 249, 291, 326, 356, 384, 410, 435, 459, 482, 504, 526, 548, 570, 591, 613,
	634, 656, 678, 699, 721, 743, 766, 789, 812, 835, 859, 883, 908, 934, 960, 986,
	1014, 1042, 1071, 1101, 1132, 1164, 1197, 1232, 1268, 1306, 1345, 1386, 1430, 1476, 1525, 1576,
	1631, 1691, 1755, 1824, 1899, 1983, 2076, 2180, 2299, 2437, 2602, 2805, 3067, 3432, 4020, 5432,
}

// uneven returns a number around the median n, spread like bids: most are near it, some far above.
func (d dice) uneven(n int) int { return max(1, n*spread[d.IntN(len(spread))]/1000) }
