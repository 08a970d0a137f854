package targeting

import (
	"slices"
	"strings"
	"time"
)

// Bounds of a request, counting distinct values (serving.md §11).
const (
	MaxPlaces    = 16 // of each kind
	MaxLanguages = 16
	MaxAudiences = 256
	MaxLists     = 16
	MaxListName  = 64   // bytes
	MaxBlocks    = 1000 // of advertisers, domains and categories each
)

// Place is a place that the request names, or one that contains such a place, as the master found it in its table.
type Place struct {
	ID uint32
	// Presence means that it contains a place where the user is, Interest that it contains a place that the query is about.
	Presence, Interest bool
	// Depth is the number of places on the longest chain from it up to a place without a parent.
	Depth int
}

// Context is what a request says of its user and page, resolved by the master (serving.md §11). It does not change after it has
// been made.
type Context struct {
	Time   time.Time
	Places []Place // sorted by id, without repetitions
	Point  *Point
	// Languages are codes, Audiences segments. Both are sorted, without repetitions.
	Languages, Audiences []string
	Site                 *Page
	// UnknownLocation means that targets of places pass if no place is known.
	UnknownLocation bool
	// Blocks are the request's own blocks, followed by those of Lists once a searcher has resolved them.
	Blocks []*Blocks
	Lists  []ListVersion
}

// EndOfTime is the first second that a request may not name, in the year 2101. It counts from 1970.
const EndOfTime = 4_133_980_800

// ListVersion names a stored block list as it was when the master resolved the request.
type ListVersion struct {
	Name        string
	Version     uint64
	OfPlacement bool // a placement names it, not the request
}

// hasPlace reports whether the request names a place that counts under a method.
func (c *Context) hasPlace(m Method) bool {
	return slices.ContainsFunc(c.Places, func(p Place) bool { return p.counts(m) })
}

func (p *Place) counts(m Method) bool { return p.Presence || m == PresenceOrInterest && p.Interest }

// Blocks are the advertisers, domains and categories that a page does not want to show.
type Blocks struct {
	Name        string // of a stored list; "": the request's own, or a placement's
	OfPlacement bool   // of "": a placement's
	Advertisers IDs
	Domains     Texts // normalised hosts; each also blocks its subdomains
	Categories  Texts // each also blocks the categories below it
	// Uncategorised blocks campaigns that have no category, neither their own nor their advertiser's.
	Uncategorised bool
}

// NewBlocks returns the blocks for lists of ids, normalised hosts and categories, or nil if they block nothing.
func NewBlocks(advertisers []uint64, domains, categories []string, uncategorised bool) *Blocks {
	if len(advertisers)+len(domains)+len(categories) == 0 && !uncategorised {
		return nil
	}
	return &Blocks{
		Advertisers: NewIDs(advertisers), Domains: NewTexts(domains), Categories: NewTexts(categories), Uncategorised: uncategorised,
	}
}

// Bytes returns the approximate memory that the blocks take.
func (b *Blocks) Bytes() int { return b.Advertisers.Bytes() + b.Domains.Bytes() + b.Categories.Bytes() }

// owner reports whether the blocks meet an advertiser's id, or the categories of a campaign (own) and its advertiser
// (inherited).
func (b *Blocks) owner(advertiser uint64, own, inherited Categories) bool {
	if b.Advertisers.Has(advertiser) {
		return true
	}
	if b.Uncategorised && len(own)+len(inherited) == 0 {
		return true
	}
	return b.anyCategory(own) || b.anyCategory(inherited)
}

func (b *Blocks) anyCategory(list Categories) bool {
	if b.Categories.Len() == 0 {
		return false
	}
	return slices.ContainsFunc(list, func(c string) bool { return held(&b.Categories, c, '/', false) })
}

// domain reports whether the blocks meet a normalised host.
func (b *Blocks) domain(host string) bool {
	if b.Domains.Len() == 0 {
		return false
	}
	for more := true; more; _, host, more = strings.Cut(host, ".") {
		if b.Domains.Has(host) {
			return true
		}
	}
	return false
}

// held reports whether a set contains a path or a path above it.
func held(set *Texts, path string, separator byte, end bool) bool {
	_, ok := holder(set, path, separator, end)
	return ok
}

// holder returns the entry of a set that is a path or lies above it. Above a host are the parts after each dot, above a category
// the parts before each slash.
func holder(set *Texts, path string, separator byte, end bool) (entry string, ok bool) {
	for {
		if set.Has(path) {
			return path, true
		}
		if end {
			_, rest, ok := strings.Cut(path, string(separator))
			if !ok {
				return "", false
			}
			path = rest
			continue
		}
		i := strings.LastIndexByte(path, separator)
		if i < 0 {
			return "", false
		}
		path = path[:i]
	}
}

// BlocksOwner reports whether a block meets an owner, or a category of the owner or of a campaign, or their lack of categories.
// A nil campaign has no targeting.
func (c *Context) BlocksOwner(campaign *Campaign, owner *Owner) bool {
	if campaign == nil {
		campaign = &plain
	}
	return slices.ContainsFunc(c.Blocks, func(b *Blocks) bool { return b.owner(owner.ID, campaign.categories, owner.Categories) })
}

// BlocksURLs reports whether any block of the request names domains, so that final URLs must be checked.
func (c *Context) BlocksURLs() bool {
	return slices.ContainsFunc(c.Blocks, func(b *Blocks) bool { return b.Domains.Len() > 0 })
}

// BlocksIDs reports whether any block of the request names advertisers by id.
func (c *Context) BlocksIDs() bool {
	return slices.ContainsFunc(c.Blocks, func(b *Blocks) bool { return b.Advertisers.Len() > 0 })
}

// BlocksAdvertiser reports whether any block names an advertiser.
func (c *Context) BlocksAdvertiser(id uint64) bool {
	return slices.ContainsFunc(c.Blocks, func(b *Blocks) bool { return b.Advertisers.Has(id) })
}

// BlocksURL reports whether any block meets a final URL. No block meets an empty URL. Every block that names domains meets a URL
// without a proper host.
func (c *Context) BlocksURL(url string) bool {
	if url == "" || !c.BlocksURLs() {
		return false
	}
	host, ok := URLHost(url)
	return !ok || c.BlocksHost(host)
}

// BlocksHost reports whether any block meets a normalised host.
func (c *Context) BlocksHost(host string) bool {
	return slices.ContainsFunc(c.Blocks, func(b *Blocks) bool { return b.domain(host) })
}
