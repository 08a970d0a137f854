// Package pebbledb keeps the product's barrels in PebbleDB: it has a kv.DB and a layout that
// uses it. Everything but the ordered store is the product's own code, so the layout compares
// Pebble with RocksDB and its calls into C.
//
// Goals: settings that a fair user of Pebble would choose; short code. Non-goals: a slave on
// Pebble (a full disk would end the process).
package pebbledb
