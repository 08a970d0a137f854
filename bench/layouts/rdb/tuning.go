package rdb

import (
	"slices"
	"strings"
)

// tuning holds RocksDB's options for a database, as text.
type tuning []string

// String returns the options as RocksDB reads them.
func (t tuning) String() string { return strings.Join(t, ";") }

// has reports whether an option begins with a text.
func (t tuning) has(option string) bool {
	return slices.ContainsFunc(t, func(o string) bool { return strings.HasPrefix(o, option) })
}

// tunings holds the tunings of both databases. own: each has its own cache of
// defaultCache, RocksDB's default; otherwise they share a cache of the permitted size.
type tunings struct {
	matching, records tuning
	own               bool
}

// defaultCache is the default size of RocksDB's block cache (versions 5 to 7).
const defaultCache = 8 << 20

// blocks returns options for tables made of blocks, plain options for tables without
// blocks.
func blocks(o ...string) string { return "block_based_table_factory={" + strings.Join(o, ";") + "}" }
func plain(o ...string) string  { return "table_factory={id=PlainTable;" + strings.Join(o, ";") + "}" }

// byDefault is RocksDB without tuning, with its default set explicitly: indexes and
// filters in memory, outside the cache.
var byDefault = tuning{blocks("cache_index_and_filter_blocks=false")}

// inCache is RocksDB without tuning except that indexes and filters are in the cache.
var inCache = tuning{blocks("cache_index_and_filter_blocks=true")}

// byPrefix is tuned for reading by first word: tables use the 8 bytes of the first word
// as a prefix and have a Bloom filter of prefixes; indexes and filters stay in memory,
// outside the cache.
var byPrefix = tuning{
	"prefix_extractor=fixed:8",
	blocks("cache_index_and_filter_blocks=false", "filter_policy=bloomfilter:10:false", "whole_key_filtering=false"),
}

// byKey is tuned for look-ups like RocksDB's OptimizeForPointLookup: a Bloom filter, and
// data blocks with a hash index. Indexes and filters are outside the cache.
var byKey = tuning{
	blocks("cache_index_and_filter_blocks=false", "filter_policy=bloomfilter:10:false",
		"data_block_index_type=kDataBlockBinaryAndHash", "data_block_hash_table_util_ratio=0.75"),
}

// told is the tuning of the last two layouts as the thesis describes it.
var told = tunings{matching: byPrefix, records: byKey, own: true}

// limited holds the tunings of the last two layouts for a cache smaller than the data.
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

// cached holds their tunings if everything is in memory.
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
