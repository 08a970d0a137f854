package searchapi

import (
	"adshard/internal/node/httpapi/api"
	"adshard/search/display"
)

// appendPlacements appends the placements of a page, if the request has any. Errors: those of
// appendAnswer.
func appendPlacements(b []byte, r *Result) ([]byte, error) {
	if r.page == nil {
		return b, nil
	}
	b = append(b, `,"placements":[`...)
	for i, p := range r.Placements() {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendPlacement(b, r, &p); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func appendPlacement(b []byte, r *Result, p *Filled) ([]byte, error) {
	b = append(b, '{')
	if p.ID != "" {
		b = append(display.AppendString(append(b, `"id":`...), p.ID), ',')
	}
	b, err := appendAds(append(b, `"ads":`...), r, p.Won)
	if err != nil {
		return b, err
	}
	b = appendNumber(b, `,"matched":`, p.Matched)
	b = appendNumber(b, `,"candidates":`, p.Candidates)
	if p.Why != nil {
		b = appendWhy(append(b, `,"why":{`...), p.Why)
	}
	if p.Error != nil {
		b = appendError(b, p.Error)
	}
	return append(b, '}'), nil
}

// appendError appends the reason why a placement is not filled.
func appendError(b []byte, e *api.Error) []byte {
	b = display.AppendString(append(b, `,"error":{"code":`...), string(e.Code))
	b = display.AppendString(append(b, `,"message":`...), e.Message)
	return append(display.AppendString(append(b, `,"field":`...), e.Field), '}')
}
