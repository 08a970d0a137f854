// Adbench makes corpora and measures layouts, strategies and load.
package main

import (
	"os"

	"adshard/bench"
)

func main() { os.Exit(bench.Main()) }
