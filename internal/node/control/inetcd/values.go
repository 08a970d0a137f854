package inetcd

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"
	clientv3 "go.etcd.io/etcd/client/v3"

	"adshard/fault"
)

// chunkBytes is the size of a chunk, far below the 1.5 MB that etcd accepts in one request.
const chunkBytes = 512 << 10

// head is what is saved under a value's name. The value becomes valid when its head is saved: its
// chunks were saved before, under names that no other value has.
type head struct {
	Chunks string `json:"chunks"` // the name of its chunks
	Count  int    `json:"count"`
	Sum    uint64 `json:"sum"` // checksum of the whole value
}

func (s *Store) valueKey(key string) string { return s.prefix + "/values" + key }

// chunksKey returns the prefix of all chunks of a key's values. A key begins with a slash and does
// not end with one.
func (s *Store) chunksKey(key string) string { return s.prefix + "/chunks" + key + "/" }

func (s *Store) chunkKey(key, chunks string, i int) string {
	return fmt.Sprintf("%s%s/%06d", s.chunksKey(key), chunks, i)
}

// Save implements control.Term. It does not replace a value that another term has saved meanwhile.
func (t *term) Save(ctx context.Context, key string, value []byte) error {
	t.saving.Lock()
	defer t.saving.Unlock()
	s := t.store
	h := head{Chunks: rand.Text(), Sum: xxhash.Sum64(value)}
	for rest := value; len(rest) > 0; h.Count++ {
		n := min(len(rest), chunkBytes)
		if err := t.write(ctx, "save "+key, clientv3.OpPut(s.chunkKey(key, h.Chunks, h.Count), string(rest[:n]))); err != nil {
			return err
		}
		rest = rest[n:]
	}
	text, _ := json.Marshal(h) // a struct of texts and numbers can always be encoded
	all, own := s.chunksKey(key), s.chunksKey(key)+h.Chunks+"/"
	err := t.write(ctx, "save "+key, clientv3.OpPut(s.valueKey(key), string(text)),
		clientv3.OpDelete(all, clientv3.WithRange(own)), // chunks of earlier values, and of unfinished ones
		clientv3.OpDelete(clientv3.GetPrefixRangeEnd(own), clientv3.WithRange(clientv3.GetPrefixRangeEnd(all))))
	if err != nil {
		return err
	}
	return t.Check(ctx) // or a later term has begun, beside another etcd
}

// loadAttempts bounds how often a value that is being replaced is read again.
const loadAttempts = 10

// Load implements control.Term.
func (t *term) Load(ctx context.Context, key string) ([]byte, error) {
	for range loadAttempts {
		value, err := t.load(ctx, key)
		if !fault.Is(err, fault.Stale) {
			return value, err
		}
	}
	return nil, fault.Newf(fault.Corrupt, "etcd: load "+key, "the chunks of the value are missing")
}

// load reads a value. Errors: fault.Stale if it was replaced meanwhile.
func (t *term) load(ctx context.Context, key string) ([]byte, error) {
	s := t.store
	kv, err := s.get(ctx, s.valueKey(key))
	if err != nil || kv == nil {
		return nil, err
	}
	var h head
	if err := json.Unmarshal(kv.Value, &h); err != nil || strings.Contains(h.Chunks, "/") {
		return nil, fault.Newf(fault.Corrupt, "etcd: load "+key, "%q is not the head of a value", kv.Value)
	}
	value := []byte{}
	for i := range h.Count {
		chunk, err := s.get(ctx, s.chunkKey(key, h.Chunks, i))
		if err != nil {
			return nil, err
		}
		if chunk == nil {
			return nil, fault.Newf(fault.Stale, "etcd: load "+key, "chunk %d is gone", i)
		}
		value = append(value, chunk.Value...)
	}
	if xxhash.Sum64(value) != h.Sum {
		return nil, fault.Newf(fault.Corrupt, "etcd: load "+key, "the value differs from what was written")
	}
	return value, nil
}
