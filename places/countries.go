package places

import (
	_ "embed"
	"sync"
)

// countries is what Text returns of the built-in table: the entries of ISO 3166-1:2020 in force, with the names of CLDR 48 in
// English (docs/sources.md).
//
//go:embed countries.tsv
var countries string

var builtIn = sync.OnceValue(func() *Table {
	t, err := Parse(countries)
	if err != nil {
		panic(err) // a defect: tests read it
	}
	return t
})

// Countries is the built-in table: the 249 countries of ISO 3166-1. Their ids are Google's, 2000 and the country's numeric
// code.
func Countries() *Table { return builtIn() }
