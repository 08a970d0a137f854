package rocks

import (
	"errors"
	"fmt"

	"github.com/linxGnu/grocksdb"

	"adshard/barrels/kv"
	"adshard/fault"
)

// Options configure a database. Zero values mean the defaults.
type Options struct {
	// CacheBytes is the size of the cache of table files' blocks. The default is 128 MiB.
	CacheBytes uint64
	// WriteBufferBytes bounds the data of all families together that are not in files yet. A family is flushed at a
	// quarter of it. The default is 128 MiB.
	WriteBufferBytes uint64
	// MinFreeBytes must be free on the disk, in addition to twice a batch's size, before the batch is written. A
	// full disk is thus noticed between batches and not in the middle of one. The default is 16 MiB.
	MinFreeBytes uint64
	// Sync makes each batch survive a power failure, at the price of an fsync. Without Sync a crash of the process
	// loses nothing, but a crash of the machine loses the last batches.
	Sync bool
	// Statistics makes RocksDB count what it does (kv.Statistics.Counted). It slows down each read that reaches
	// RocksDB, and takes memory.
	Statistics bool
}

// SetDefaults replaces zero values by the defaults.
func (o *Options) SetDefaults() {
	if o.CacheBytes == 0 {
		o.CacheBytes = 128 << 20
	}
	if o.WriteBufferBytes == 0 {
		o.WriteBufferBytes = 128 << 20
	}
	if o.MinFreeBytes == 0 {
		o.MinFreeBytes = 16 << 20
	}
}

// Validate returns an error that lists everything that is wrong.
func (o *Options) Validate() error {
	var faults []error
	if o.CacheBytes > 1<<40 {
		faults = append(faults, errors.New("a block cache above 1 TiB"))
	}
	if o.WriteBufferBytes < 64<<10 || o.WriteBufferBytes > 4<<30 {
		faults = append(faults, errors.New("a write buffer must have between 64 KiB and 4 GiB"))
	}
	return fault.New(fault.Invalid, "rocks: options", errors.Join(faults...))
}

// config holds RocksDB's option objects, which must outlive the database.
type config struct {
	cache    *grocksdb.Cache
	env      *grocksdb.Env
	db       *grocksdb.Options
	families []*grocksdb.Options // in the order of names
	tables   []*grocksdb.BlockBasedTableOptions
	write    *grocksdb.WriteOptions
}

// names returns the names of the column families: those of package kv, and that of the chain.
func names() []string {
	out := make([]string, 0, kv.Families+1)
	for f := range kv.Family(kv.Families) {
		out = append(out, f.String())
	}
	return append(out, chainFamily)
}

func newConfig(o Options) *config {
	c := &config{
		cache: grocksdb.NewLRUCache(o.CacheBytes), db: grocksdb.NewDefaultOptions(), env: grocksdb.NewDefaultEnv(),
	}
	// Flushes and compactions get only the processor time that searches leave: they have no deadline, but a search
	// that waits for its time slice may miss its own.
	c.env.LowerThreadPoolCPUPriority()
	c.env.LowerHighPriorityThreadPoolCPUPriority()
	c.env.LowerThreadPoolIOPriority()
	withoutRecovery(c.db)
	c.db.SetCreateIfMissing(true)
	c.db.SetCreateIfMissingColumnFamilies(true)
	// RocksDB's own log is on the same disk, and in a build with assertions the second log line that hits a full
	// disk aborts the process. So only the opening is logged.
	c.db.SetInfoLogLevel(grocksdb.FatalInfoLogLevel)
	c.db.SetKeepLogFileNum(2)
	// There is one writer, and write buffers without an order do not support several.
	c.db.SetAllowConcurrentMemtableWrites(false)
	if o.Statistics {
		c.db.EnableStatistics()
	}
	c.db.SetStatsDumpPeriodSec(0)
	c.db.SetStatsPersistPeriodSec(0)
	// No family may be flushed before the others, or the chain might need fewer logs than another family
	// (chain.go).
	c.db.SetAtomicFlush(true)
	c.db.SetDbWriteBufferSize(o.WriteBufferBytes)
	c.db.SetMaxTotalWalSize(o.WriteBufferBytes)
	// Data are written to the disk in small parts instead of all at once.
	c.db.SetBytesPerSync(syncBytes)
	c.db.SetWALBytesPerSync(syncBytes)
	for f := range kv.Family(kv.Families) {
		c.families = append(c.families, c.family(f, o))
	}
	c.families = append(c.families, c.chainOptions(o))
	c.write = grocksdb.NewDefaultWriteOptions()
	c.write.SetSync(o.Sync)
	return c
}

// syncBytes is the amount that RocksDB writes before it tells the disk to begin.
const syncBytes = 1 << 20

// tableFormat is the version of table files that RocksDB 7.8 writes best, and the newest that it reads. By default
// later versions would write a newer one (9.10: 6, 11: 7), which 7.8 cannot read.
const tableFormat = 5

// family returns the options of one family.
func (c *config) family(f kv.Family, o Options) *grocksdb.Options {
	t := grocksdb.NewDefaultBlockBasedTableOptions()
	t.SetBlockCache(c.cache)
	t.SetFormatVersion(tableFormat)
	t.SetBlockSize(8 << 10)
	t.SetFilterPolicy(grocksdb.NewBloomFilterFull(10))
	c.tables = append(c.tables, t)
	opts := grocksdb.NewDefaultOptions()
	if n := f.PrefixLen(); n > 0 {
		opts = withPrefix(opts, n)
		t.SetWholeKeyFiltering(false)
		opts.SetMemTablePrefixBloomSizeRatio(0.05)
	}
	if f == kv.Terms { // read as a whole when the store is opened, and not afterwards
		opts.SetMemtableVectorRep()
	}
	opts.SetWriteBufferSize(o.WriteBufferBytes / 4)
	opts.SetCompression(grocksdb.LZ4Compression)
	// Data in the first two levels are soon rewritten, so compressing them does not pay.
	opts.SetCompressionPerLevel([]grocksdb.CompressionType{
		grocksdb.NoCompression, grocksdb.NoCompression, grocksdb.LZ4Compression,
	})
	opts.SetBottommostCompression(grocksdb.LZ4Compression)
	opts.SetBlockBasedTableFactory(t)
	return opts
}

// withPrefix returns options with a prefix extractor. Options with an extractor set by SetPrefixExtractor free it
// twice when they are destroyed (grocksdb v1.7.14); those made from a text do not.
func withPrefix(base *grocksdb.Options, n int) *grocksdb.Options {
	opts, err := grocksdb.GetOptionsFromString(base, fmt.Sprintf("prefix_extractor=fixed:%d", n))
	if err != nil { // only if the text were wrong; reads then work without a prefix, but slower
		return base
	}
	base.Destroy()
	return opts
}

func (c *config) destroy() {
	c.write.Destroy()
	for _, o := range c.families {
		o.Destroy()
	}
	for _, t := range c.tables {
		t.Destroy()
	}
	c.db.Destroy()
	c.env.Destroy()
	c.cache.Destroy()
}
