package targeting

import (
	"slices"
	"strings"
	"time"
)

// Bounds of a request, of distinct values (serving.md §11).
const (
	MaxPlaces    = 16 // of each kind
	MaxLanguages = 16
	MaxAudiences = 256
	MaxLists     = 16
	MaxListName  = 64   // bytes
	MaxBlocks    = 1000 // advertisers, domains and categories, of each
)

// Place is a place of the request or one that contains such a place, as the master found it in its table.
type Place struct {
	ID uint32
	// Presence: it contains a place where the user is; Interest: one that the query is about.
	Presence, Interest bool
	// Depth is how many places the longest chain from it up to a place without a parent has.
	Depth int
}

// Context is what a request says of its user and page, resolved by the master (serving.md §11). It is not changed once it is
// made.
type Context struct {
	Time   time.Time
	Places []Place // each once, by id
	Point  *Point
	// Languages are codes, Audiences segments; each once, in order.
	Languages, Audiences []string
	Site                 *Page
	// UnknownLocation: where no place is known, targets of places pass.
	UnknownLocation bool
	// Blocks are the request's own, then those of Lists, once a searcher has resolved them.
	Blocks []*Blocks
	Lists  []ListVersion
}

// EndOfTime is the first second after 1970 that no request may name: the year 2101.
const EndOfTime = 4_133_980_800

// ListVersion names a stored block list as it was when the master resolved the request.
type ListVersion struct {
	Name    string
	Version uint64
}

// hasPlace reports whether the request names a place of a kind that counts.
func (c *Context) hasPlace(m Method) bool {
	return slices.ContainsFunc(c.Places, func(p Place) bool { return p.counts(m) })
}

func (p *Place) counts(m Method) bool { return p.Presence || m == PresenceOrInterest && p.Interest }

// Blocks are whom a page does not want to show.
type Blocks struct {
	Name        string // of a stored list; "": the request's own
	Advertisers IDs
	Domains     Texts // normalised hosts; each meets its subdomains
	Categories  Texts // each meets what is below it
	// Uncategorised meets campaigns without any category, their advertisers' included.
	Uncategorised bool
}

// NewBlocks makes the blocks of lists of ids, normalised hosts and categories; nil: nothing is blocked.
func NewBlocks(advertisers []uint64, domains, categories []string, uncategorised bool) *Blocks {
	if len(advertisers)+len(domains)+len(categories) == 0 && !uncategorised {
		return nil
	}
	return &Blocks{
		Advertisers: NewIDs(advertisers), Domains: NewTexts(domains), Categories: NewTexts(categories), Uncategorised: uncategorised,
	}
}

// Bytes is about how much memory the blocks take.
func (b *Blocks) Bytes() int { return b.Advertisers.Bytes() + b.Domains.Bytes() + b.Categories.Bytes() }

// owner reports whether an advertiser's id, or the categories of a campaign and its advertiser, are met.
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

// domain reports whether a normalised host is met.
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

// held reports whether a set has a path or one that holds it.
func held(set *Texts, path string, separator byte, end bool) bool {
	_, ok := holder(set, path, separator, end)
	return ok
}

// holder returns the entry of a set that is a path or holds it: of a host the ends behind each dot, of a category the beginnings
// before each slash.
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

// BlocksOwner reports whether a block meets an owner, or a category of it or of a campaign, or the lack of any; a nil campaign
// says nothing.
func (c *Context) BlocksOwner(campaign *Campaign, owner *Owner) bool {
	if campaign == nil {
		campaign = &plain
	}
	return slices.ContainsFunc(c.Blocks, func(b *Blocks) bool { return b.owner(owner.ID, campaign.categories, owner.Categories) })
}

// BlocksURLs reports whether any block of the request names domains, so that final URLs must be looked at.
func (c *Context) BlocksURLs() bool {
	return slices.ContainsFunc(c.Blocks, func(b *Blocks) bool { return b.Domains.Len() > 0 })
}

// BlocksIDs reports whether any block of the request names advertisers.
func (c *Context) BlocksIDs() bool {
	return slices.ContainsFunc(c.Blocks, func(b *Blocks) bool { return b.Advertisers.Len() > 0 })
}

// BlocksAdvertiser reports whether a block names an advertiser.
func (c *Context) BlocksAdvertiser(id uint64) bool {
	return slices.ContainsFunc(c.Blocks, func(b *Blocks) bool { return b.Advertisers.Has(id) })
}

// BlocksURL reports whether a block meets a final URL. None is met by nothing, and one without a proper host by each block that
// names domains.
func (c *Context) BlocksURL(url string) bool {
	if url == "" || !c.BlocksURLs() {
		return false
	}
	host, ok := URLHost(url)
	return !ok || c.BlocksHost(host)
}

// BlocksHost reports whether a block meets a normalised host.
func (c *Context) BlocksHost(host string) bool {
	return slices.ContainsFunc(c.Blocks, func(b *Blocks) bool { return b.domain(host) })
}
