package ingest

import (
	"bufio"
	"context"
	"io"

	"adshard/backend"
)

// conflictsHeader is the first line of the report of conflicts.
const conflictsHeader = "advertiser\tcampaign\tgroup\tnegative\tnegative_type\tnegative_of\tkeyword\tkeyword_type\n"

// parentsCached bounds the campaigns and advertisers that a report caches.
const parentsCached = 1 << 12

// WriteConflicts reports the enabled negatives that block keywords of their
// own group or campaign: a query of exactly the keyword's words would get no
// ad of that group. Tab-separated lines with a header, by ascending group id:
// advertiser, campaign, group, negative, its type, its owner (group or
// campaign), keyword, its type. It streams and returns the number of
// conflicts. Errors: those of the snapshot and of w.
func WriteConflicts(ctx context.Context, snapshot backend.Snapshot, w io.Writer) (int64, error) {
	r := &conflictReport{snapshot: snapshot, out: bufio.NewWriter(w)}
	r.reset()
	_, err := r.out.WriteString(conflictsHeader)
	if err != nil {
		return 0, err
	}
	for item, err := range snapshot.All(ctx) {
		if err != nil {
			return r.found, err
		}
		if err := r.item(ctx, item); err != nil {
			return r.found, err
		}
	}
	return r.found, r.out.Flush()
}

type conflictReport struct {
	snapshot    backend.Snapshot
	out         *bufio.Writer
	found       int64
	campaigns   map[uint64]*conflictCampaign
	advertisers map[uint64]string
}

type conflictCampaign struct {
	name, advertiser string
	negatives        blockers
}

func (r *conflictReport) reset() {
	r.campaigns = make(map[uint64]*conflictCampaign)
	r.advertisers = make(map[uint64]string)
}

func (r *conflictReport) item(ctx context.Context, item *backend.Item) error {
	campaign, err := r.campaign(ctx, item.Group.CampaignID, item.Group.AdvertiserID)
	if err != nil || campaign == nil {
		return err
	}
	own := newBlockers(item.Negatives)
	if len(own) == 0 && len(campaign.negatives) == 0 {
		return nil
	}
	for i := range item.Keywords {
		k := &item.Keywords[i]
		for _, from := range []struct {
			owner string
			b     blockers
		}{{"group", own}, {"campaign", campaign.negatives}} {
			for _, n := range from.b.blocking(k.Words) {
				if err := r.line(campaign, item.Group.Name, n, from.owner, k); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *conflictReport) line(c *conflictCampaign, group string, n *backend.Negative, owner string, k *backend.Keyword) error {
	r.found++
	_, err := r.out.WriteString(cellsOf(c.advertiser, c.name, group, n.Text, n.Type.String(), owner, k.Text, k.Type.String()))
	return err
}

func (r *conflictReport) campaign(ctx context.Context, id, advertiser uint64) (*conflictCampaign, error) {
	if c, ok := r.campaigns[id]; ok {
		return c, nil
	}
	if len(r.campaigns) >= parentsCached {
		r.reset()
	}
	found, err := r.snapshot.Campaigns(ctx, []uint64{id})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	name, err := r.advertiser(ctx, advertiser)
	if err != nil {
		return nil, err
	}
	c := &conflictCampaign{name: found[0].Name, advertiser: name, negatives: newBlockers(found[0].Negatives)}
	r.campaigns[id] = c
	return c, nil
}

func (r *conflictReport) advertiser(ctx context.Context, id uint64) (string, error) {
	if name, ok := r.advertisers[id]; ok {
		return name, nil
	}
	found, err := r.snapshot.Advertisers(ctx, []uint64{id})
	if err != nil || len(found) == 0 {
		return "", err
	}
	r.advertisers[id] = found[0].Name
	return found[0].Name, nil
}
