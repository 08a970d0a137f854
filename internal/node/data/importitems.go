package data

import (
	"slices"

	"adshard/backend"
	"adshard/ingest"
	"adshard/ingest/rejected"
	"adshard/internal/node/httpapi/api"
)

// count copies the numbers of a summary into an answer.
func count(a *api.ImportAnswer, sum *ingest.Summary) {
	a.Rows, a.Rejected, a.Warned = sum.Rows, sum.Rejected, sum.Warnings
	for _, k := range sum.Skipped {
		a.Skipped += k.Rows
	}
	for _, w := range sum.FirstWarnings {
		a.Warnings = append(a.Warnings, api.ImportWarning{Row: w.Record, Column: w.Column, Text: w.Text})
	}
	// A note about the whole file has no row.
	for i := range sum.Shut {
		a.Warned, a.Warnings = a.Warned+1, append(a.Warnings, api.ImportWarning{Text: sum.Shut[i].String()})
	}
	for i := range sum.Wider {
		if a.Warned++; i < rejected.Listed {
			a.Warnings = append(a.Warnings, api.ImportWarning{Text: sum.Wider[i].String()})
		}
	}
	for i := range sum.Notes {
		a.Warned, a.Warnings = a.Warned+1, append(a.Warnings, api.ImportWarning{Text: sum.Notes[i].String()})
	}
	for i := range sum.Unused {
		if a.Warned++; i < rejected.Listed {
			a.Warnings = append(a.Warnings, api.ImportWarning{Text: "not used: " + sum.Unused[i].String()})
		}
	}
	for e, n := range sum.Entities {
		a.Entities = append(a.Entities, api.ImportEffects{
			Type: api.ItemType(backend.Entity(e).String()), Created: n.Created, Changed: n.Changed, Removed: n.Removed, Left: n.Left,
		})
	}
}

func rejectItem(r rejected.Row, cells []ingest.Cell) api.ImportReject {
	out := api.ImportReject{Row: r.Record, Column: r.Column, Reason: r.Reason, Cells: []api.ImportCell{}}
	for _, c := range cells {
		out.Cells = append(out.Cells, api.ImportCell{Column: c.Column, Text: c.Text, Wrong: c.Wrong})
	}
	return out
}

// difference returns the fields that differ and, for keywords, negatives and ads, also the fields
// that name them.
func difference(d *ingest.Difference) api.ImportDifference {
	out := api.ImportDifference{Type: api.ItemType(d.Entity.String()), Advertiser: d.Advertiser, Campaign: d.Campaign, Group: d.Group, Fields: []api.ImportField{},
		Effect: map[backend.Effect]api.DataEffect{backend.Created: api.DataEffectCreated, backend.Changed: api.DataEffectUpdated, backend.Removed: api.DataEffectRemoved}[d.Effect]}
	names := slices.Clone(d.After)
	for _, f := range d.Before { // a field may be on one side only
		if !slices.ContainsFunc(names, func(other ingest.Field) bool { return other.Name == f.Name }) {
			names = append(names, f)
		}
	}
	for _, f := range names {
		v := api.ImportField{Name: f.Name, Before: valueOf(d.Before, f.Name), After: valueOf(d.After, f.Name)}
		if v.Before != v.After || f.Name == "text" || f.Name == "match_type" || f.Name == "headlines" {
			out.Fields = append(out.Fields, v)
		}
	}
	return out
}

// valueOf returns the value of a field, or "" if the list does not have the field.
func valueOf(list []ingest.Field, name string) string {
	for _, f := range list {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}
