package wire

import (
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/targeting"
)

// fromPage returns the message of a request for several placements. It includes the placements' own blocks; stored lists are
// sent as names and versions.
func fromPage(p *search.Page) *pb.Page {
	if p == nil {
		return nil
	}
	m := &pb.Page{PerAdvertiser: uint32(max(p.PerAdvertiser, 0))}
	for i := range p.Filters {
		f := &pb.PageFilter{Reserve: p.Filters[i].Reserve, BlockLists: fromLists(p.Filters[i].Lists)}
		for _, b := range p.Filters[i].Blocks {
			if b.Name == "" {
				fillBlocks(f, b)
			}
		}
		m.Filters = append(m.Filters, f)
	}
	return m
}

func fillBlocks(f *pb.PageFilter, b *targeting.Blocks) {
	f.BlockAdvertisers = b.Advertisers.List()
	f.BlockDomains = b.Domains.List()
	f.BlockCategories = b.Categories.List()
	f.BlockUncategorised = b.Uncategorised
}

// toPage reads the message of a page. Errors: fault.Invalid if it is out of bounds.
func toPage(m *pb.Page) (*search.Page, error) {
	const op = "wire: page"
	switch n := len(m.GetFilters()); {
	case m == nil:
		return nil, nil
	case n < 1 || n > search.MaxPlacements:
		return nil, fault.Field(op, "placements", "%d filters; there must be 1 to %d", n, search.MaxPlacements)
	case m.GetPerAdvertiser() < 1 || m.GetPerAdvertiser() > MaxSlots:
		return nil, fault.Field(op, "per_advertiser", "%d; it must be 1 to %d", m.GetPerAdvertiser(), MaxSlots)
	}
	p := &search.Page{PerAdvertiser: int(m.GetPerAdvertiser())}
	for _, f := range m.GetFilters() {
		p.Filters = append(p.Filters, search.Filter{Reserve: f.GetReserve(), Blocks: toBlocks(f), Lists: toLists(f.GetBlockLists())})
	}
	return p, nil
}

// blocking is implemented by messages with blocks.
type blocking interface {
	GetBlockAdvertisers() []uint64
	GetBlockDomains() []string
	GetBlockCategories() []string
	GetBlockUncategorised() bool
}

// toBlocks returns the blocks of a message, or nil if it has none.
func toBlocks(m blocking) []*targeting.Blocks {
	if b := targeting.NewBlocks(m.GetBlockAdvertisers(), m.GetBlockDomains(), m.GetBlockCategories(), m.GetBlockUncategorised()); b != nil {
		return []*targeting.Blocks{b}
	}
	return nil
}

func fromLists(list []targeting.ListVersion) (out []*pb.ListVersion) {
	for _, l := range list {
		out = append(out, &pb.ListVersion{Name: l.Name, Version: l.Version, OfPlacement: l.OfPlacement})
	}
	return out
}

func toLists(list []*pb.ListVersion) (out []targeting.ListVersion) {
	for _, l := range list {
		out = append(out, targeting.ListVersion{Name: l.GetName(), Version: l.GetVersion(), OfPlacement: l.GetOfPlacement()})
	}
	return out
}
