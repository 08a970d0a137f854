package rdb

// #cgo !grocksdb_no_link CXXFLAGS: -std=c++17
// #cgo grocksdb_no_link CXXFLAGS: -std=c++20
// #cgo CXXFLAGS: -O2 -DNDEBUG
// #cgo LDFLAGS: -lrocksdb -lstdc++
// #include <stdlib.h>
// #include "engine.h"
import "C"

import (
	"unsafe"

	"adshard/fault"
)

// databases holds the open databases of a store, which C++ owns.
type databases struct{ c *C.engine }

// open opens the databases; records is "" if there is no second one. They share a cache unless
// own is set.
func open(matching, records database, cacheBytes uint64, own bool) (databases, error) {
	var held []*C.char
	text := func(s string) *C.char {
		if s == "" {
			return nil
		}
		c := C.CString(s)
		held = append(held, c)
		return c
	}
	defer func() {
		for _, c := range held {
			C.free(unsafe.Pointer(c))
		}
	}()
	var f C.failure
	caches := C.int(1)
	if own {
		caches = 2
	}
	e := C.engine_open(text(matching.dir), text(matching.options), text(records.dir), text(records.options), C.size_t(cacheBytes), caches, &f)
	return databases{e}, failed("rdb: open", &f)
}

// failed returns the error that C++ reported, with its kind, or nil.
func failed(op string, f *C.failure) error {
	switch f.kind {
	case 0:
		return nil
	case 1:
		return fault.Newf(fault.Corrupt, op, "%s; build the layout again", C.GoString(&f.text[0]))
	}
	return fault.Newf(fault.Internal, op, "%s; see that its directory can be read", C.GoString(&f.text[0]))
}

func (d databases) memory() uint64 { return uint64(C.engine_memory(d.c)) }
func (d databases) raw() uint64    { return uint64(C.engine_raw(d.c)) }
func (d databases) close()         { C.engine_close(d.c) }

// walker is the part of a searcher that reads. The bytes it returns belong to C++ and are valid
// until its next call.
type walker struct {
	c *C.walker
	r *C.results
}

// look is the number of pairs after which a search checks its context: some milliseconds.
const look = 1 << 16

func (d databases) walker(keep bool) *walker {
	w, kept := new(walker), C.int(0)
	if keep {
		kept = 1
	}
	w.c = C.walker_open(d.c, kept, &w.r)
	return w
}

func (w *walker) close() { C.walker_close(w.c) }

func (w *walker) failed() error { return failed("rdb: search", &w.r.failed) }

// seek goes to the first keyword of a first word.
func (w *walker) seek(word uint64) error {
	C.walker_seek(w.c, C.uint64_t(word))
	return w.failed()
}

// next returns how many pairs of the word come next; done reports whether they are the last.
func (w *walker) next() (n int, done bool, err error) {
	C.walker_pairs(w.c)
	return int(w.r.n), w.r.done != 0, w.failed()
}

// pair returns pair i of the last call of next.
func (w *walker) pair(i int) (id uint64, value []byte) {
	p := &w.r.pairs[i]
	return uint64(p.id), unsafe.Slice((*byte)(unsafe.Pointer(p.value.data)), int(p.value.size))
}

// record looks up a record, which becomes pair 0.
func (w *walker) record(id uint64) error {
	C.walker_record(w.c, C.uint64_t(id))
	return w.failed()
}

// query begins a search that runs entirely in C++, for at most 32 words.
func (w *walker) query(words []uint64, c codec) {
	C.walker_query(w.c, (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(words))), C.size_t(len(words)), C.int(c))
}

// matches continues such a search; its pairs are matches with their records.
func (w *walker) matches() (n int, done bool, err error) {
	C.walker_matches(w.c, look)
	return int(w.r.n), w.r.done != 0, w.failed()
}
