package rdb

import "slices"

// design is one of the thesis' layouts.
type design struct {
	name string
	// codec is the encoding of values in the first database; with whole, there is no second
	// one.
	codec codec
	// limited and cached are the tunings of the databases: limited if Options.CacheBytes
	// limits what may be in memory, cached if it is 0.
	limited, cached tunings
	code            code
}

// code says how far the code of a search is optimised.
type code uint8

const (
	// direct reuses nothing: it makes an iterator for each word and a message for each value.
	direct code = iota
	// prepared makes iterators and messages once and reuses them.
	prepared
	// lean decides without copying bytes and fetches many matches with their records at once.
	lean
)

// designs returns the layouts in the order in which the thesis made them, each with its
// change from the previous one (7.1), and then those that the thesis did not make. Caches
// are as in doc.go.
func designs() []*design {
	one, tuned := tunings{matching: byDefault, own: true}, tunings{matching: byPrefix, own: true}
	in, two := tunings{matching: inCache, own: true}, tunings{matching: byPrefix, records: inCache, own: true}
	return []*design{
		// All data of a keyword as one Protocol Buffers value in one database; RocksDB's
		// defaults.
		{"RDB-Pr", whole, one, one, direct},
		// The database is tuned for reading by prefix.
		{"RDB-Pr-Opt", whole, tuned, tuned, direct},
		// Two databases: the data that decide on a match, and the rest, which is looked up for
		// each match; Protocol Buffers in both. Look-ups are not tuned; indexes and filters of
		// the second database are in the cache.
		{"RDB-Pr-Pr", proto3, two, two, direct},
		// Repeated work is prepared once, variables are reused.
		{"RDB-Pr-Pr-Opt", proto3, two, two, prepared},
		// FlatBuffers in the first database.
		{"RDB-Pr-Fl", flat, two, two, prepared},
		// In the first database, hashes are copied as they are in memory.
		{"RDB-Pr-NS", raw, two, two, prepared},
		// The code is optimised where it is busiest; indexes and filters of the second database
		// are outside the cache too. This layout also has the whole tuning of doc.go.
		{"RDB-Pr-NS-Opt", raw, limited, cached, lean},
		// FlatBuffers again in the first database: the thesis' best, the baseline.
		{baseline, flat, limited, cached, lean},
		// RDB-Pr with indexes and filters in the cache, the option that mattered most according
		// to the thesis.
		{"RDB-Pr-In", whole, in, in, direct},
		// RDB-Pr-Fl-Opt with only the tuning that the thesis describes.
		{"RDB-Pr-Fl-Told", flat, told, told, lean},
		// Cap'n Proto in the first database, which the thesis left to others (9.3): once like
		// RDB-Pr-Fl, read by the serialization's own Go code, and once like RDB-Pr-Fl-Opt.
		{"RDB-Pr-Cp", capn, two, two, prepared},
		{"RDB-Pr-Cp-Opt", capn, limited, cached, lean},
	}
}

// baseline is the name of the thesis' best layout.
const baseline = "RDB-Pr-Fl-Opt"

// named returns the design with a name, which must exist.
func named(name string) *design {
	all := designs()
	return all[slices.IndexFunc(all, func(d *design) bool { return d.name == name })]
}
