package data

import (
	"context"
	"log/slog"
	"testing"

	"adshard/backend"
	"adshard/internal/node/nodetest"
)

// TestSpendIsNoChange: campaigns, and no other entities, show what they have spent today, by themselves
// and in lists. It is not part of their ETag. It is absent if it is not known.
func TestSpendIsNoChange(t *testing.T) {
	d := nodetest.NewDatabase(t)
	s := New(d.DB, nil, slog.New(slog.DiscardHandler))
	_, err := s.Import(t.Context(), &Import{File: []byte(`{"type":"keyword","advertiser":"Acme","campaign":"Cables","group":"USB","text":"usb","match_type":"broad"}
{"type":"campaign","advertiser":"Acme","name":"Unknown"}
`)})
	d.Must(err)
	campaign := Key{Type: backend.EntityCampaign, ID: 1}
	before, err := s.Get(t.Context(), campaign)
	d.Must(err)
	if before.Item.SpentMicros != nil {
		t.Errorf("nothing is counted: %+v", before.Item)
	}
	spent := uint64(0)
	s.ShowSpend(func(_ context.Context, _ backend.Snapshot, list []*backend.Campaign) map[uint64]uint64 {
		for _, c := range list {
			if c.Name == "Cables" {
				return map[uint64]uint64{c.ID: spent}
			}
		}
		return nil
	})
	for spent = range uint64(3) {
		one, err := s.Get(t.Context(), campaign)
		d.Must(err)
		list, err := s.List(t.Context(), Page{Type: backend.EntityCampaign, Limit: 10})
		d.Must(err)
		if one.Item.Etag != before.Item.Etag {
			t.Error("a click changes the ETag")
		}
		if got := one.Item.SpentMicros; got == nil || *got != spent {
			t.Errorf("%v, want %d", got, spent)
		}
		if got := list.Items[0].SpentMicros; got == nil || *got != spent || list.Items[1].SpentMicros != nil {
			t.Errorf("%+v, want %d of the first alone", list.Items, spent)
		}
	}
	group, err := s.Get(t.Context(), Key{Type: backend.EntityGroup, ID: 1})
	d.Must(err)
	if group.Item.SpentMicros != nil {
		t.Errorf("a group has spent: %+v", group.Item)
	}
}
