package rdb

import (
	"slices"
	"strings"
)

// tuning is RocksDB's options for a database, as text.
type tuning []string

func (t tuning) String() string { return strings.Join(t, ";") }

// table puts the options of block-based tables together.
func table(o ...string) string { return "block_based_table_factory={" + strings.Join(o, ";") + "}" }

// plain is RocksDB as it comes, but with index and filter blocks in the cache,
// which the thesis had before it turned that off.
var plain = tuning{table("cache_index_and_filter_blocks=true")}

// byPrefix is tuned for reading by first word: tables know the 8 bytes of the
// first word as a prefix and have a Bloom filter of the prefixes; indexes and
// filters stay in memory outside the cache.
var byPrefix = tuning{
	"prefix_extractor=fixed:8",
	table("cache_index_and_filter_blocks=false", "filter_policy=bloomfilter:10:false", "whole_key_filtering=false"),
}

// byKey is what RocksDB's OptimizeForPointLookup set at the time: a Bloom
// filter, data blocks with a hash index, indexes and filters in the cache.
var byKey = tuning{
	table("cache_index_and_filter_blocks=true", "filter_policy=bloomfilter:10:false",
		"data_block_index_type=kDataBlockBinaryAndHash", "data_block_hash_table_util_ratio=0.75"),
}

var matchingExpert = tuning{
	"prefix_extractor=fixed:8", "max_open_files=-1", "compression=kNoCompression",
	table("format_version=5", "cache_index_and_filter_blocks=false", "filter_policy=bloomfilter:10:false",
		"whole_key_filtering=false", "block_size=16384"),
}

var recordsExpert = tuning{
	"max_open_files=-1", "compression=kNoCompression",
	table("format_version=5", "cache_index_and_filter_blocks=false", "filter_policy=bloomfilter:10:false",
		"block_size=4096", "data_block_index_type=kDataBlockBinaryAndHash", "data_block_hash_table_util_ratio=0.75"),
}

// hasPrefix tells whether the database knows a prefix.
func (t tuning) hasPrefix() bool {
	return slices.ContainsFunc(t, func(o string) bool { return strings.HasPrefix(o, "prefix_extractor=") })
}
