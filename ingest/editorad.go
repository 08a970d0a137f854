package ingest

import "adshard/backend"

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
	s.note(colFinalURL, checkAdURL(&e.ad))
}
