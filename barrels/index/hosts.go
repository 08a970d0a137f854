package index

import (
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"adshard/targeting"
)

// HostSet is to which hosts the ads of a group lead, so that searches that block domains parse no URLs.
type HostSet struct {
	Hosts   []string // normalised, in order
	Refused bool     // some URL has no proper host: each block of domains meets it
	Open    bool     // some ad has no URL: none meets it
}

// HostSets numbers the distinct sets, of which there are few: most groups of an advertiser have one and the same. What they take is bounded:
// once they take more, an eighth is forgotten, and those of it that are asked for get other numbers. No number is given twice. It is safe
// for concurrent use.
type HostSets struct {
	most    int64
	bytes   atomic.Int64 // of all sets; written under mu
	mu      sync.Mutex
	numbers map[string]uint32
	last    uint32   // number
	sets    sync.Map // *keptHosts by number; written under mu
}

// keptHosts is a set that is not forgotten.
type keptHosts struct {
	HostSet
	bytes int64
	uses  atomic.Uint32 // since eviction last passed over it, up to inUse
}

const (
	// HostsUnknown is the number of no set.
	HostsUnknown uint32 = iota
	// HostsByKeyword is that of groups of which keywords have URLs of their own, or may have some.
	HostsByKeyword
	// HostsOfKeyword is that of a keyword that has one.
	HostsOfKeyword
	// hostsFirst is that of the first set.
	hostsFirst
	// hostSetBytes is about what a set takes beside its texts, and hostBytes what a host does.
	hostSetBytes, hostBytes = 256, 16
	// inUse: a set that was used as often is in use; once, it is by the request that made it.
	inUse = 2
)

// key is another text for each set: what is no host begins with a byte that none has.
func (s *HostSet) key() string {
	key := strings.Join(s.Hosts, "\x00")
	if s.Refused {
		key += "\x00\x01"
	}
	if s.Open {
		key += "\x00\x02"
	}
	return key
}

// NewHostSets returns an empty table that takes about so many bytes at most.
func NewHostSets(most uint64) *HostSets {
	return &HostSets{most: int64(min(most, 1<<40)), numbers: make(map[string]uint32), last: hostsFirst - 1}
}

// Bytes is about what the sets take.
func (h *HostSets) Bytes() uint64 { return uint64(h.bytes.Load()) }

// Of returns the set with a number; nil: it has none, or it was forgotten.
func (h *HostSets) Of(number uint32) *HostSet {
	s, _ := h.sets.Load(number)
	kept, ok := s.(*keptHosts)
	if !ok {
		return nil
	}
	if n := kept.uses.Load(); n < inUse {
		kept.uses.Store(n + 1)
	}
	return &kept.HostSet
}

// Number returns the number of a group's set. HostsByKeyword: its keywords are looked at one by one, also where the set is too large to be
// kept.
func (h *HostSets) Number(g *Group) uint32 {
	if g.Partial || len(g.URLs) > 0 {
		return HostsByKeyword
	}
	var s HostSet
	for i := range g.Ads {
		switch host, ok := targeting.URLHost(g.Ads[i].FinalURL); {
		case g.Ads[i].FinalURL == "":
			s.Open = true
		case !ok:
			s.Refused = true
		default:
			s.Hosts = append(s.Hosts, host)
		}
	}
	slices.Sort(s.Hosts)
	s.Hosts = slices.Compact(s.Hosts)
	return h.number(s)
}

func (h *HostSets) number(s HostSet) uint32 {
	key := s.key()
	size := int64(hostSetBytes + len(key) + hostBytes*len(s.Hosts))
	h.mu.Lock()
	defer h.mu.Unlock()
	if n, ok := h.numbers[key]; ok {
		return n
	}
	if h.last == math.MaxUint32 || size > h.most {
		return HostsByKeyword
	}
	if h.bytes.Load()+size > h.most {
		h.evict(h.most - h.most/8 - size)
	}
	if len(s.Hosts) > 0 { // each may be a part of a URL: as parts of the key they keep nothing else
		s.Hosts = strings.Split(key, "\x00")[:len(s.Hosts)]
	}
	h.last++
	h.numbers[key] = h.last
	h.sets.Store(h.last, &keptHosts{HostSet: s, bytes: size})
	h.bytes.Add(size)
	return h.last
}

// evict forgets sets, in the map's random order, until all take so many bytes at most. Those in use since the last pass over them are
// kept if others are enough (second chance). Called under mu.
func (h *HostSets) evict(most int64) {
	for pass := range 2 {
		for key, number := range h.numbers {
			if h.bytes.Load() <= most {
				return
			}
			s, _ := h.sets.Load(number)
			kept := s.(*keptHosts)
			if kept.uses.Swap(0) == inUse && pass == 0 {
				continue
			}
			h.sets.Delete(number)
			delete(h.numbers, key)
			h.bytes.Add(-kept.bytes)
		}
	}
}

// groupHosts has by group of a block the number of its set of hosts, and the state that read it.
type groupHosts []atomic.Uint64

const hostsShift = 32 // a state's number is below

// Hosts returns the number of the set of the g-th group, if it is known and holds for a state; HostsUnknown: it is not.
func (b *Block) Hosts(g int, groups *Cache[*Group], state uint64) uint32 {
	all := b.hosts.Load()
	if all == nil {
		return HostsUnknown
	}
	w := (*all)[g].Load()
	if n := uint32(w >> hostsShift); n != HostsUnknown && groups.Holds(b.View.GroupKey(g), w&(1<<hostsShift-1), state) {
		return n
	}
	return HostsUnknown
}

// SetHosts keeps the number of the set of the g-th group that a state has read.
func (b *Block) SetHosts(g int, number uint32, state uint64, lists *ListCache) {
	all := b.hosts.Load()
	if all == nil {
		list := make(groupHosts, b.View.Groups())
		if b.hosts.CompareAndSwap(nil, &list) {
			lists.bytes.Add(int64(b.hostBytes()))
		}
		all = b.hosts.Load()
	}
	(*all)[g].Store(uint64(number)<<hostsShift | state&(1<<hostsShift-1))
}

// hostBytes is the size of what is known of hosts.
func (b *Block) hostBytes() int {
	if all := b.hosts.Load(); all != nil {
		return 8 * len(*all)
	}
	return 0
}
