package index

import (
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

// HostSets numbers the distinct sets, of which there are few: most groups of an advertiser have one and the same. Numbers hold as
// long as the table. It is safe for concurrent use.
type HostSets struct {
	mu      sync.Mutex
	numbers map[string]uint32
	list    atomic.Pointer[[]HostSet] // by number; grows under mu
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
	// maxHostSets bounds the table; groups that come later are looked at by keyword.
	maxHostSets = 1 << 20
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

// NewHostSets returns an empty table.
func NewHostSets() *HostSets {
	h := &HostSets{numbers: make(map[string]uint32)}
	list := make([]HostSet, hostsFirst)
	h.list.Store(&list)
	return h
}

// Of returns the set with a number.
func (h *HostSets) Of(number uint32) *HostSet { return &(*h.list.Load())[number] }

// Number returns the number of a group's set.
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
	h.mu.Lock()
	defer h.mu.Unlock()
	n, ok := h.numbers[key]
	if !ok {
		list := *h.list.Load()
		if len(list) == maxHostSets {
			return HostsByKeyword
		}
		for i, host := range s.Hosts { // which may be a part of a URL
			s.Hosts[i] = strings.Clone(host)
		}
		n, list = uint32(len(list)), append(list, s)
		h.numbers[key] = n
		h.list.Store(&list)
	}
	return n
}

// groupHosts has by group of a block the number of its set of hosts, and the state that read it.
type groupHosts []atomic.Uint64

const hostsShift = 40 // a state's number is below

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
