package ingest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"adshard/backend"
	"adshard/ingest/rejected"
)

// counts counts the results of the open transaction's rows.
type counts struct {
	rows, rejected int64
	first          []rejected.Row
	skipped        skips
	warnings       int64
	firstWarnings  []Warning
	contradictions Note
	renamed        int64
	firstRenamed   []Renamed
}

// skips counts skipped rows by their kind.
type skips map[string]int64

func (s *skips) add(kind string, rows int64) {
	if *s == nil {
		*s = make(skips)
	}
	(*s)[kind] += rows
}

// list returns the kinds with their counts, the most frequent kind first.
func (s skips) list() []Skipped {
	var list []Skipped
	for kind, rows := range s {
		list = append(list, Skipped{Kind: kind, Rows: rows})
	}
	slices.SortFunc(list, func(a, b Skipped) int { return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Kind, b.Kind)) })
	return list
}

func (w *writer) warn(warning *Warning) {
	w.open.warnings++
	if w.keepsWarning() {
		w.open.firstWarnings = append(w.open.firstWarnings, *warning)
	}
}

func (w *writer) keepsWarning() bool {
	return len(w.run.sum.FirstWarnings)+len(w.open.firstWarnings) < rejected.Listed
}

// misspelt warns of a name that was created although a similar one exists.
func (w *writer) misspelt(e *entry, of kind, name, near string) {
	warning := &Warning{}
	if w.keepsWarning() {
		what := "campaign " + rejected.Quote(name) + " of " + rejected.Quote(e.advertiser)
		if of == kindAdvertiser {
			what = "advertiser " + rejected.Quote(name)
		}
		warning = &Warning{File: w.in.Name, Record: e.record, Column: w.column(e, of),
			Text: fmt.Sprintf("%s did not exist and was created; did you mean %s?", what, rejected.Quote(near))}
	}
	w.warn(warning)
}

// inactive warns of a place that is no longer active and should not be named any more.
func (w *writer) inactive(e *entry, place uint32) {
	column := fieldLocations.String()
	if e.kind == kindLocation {
		column = colPlaceID.String()
	}
	w.warn(&Warning{File: w.in.Name, Record: e.record, Column: column, Text: fmt.Sprintf("place %d is not active any more", place)})
}

// paused warns of a campaign that was paused because it is no longer a search campaign.
func (w *writer) paused(e *entry) {
	w.warn(&Warning{File: w.in.Name, Record: e.record, Column: colCampaignType.String(),
		Text: fmt.Sprintf("campaign %s of %s is no longer a search campaign, and paused", rejected.Quote(e.campaign), rejected.Quote(e.advertiser))})
}

// contradicts notes a row that gives an entity different values than an earlier row.
func (w *writer) contradicts(e *entry, of kind) {
	n := &w.open.contradictions
	if n.Count++; len(n.First) < FirstNotes {
		n.First = append(n.First, fmt.Sprintf("%s: row %d, %s", w.in.Name, e.record, e.describe(of)))
	}
}

// describe names an entity of the row.
func (e *entry) describe(of kind) string {
	switch of {
	case kindCampaign:
		return "campaign " + rejected.Quote(e.campaign)
	case kindGroup:
		return "ad group " + rejected.Quote(e.group)
	}
	return "keyword " + rejected.Quote(e.keyword.Text)
}

// EffectCounts counts the entities of one kind that an import created, changed, removed or left unchanged. Each
// entity counts once.
type EffectCounts struct {
	Created int64 `json:"created"`
	Changed int64 `json:"changed"`
	Removed int64 `json:"removed"`
	Left    int64 `json:"left"` // named by the files, unchanged
}

// effectSets holds the ids of the entities that transactions affected, by kind of entity. An id takes a few bits.
type effectSets [backend.Entities]struct {
	named, created, changed, removed roaring64.Bitmap
}

// watch implements backend.Watcher.
func (t *effectSets) watch(entity backend.Entity, id uint64, effect backend.Effect) {
	of := &t[entity]
	switch effect {
	case backend.Named:
		of.named.Add(id)
	case backend.Created:
		of.created.Add(id)
	case backend.Changed:
		of.changed.Add(id)
	case backend.Removed:
		if !of.created.CheckedRemove(id) {
			of.removed.Add(id)
		}
		of.named.Remove(id)
		of.changed.Remove(id)
	}
}

// add adds the effects of a later transaction.
func (t *effectSets) add(later *effectSets) {
	for entity := range t {
		of, more := &t[entity], &later[entity]
		old := roaring64.AndNot(&more.removed, &of.created) // the others were created by this import
		of.created.AndNot(&more.removed)
		of.removed.Or(old)
		of.named.AndNot(&more.removed)
		of.changed.AndNot(&more.removed)
		of.created.Or(&more.created)
		of.changed.Or(&more.changed)
		of.named.Or(&more.named)
	}
}

// counts returns the counts for each kind of entity.
func (t *effectSets) counts() (list [backend.Entities]EffectCounts) {
	for entity := range t {
		of := &t[entity]
		changed := roaring64.AndNot(&of.changed, &of.created)
		left := roaring64.AndNot(&of.named, &of.created)
		left.AndNot(changed)
		list[entity] = EffectCounts{Created: int64(of.created.GetCardinality()), Changed: int64(changed.GetCardinality()),
			Removed: int64(of.removed.GetCardinality()), Left: int64(left.GetCardinality())}
	}
	return list
}
