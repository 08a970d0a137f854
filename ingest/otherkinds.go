package ingest

import (
	"slices"
	"strings"

	"adshard/ingest/values"
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
	// types are further criterion types of such rows.
	types []string
}{
	{"audience segment", []string{"Audience segment", "Audience"}, nil},
	{otherSchedule, nil, []string{"Ad schedule"}},
	{"placement", []string{"Placement"}, nil},
	{"topic", []string{"Topic"}, nil},
	{"demographic", []string{"Age", "Gender", "Household income", "Parental status"}, nil},
	{"product group", []string{"Product Group", "Product Group Type"}, nil},
	{"dynamic ad target", []string{"Dynamic Ad Target Condition 1", "Dynamic Ad Target Value 1", "Dynamic Ad Target Condition 2",
		"Dynamic Ad Target Value 2", "Dynamic Ad Target Condition 3", "Dynamic Ad Target Value 3"}, nil},
	{"asset group", []string{"Asset Group", "Asset Group Status", "Audience signal", "Search theme"}, nil},
	{"sitelink", []string{"Link Text"}, nil},
	{"callout", []string{"Callout text"}, nil},
	{"structured snippet", []string{"Header", "Snippet Values"}, nil},
	{"call", []string{"Phone Number"}, nil},
	{"promotion", []string{"Promotion target", "Promotion code", "Promotion start", "Promotion end", "Occasion",
		"Discount modifier", "Percent discount", "Monetary discount", "Orders over amount"}, nil},
	{"price", []string{"Price Qualifier", "Header 1", "Header 2", "Header 3", "Header 4", "Header 5", "Header 6", "Header 7", "Header 8",
		"Price 1", "Price 2", "Price 3", "Price 4", "Price 5", "Price 6", "Price 7", "Price 8"}, nil},
	{"image", []string{"Image", "Image Size", "Asset name", "File size"}, nil},
	{"video", []string{"Video ID", "Video title"}, nil},
	{"business name", []string{"Business name", "Business logo"}, nil},
	{"shared set", []string{"Shared set name", "Shared set type"}, nil},
	{"account keyword", []string{"Account keyword type"}, nil},
	{"label", []string{"Label", "Color"}, nil},
	{"experiment", []string{"Experiment", "Experiment name"}, nil},
	{"IP exclusion", []string{"IP address"}, nil},
	{otherNegatives, []string{"Negative keyword", "Negative keywords"}, nil},
	{"location", []string{"Location groups", "Location groups legacy", "Location group", "Location group type"},
		[]string{"Geo targeting", "Radius"}},
	{"location", []string{"Reach"}, nil}, // says nothing beside a place
	{"other", nil, nil},
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

// otherColumns maps names of columns, as values.Plain writes them, to the kind
// that they identify.
func otherColumns() map[string]otherKind {
	m := make(map[string]otherKind)
	for k := range otherKinds {
		for _, name := range otherKinds[k].columns {
			m[values.Plain(name)] = otherKind(k)
			if plain := values.Plain(name); strings.HasSuffix(plain, "status") {
				m[withState(plain)] = otherKind(k)
			}
		}
	}
	return m
}

// criterionKind returns the kind of row that a criterion type denotes on a row
// without a keyword.
func criterionKind(cell string) otherKind {
	name := values.Plain(cell)
	for k := range otherKinds {
		is := func(column string) bool { return values.Plain(column) == name }
		if is(otherKinds[k].name) || slices.ContainsFunc(otherKinds[k].columns, is) || slices.ContainsFunc(otherKinds[k].types, is) {
			return otherKind(k)
		}
	}
	return otherKind(len(otherKinds) - 1)
}

// otherKindOf returns the kind of the row if it is one that is not imported
// (serving.md §7, "Rows of other kinds"), else "".
func (s *editorSource) otherKindOf() string {
	s.location = false
	keyword := s.row.filled(colKeyword)
	switch {
	case keyword && s.row.filled(colCampaign):
		return ""
	case s.row.filled(colAdType):
		return s.otherAd()
	case keyword:
		// The keywords of shared sets and of the account have no campaign.
		if kind := s.row.identified(otherSharedSet, otherAccountKeyword); kind != "" {
			return kind
		}
		if s.row.layout.rowType >= 0 && s.row.typeRestricts() == otherSharedSet {
			return s.typedKind()
		}
		return ""
	case s.row.anyHeadline():
		if s.row.filled(colAdGroup) {
			return ""
		}
		return s.row.identified(otherAssetGroup)
	}
	if s.row.saysOwner() {
		return ""
	}
	if kind := s.typedKind(); kind != "" {
		return kind
	}
	kind := s.row.identified()
	if s.row.locates() && (kind == "" || kind == "location" && s.row.reachAlone()) {
		if s.location = s.row.filled(colCampaign) && !s.row.filled(colAdGroup); s.location {
			return ""
		}
		return "location"
	}
	if kind != "" {
		return kind
	}
	if s.row.filled(colCriterionType) {
		return otherKinds[criterionKind(string(s.row.cell(colCriterionType)))].name
	}
	return ""
}

// identified returns the first kind, of these or of all, that a filled cell
// identifies. A cell [] does not count: exports write it for unset settings.
func (r *editorRow) identified(names ...string) string {
	for _, o := range r.layout.others {
		name := otherKinds[o.kind].name
		cell := r.cellAt(o.cell)
		switch {
		case len(cell) == 0, string(cell) == "[]":
		case len(names) > 0 && !slices.Contains(names, name):
		default:
			return name
		}
	}
	return ""
}

// reachAlone reports whether only the last kind with columns identifies the row.
func (r *editorRow) reachAlone() bool {
	return !slices.ContainsFunc(r.layout.others, func(o otherCell) bool {
		cell := r.cellAt(o.cell)
		return int(o.kind) < len(otherKinds)-2 && len(cell) > 0 && string(cell) != "[]"
	})
}

// unnamed returns the header of the first filled cell of an unknown column, if
// there is one.
func (r *editorRow) unnamed() (header string, ok bool) {
	for _, cell := range r.layout.unnamed {
		if len(r.cellAt(cell)) > 0 {
			return r.layout.header(cell), true
		}
	}
	return "", false
}

// ownerTypes are headings of columns that say of which kind a row is.
var ownerTypes = []string{"type", "rowtype", "recordtype", "entity"}

// rowTypes are parts of the names that bulk sheets give to rows which are not imported, as values.Plain
// writes them. The value says what such a row restricts its campaign by; "": by nothing. The first that the name contains counts.
var rowTypes = []struct{ part, restricts string }{
	{"negativekeywordlist", otherSharedSet}, {"sharednegative", otherSharedSet},
	{"label", ""}, {"extension", ""}, {"formatversion", ""},
	{"negative", otherExclusion}, {"exclu", otherExclusion},
	{"location", "location"}, {"radius", "location"}, {"daytime", otherSchedule}, {"schedule", otherSchedule},
	{"agecriterion", "demographic"}, {"gendercriterion", "demographic"}, {"profile", "demographic"},
	{"audience", "audience segment"}, {"listassociation", "audience segment"},
	{"adjustment", bidAdjustment}, {"device", bidAdjustment}, {"criterion", "other criterion"},
	{"association", ""}, {"targeting", ""}, {"portfolio", ""}, {"feed", ""}, {"goal", ""}, {"asset", ""},
}

// otherExclusion is what rows of no known kind exclude.
const otherExclusion = "other exclusion"

// rowType is what a row calls itself, or "" if nothing.
func (r *editorRow) rowType() string { return string(r.cellAt(r.layout.rowType)) }

// saysOwner reports whether a row calls itself a campaign's or a group's own.
func (r *editorRow) saysOwner() bool {
	name := values.Plain(r.rowType())
	return name == "campaign" || name == "adgroup"
}

// saysOwn reports whether a row calls itself what its cells make it, so that it is
// its entity's own row.
func (r *editorRow) saysOwn(k kind) bool {
	own := [kinds]string{kindCampaign: "campaign", kindGroup: "adgroup"}[k]
	return own != "" && values.Plain(r.rowType()) == own
}

// typedKind returns the kind that a row calls itself, or "" if rows of that kind are imported. Where rows have ids, a
// bulk sheet names the kind of each.
func (s *editorSource) typedKind() string {
	if s.row.layout.rowType < 0 {
		return ""
	}
	named := s.row.rowType()
	if named == "" || !s.row.layout.bulk && partOfType(values.Plain(named)) < 0 && !anAd(named) {
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

// typeRestricts returns what restricts the campaign of a row that is skipped because of the kind that it
// names; "": nothing does.
func (r *editorRow) typeRestricts() string {
	if i := partOfType(values.Plain(r.rowType())); i >= 0 {
		return rowTypes[i].restricts
	}
	return ""
}
