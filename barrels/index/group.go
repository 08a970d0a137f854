package index

import (
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	"adshard/barrels/page"
	"adshard/barrels/record"
)

// Group is a group read for searches.
type Group struct {
	record.Group
	// IDs are those of all keywords, ascending; their texts stand one after the other
	// in Texts, each up to its end in Ends. None if Partial: they are too many to be
	// kept.
	IDs     []uint64
	Ends    []uint32
	Texts   string
	Partial bool
	// URLs are the URLs of keywords that have one of their own.
	URLs map[uint64]string
	// Piece is what answers show of the group, once one of its keywords was among
	// the best.
	Piece atomic.Pointer[GroupPiece]
}

// GroupPiece is a group's piece of what answers show (display.Pieces) with its first
// ad, as long as the group has these parents.
type GroupPiece struct {
	Advertiser *Advertiser
	Campaign   *Campaign
	Bytes      []byte
}

// KeywordText returns the text of a keyword; false: it is not there.
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

// SetURL notes the URL of a keyword, if it has one.
func (g *Group) SetURL(id uint64, url string) {
	if url == "" {
		return
	}
	if g.URLs == nil {
		g.URLs = make(map[uint64]string)
	}
	g.URLs[id] = url
}

// GroupBytes is about what a group takes in memory, given the size of its record.
func GroupBytes(record int, g *Group) int {
	n := 3*record + len(g.Texts) + 12*len(g.IDs)
	for _, url := range g.URLs {
		n += 48 + len(url)
	}
	return n
}

// AddPage adds a page of the group's keywords.
func (g *Group) AddPage(r *page.Reader, texts, value []byte) ([]byte, error) {
	if err := r.Open(value); err != nil {
		return texts, err
	}
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

// Same reports whether two groups read are the same to searches.
func (g *Group) Same(h *Group) bool {
	return g.Name == h.Name && g.Held == h.Held && g.Texts == h.Texts && g.Partial == h.Partial && slices.Equal(g.IDs, h.IDs) &&
		slices.Equal(g.Ends, h.Ends) && maps.Equal(g.URLs, h.URLs) && reflect.DeepEqual(g.Ads, h.Ads) &&
		reflect.DeepEqual(g.Targeting, h.Targeting) &&
		g.Negatives.Same(h.Negatives)
}
