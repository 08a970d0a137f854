package ingest

import (
	"adshard/backend"
	"adshard/search/placeholder"
)

// adNotes are what an import tells of placeholders in ads (serving.md §5.5).
type adNotes struct{ filled, leftOut, bare Note }

// row counts the placeholders of a row that is an ad's.
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

// name names a text of a row's ad, if a note still takes names.
func (n *Note) name(e *entry, text string) string {
	if len(n.First) == FirstNotes {
		return ""
	}
	return quoted(text) + " in ad group " + quoted(e.group)
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
