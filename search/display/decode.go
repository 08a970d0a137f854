package display

import (
	"bytes"
	"encoding/json"

	"adshard/fault"
)

// Content is the decoded content of a hit's pieces.
type Content struct {
	Advertiser, Campaign, Group, Keyword string
	Headlines, Descriptions              []string
	Path, FinalURL                       string
}

// Content decodes the pieces. It returns fault.Corrupt if they are not of the format.
func (p Pieces) Content() (Content, error) {
	v, ok := p.Values()
	if !ok {
		return Content{}, fault.Newf(fault.Corrupt, "search: read what is shown",
			"%d and %d bytes are not a keyword's text and what its ad group shows", len(p.Keyword), len(p.Group))
	}
	return Content{
		Advertiser: text(v.Advertiser), Campaign: text(v.Campaign), Group: text(v.Group), Keyword: text(v.Keyword),
		Headlines: texts(v.Headlines), Descriptions: texts(v.Descriptions), Path: text(v.Path), FinalURL: text(v.FinalURL),
	}, nil
}

// text decodes a string that Values has found.
func text(v []byte) (s string) {
	inside := v[1 : len(v)-1]
	if bytes.IndexByte(inside, '\\') < 0 {
		return string(inside)
	}
	_ = json.Unmarshal(v, &s) // Values has checked it
	return s
}

// texts decodes a list that Values has found. It returns nil if the list is empty.
func texts(v []byte) (list []string) {
	for rest := v[1:]; rest[0] != ']'; {
		n := stringEnd(rest)
		list = append(list, text(rest[:n]))
		if rest = rest[n:]; rest[0] == ',' {
			rest = rest[1:]
		}
	}
	return list
}
