package rocks

// #cgo !grocksdb_no_link CXXFLAGS: -std=c++17
// #cgo grocksdb_no_link CXXFLAGS: -std=c++20
// #cgo CXXFLAGS: -fno-rtti
// #include "recovery.h"
import "C"

import (
	"unsafe"

	"github.com/linxGnu/grocksdb"

	"adshard/fault"
)

// withoutRecovery turns off RocksDB's own recovery from a full disk, which blocks for ever from version 8 on: a write
// that waits for a flush goes on waiting while it lasts, and the recovery's flush waits for that write. Without it the
// write fails, and Reopen follows. RocksDB 7 is left as it is: there the write fails.
func withoutRecovery(o *grocksdb.Options) {
	C.adshard_no_recovery(*(**C.rocksdb_options_t)(unsafe.Pointer(o))) // its first field, see TestFieldsOfGrocksdb
}

// checkHeaders returns fault.Internal if the program was compiled with the headers of another RocksDB than the one it is linked with:
// the options have another layout there, and setting them would damage memory.
func checkHeaders() error {
	if C.adshard_same_rocksdb() != 0 {
		return nil
	}
	return fault.Newf(fault.Internal, "rocks: open", "this program was compiled with the headers of another RocksDB than it is linked with; build it with `make build`")
}
