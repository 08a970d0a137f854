package ingest

import "strings"

// campaignTypes are the types of campaigns that are not for searches, by campaign. Rows below
// such a campaign are not imported, though only its own row says what it is.
type campaignTypes map[campaignKey]string

type campaignKey struct{ advertiser, campaign string }

func (t *campaignTypes) none() bool { return len(*t) == 0 }

// ofForeignCampaign skips a row of a campaign that is not for searches. The row that says so first
// pauses it: it may have been one for searches.
func (s *editorSource) ofForeignCampaign(e *entry) {
	typed := dashless(string(s.cell(colCampaignType)))
	if typed == "" && s.foreign.none() {
		return
	}
	key := campaignKey{e.advertiser, e.campaign}
	kind, foreign := (*s.foreign)[key]
	switch {
	case typed != "" && forSearches(typed):
		delete(*s.foreign, key)
	case typed != "":
		if kind = s.kinds.of("row of a campaign of type", typed); s.err == nil && !foreign {
			if *s.foreign == nil {
				*s.foreign = make(campaignTypes)
			}
			(*s.foreign)[key] = kind
			e.pauses = true
		}
		e.skipped = kind
	case foreign:
		e.skipped = kind
	}
}

// forSearches reports whether a campaign of this type is one for searches.
func forSearches(typed string) bool {
	plain := plainName(typed)
	if plain == "search" || plain == "searchnetworkonly" {
		return true
	}
	return strings.HasPrefix(plain, "searchnetworkwith") || strings.HasPrefix(plain, "search&") || strings.HasPrefix(plain, "searchand")
}

// dashless is a cell without what exports write where there is nothing.
func dashless(cell string) string {
	if cell == "[]" || strings.Trim(cell, "-–—") == "" {
		return ""
	}
	return cell
}

// kindNames are names of kinds of rows that files make up.
type kindNames map[[2]string]string

// kindsNamed bounds them.
const kindsNamed = 100

// of names a kind by a cell.
func (k *kindNames) of(what, cell string) string {
	key := [2]string{what, cell}
	name, ok := (*k)[key]
	switch {
	case ok:
		return name
	case len(*k) >= kindsNamed:
		return what + " further ones"
	case *k == nil:
		*k = make(kindNames)
	}
	name = what + " " + quoted(cell)
	(*k)[key] = name
	return name
}
