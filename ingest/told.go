package ingest

import (
	"context"
	"fmt"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"adshard/backend"
	"adshard/ingest/rejected"
	"adshard/search/placeholder"
)

// Note is a finding that an import reports at its end, since it may not be what was meant.
type Note struct {
	Kind  NoteKind `json:"kind"`
	Count int64    `json:"count"`
	// First names the first ones, at most FirstNotes.
	First []string `json:"first,omitempty"`
}

// NoteKind says what a Note is about.
type NoteKind string

// The kinds of notes.
const (
	NoteNoBid         NoteKind = "keywords_without_bid"  // no bid of their own and none of their group
	NoteContradiction NoteKind = "contradictions"        // rows of one file that give one entity other values
	NoteQuality       NoteKind = "quality_scores_unread" // quality scores of reports that are no whole number: empty ones, or n/10
	NoteFilled        NoteKind = "ads_with_keyword"      // ads that are shown with the keyword's text in {KeyWord:…}
	NoteLeftOut       NoteKind = "texts_left_out"        // texts of ads that are not shown because of another placeholder
	NoteNoHeadline    NoteKind = "ads_without_headline"  // ads without any headline that can be shown, so that they are not shown
)

// FirstNotes is the most names that a Note holds.
const FirstNotes = 10

// add counts `count` more and keeps the names of the first ones.
func (n *Note) add(count int64, names ...string) {
	n.Count += count
	n.First = append(n.First, names[:min(len(names), FirstNotes-len(n.First))]...)
}

// tale is what a reader reports about the rows of a chunk.
type tale struct {
	layout    *layout // nil if the file has no columns
	unused    [kinds][]int64
	qualities Note
	ads       adNotes
}

// told collects what an import reports at its end.
type told struct {
	unused                    unusedColumns
	qualities, contradictions Note
	ads                       adNotes
	// bidless holds the groups in which the files created keywords without a bid, or removed a bid. named holds the
	// groups in which they named other keywords without a bid. bidding holds the groups to which they gave a bid.
	bidless, named, bidding roaring64.Bitmap
}

func (t *told) add(more *tale) {
	if more.layout != nil {
		t.unused.add(more.layout, &more.unused)
	}
	t.qualities.add(more.qualities.Count, more.qualities.First...)
	t.ads.add(&more.ads)
}

// notes returns what there is to report, once everything is committed.
func (t *told) notes(ctx context.Context, store backend.Store) (list []Note, err error) {
	noBid, err := t.withoutBid(ctx, store)
	t.contradictions.Kind, t.qualities.Kind = NoteContradiction, NoteQuality
	for _, n := range append([]Note{noBid, t.contradictions, t.qualities}, t.ads.list()...) {
		if n.Count > 0 {
			list = append(list, n)
		}
	}
	return list, err
}

// namedMost is the most groups that are read for keywords that existed before. A file that changes the statuses of
// many keywords must not cost more than the changes themselves.
const namedMost = 1000

// withoutBid counts the enabled keywords in the import's groups that have no bid and whose group has none.
func (t *told) withoutBid(ctx context.Context, store backend.Store) (n Note, err error) {
	n.Kind = NoteNoBid
	if t.named.GetCardinality() <= namedMost {
		t.bidless.Or(&t.named)
	}
	t.bidless.AndNot(&t.bidding)
	if t.bidless.IsEmpty() {
		return n, nil
	}
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return n, err
	}
	ids := make([]uint64, 0, comparedTogether)
	for it := t.bidless.Iterator(); it.HasNext() && err == nil; {
		if ids = append(ids, it.Next()); len(ids) == cap(ids) || !it.HasNext() {
			err = bidlessIn(ctx, snapshot, ids, &n)
			ids = ids[:0]
		}
	}
	if e := snapshot.Close(); err == nil {
		err = e
	}
	return n, err
}

func bidlessIn(ctx context.Context, snapshot backend.Snapshot, ids []uint64, n *Note) error {
	items, err := snapshot.Items(ctx, ids)
	for _, it := range items {
		if it.Group.HasBid {
			continue
		}
		for i := range it.Keywords {
			if k := &it.Keywords[i]; k.Enabled && !k.HasBid {
				n.add(1, fmt.Sprintf("%s %s in ad group %s", k.Type, rejected.Quote(k.Text), rejected.Quote(it.Group.Name)))
			}
		}
	}
	return err
}

// bids notes which groups of a transaction have keywords without a bid.
type bids struct {
	bidless, named, bidding, reset roaring64.Bitmap
	last                           uint64 // the last group that was added to bidless
}

func (b *bids) group(id uint64, bid backend.PatchOp) {
	switch bid {
	case backend.Set:
		b.bidding.Add(id)
		b.reset.Remove(id)
	case backend.Reset:
		b.bidding.Remove(id)
		b.reset.Add(id)
		b.bidless.Add(id)
	}
}

func (b *bids) keyword(group uint64, bid backend.PatchOp, created bool) {
	switch {
	case bid == backend.Set, group == b.last:
	case created, bid == backend.Reset:
		b.bidless.Add(group)
		b.last = group
	default:
		b.named.Add(group)
	}
}

// committed adds the groups of a committed transaction.
func (t *told) committed(b *bids) {
	t.bidless.Or(&b.bidless)
	t.named.Or(&b.named)
	t.bidding.AndNot(&b.reset)
	t.bidding.Or(&b.bidding)
}

// noteTexts are the texts of notes: for one finding and for several.
var noteTexts = map[NoteKind][2]string{
	NoteNoBid:         {"keyword has no bid, neither its own nor its ad group's, and is not shown", "keywords have no bid, neither their own nor their ad group's, and are not shown"},
	NoteContradiction: {"row gives an entity different values than an earlier row of the file; the last holds", "rows give an entity different values than earlier rows of the file; the last holds"},
	NoteQuality:       {"quality score is not a whole number: it was read as empty, or by the n of n/10", "quality scores are not whole numbers: they were read as empty, or by the n of n/10"},
	NoteFilled:        {"ad is shown with the keyword's text in place of {KeyWord:…}", "ads are shown with the keyword's text in place of {KeyWord:…}"},
	NoteLeftOut:       {"text of an ad has a placeholder that is not filled, and is left out when the ad is shown", "texts of ads have placeholders that are not filled, and are left out when the ads are shown"},
	NoteNoHeadline:    {"ad has no headline that can be shown, and is not shown", "ads have no headline that can be shown, and are not shown"},
}

// String returns the note as text, with the first names.
func (n *Note) String() string {
	text := noteTexts[n.Kind][1]
	if n.Count == 1 {
		text = noteTexts[n.Kind][0]
	}
	text = fmt.Sprintf("%d %s: %s", n.Count, text, strings.Join(n.First, ", "))
	if n.Count > int64(len(n.First)) {
		text += ", …"
	}
	return text
}

// adNotes holds the notes about placeholders in ads (serving.md §5.5).
type adNotes struct{ filled, leftOut, bare Note }

// row counts the placeholders in the texts of a row's ad, if it has one.
func (n *adNotes) row(e *entry) {
	if e.kind != kindAd || e.reject != nil || e.skipped != "" || e.ad.Status == backend.Remove {
		return
	}
	filled, leftOut := false, false
	for _, list := range [...][]string{e.ad.Headlines, e.ad.Descriptions, {e.ad.Path1, e.ad.Path2}} {
		for _, s := range list {
			switch placeholder.Of(s) {
			case placeholder.Keyword:
				filled = true
			case placeholder.Other:
				leftOut = true
				n.leftOut.add(1, n.leftOut.name(e, s))
			}
		}
	}
	switch {
	case !filled && !leftOut:
	case !placeholder.Shows(e.ad.Headlines):
		n.bare.add(1, n.bare.name(e, e.ad.Headlines[0]))
	case filled:
		n.filled.add(1, n.filled.name(e, e.ad.Headlines[0]))
	}
}

// name returns a name for a text of a row's ad, or "" if the note is full.
func (n *Note) name(e *entry, text string) string {
	if len(n.First) == FirstNotes {
		return ""
	}
	return rejected.Quote(text) + " in ad group " + rejected.Quote(e.group)
}

func (n *adNotes) add(more *adNotes) {
	n.filled.add(more.filled.Count, more.filled.First...)
	n.leftOut.add(more.leftOut.Count, more.leftOut.First...)
	n.bare.add(more.bare.Count, more.bare.First...)
}

// list returns the notes.
func (n *adNotes) list() []Note {
	n.filled.Kind, n.leftOut.Kind, n.bare.Kind = NoteFilled, NoteLeftOut, NoteNoHeadline
	return []Note{n.filled, n.leftOut, n.bare}
}
