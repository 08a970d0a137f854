package rdb

// design is one of the thesis' layouts: what it changed over the one before.
type design struct {
	name string
	// codec is how values lie in the first database; whole: there is no second.
	codec codec
	// limited and cached tune the databases, by whether the cache is smaller than
	// the data.
	limited, cached tunings
	code            code
}

// code is how far the code of a search is optimised.
type code uint8

const (
	// direct makes what it needs where it needs it.
	direct code = iota
	// prepared makes iterators and messages once and uses them again.
	prepared
	// lean decides where the bytes lie and fetches the records of many matches in
	// one call.
	lean
)

var (
	one    = tunings{matching: asItComes}
	oneOpt = tunings{matching: byPrefix}
	split  = tunings{matching: byPrefix, records: byKey}
)

func designs() []*design {
	return []*design{
		{"RDB-Pr", whole, one, one, direct},
		{"RDB-Pr-Opt", whole, oneOpt, oneOpt, direct},
		{"RDB-Pr-Pr", proto3, split, split, direct},
		{"RDB-Pr-Pr-Opt", proto3, split, split, prepared},
		{"RDB-Pr-Fl", flat, split, split, prepared},
		{"RDB-Pr-NS", raw, split, split, prepared},
		{"RDB-Pr-NS-Opt", raw, limited, cached, lean},
		{"RDB-Pr-Fl-Opt", flat, limited, cached, lean},
	}
}
