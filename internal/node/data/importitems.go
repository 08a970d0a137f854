package data

import (
	"adshard/backend"
	"adshard/ingest"
	"adshard/internal/node/httpapi/api"
)

// count sets what a summary has.
func count(a *api.ImportAnswer, sum *ingest.Summary) {
	a.Rows, a.Rejected, a.Warned = sum.Rows, sum.Rejected, sum.Warnings
	for _, k := range sum.Skipped {
		a.Skipped += k.Rows
	}
	for _, w := range sum.FirstWarnings {
		a.Warnings = append(a.Warnings, api.ImportWarning{Row: w.Record, Column: w.Column, Text: w.Text})
	}
	for e, n := range sum.Entities {
		a.Entities = append(a.Entities, api.ImportEffects{
			Type: api.ItemType(backend.Entity(e).String()), Created: n.Created, Changed: n.Changed, Removed: n.Removed, Left: n.Left,
		})
	}
}

func rejected(r ingest.Reject, cells []ingest.Cell) api.ImportReject {
	out := api.ImportReject{Row: r.Record, Column: r.Column, Reason: r.Reason, Cells: []api.ImportCell{}}
	for _, c := range cells {
		out.Cells = append(out.Cells, api.ImportCell{Column: c.Column, Text: c.Text, Wrong: c.Wrong})
	}
	return out
}

// difference has the fields that differ, and of keywords, negatives and ads those that name them.
func difference(d *ingest.Difference) api.ImportDifference {
	out := api.ImportDifference{Type: api.ItemType(d.Entity.String()), Advertiser: d.Advertiser, Campaign: d.Campaign, Group: d.Group, Fields: []api.ImportField{},
		Effect: map[backend.Effect]api.DataEffect{backend.Created: api.DataEffectCreated, backend.Changed: api.DataEffectUpdated, backend.Removed: api.DataEffectRemoved}[d.Effect]}
	names := d.After
	if names == nil {
		names = d.Before
	}
	for i, f := range names {
		v := api.ImportField{Name: f.Name}
		if d.Before != nil {
			v.Before = d.Before[i].Value
		}
		if d.After != nil {
			v.After = d.After[i].Value
		}
		if v.Before != v.After || f.Name == "text" || f.Name == "match_type" || f.Name == "headlines" {
			out.Fields = append(out.Fields, v)
		}
	}
	return out
}
