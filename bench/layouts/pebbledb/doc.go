// Package pebbledb keeps the product's barrels in PebbleDB: a kv.DB, and a
// layout of it. All but the ordered store is the product's own: what it is
// compared with is RocksDB and the calls into C.
//
// Goals: what a fair user of Pebble would set; short. Non-goals: a slave on Pebble (a full disk
// would end the process).
package pebbledb
