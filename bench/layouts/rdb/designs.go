package rdb

// design is one of the thesis' layouts: what it changed over the one before.
type design struct {
	name string
	// codec is how values lie in the first database; whole: there is no second.
	codec codec
	// matching and records tune the databases.
	matching, records tuning
	code              code
}

// code is how far the code of a search is optimised.
type code uint8

const (
	// direct makes what it needs where it needs it.
	direct code = iota
	// prepared makes iterators, messages and the query's words once.
	prepared
	// lean decides on matches where the bytes lie, by calls for many at a time.
	lean
)

var designs = []design{
	{"RDB-Pr", whole, plain, nil, direct},
	{"RDB-Pr-Opt", whole, byPrefix, nil, direct},
	{"RDB-Pr-Pr", proto3, byPrefix, byKey, direct},
	{"RDB-Pr-Pr-Opt", proto3, byPrefix, byKey, prepared},
	{"RDB-Pr-Fl", flat, byPrefix, byKey, prepared},
	{"RDB-Pr-NS", raw, byPrefix, byKey, prepared},
	{"RDB-Pr-NS-Opt", raw, matchingExpert, recordsExpert, lean},
	{"RDB-Pr-Fl-Opt", flat, matchingExpert, recordsExpert, lean},
}
