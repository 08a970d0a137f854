package rocks

// #cgo !grocksdb_no_link CXXFLAGS: -std=c++17
// #cgo grocksdb_no_link CXXFLAGS: -std=c++20
// #cgo CXXFLAGS: -fno-rtti
// #include "recovery.h"
import "C"

import (
	"unsafe"

	"github.com/linxGnu/grocksdb"
)

// withoutRecovery turns off RocksDB's own recovery from a full disk, which blocks for ever from version 8 on: a write
// that waits for a flush goes on waiting while it lasts, and the recovery's flush waits for that write. Without it the
// write fails, and Reopen follows. RocksDB 7 is left as it is: there the write fails.
func withoutRecovery(o *grocksdb.Options) {
	C.adshard_no_recovery(*(**C.rocksdb_options_t)(unsafe.Pointer(o))) // its first field, see TestFieldsOfGrocksdb
}
