package ingest

import (
	"slices"
	"strings"
)

// otherKind is a kind of row that an export holds and an import skips: an
// index of otherKinds.
type otherKind uint8

// otherKinds are the kinds of rows that are skipped, with the columns of
// Google Ads Editor that identify them. The first kind with a filled column
// counts. The last has no column: it is for a criterion type without one.
var otherKinds = [...]struct {
	name    string
	columns []string
}{
	{"audience segment", []string{"Audience segment", "Audience"}},
	{"schedule", []string{"Ad Schedule", "Ad schedules", "Ad schedule intervals"}},
	{"placement", []string{"Placement"}},
	{"topic", []string{"Topic"}},
	{"demographic", []string{"Age", "Gender", "Household income", "Parental status"}},
	{"product group", []string{"Product Group", "Product Group Type"}},
	{"dynamic ad target", []string{"Dynamic Ad Target Condition 1", "Dynamic Ad Target Value 1", "Dynamic Ad Target Condition 2",
		"Dynamic Ad Target Value 2", "Dynamic Ad Target Condition 3", "Dynamic Ad Target Value 3"}},
	{"asset group", []string{"Asset Group", "Asset Group Status", "Audience signal", "Search theme"}},
	{"sitelink", []string{"Link Text"}},
	{"callout", []string{"Callout text"}},
	{"structured snippet", []string{"Header", "Snippet Values"}},
	{"call", []string{"Phone Number"}},
	{"promotion", []string{"Promotion target", "Promotion code", "Promotion start", "Promotion end", "Occasion",
		"Discount modifier", "Percent discount", "Monetary discount", "Orders over amount"}},
	{"price", []string{"Price Qualifier", "Header 1", "Header 2", "Header 3", "Header 4", "Header 5", "Header 6", "Header 7", "Header 8",
		"Price 1", "Price 2", "Price 3", "Price 4", "Price 5", "Price 6", "Price 7", "Price 8"}},
	{"image", []string{"Image", "Image Size", "Asset name", "File size"}},
	{"video", []string{"Video ID", "Video title"}},
	{"business name", []string{"Business name", "Business logo"}},
	{"shared set", []string{"Shared set name", "Shared set type"}},
	{"account keyword", []string{"Account keyword type"}},
	{"label", []string{"Label", "Color"}},
	{"experiment", []string{"Experiment", "Experiment name"}},
	{"IP exclusion", []string{"IP address"}},
	{otherNegatives, []string{"Negative keyword", "Negative keywords"}},
	{"location", []string{"Location", "Geo targeting", "Location ID", "Geo ID", "Geo target ID", "ID", "Reach", "Location groups",
		"Location groups legacy", "Location group", "Location group type", "Radius"}},
	{"other", nil},
}

// Kinds of rows that have rules of their own.
const (
	otherSchedule       = "schedule"
	otherAssetGroup     = "asset group"
	otherSharedSet      = "shared set"
	otherAccountKeyword = "account keyword"
	otherNegatives      = "list of negatives"
)

// otherCell is a cell of each row that identifies another kind when filled.
type otherCell struct {
	cell int
	kind otherKind
}

// otherColumns maps names as header cells are compared to the kind that they
// identify.
func otherColumns() map[string]otherKind {
	m := make(map[string]otherKind)
	for k := range otherKinds {
		for _, name := range otherKinds[k].columns {
			m[plainName(name)] = otherKind(k)
			if plain := plainName(name); strings.HasSuffix(plain, "status") {
				m[withState(plain)] = otherKind(k)
			}
		}
	}
	return m
}

// criterionKind returns the kind of row that a criterion type denotes on a row
// without a keyword.
func criterionKind(cell string) otherKind {
	name := plainName(cell)
	for k := range otherKinds {
		is := func(column string) bool { return plainName(column) == name }
		if is(otherKinds[k].name) || slices.ContainsFunc(otherKinds[k].columns, is) {
			return otherKind(k)
		}
	}
	return otherKind(len(otherKinds) - 1)
}

// otherKindOf returns the kind of the row if it is one that is not imported
// (serving.md §7, "Rows of other kinds"), else "".
func (s *editorSource) otherKindOf() string {
	keyword := s.filled(colKeyword)
	switch {
	case keyword && s.filled(colCampaign):
		return ""
	case s.filled(colAdType):
		return s.otherAd()
	case keyword:
		// The keywords of shared sets and of the account have no campaign.
		if kind := s.identified(otherSharedSet, otherAccountKeyword); kind != "" {
			return kind
		}
		if s.layout.rowType >= 0 && s.typeRestricts() == otherSharedSet {
			return s.typedKind()
		}
		return ""
	case s.anyHeadline():
		if s.filled(colAdGroup) {
			return ""
		}
		return s.identified(otherAssetGroup)
	}
	if s.saysOwner() {
		return ""
	}
	if kind := s.typedKind(); kind != "" {
		return kind
	}
	if kind := s.identified(); kind != "" {
		return kind
	}
	if s.filled(colCriterionType) {
		return otherKinds[criterionKind(string(s.cell(colCriterionType)))].name
	}
	return ""
}

// identified returns the first kind, of these or of all, that a filled cell
// identifies. A cell [] does not count: exports write it for unset settings.
func (s *editorSource) identified(names ...string) string {
	for _, o := range s.layout.others {
		name := otherKinds[o.kind].name
		cell := s.cellAt(o.cell)
		switch {
		case len(cell) == 0, string(cell) == "[]":
		case len(names) > 0 && !slices.Contains(names, name):
		case name == otherSchedule && s.ownRowOfCampaign():
		default:
			return name
		}
	}
	return ""
}

// ownRowOfCampaign reports whether the row has cells that only a campaign's own
// row has, on which Ad Schedule is a setting.
func (s *editorSource) ownRowOfCampaign() bool {
	return s.filled(colDailyBudget) || s.filled(colCampaignType)
}

// unnamed returns the header of the first filled cell of an unknown column, if
// there is one.
func (s *editorSource) unnamed() (header string, ok bool) {
	for _, cell := range s.layout.unnamed {
		if len(s.cellAt(cell)) > 0 {
			return s.layout.header(cell), true
		}
	}
	return "", false
}

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

// rowType is what a row calls itself, or "" if nothing.
func (s *editorSource) rowType() string { return string(s.cellAt(s.layout.rowType)) }

// saysOwner reports whether a row calls itself a campaign's or a group's own.
func (s *editorSource) saysOwner() bool {
	name := plainName(s.rowType())
	return name == "campaign" || name == "adgroup"
}

// saysOwn reports whether a row calls itself the own row of the entity that its cells
// make it.
func (s *editorSource) saysOwn(k kind) bool {
	own := [kindAd + 1]string{kindCampaign: "campaign", kindGroup: "adgroup"}[k]
	return own != "" && plainName(s.rowType()) == own
}

// typedKind returns the kind that a row calls itself, or "" if rows of that kind are imported. Where rows have ids, a
// bulk sheet names the kind of each.
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

// partOfType returns the index in rowTypes that speaks for a name, or −1 if none
// does.
func partOfType(plain string) int {
	return slices.IndexFunc(rowTypes, func(t struct{ part, restricts string }) bool { return strings.Contains(plain, t.part) })
}

// typeRestricts returns what a row that is skipped for what it calls itself restricts its campaign by; "" means by
// nothing.
func (s *editorSource) typeRestricts() string {
	if i := partOfType(plainName(s.rowType())); i >= 0 {
		return rowTypes[i].restricts
	}
	return ""
}
