package index

import (
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	"adshard/barrels/page"
	"adshard/barrels/record"
)

// Group is an ad group as searches use it.
type Group struct {
	record.Group
	// IDs are the ids of all keywords, ascending. Texts has their texts one after the other; the
	// text of each ends at its value in Ends. All three are empty if Partial: then there are too
	// many keywords to keep.
	IDs     []uint64
	Ends    []uint32
	Texts   string
	Partial bool
	// URLs are the URLs of the keywords that have their own.
	URLs map[uint64]string
	// Piece is what answers show of the group. It is set once one of its keywords was among the
	// best.
	Piece atomic.Pointer[GroupPiece]
}

// GroupPiece is a group's piece of what answers show (display.Pieces) with its first ad. It is
// valid as long as the group has these parents.
type GroupPiece struct {
	Advertiser *Advertiser
	Campaign   *Campaign
	Bytes      []byte
}

// KeywordText returns the text of a keyword, or false if the group has no such keyword.
func (g *Group) KeywordText(id uint64) (string, bool) {
	i, ok := slices.BinarySearch(g.IDs, id)
	if !ok {
		return "", false
	}
	from := uint32(0)
	if i > 0 {
		from = g.Ends[i-1]
	}
	return g.Texts[from:g.Ends[i]], true
}

// SetURL records the URL of a keyword, if it has one.
func (g *Group) SetURL(id uint64, url string) {
	if url == "" {
		return
	}
	if g.URLs == nil {
		g.URLs = make(map[uint64]string)
	}
	g.URLs[id] = url
}

// GroupBytes estimates the memory that a group takes, given the size of its record.
func GroupBytes(record int, g *Group) int {
	n := 3*record + len(g.Texts) + 12*len(g.IDs)
	for _, url := range g.URLs {
		n += 48 + len(url)
	}
	return n
}

// AddPage adds a page of the group's keywords and appends their texts to texts.
func (g *Group) AddPage(r *page.Reader, texts, value []byte) ([]byte, error) {
	if err := r.OpenTexts(value); err != nil {
		return texts, err
	}
	g.IDs, g.Ends = slices.Grow(g.IDs, r.Len()), slices.Grow(g.Ends, r.Len())
	for {
		k, err := r.Next()
		if err != nil {
			return texts, err
		}
		if k == nil {
			return texts, nil
		}
		url, err := k.FinalURL()
		if err != nil {
			return texts, err
		}
		g.SetURL(k.ID, url)
		texts = append(texts, k.Text...)
		g.IDs, g.Ends = append(g.IDs, k.ID), append(g.Ends, uint32(len(texts)))
	}
}

// Same reports whether two groups are the same to searches.
func (g *Group) Same(h *Group) bool {
	return g.Name == h.Name && g.Held == h.Held && g.Texts == h.Texts && g.Partial == h.Partial && slices.Equal(g.IDs, h.IDs) &&
		slices.Equal(g.Ends, h.Ends) && maps.Equal(g.URLs, h.URLs) && reflect.DeepEqual(g.Ads, h.Ads) &&
		reflect.DeepEqual(g.Targeting, h.Targeting) &&
		g.Negatives.Same(h.Negatives)
}
