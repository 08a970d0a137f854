package ingest

import (
	"errors"

	"adshard/backend"
)

var errNoHeadline = errors.New("an ad without a headline: it could not be shown")

func (s *editorSource) readAd(e *entry) {
	s.layout.cell[colStatus] = s.layout.statusOf[ofAd]
	e.kind = kindAd
	e.group = s.name(colAdGroup)
	s.groupCells(e)
	s.text(colAdType) // only [] is wrong there
	e.ad = backend.AdPatch{
		Headlines:    s.texts(colHeadline1, maxHeadlines),
		Descriptions: s.texts(colDescription1, maxDescriptions),
		Path1:        s.text(colPath1),
		Path2:        s.text(colPath2),
		FinalURL:     s.text(colFinalURL),
		Status:       s.status(colStatus),
	}
	s.note(colHeadline1, checkHeadlines(&e.ad))
	s.note(colFinalURL, checkAdURL(&e.ad))
}

// checkHeadlines refuses an ad without one. An ad that is removed may lack it, since it may have
// been imported before there was this check.
func checkHeadlines(ad *backend.AdPatch) error {
	if len(ad.Headlines) == 0 && ad.Status != backend.Remove {
		return errNoHeadline
	}
	return nil
}

// otherAd returns the kind of an ad that is not a text ad for searches, else "".
func (s *editorSource) otherAd() string {
	cell := string(s.cell(colAdType))
	switch plainName(cell) {
	case "responsivesearchad", "expandedtextad", "textad", "[]": // the last is rejected
		return ""
	}
	return s.kinds.of("ad of type", cell)
}
