package places

import (
	_ "embed"
	"sync"
)

// countries is the text of the built-in table as Table.Text returns it: the entries of ISO 3166-1:2020 in force, with the
// names of CLDR 48 in English (docs/sources.md).
//
//go:embed countries.tsv
var countries string

var builtIn = sync.OnceValue(func() *Table {
	t, err := Parse(countries)
	if err != nil {
		panic(err) // a defect that tests would find
	}
	return t
})

// Countries returns the built-in table: the 249 countries of ISO 3166-1. Their ids are those of Google, 2000 plus the
// country's numeric code.
func Countries() *Table { return builtIn() }
