// Adbench makes corpora and measures: layouts, strategies, load.
package main

import (
	"os"

	"adshard/bench"
)

func main() { os.Exit(bench.Main()) }
