package splitting

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"adshard/barrels/kv"
	"adshard/barrels/rocks"
)

// recordBytes is the size of a record: 1,000,000 records are 1 GB (§4.2). The cache of
// cacheBytes has room for more than that.
const recordBytes, cacheBytes = 1000, 2 << 30

// node is one store that does one operation at a time.
type node struct {
	db    kv.DB
	value []byte
	batch kv.Batch
	key   []byte
	read  []byte
}

func openNode(dir string) (*node, error) {
	// As on the paper's nodes, memory has room for a table and for what is written
	// meanwhile.
	db, err := rocks.Open(dir, rocks.Options{CacheBytes: cacheBytes, WriteBufferBytes: 1 << 30})
	if err != nil {
		return nil, err
	}
	n := &node{db: db, value: make([]byte, recordBytes)}
	r := rand.New(rand.NewPCG(7, 7))
	for i := range n.value { // random, so that it cannot be compressed
		n.value[i] = byte(r.Uint32())
	}
	return n, nil
}

// operation is a read or a write of the record at a position.
type operation struct {
	at    uint64
	write bool
}

// do runs operations one after another and returns how long that took.
func (n *node) do(list []operation) (time.Duration, error) {
	began := time.Now()
	for _, o := range list {
		if err := n.one(o); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

func (n *node) one(o operation) error {
	n.key = kv.AppendKey(n.key[:0], o.at)
	if o.write {
		n.batch.Reset()
		n.batch.Put(kv.Items, n.key, n.value)
		return n.db.Write(&n.batch)
	}
	s := n.db.Snapshot()
	defer s.Close()
	var ok bool
	var err error
	n.read, ok, err = s.Get(kv.Items, n.key, n.read[:0])
	if err == nil && !ok {
		err = fmt.Errorf("record %d is not where it belongs", o.at)
	}
	return err
}

// atOnce is the number of records in a batch while a table is filled.
const atOnce = 1000

// fill writes the records at the positions `from` to `to`, and reads each once, so
// that they are in the cache.
func (n *node) fill(ctx context.Context, from, to uint64) error {
	n.batch.Reset()
	for at := from; at <= to; at++ {
		n.batch.Put(kv.Items, kv.AppendKey(nil, at), n.value)
		if n.batch.Len() == atOnce || at == to {
			if err := errors.Join(ctx.Err(), n.db.Write(&n.batch)); err != nil {
				return err
			}
			n.batch.Reset()
		}
	}
	n.db.Compact(ctx)
	for at := from; at <= to; at++ {
		if err := n.one(operation{at: at}); err != nil {
			return err
		}
	}
	return ctx.Err()
}
