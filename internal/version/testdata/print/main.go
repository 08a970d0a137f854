// Command print prints which build it is.
package main

import (
	"fmt"

	"adshard/internal/version"
)

func main() { fmt.Println(version.Current()) }
