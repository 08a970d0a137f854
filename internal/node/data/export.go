package data

import (
	"context"
	"slices"

	"adshard/backend"
	"adshard/blocklist"
	"adshard/fault"
	"adshard/ingest"
)

// exporter writes one snapshot as JSON lines. It keeps a page of each kind in memory.
type exporter struct {
	*state
	to  Lines
	buf []byte
}

// Export writes the data of an advertiser, or of all if it is 0, as JSON lines of one state. An export of all ends with the block
// lists, each in its state at the time of writing. Errors before the first line: fault.NotFound, fault.Overloaded.
func (s *Service) Export(ctx context.Context, advertiser uint64, to Lines) error {
	if err := s.exports.try(); err != nil {
		return err
	}
	defer s.exports.leave()
	n, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer n.Close()
	x := exporter{state: n, to: to}
	if advertiser != 0 {
		err = x.advertisers(ctx, []uint64{advertiser})
	} else if err = x.pages(ctx, backend.KindAdvertiser, 0, x.advertisers); err == nil {
		err = x.blocklists(ctx, s)
	}
	if err != nil {
		return err
	}
	return to.Flush()
}

// pages calls `do` with the ids of everything of a kind that an owner has, page by page.
func (x *exporter) pages(ctx context.Context, kind backend.Kind, owner uint64, do func(context.Context, []uint64) error) error {
	for after := uint64(0); ; {
		ids, err := x.IDs(ctx, kind, owner, after, atOnce)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := do(ctx, ids); err != nil {
			return err
		}
		after = ids[len(ids)-1]
	}
}

// send writes the lines, and takes their buffer back.
func (x *exporter) send(lines []byte) error {
	x.buf = lines[:0]
	return x.to.Write(lines)
}

func (x *exporter) advertisers(ctx context.Context, ids []uint64) error {
	list, err := x.Advertisers(ctx, ids)
	if err != nil {
		return err
	}
	if len(list) < len(ids) {
		return fault.Newf(fault.NotFound, op, "there is no advertiser %d", ids[0])
	}
	for _, a := range list {
		of := ingest.Owners{Advertiser: a.Name}
		lines := ingest.AppendAdvertiser(x.buf, a)
		for i := range a.Negatives {
			lines = ingest.AppendNegative(lines, of, &a.Negatives[i])
		}
		if err := x.send(lines); err != nil {
			return err
		}
		err := x.pages(ctx, backend.KindCampaign, a.ID, func(ctx context.Context, ids []uint64) error { return x.campaignsOf(ctx, of, ids) })
		if err != nil {
			return err
		}
	}
	return nil
}

// blocklists writes all block lists. It leaves out advertisers that no longer exist, whose ids are never used again.
func (x *exporter) blocklists(ctx context.Context, s *Service) error {
	heads, err := blocklist.Heads(ctx, s.db)
	if err != nil {
		return err
	}
	for i := range heads {
		if err := x.blocklist(ctx, s, heads[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// blocklist writes a block list, unless it was removed meanwhile.
func (x *exporter) blocklist(ctx context.Context, s *Service, name string) error {
	leave, err := s.HoldLists(ctx)
	if err != nil {
		return err
	}
	defer leave()
	l, err := blocklist.Load(ctx, s.db, name)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		return err
	}
	var names []string
	for ids := range slices.Chunk(l.List.Advertisers, atOnce) {
		list, err := x.Advertisers(ctx, ids)
		if err != nil {
			return err
		}
		for _, a := range list {
			names = append(names, a.Name)
		}
	}
	line, err := ingest.AppendBlocklist(x.buf, l.Name, &l.List, names)
	if err != nil {
		return err
	}
	return x.send(line)
}

func (x *exporter) campaignsOf(ctx context.Context, of ingest.Owners, ids []uint64) error {
	list, err := x.Campaigns(ctx, ids)
	if err != nil {
		return err
	}
	for _, c := range list {
		lines := ingest.AppendCampaign(x.buf, of, c)
		in := ingest.Owners{Advertiser: of.Advertiser, Campaign: c.Name}
		for i := range c.Negatives {
			lines = ingest.AppendNegative(lines, in, &c.Negatives[i])
		}
		if err := x.send(lines); err != nil {
			return err
		}
		err := x.pages(ctx, backend.KindGroup, c.ID, func(ctx context.Context, ids []uint64) error { return x.groupsOf(ctx, in, ids) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *exporter) groupsOf(ctx context.Context, in ingest.Owners, ids []uint64) error {
	items, err := x.Items(ctx, ids)
	if err != nil {
		return err
	}
	for _, it := range items {
		if err := x.send(ingest.AppendItem(x.buf, in, it)); err != nil {
			return err
		}
	}
	return nil
}
