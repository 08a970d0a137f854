package documents

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/backend"
	"adshard/blocklist"
	"adshard/fault"
	"adshard/internal/node/metrics"
	"adshard/internal/wait"
	"adshard/targeting"
)

// keepReplaced is how long a list that was replaced or removed is still kept for requests that name its version. It is longer than any
// request takes.
const keepReplaced = 10 * time.Second

// maxReplaced bounds the bytes of all replaced lists together: beyond it, the oldest are dropped early. A request that names a dropped
// list is repeated with the newest version.
const maxReplaced = 128 << 20

// Lists keeps block lists. The zero value is empty. Its methods are safe for concurrent use.
type Lists struct {
	mu       sync.Mutex
	now      map[string]keptList // by name; guarded by mu
	replaced map[listVersion]*targeting.Blocks
	old      []oldList       // the lists in replaced, oldest first; guarded by mu
	oldBytes int             // total size of the lists in replaced; guarded by mu
	kept     uint64          // number of lists ever added to old; guarded by mu
	unread   map[string]bool // names of lists that exist but have never been read; guarded by mu
	known    bool            // Known was called; guarded by mu
	changed  wait.Broadcast

	// unpackers keep the texts that the present lists refer to, by document. Only the goroutine that calls the methods of Keeper uses
	// them.
	unpackers map[string]*backend.Unpacker
}

// keptList is the present version of a list.
type keptList struct {
	version uint64
	blocks  *targeting.Blocks
}

// listVersion names one version of a list.
type listVersion struct {
	name    string
	version uint64
}

// oldList is a list that was replaced.
type oldList struct {
	listVersion
	blocks *targeting.Blocks
	number uint64 // value of Lists.kept when it was replaced
}

// contentBits is the number of low bits of a version that depend on the list's content: a restored database gives a version number again,
// to other entries. The high bits are that number, so later versions are greater.
const contentBits = 24

func versionOf(d *backend.Document) uint64 { return d.Version<<contentBits | d.Sum>>(64-contentBits) }

// Version returns the present version of a list, for Blocks. Errors: fault.Invalid if there is no such list; fault.Unavailable if the
// lists are not known yet, or if the list cannot be read.
func (l *Lists) Version(name string) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept, ok := l.now[name]
	switch {
	case ok:
		return kept.version, nil
	case l.unread[name]:
		return 0, fault.Newf(fault.Unavailable, "block list", "the block list %q could not be read yet: ask again; save it again if that does not help", name)
	case !l.known:
		return 0, fault.Newf(fault.Unavailable, "block list", "it is not known yet which block lists there are: the balancer has not told")
	}
	return 0, fault.Newf(fault.Invalid, "block list", "there is no block list %q", name)
}

// Blocks returns a version of a list. If it has not arrived yet, Blocks waits for it until ctx ends. Errors: fault.Behind if it did not
// arrive, or if a later one has.
func (l *Lists) Blocks(ctx context.Context, name string, version uint64) (*targeting.Blocks, error) {
	for {
		changed := l.changed.Next()
		blocks, later := l.find(name, version)
		switch {
		case blocks != nil:
			return blocks, nil
		case later:
			return nil, fault.Newf(fault.Behind, "block list", "the version of %q that the master names has been replaced: ask again", name)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fault.Newf(fault.Behind, "block list", "the version of %q that the master names has not come yet: ask again", name)
		}
	}
}

// Find returns a version of a list, or nil if it is not here.
func (l *Lists) Find(name string, version uint64) *targeting.Blocks {
	blocks, _ := l.find(name, version)
	return blocks
}

// find returns a version of a list, or nil if it is not here. `later` says that a greater version is here, so that this one will not
// arrive.
func (l *Lists) find(name string, version uint64) (blocks *targeting.Blocks, later bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept, ok := l.now[name]
	if ok && kept.version == version {
		return kept.blocks, false
	}
	return l.replaced[listVersion{name, version}], ok && kept.version>>contentBits > version>>contentBits
}

// Wants implements Keeper.
func (l *Lists) Wants(name string) bool { return strings.HasPrefix(name, backend.BlocklistDocument) }

// Put implements Keeper.
func (l *Lists) Put(d backend.Document, data []byte) error {
	if l.unpackers == nil {
		l.unpackers = make(map[string]*backend.Unpacker)
	}
	u := l.unpackers[d.Name]
	if u == nil {
		u = new(backend.Unpacker)
		l.unpackers[d.Name] = u
	}
	text, err := u.Unpack(data)
	if err != nil {
		return err
	}
	blocks, kept, err := blocklist.ParseBlocks(text)
	if err != nil {
		return err
	}
	u.Keep(kept)
	blocks.Name = strings.TrimPrefix(d.Name, backend.BlocklistDocument)
	l.change(blocks.Name, func() { l.now[blocks.Name] = keptList{versionOf(&d), blocks} })
	return nil
}

// Unread implements Keeper. A list of which no version has been read is refused until one can be read.
func (l *Lists) Unread(document string) {
	name := strings.TrimPrefix(document, backend.BlocklistDocument)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unread == nil {
		l.unread = map[string]bool{}
	}
	l.unread[name] = true
}

// Drop implements Keeper.
func (l *Lists) Drop(document string) {
	name := strings.TrimPrefix(document, backend.BlocklistDocument)
	delete(l.unpackers, document)
	l.change(name, func() { delete(l.now, name) })
}

// Known implements Keeper.
func (l *Lists) Known() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = true
}

// change changes a list with f, and keeps the previous version for a while.
func (l *Lists) change(name string, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil {
		l.now, l.replaced = map[string]keptList{}, map[listVersion]*targeting.Blocks{}
	}
	if was, ok := l.now[name]; ok {
		l.keep(listVersion{name, was.version}, was.blocks)
	}
	f()
	delete(l.unread, name)
	l.changed.Notify()
}

// keep keeps a list that is being replaced, and drops the oldest replaced lists if all together are too large; the newest one always
// stays. The caller holds mu.
func (l *Lists) keep(of listVersion, blocks *targeting.Blocks) {
	l.forget(slices.IndexFunc(l.old, func(o oldList) bool { return o.listVersion == of })) // the same version may be replaced twice if its database was restored twice
	l.kept++
	l.replaced[of], l.old, l.oldBytes = blocks, append(l.old, oldList{of, blocks, l.kept}), l.oldBytes+blocks.Bytes()
	for len(l.old) > 1 && l.oldBytes > maxReplaced {
		l.forget(0)
	}
	number := l.kept // a reference to the list itself would keep it in memory until the timer fires, even if it is dropped earlier
	time.AfterFunc(keepReplaced, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.forget(slices.IndexFunc(l.old, func(o oldList) bool { return o.number == number }))
	})
}

// forget drops the i-th replaced list, or nothing if i is -1. The caller holds mu.
func (l *Lists) forget(i int) {
	if i < 0 {
		return
	}
	one := l.old[i]
	l.old = slices.Delete(l.old, i, i+1)
	l.oldBytes -= one.blocks.Bytes()
	delete(l.replaced, one.listVersion)
}

// Keepers are keepers of different documents that act as one.
type Keepers []Keeper

// Wants implements Keeper.
func (k Keepers) Wants(name string) bool { return k.of(name) != nil }

// Put implements Keeper.
func (k Keepers) Put(d backend.Document, data []byte) error { return k.of(d.Name).Put(d, data) }

// Unread implements Keeper.
func (k Keepers) Unread(name string) { k.of(name).Unread(name) }

// Drop implements Keeper.
func (k Keepers) Drop(name string) { k.of(name).Drop(name) }

// Known implements Keeper.
func (k Keepers) Known() {
	for _, one := range k {
		one.Known()
	}
}

func (k Keepers) of(name string) Keeper {
	for _, one := range k {
		if one.Wants(name) {
			return one
		}
	}
	return nil
}

// Watch registers the number of block lists, and the number of documents that cannot be read.
func Watch(r prometheus.Registerer, l *Lists, f *Follower) {
	metrics.Gauge(r, "adshard_damaged_documents", "Block lists and tables of places that this process cannot read; older ones that it has are used.",
		func() float64 { return float64(len(f.Trouble())) })
	metrics.Gauge(r, "adshard_block_lists", "Block lists that this process has.", func() float64 {
		l.mu.Lock()
		defer l.mu.Unlock()
		return float64(len(l.now))
	})
}
