// Package nodedata builds the records that slaves store from the backend's entities. The records are those of
// schema/pb with every word analysed, so that a slave processes no text while it applies changes or searches (thesis
// 6.4.2, "data building").
//
// The feed's distributor and the offline build use the same Builder, so that both produce the same bytes.
package nodedata

import (
	"slices"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/placeholder"
	"adshard/search/words"
	"adshard/targeting/message"
)

// Version is the version of the records. It grows with each change of the code after which the same entities give
// other records. Only data of the same version can be compared.
const Version = 6

// VersionIn returns the version of records whose words have stems in some languages. It is Version for the default
// languages, and another number for any others.
func VersionIn(languages words.Languages) uint32 {
	if languages == words.Default {
		return Version
	}
	return Version | uint32(words.Hash(languages.String()))<<8
}

// Builder turns entities into records. It caches recent words and must be used by one
// goroutine at a time.
type Builder struct {
	order     balance.Order
	languages words.Languages
	words     words.Analyser
}

// New returns a builder of items with keys in this order, whose words have stems in the default languages.
func New(order balance.Order) *Builder { return NewIn(order, words.Default) }

// NewIn returns a builder of items with keys in this order, whose words have stems in some languages.
func NewIn(order balance.Order, languages words.Languages) *Builder {
	return &Builder{order: order, languages: languages}
}

// Item builds an ad group with its keywords. The campaign determines the languages, and thus the terms under which
// the keywords are found. It returns fault.Invalid if an id does not fit the order of keys or a text cannot be
// analysed (texts are checked on import).
func (b *Builder) Item(it *backend.Item, c *backend.Campaign) (*pb.Item, error) {
	out, err := b.Group(it)
	if err == nil {
		out.Keywords, err = b.Keywords(it, it.Keywords, c)
	}
	return out, err
}

// Group builds an ad group without its keywords. It returns the same errors as Item.
func (b *Builder) Group(it *backend.Item) (*pb.Item, error) {
	key, err := b.order.Key(it.Group.AdvertiserID, it.Group.ID)
	if err != nil {
		return nil, fault.New(fault.Invalid, "nodedata: build", err)
	}
	negatives, err := b.negatives(it.Negatives)
	if err != nil {
		return nil, err
	}
	g := &it.Group
	t, err := g.Targeting()
	if err != nil {
		return nil, err
	}
	return &pb.Item{Group: &pb.Group{
		Key: uint64(key), Id: g.ID, CampaignId: g.CampaignID, AdvertiserId: g.AdvertiserID,
		Name: g.Name, Enabled: g.Served(), Held: g.Hold.Brief(), Modifiers: modifiers(g.Modifiers),
		Negatives: negatives, Ads: ads(it.Ads), Version: g.Version,
		Targeting: message.From(t),
	}}, nil
}

// Keywords builds some of an ad group's keywords. It returns the same errors as Item.
func (b *Builder) Keywords(it *backend.Item, list []backend.Keyword, c *backend.Campaign) ([]*pb.Keyword, error) {
	languages := b.stemmed(c.Languages.Codes())
	out := make([]*pb.Keyword, len(list))
	records := make([]pb.Keyword, len(list))
	for i := range list {
		if err := b.keyword(&records[i], &list[i], &it.Group, languages); err != nil {
			return nil, err
		}
		out[i] = &records[i]
	}
	return out, nil
}

// Campaign builds a campaign's record.
func (b *Builder) Campaign(c *backend.Campaign) (*pb.Campaign, error) {
	negatives, err := b.negatives(c.Negatives)
	if err != nil {
		return nil, err
	}
	t, err := c.Targeting()
	if err != nil {
		return nil, err
	}
	return &pb.Campaign{
		Id: c.ID, AdvertiserId: c.AdvertiserID, Name: c.Name, Enabled: c.Served(), Held: c.Hold.Brief(),
		BudgetExhausted: c.Exhausted(), Withheld: c.Withheld, Modifiers: modifiers(c.Modifiers),
		Negatives: negatives, Languages: c.Languages.Codes(), RotateEvenly: c.RotateEvenly,
		Version: c.Version, Targeting: message.From(t),
	}, nil
}

// Advertiser builds an advertiser's record.
func (b *Builder) Advertiser(a *backend.Advertiser) (*pb.Advertiser, error) {
	negatives, err := b.negatives(a.Negatives)
	if err != nil {
		return nil, err
	}
	categories, err := a.CategoryPaths()
	if err != nil {
		return nil, err
	}
	out := &pb.Advertiser{Id: a.ID, Name: a.Name, Enabled: a.Enabled, Negatives: negatives, Version: a.Version, Categories: categories}
	if a.TimeZone != backend.DefaultTimeZone {
		out.TimeZone = a.TimeZone
	}
	return out, nil
}

func (b *Builder) keyword(out *pb.Keyword, k *backend.Keyword, g *backend.Group, languages []string) error {
	list, err := b.words.Split(k.Text)
	if err != nil {
		return err
	}
	out.Id, out.Text, out.Enabled, out.FinalUrl = k.ID, k.Text, k.Enabled, k.FinalURL
	out.Type, out.Quality = pb.MatchType(k.Type), uint32(k.Served())
	if k.Learned != 0 {
		out.Learned, out.Given = uint64(k.Learned), uint32(k.Quality)
	}
	switch {
	case k.HasBid:
		out.Bid = &k.Bid
	case g.HasBid:
		out.Bid, out.BidFromGroup = &g.Bid, true
	}
	n := len(list)
	hashes := make([]uint64, n*(2+len(languages)))
	out.Norm, out.Fold = hashes[:n:n], hashes[n:2*n:2*n]
	for i, w := range list {
		out.Norm[i], out.Fold[i] = w.Norm, w.FoldHash
	}
	out.Forms = make([]*pb.Form, len(languages))
	for j, language := range languages {
		terms := hashes[(2+j)*n : (3+j)*n : (3+j)*n]
		for i, w := range list {
			terms[i] = b.words.Term(language, w)
		}
		out.Forms[j] = &pb.Form{Language: language, Terms: terms}
	}
	return nil
}

func (b *Builder) negatives(list []backend.Negative) ([]*pb.Negative, error) {
	out := make([]*pb.Negative, len(list))
	for i, n := range list {
		list, err := b.words.Split(n.Text)
		if err != nil {
			return nil, err
		}
		norm := make([]uint64, len(list))
		for j, w := range list {
			norm[j] = w.Norm
		}
		out[i] = &pb.Negative{Id: n.ID, Text: n.Text, Type: pb.MatchType(n.Type), Norm: norm, Enabled: n.Enabled}
	}
	return out, nil
}

// stemmed returns the languages under which keywords are found: the campaign's languages in which words have stems, or
// only "" if there are none; under "", words are equal if they are equal after folding. So a language without stems
// adds nothing next to one with stems.
func (b *Builder) stemmed(languages []string) []string {
	var out []string
	for _, l := range b.languages.Codes() {
		if slices.Contains(languages, l) {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

func modifiers(m [search.Devices]backend.Modifier) *pb.Modifiers {
	value := func(d search.Device) *uint32 {
		if !m[d].Set {
			return nil
		}
		v := uint32(m[d].Permille)
		return &v
	}
	return &pb.Modifiers{
		Desktop: value(search.Desktop), Mobile: value(search.Mobile), Tablet: value(search.Tablet),
	}
}

// ads builds the ads that can be shown for searches, with the texts that are shown (serving.md §5.5). An ad without
// any headline to show is left out.
func ads(list []backend.Ad) []*pb.Ad {
	out := make([]*pb.Ad, 0, len(list))
	for _, a := range list {
		if !placeholder.Shows(a.Headlines) {
			continue
		}
		paths := [...]string{a.Path1, a.Path2}
		for i, p := range paths {
			if placeholder.Of(p) == placeholder.Other || placeholder.Blank(p) {
				paths[i] = ""
			}
		}
		out = append(out, &pb.Ad{
			Id: a.ID, Enabled: a.Enabled, Headlines: placeholder.Left(a.Headlines), Descriptions: placeholder.Left(a.Descriptions),
			Path1: paths[0], Path2: paths[1], FinalUrl: a.FinalURL,
		})
	}
	return out
}
