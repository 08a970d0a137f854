// This is adbench with a strategy of one's own, coolest (docs/strategies.md).
package main

import (
	"os"

	"adshard/balance/strategy"
	"adshard/bench"
)

func main() {
	os.Exit(bench.Main(Coolest{strategy.ConsistentFixed{Ranges: 256, Seed: 1}}))
}
