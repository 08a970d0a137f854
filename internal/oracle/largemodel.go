package oracle

import (
	"fmt"
	"strings"
)

// LargeModel returns the file of a model with this number of trees of six splits, for benchmarks of its cost.
func LargeModel(trees int) []byte {
	var list []string
	for i := range trees {
		var leaves []string
		for l := range 64 {
			leaves = append(leaves, fmt.Sprint((i*31+l*17)%41-20))
		}
		list = append(list, fmt.Sprintf(`{"splits":[["advertiser",%d],["campaign",%d],["words",%d],["quality",%d],["hour",%d],["match",%d]],"leaves":[%s]}`,
			i*37%1000, i*53%1000, i%5, i%9, i%24, i%2, strings.Join(leaves, ",")))
	}
	return fmt.Appendf(nil, `{"format":1,"weights":{"hour":{"3":5},"words":{"2":-7},"campaign":{"3":9}},"trees":[%s]}`, strings.Join(list, ","))
}
