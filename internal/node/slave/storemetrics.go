package slave

import (
	"github.com/prometheus/client_golang/prometheus"

	"adshard/barrels"
)

// storeMetrics collects the metrics of a slave's store. It asks the store once for all of them.
type storeMetrics struct {
	stats func() barrels.Stats
	of    []storeMetric
}

type storeMetric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType // counters appear only if the store's database counts
	read func(*barrels.Stats) float64
}

func newStoreMetrics(stats func() barrels.Stats) *storeMetrics {
	m := &storeMetrics{stats: stats}
	add := func(kind prometheus.ValueType, name, help string, read func(*barrels.Stats) float64) {
		m.of = append(m.of, storeMetric{prometheus.NewDesc(name, help, nil, nil), kind, read})
	}
	gauge := func(name, help string, read func(*barrels.Stats) uint64) {
		add(prometheus.GaugeValue, name, help, func(s *barrels.Stats) float64 { return float64(read(s)) })
	}
	gauge("adshard_store_groups", "Ad groups in the store.", func(s *barrels.Stats) uint64 { return s.Groups })
	gauge("adshard_store_keywords", "Keywords in the store.", func(s *barrels.Stats) uint64 { return s.Keywords })
	gauge("adshard_store_blocks", "Blocks of keywords.", func(s *barrels.Stats) uint64 { return s.Blocks })
	gauge("adshard_store_disk_bytes", "Bytes on disk.", func(s *barrels.Stats) uint64 { return s.DiskBytes })
	gauge("adshard_host_set_bytes", "What is kept of the hosts to which ads lead, for searches that block domains.",
		func(s *barrels.Stats) uint64 { return s.Memory.Hosts })
	gauge("adshard_rocksdb_block_cache_bytes", "Blocks of files that are kept as read.", func(s *barrels.Stats) uint64 { return s.Memory.DB.Cache })
	gauge("adshard_rocksdb_memtable_bytes", "What was written and is not yet in files.", func(s *barrels.Stats) uint64 { return s.Memory.DB.Buffers })
	gauge("adshard_rocksdb_table_bytes", "Indexes and filters of files, in memory.", func(s *barrels.Stats) uint64 { return s.Memory.DB.Tables })
	gauge("adshard_rocksdb_flushes_running", "Flushes under way.", func(s *barrels.Stats) uint64 { return s.DB.Flushes })
	gauge("adshard_rocksdb_compactions_running", "Compactions under way.", func(s *barrels.Stats) uint64 { return s.DB.Compactions })
	gauge("adshard_rocksdb_compaction_pending_bytes", "About what compactions have yet to read.", func(s *barrels.Stats) uint64 { return s.DB.PendingBytes })
	gauge("adshard_rocksdb_level0_files", "New files, which each read looks at.", func(s *barrels.Stats) uint64 { return s.DB.Level0Files })
	add(prometheus.GaugeValue, "adshard_rocksdb_writes_delayed", "1: writes are slowed down so that flushes or compactions catch up.",
		func(s *barrels.Stats) float64 { return truth(s.DB.WritesDelayed) })
	add(prometheus.GaugeValue, "adshard_rocksdb_writes_stopped", "1: no write goes on until flushes or compactions have caught up.",
		func(s *barrels.Stats) float64 { return truth(s.DB.WritesStopped) })
	m.addCounts(add)
	return m
}

func (m *storeMetrics) addCounts(add func(prometheus.ValueType, string, string, func(*barrels.Stats) float64)) {
	count := func(name, help string, read func(*barrels.Stats) uint64) {
		add(prometheus.CounterValue, name, help, func(s *barrels.Stats) float64 { return float64(read(s)) })
	}
	count("adshard_rocksdb_block_cache_hits_total", "Blocks of files that were in the cache.", func(s *barrels.Stats) uint64 { return s.DB.CacheHits })
	count("adshard_rocksdb_block_cache_misses_total", "Blocks of files that were not in the cache.", func(s *barrels.Stats) uint64 { return s.DB.CacheMisses })
	count("adshard_rocksdb_flushed_bytes_total", "Bytes written to new files.", func(s *barrels.Stats) uint64 { return s.DB.FlushedBytes })
	count("adshard_rocksdb_compaction_read_bytes_total", "Bytes of files that compactions read.", func(s *barrels.Stats) uint64 { return s.DB.CompactedRead })
	count("adshard_rocksdb_compaction_written_bytes_total", "Bytes of files that compactions wrote.", func(s *barrels.Stats) uint64 { return s.DB.CompactedWritten })
	add(prometheus.CounterValue, "adshard_rocksdb_stalled_seconds_total", "Time for which writes were made to wait for flushes and compactions.",
		func(s *barrels.Stats) float64 { return float64(s.DB.StalledMicros) / 1e6 })
}

// Describe implements prometheus.Collector.
func (m *storeMetrics) Describe(out chan<- *prometheus.Desc) {
	for i := range m.of {
		out <- m.of[i].desc
	}
}

// Collect implements prometheus.Collector.
func (m *storeMetrics) Collect(out chan<- prometheus.Metric) {
	stats := m.stats()
	for i := range m.of {
		if m.of[i].kind == prometheus.CounterValue && !stats.DB.Counted {
			continue
		}
		out <- prometheus.MustNewConstMetric(m.of[i].desc, m.of[i].kind, m.of[i].read(&stats))
	}
}
