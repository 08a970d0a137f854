package compared

import (
	"cmp"
	"slices"
)

const raoManyName = "rao-many"

// many makes each heavy shard draw some light ones.
func (x *exchange) many() {
	for _, h := range x.sorted(x.heavy, -1) {
		light := x.sorted(x.light, 1)
		for n := range len(light) { // the first ones become the sample
			if n == x.Draws {
				break
			}
			j := n + int(x.draw(h, n)%uint64(len(light)-n))
			light[n], light[j] = light[j], light[n]
		}
		light = light[:min(len(light), x.Draws)]
		slices.SortStableFunc(light, func(a, b int) int { return cmp.Compare(x.Shards[a].Heat(), x.Shards[b].Heat()) })
		if len(light) > 0 {
			if i := x.best(h, light[0]); i >= 0 {
				x.give(i, light[0], "the lightest of those that the heavy shard drew")
			}
		}
	}
}
