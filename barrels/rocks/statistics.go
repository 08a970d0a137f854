package rocks

import (
	"strconv"
	"strings"

	"adshard/barrels/kv"
)

// delayedRate is the property for the rate at which writes are allowed, in bytes per second. It is
// 0 if they are not delayed.
const delayedRate = "rocksdb.actual-delayed-write-rate"

// Statistics implements kv.DB. Everything except the tickers' counts comes from properties, which
// RocksDB always keeps.
func (db *database) Statistics() kv.Statistics {
	var s kv.Statistics
	if db.options.Statistics {
		s = parseTickers(db.config.db.GetStatisticsString())
	}
	for _, h := range db.handles {
		pending, _ := db.db.GetIntPropertyCF("rocksdb.estimate-pending-compaction-bytes", h) // 0 if it is not known
		files, _ := strconv.ParseUint(db.db.GetPropertyCF("rocksdb.num-files-at-level0", h), 10, 64)
		s.PendingBytes, s.Level0Files = s.PendingBytes+pending, s.Level0Files+files
	}
	s.Flushes, _ = db.db.GetIntProperty("rocksdb.num-running-flushes")
	s.Compactions, _ = db.db.GetIntProperty("rocksdb.num-running-compactions")
	stopped, _ := db.db.GetIntProperty("rocksdb.is-write-stopped")
	delayed, _ := db.db.GetIntProperty(delayedRate)
	s.WritesStopped, s.WritesDelayed = stopped > 0, delayed > 0
	return s
}

// parseTickers reads the counts from RocksDB's own text of its statistics. Each has a line such as
// "rocksdb.block.cache.miss COUNT : 42". Lines of histograms have more text between name and count,
// and are skipped.
func parseTickers(text string) kv.Statistics {
	s := kv.Statistics{Counted: true}
	known := map[string]*uint64{
		"rocksdb.block.cache.hit":     &s.CacheHits,
		"rocksdb.block.cache.miss":    &s.CacheMisses,
		"rocksdb.flush.write.bytes":   &s.FlushedBytes,
		"rocksdb.compact.read.bytes":  &s.CompactedRead,
		"rocksdb.compact.write.bytes": &s.CompactedWritten,
		"rocksdb.stall.micros":        &s.StalledMicros,
	}
	for line := range strings.Lines(text) {
		name, count, _ := strings.Cut(line, " COUNT : ")
		if n := known[name]; n != nil {
			*n, _ = strconv.ParseUint(strings.TrimSpace(count), 10, 64)
		}
	}
	return s
}
