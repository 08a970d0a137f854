package index

import (
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"adshard/targeting"
)

// HostSet is the set of hosts to which the ads of a group lead. With it, searches that block domains need not parse URLs.
type HostSet struct {
	Hosts   []string // normalised and sorted
	Refused bool     // some URL has no proper host: any blocked domain blocks it
	Open    bool     // some ad has no URL: no blocked domain blocks it
}

// HostSets numbers the distinct sets. There are few, since most groups of an advertiser share one. Their memory is bounded: when they
// exceed the bound, an eighth of them is dropped, and a dropped set that is needed again gets a new number. No number is used twice.
// HostSets is safe for concurrent use.
type HostSets struct {
	room    *Allowance
	bytes   atomic.Int64 // size of all sets; written under mu
	mu      sync.Mutex
	numbers map[string]uint32
	last    uint32   // the last number given
	sets    sync.Map // *keptHosts by number; written under mu
}

// keptHosts is a set that is in the table.
type keptHosts struct {
	HostSet
	bytes int64
	uses  atomic.Uint32 // since eviction last passed over it, at most inUse
}

const (
	// HostsUnknown is not the number of any set.
	HostsUnknown uint32 = iota
	// HostsByKeyword is the number for groups in which keywords have, or may have, their own URLs.
	HostsByKeyword
	// HostsOfKeyword is the number for a keyword that has its own URL.
	HostsOfKeyword
	// hostsFirst is the number of the first set.
	hostsFirst
	// hostSetBytes is about the size of a set without its texts, hostBytes that of a host.
	hostSetBytes, hostBytes = 256, 16
	// inUse is the number of uses that makes a set count as in use. The request that made the set is the first use.
	inUse = 2
)

// key returns a text that is unique to the set: the marks begin with a byte that no host has.
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

// NewHostSets returns an empty table with a share of the memory.
func NewHostSets(room *Allowance) *HostSets {
	h := &HostSets{room: room, numbers: make(map[string]uint32), last: hostsFirst - 1}
	room.OnLess(h.fit)
	return h
}

// fit makes the sets fit the share.
func (h *HostSets) fit() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.evict(h.room.Limit())
	return true
}

// Bytes returns the approximate size of the sets.
func (h *HostSets) Bytes() uint64 { return uint64(h.bytes.Load()) }

// Of returns the set with a number, or nil if there is none or it was dropped.
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

// Number returns the number of a group's set. It is HostsByKeyword if the keywords must be looked at one by one, or the set is too large to
// keep.
func (h *HostSets) Number(g *Group) uint32 {
	if g.Partial || len(g.URLs) > 0 {
		return HostsByKeyword
	}
	var s HostSet
	for _, ad := range g.Ads.Read() {
		switch host, ok := targeting.URLHost(ad.FinalURL); {
		case ad.FinalURL == "":
			s.Open = true
		case !ok:
			s.Refused = true
		default:
			s.Hosts = append(s.Hosts, host)
		}
	}
	slices.Sort(s.Hosts)
	s.Hosts = slices.Compact(s.Hosts)
	number, missed := h.number(s)
	if missed > 0 {
		h.room.Missed(missed)
	}
	return number
}

// number returns the number of a set. If the table was full before, missed is the size of the set.
func (h *HostSets) number(s HostSet) (number uint32, missed int64) {
	key := s.key()
	size := int64(hostSetBytes + len(key) + hostBytes*len(s.Hosts))
	h.mu.Lock()
	defer h.mu.Unlock()
	if n, ok := h.numbers[key]; ok {
		return n, 0
	}
	fits := h.room.Fits(h.bytes.Load() + size)
	most := h.room.Limit()
	if h.last == math.MaxUint32 || size > most {
		return HostsByKeyword, 0
	}
	if !fits {
		missed = size
		h.evict(most - most/8 - size)
	}
	if len(s.Hosts) > 0 { // each host may be a part of a URL: as parts of the key they keep no URL in memory
		s.Hosts = strings.Split(key, "\x00")[:len(s.Hosts)]
	}
	h.last++
	h.numbers[key] = h.last
	h.sets.Store(h.last, &keptHosts{HostSet: s, bytes: size})
	h.bytes.Add(size)
	return h.last, missed
}

// evict drops sets, in the map's random order, until all take at most `most` bytes. Sets used since the last pass over them are kept if
// dropping others is enough (second chance). The caller has mu.
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

// groupHosts has, for each group of a block, the number of its set of hosts and the state that read it.
type groupHosts []atomic.Uint64

const hostsShift = 32 // the low bits hold the state's number

// Hosts returns the number of the host set of the g-th group if it is known and valid for a state, otherwise HostsUnknown.
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

// SetHosts keeps the number of the host set of the g-th group as a state has read it.
func (b *Block) SetHosts(g int, number uint32, state uint64, lists *ListCache) {
	all := b.hosts.Load()
	if all == nil {
		list := make(groupHosts, b.View.Groups())
		if b.hosts.CompareAndSwap(nil, &list) {
			lists.count(int64(b.hostBytes()))
		}
		all = b.hosts.Load()
	}
	(*all)[g].Store(uint64(number)<<hostsShift | state&(1<<hostsShift-1))
}

// hostBytes returns the size of the numbers that SetHosts keeps.
func (b *Block) hostBytes() int {
	if all := b.hosts.Load(); all != nil {
		return 8 * len(*all)
	}
	return 0
}
