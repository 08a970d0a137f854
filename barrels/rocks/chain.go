package rocks

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"

	"github.com/linxGnu/grocksdb"

	"adshard/barrels/kv"
	"adshard/fault"
)

// RocksDB replays any log it finds on top of the tables that its manifest names. If files are
// copied one by one from an open database, the tables may be older than the log. Batches that were
// flushed in between, and whose log was removed, are then in neither. The last batch of the log
// still brings the newest position, so the position does not show the gap.
//
// Each batch therefore draws a random number. It adds the number to one key (a merge, to which
// every batch present contributes) and writes the sum of all numbers so far to another key (a put,
// for which only the last batch counts). If batches are missing or come from different histories,
// the two sums differ, except with probability 2^-64.
//
// This requires that the chain's family is flushed with the others or after them, so that it needs
// every log that another family needs. Automatic flushes are atomic (Options.SetAtomicFlush), and
// database.flush flushes the chain last.

// chainFamily is the family that holds the chain: RocksDB's own family, which every database has.
const chainFamily = "default"

// Keys of the chain.
var (
	chainDrawn = []byte("drawn") // the sum of the numbers of the batches present
	chainSum   = []byte("sum")   // the sum of the numbers of all batches so far, written by the last one
	// chainUnverified is set when a database that was not closed is opened. It is removed once the
	// data have been compared with their source.
	chainUnverified = []byte("unverified")
)

// chain is the chain of an open database.
type chain struct {
	id         uint32 // id of the family
	sum        uint64 // the sum written by the last batch
	unverified bool   // whether chainUnverified is present
}

// chainOptions returns the options of the chain's family. Its write buffer is never the first to
// fill up, since that would flush all families.
func (c *config) chainOptions(o Options) *grocksdb.Options {
	t := grocksdb.NewDefaultBlockBasedTableOptions()
	t.SetFormatVersion(tableFormat)
	c.tables = append(c.tables, t)
	opts := grocksdb.NewDefaultOptions()
	opts.SetBlockBasedTableFactory(t)
	opts.SetUint64AddMergeOperator()
	opts.SetWriteBufferSize(o.WriteBufferBytes / 4)
	opts.SetMemtableVectorRep()
	opts.SetArenaBlockSize(4 << 10)
	return opts
}

// begin checks the chain of a database that was just opened. It marks the database unverified if
// replayed, that is, if its log was not empty. It returns fault.Corrupt if batches are missing.
func (c *chain) begin(db *grocksdb.DB, h *grocksdb.ColumnFamilyHandle, replayed bool) error {
	c.id = h.ID()
	o := grocksdb.NewDefaultReadOptions()
	defer o.Destroy()
	drawn, err1 := chainNumber(db, h, o, chainDrawn)
	sum, err2 := chainNumber(db, h, o, chainSum)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if drawn != sum {
		return fault.Newf(fault.Corrupt, opOpen, "batches are missing between the table files and the log: they are of different moments,"+
			" as when a store is copied while its slave runs, or restored in parts; %s", kv.Refill)
	}
	flag, err := db.GetCF(o, h, chainUnverified)
	if err != nil {
		return classify(opOpen, err)
	}
	c.sum, c.unverified = sum, flag.Exists()
	flag.Free()
	if !replayed || c.unverified {
		return nil
	}
	c.unverified = true
	return c.mark(db, h, func(b *grocksdb.WriteBatch) { b.PutCF(h, chainUnverified, nil) })
}

// verified removes the mark set by begin.
func (c *chain) verified(db *grocksdb.DB, h *grocksdb.ColumnFamilyHandle) error {
	if !c.unverified {
		return nil
	}
	err := c.mark(db, h, func(b *grocksdb.WriteBatch) { b.DeleteCF(h, chainUnverified) })
	c.unverified = err != nil
	return err
}

// mark writes or deletes chainUnverified in a batch without a link.
func (c *chain) mark(db *grocksdb.DB, h *grocksdb.ColumnFamilyHandle, set func(*grocksdb.WriteBatch)) error {
	b := grocksdb.NewWriteBatch()
	defer b.Destroy()
	set(b)
	o := grocksdb.NewDefaultWriteOptions()
	defer o.Destroy()
	return classify("rocks: write", db.Write(o, b))
}

// chainNumber reads a number of the chain. It is 0 in a database without batches.
func chainNumber(db *grocksdb.DB, h *grocksdb.ColumnFamilyHandle, o *grocksdb.ReadOptions, key []byte) (uint64, error) {
	v, err := db.GetCF(o, h, key)
	if err != nil {
		return 0, classify(opOpen, err)
	}
	defer v.Free()
	switch {
	case !v.Exists():
		return 0, nil
	case v.Size() != 8:
		return 0, fault.Newf(fault.Corrupt, opOpen, "the number %q of the chain of batches has %d bytes; %s", key, v.Size(), kv.Refill)
	}
	return binary.LittleEndian.Uint64(v.Data()), nil
}

// chainRecords is the number of records in a batch that belong to the chain.
const chainRecords = 2

// appendLink appends the chain's records to a batch in RocksDB's format, and returns the value of
// c.sum after the batch is written.
func (c *chain) appendLink(dst []byte) (_ []byte, sum uint64) {
	drawn := rand.Uint64()
	sum = c.sum + drawn
	for _, r := range []struct {
		kind byte
		key  []byte
		to   uint64
	}{{recordMerge, chainDrawn, drawn}, {recordValue, chainSum, sum}} {
		dst = binary.AppendUvarint(append(dst, r.kind), uint64(c.id))
		dst = appendBytes(dst, r.key)
		dst = append(dst, 8)
		dst = binary.LittleEndian.AppendUint64(dst, r.to)
	}
	return dst, sum
}

// hasLog reports whether opening the database in a directory has to replay a log, because the
// database was not closed, or could not be flushed when it was closed.
func hasLog(dir string) (bool, error) { return hasFile(dir, ".log") }
