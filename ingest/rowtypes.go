package ingest

import (
	"slices"
	"strings"
)

// ownerTypes are headings of columns that say of which kind a row is.
var ownerTypes = []string{"type", "rowtype", "recordtype", "entity"}

// rowTypes are parts of the names that bulk sheets give to rows which are not imported, as plainName writes them, with what
// such a row restricts its campaign by; "": by nothing. The first that the name contains counts.
var rowTypes = []struct{ part, restricts string }{
	{"negativekeywordlist", otherSharedSet}, {"sharednegative", otherSharedSet},
	{"label", ""}, {"extension", ""}, {"formatversion", ""},
	{"negative", otherExclusion}, {"exclusion", otherExclusion},
	{"location", "location"}, {"radius", "location"}, {"daytime", otherSchedule}, {"schedule", otherSchedule},
	{"agecriterion", "demographic"}, {"gendercriterion", "demographic"}, {"profile", "demographic"},
	{"audience", "audience segment"}, {"listassociation", "audience segment"},
	{"adjustment", bidAdjustment}, {"device", bidAdjustment}, {"criterion", "other criterion"},
	{"association", ""}, {"targeting", ""}, {"portfolio", ""}, {"feed", ""}, {"goal", ""}, {"asset", ""},
}

// otherExclusion is what rows of no known kind exclude.
const otherExclusion = "other exclusion"

// rowType is what a row calls itself; "": nothing.
func (s *editorSource) rowType() string { return string(s.cellAt(s.layout.rowType)) }

// saysOwner reports whether a row calls itself a campaign's or a group's own.
func (s *editorSource) saysOwner() bool {
	name := plainName(s.rowType())
	return name == "campaign" || name == "adgroup"
}

// saysOwn reports whether a row calls itself the own one of what its cells make it.
func (s *editorSource) saysOwn(k kind) bool {
	own := [kindAd + 1]string{kindCampaign: "campaign", kindGroup: "adgroup"}[k]
	return own != "" && plainName(s.rowType()) == own
}

// typedKind returns the kind that a row calls itself if that is one that is not imported, else "". Where rows have ids, a bulk
// sheet names the kind of each.
func (s *editorSource) typedKind() string {
	if s.layout.rowType < 0 {
		return ""
	}
	named := s.rowType()
	if named == "" || !s.layout.bulk && partOfType(plainName(named)) < 0 && !anAd(named) {
		return ""
	}
	return s.kinds.of("row of type", named)
}

// anAd reports whether a row calls itself an ad: Product Ad, RESPONSIVE_SEARCH_AD.
func anAd(named string) bool {
	const ad = "ad"
	before := len(named) - len(ad)
	return before >= 0 && strings.EqualFold(named[before:], ad) && (before == 0 || strings.ContainsRune(" _-", rune(named[before-1])))
}

// partOfType returns the index in rowTypes that speaks for a name; −1: none does.
func partOfType(plain string) int {
	return slices.IndexFunc(rowTypes, func(t struct{ part, restricts string }) bool { return strings.Contains(plain, t.part) })
}

// typeRestricts returns what a row that is skipped for what it calls itself restricts its campaign by; "": by nothing.
func (s *editorSource) typeRestricts() string {
	if i := partOfType(plainName(s.rowType())); i >= 0 {
		return rowTypes[i].restricts
	}
	return ""
}
