package searchapi

import (
	"adshard/internal/node/httpapi"
	"adshard/search/display"
)

// appendPlacements appends the placements of a page, if the request has some. Errors: as of appendAnswer.
func appendPlacements(b []byte, r *Result) ([]byte, error) {
	if r.page == nil {
		return b, nil
	}
	b = append(b, `,"placements":[`...)
	for i := range r.page.placements {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendPlacement(b, r, &r.page.placements[i]); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func appendPlacement(b []byte, r *Result, p *placement) ([]byte, error) {
	b = append(b, '{')
	if p.id != "" {
		b = append(display.AppendString(append(b, `"id":`...), p.id), ',')
	}
	b, err := appendAds(append(b, `"ads":`...), r, p.won)
	if err != nil {
		return b, err
	}
	if p.err != nil {
		return appendError(append(b, `,"matched":0,"candidates":0`...), p.err), nil
	}
	b = appendNumber(b, `,"matched":`, r.Found.Matched)
	b = appendNumber(b, `,"candidates":`, r.candidatesOf(p))
	if p.why != nil {
		b = appendWhy(append(b, `,"why":{`...), keptOut(p.why))
	}
	return append(b, '}'), nil
}

// appendError appends why a placement is not filled, and the closing bracket.
func appendError(b []byte, err error) []byte {
	e := httpapi.Error(err)
	b = display.AppendString(append(b, `,"error":{"code":`...), string(e.Code))
	b = display.AppendString(append(b, `,"message":`...), e.Message)
	return append(display.AppendString(append(b, `,"field":`...), e.Field), "}}"...)
}
