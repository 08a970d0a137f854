package rdb

import "slices"

// design is one of the thesis' layouts.
type design struct {
	name string
	// codec is how values lie in the first database; whole: there is no second.
	codec codec
	// limited and cached tune the databases, by whether Options.CacheBytes says how much
	// may be in memory, or 0.
	limited, cached tunings
	code            code
}

// code is how far the code of a search is optimised.
type code uint8

const (
	// direct reuses nothing: it makes an iterator for each word and a message for each value.
	direct code = iota
	// prepared makes iterators and messages once and uses them again.
	prepared
	// lean decides where the bytes lie and takes many matches with their records
	// at once.
	lean
)

// designs are the layouts in the order in which the thesis made them, each with
// what it changes over the previous one (7.1), and then those that it did not make.
// Caches are as in doc.go.
func designs() []*design {
	one, tuned := tunings{matching: byDefault, own: true}, tunings{matching: byPrefix, own: true}
	in, two := tunings{matching: inCache, own: true}, tunings{matching: byPrefix, records: inCache, own: true}
	return []*design{
		// All data of a keyword as one Protocol Buffers value in one database; RocksDB's
		// defaults.
		{"RDB-Pr", whole, one, one, direct},
		// The database is tuned for reading by prefix.
		{"RDB-Pr-Opt", whole, tuned, tuned, direct},
		// Two databases: what decides on a match, and the rest, looked up for each
		// match; Protocol Buffers in both. Look-ups are not tuned, indexes and filters of
		// the second database are in the cache.
		{"RDB-Pr-Pr", proto3, two, two, direct},
		// Repeated work is prepared once, variables are reused.
		{"RDB-Pr-Pr-Opt", proto3, two, two, prepared},
		// FlatBuffers in the first database.
		{"RDB-Pr-Fl", flat, two, two, prepared},
		// Memory copied as it is in the first database.
		{"RDB-Pr-NS", raw, two, two, prepared},
		// The code is optimised where it is busiest; indexes and filters of the second
		// database are out of the cache too. Here also: the whole tuning of doc.go.
		{"RDB-Pr-NS-Opt", raw, limited, cached, lean},
		// FlatBuffers again in the first database: the thesis' best, the baseline.
		{baseline, flat, limited, cached, lean},
		// RDB-Pr with indexes and filters in the cache, the option that the thesis found
		// to matter most.
		{"RDB-Pr-In", whole, in, in, direct},
		// RDB-Pr-Fl-Opt with what the thesis tells of its tuning, and nothing else.
		{"RDB-Pr-Fl-Told", flat, told, told, lean},
		// Cap'n Proto in the first database, which the thesis left to others (9.3): as
		// RDB-Pr-Fl, by the serialization's own code in Go, and as RDB-Pr-Fl-Opt.
		{"RDB-Pr-Cp", capn, two, two, prepared},
		{"RDB-Pr-Cp-Opt", capn, limited, cached, lean},
	}
}

// baseline is the name of the thesis' best.
const baseline = "RDB-Pr-Fl-Opt"

// named is the design of a name that is there.
func named(name string) *design {
	all := designs()
	return all[slices.IndexFunc(all, func(d *design) bool { return d.name == name })]
}
