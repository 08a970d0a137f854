// This is adbench with a custom strategy, coolest (docs/strategies.md).
package main

import (
	"os"

	"adshard/balance/strategy/compared"
	"adshard/bench"
)

func main() {
	os.Exit(bench.Main(Coolest{compared.ConsistentFixed{Ranges: 256, Seed: 1}}))
}
