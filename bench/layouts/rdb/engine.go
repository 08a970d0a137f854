package rdb

// #cgo CXXFLAGS: -std=c++17 -O2 -DNDEBUG
// #cgo LDFLAGS: -lrocksdb -lstdc++
// #include <stdlib.h>
// #include "engine.h"
import "C"

import (
	"unsafe"

	"adshard/fault"
)

// databases are the open files of a store: C++ that holds them.
type databases struct{ c *C.engine }

// open opens the databases; records "" is none.
func open(matching, records database, cacheBytes uint64) (databases, error) {
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
	e := C.engine_open(text(matching.dir), text(matching.options), text(records.dir), text(records.options), C.size_t(cacheBytes), &f)
	return databases{e}, failed("rdb: open", &f)
}

// failed gives what C++ said its kind.
func failed(op string, f *C.failure) error {
	switch f.kind {
	case 0:
		return nil
	case 1:
		return fault.Newf(fault.Corrupt, op, "%s; build the layout again", C.GoString(&f.text[0]))
	}
	return fault.Newf(fault.Unavailable, op, "%s; see that its directory can be read", C.GoString(&f.text[0]))
}

func (d databases) memory() uint64 { return uint64(C.engine_memory(d.c)) }
func (d databases) close()         { C.engine_close(d.c) }

// walker is what one searcher reads with. Bytes it hands out are C++'s, good
// until its next call.
type walker struct {
	c     *C.walker
	f     C.failure
	pairs [batch]C.pair
	ids   [batch]C.uint64_t
	found [batch]C.bytes
}

// batch is the number of pairs or matches of one call.
const batch = 256

// look is the number of pairs after which a search sees whether its time is
// over: some milliseconds.
const look = 1 << 16

func (d databases) walker(keep, samePrefix bool) *walker {
	return &walker{c: C.walker_open(d.c, truth(keep), truth(samePrefix))}
}

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

func (w *walker) close() { C.walker_close(w.c) }

// seek goes to the first keyword of a first word.
func (w *walker) seek(word uint64) error {
	C.walker_seek(w.c, C.uint64_t(word), &w.f)
	return failed("rdb: search", &w.f)
}

// next returns the number of the word's next pairs, in w.pairs; less than batch:
// there are no more.
func (w *walker) next() (int, error) {
	n := C.walker_pairs(w.c, &w.pairs[0], batch, &w.f)
	return int(n), failed("rdb: search", &w.f)
}

// pair returns pair i of the last next.
func (w *walker) pair(i int) (id uint64, value []byte) {
	p := &w.pairs[i]
	return uint64(p.id), view(p.value)
}

// record looks a record up.
func (w *walker) record(id uint64) ([]byte, error) {
	w.ids[0] = C.uint64_t(id)
	C.walker_records(w.c, &w.ids[0], 1, &w.found[0], &w.f)
	return view(w.found[0]), failed("rdb: search", &w.f)
}

// query begins a search that C++ does whole.
func (w *walker) query(words []uint64, c codec) {
	C.walker_query(w.c, (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(words))), C.size_t(len(words)), C.int(c))
}

// matches goes on with it and returns the number of records found, in w.found.
func (w *walker) matches() (n int, done bool, err error) {
	var end C.int
	found := C.walker_next(w.c, &w.ids[0], &w.found[0], batch, look, &end, &w.f)
	return int(found), end != 0, failed("rdb: search", &w.f)
}

func view(b C.bytes) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(b.data)), int(b.size))
}
