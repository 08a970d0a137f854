// Package money writes and reads amounts of money for people. Programs hold amounts as
// micros, millionths of the currency's unit; people see and type units:
//
//	money.Format(1431112)  // "1.431112"
//	money.Parse("2.5")     // 2500000, true
//
// Nothing is rounded, since prices are compared with what is billed. Package ingest/values says in more detail what
// is wrong with a cell of a file.
package money

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	unit  = 1_000_000
	least = 2 // the fewest decimals that are written

	digits = "0123456789"
)

// Format returns micros as units, exactly, with at least two decimals: 10000 is 0.01 and 1508572 is 1.508572.
func Format(micros uint64) string {
	decimals := fmt.Sprintf("%06d", micros%unit)
	shown := max(least, len(strings.TrimRight(decimals, "0")))
	return strconv.FormatUint(micros/unit, 10) + "." + decimals[:shown]
}

// Parse reads an amount in units: digits, optionally followed by a point and up to six digits. ok is false for anything
// else, and if the micros do not fit in 64 bits.
func Parse(text string) (micros uint64, ok bool) {
	whole, decimals, _ := strings.Cut(text, ".")
	if whole == "" || len(decimals) > 6 || strings.Trim(whole, digits)+strings.Trim(decimals, digits) != "" {
		return 0, false
	}
	micros, err := strconv.ParseUint(whole+decimals+"000000"[len(decimals):], 10, 64)
	return micros, err == nil
}
