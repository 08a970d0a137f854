package truth

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/balance"
	"adshard/barrels/record"
)

// parentHashes maps the parents that exist to their hashes.
type parentHashes map[balance.Parent]balance.ParentSum

// sums returns the sums of the listed parents that exist, in the order of the list.
func (h parentHashes) sums(list []balance.Parent) (out []balance.ParentSum) {
	for _, p := range list {
		if s, ok := h[p]; ok {
			out = append(out, s)
		}
	}
	return out
}

// parents hashes the parents of all parts. Each is hashed once.
func (t *Certifier) parents(ctx context.Context, snap backend.Snapshot, parts []Part) (parentHashes, error) {
	builder, release := t.Builders.Acquire()
	defer release()
	seen, ids := make(map[balance.Parent]bool), make(map[backend.Kind][]uint64)
	for _, part := range parts {
		for _, p := range part.Parents {
			if !seen[p] {
				seen[p] = true
				ids[backend.Kind(p.Kind)] = append(ids[backend.Kind(p.Kind)], p.ID)
			}
		}
	}
	out := make(parentHashes, len(seen))
	add := func(kind backend.Kind, id uint64, stored proto.Message) error {
		hi, lo, err := record.ParentHash(stored)
		p := balance.Parent{Kind: uint8(kind), ID: id}
		out[p] = balance.ParentSum{Parent: p, Hi: hi, Lo: lo}
		return err
	}
	for wanted := range slices.Chunk(ids[backend.KindAdvertiser], BatchSize) {
		list, err := snap.Advertisers(ctx, wanted)
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			record, err := builder.Advertiser(a)
			if err == nil {
				err = add(backend.KindAdvertiser, a.ID, record)
			}
			if err != nil {
				return nil, fmt.Errorf("advertiser %d: %w", a.ID, err)
			}
		}
	}
	for wanted := range slices.Chunk(ids[backend.KindCampaign], BatchSize) {
		list, err := snap.Campaigns(ctx, wanted)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			record, err := builder.Campaign(c)
			if err == nil {
				err = add(backend.KindCampaign, c.ID, record)
			}
			if err != nil {
				return nil, fmt.Errorf("campaign %d: %w", c.ID, err)
			}
		}
	}
	return out, nil
}
