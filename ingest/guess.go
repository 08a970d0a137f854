package ingest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// guessOwners reads whose own row it is, as far as that can be seen, of a row that is rejected as a whole: what it makes
// must not be served without it.
func (s *editorSource) guessOwners(e *entry) {
	if s.noData() != "" || s.otherKindOf() != "" || s.filled(colKeyword) || s.filled(colAdType) || s.anyHeadline() {
		return
	}
	e.advertiser, e.campaign = s.accountAsRead(), s.shared(colCampaign)
	if e.kind = kindCampaign; s.filled(colAdGroup) {
		e.kind, e.group = kindGroup, s.shared(colAdGroup)
	}
}

// accountAsRead is the row's advertiser, unchecked.
func (s *editorSource) accountAsRead() string {
	return cmp.Or(s.advertiser, string(s.cell(colAccountName)), s.shared(colAccount))
}

// guessOwners does so for a line, up to where it can be read.
func (s *jsonSource) guessOwners(e *entry, line []byte) {
	names := make(map[string]string)
	dec := json.NewDecoder(bytes.NewReader(line))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var value any
		if dec.Decode(&value) != nil {
			break
		}
		if text, ok := value.(string); ok {
			names[name.(string)] = strings.TrimSpace(text)
		}
	}
	at := slices.IndexFunc(entityTypes, func(t entityType) bool { return t.name == names[fieldType.String()] })
	if at < 0 {
		return
	}
	e.advertiser, e.campaign, e.group = cmp.Or(names[fieldAdvertiser.String()], s.advertiser), names[fieldCampaign.String()], names[fieldGroup.String()]
	switch e.kind = entityTypes[at].kind; e.kind {
	case kindCampaign:
		e.campaign = names[fieldName.String()]
	case kindGroup:
		e.group = names[fieldName.String()]
	}
}
