package rdb

import (
	"slices"
	"strings"
)

// tuning is RocksDB's options for a database, as text.
type tuning []string

// String returns the options as RocksDB reads them.
func (t tuning) String() string { return strings.Join(t, ";") }

// has reports whether an option begins so.
func (t tuning) has(option string) bool {
	return slices.ContainsFunc(t, func(o string) bool { return strings.HasPrefix(o, option) })
}

// tunings are those of both databases. own: each has a cache of defaultCache for itself,
// as RocksDB gives it; otherwise they share one of what is allowed.
type tunings struct {
	matching, records tuning
	own               bool
}

// defaultCache is RocksDB's block cache where nothing is said (versions 5 to 7).
const defaultCache = 8 << 20

// blocks are options of tables made of blocks, plain those of tables without.
func blocks(o ...string) string { return "block_based_table_factory={" + strings.Join(o, ";") + "}" }
func plain(o ...string) string  { return "plain_table_factory={" + strings.Join(o, ";") + "}" }

// byDefault is RocksDB without tuning, said explicitly: indexes and filters in memory,
// outside the cache.
var byDefault = tuning{blocks("cache_index_and_filter_blocks=false")}

// inCache is RocksDB without tuning but for indexes and filters, which are in the cache.
var inCache = tuning{blocks("cache_index_and_filter_blocks=true")}

// byPrefix is tuned for reading by first word: tables know the 8 bytes of the
// first word as a prefix and have a Bloom filter of prefixes; indexes and
// filters stay in memory, outside the cache.
var byPrefix = tuning{
	"prefix_extractor=fixed:8",
	blocks("cache_index_and_filter_blocks=false", "filter_policy=bloomfilter:10:false", "whole_key_filtering=false"),
}

// byKey is tuned for look-ups as RocksDB's OptimizeForPointLookup is: a Bloom filter,
// data blocks with a hash index. Indexes and filters are outside the cache.
var byKey = tuning{
	blocks("cache_index_and_filter_blocks=false", "filter_policy=bloomfilter:10:false",
		"data_block_index_type=kDataBlockBinaryAndHash", "data_block_hash_table_util_ratio=0.75"),
}

// told is the tuning of the last two layouts as the thesis describes it.
var told = tunings{matching: byPrefix, records: byKey, own: true}

// limited are the tunings of the last two layouts where the cache is smaller
// than the data.
var limited = tunings{
	matching: tuning{
		"prefix_extractor=fixed:8", "max_open_files=-1", "compression=kLZ4Compression",
		blocks("format_version=5", "cache_index_and_filter_blocks=false", "filter_policy=bloomfilter:10:false",
			"whole_key_filtering=false", "block_size=16384"),
	},
	records: tuning{
		"max_open_files=-1", "compression=kLZ4Compression",
		blocks("format_version=5", "cache_index_and_filter_blocks=false", "block_size=4096",
			"data_block_index_type=kDataBlockBinaryAndHash", "data_block_hash_table_util_ratio=0.75"),
	},
}

// cached are their tunings where everything is in memory.
var cached = tunings{
	matching: tuning{
		"prefix_extractor=fixed:8", "max_open_files=-1", "compression=kNoCompression", "allow_mmap_reads=true",
		plain("user_key_len=16", "bloom_bits_per_key=0", "hash_table_ratio=0.5", "store_index_in_file=true"),
	},
	records: tuning{
		"prefix_extractor=fixed:8", "max_open_files=-1", "compression=kNoCompression", "allow_mmap_reads=true",
		plain("user_key_len=8", "bloom_bits_per_key=0", "hash_table_ratio=0.5", "store_index_in_file=true"),
	},
}
