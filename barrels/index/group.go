package index

import (
	"maps"
	"reflect"
	"sync/atomic"
	"unsafe"

	"adshard/barrels/page"
	"adshard/barrels/record"
	"adshard/search/display"
)

// Group is an ad group as searches use it.
type Group struct {
	record.Group
	// Texts are the texts of all keywords. There are none if Partial: then they are too many to keep.
	Texts   Texts
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
	Ad         uint64        // id of the first ad
	Even       *[]display.Ad // the ads from which each request chooses one; nil if the first is always shown
}

// Size estimates the memory that a piece takes, in bytes. That of nil is 0.
func (p *GroupPiece) Size() int {
	if p == nil {
		return 0
	}
	n := int(unsafe.Sizeof(*p)) + len(p.Bytes)
	if p.Even != nil {
		n += len(*p.Even) * (int(unsafe.Sizeof(display.Ad{})) + len(p.Bytes)) // texts of about the first one's size
	}
	return n
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

// GroupBytes estimates the memory that a group takes, given the size of its record. Its piece counts once there is one
// (Cache.Grew).
func GroupBytes(record int, g *Group) int {
	n := int(unsafe.Sizeof(*g)) + g.Ads.Bytes() + 3*(record-min(record, g.Ads.Bytes())) + g.Texts.bytes() + g.Piece.Load().Size()
	for _, url := range g.URLs {
		n += 48 + len(url)
	}
	return n
}

// AddPage adds a page of the group's keywords: their texts to texts, their URLs to the group.
func (g *Group) AddPage(r *page.Reader, texts *TextsBuilder, value []byte) error {
	if err := r.OpenTexts(value); err != nil {
		return err
	}
	for {
		k, err := r.Next()
		if k == nil || err != nil {
			return err
		}
		url, err := k.FinalURL()
		if err != nil {
			return err
		}
		g.SetURL(k.ID, url)
		texts.Add(k.ID, k.Text)
	}
}

// Same reports whether two groups are the same to searches.
func (g *Group) Same(h *Group) bool {
	return g.Name == h.Name && g.Held == h.Held && g.Texts.data == h.Texts.data && g.Partial == h.Partial && maps.Equal(g.URLs, h.URLs) && g.Ads == h.Ads &&
		reflect.DeepEqual(g.Targeting, h.Targeting) &&
		g.Negatives.Same(h.Negatives)
}
