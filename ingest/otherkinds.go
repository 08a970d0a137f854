package ingest

import (
	"slices"
	"strings"

	"adshard/ingest/values"
)

// otherKind is a kind of row that an export contains and an import skips. It is an index of otherKinds.
type otherKind uint8

// otherKinds are the kinds of rows that are skipped, with the columns of Google Ads Editor that identify them. If
// columns of several kinds are filled, the first kind is chosen. The last kind has no column; it is for criterion
// types that belong to no other kind.
var otherKinds = [...]struct {
	name    string
	columns []string
	// types are further criterion types of rows of this kind.
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
	{otherLocation, []string{"Location groups", "Location groups legacy", "Location group", "Location group type"},
		[]string{"Geo targeting", "Radius"}},
	{otherLocation, []string{"Reach"}, nil}, // says nothing by itself next to a place
	{"other", nil, nil},
}

// Kinds of rows that have rules of their own.
const (
	otherSchedule       = "schedule"
	otherAssetGroup     = "asset group"
	otherSharedSet      = "shared set"
	otherAccountKeyword = "account keyword"
	otherNegatives      = "list of negatives"
	otherLocation       = "location"
)

// otherCell is the index of a cell that, if filled, identifies a row as one of another kind.
type otherCell struct {
	cell int
	kind otherKind
}

// otherColumns maps names of columns, as values.Plain returns them, to the kinds that they identify.
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

// criterionKind returns the kind of row that a criterion type denotes if the row has no keyword.
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

// otherKindOf returns the kind of the row if rows of that kind are not imported (serving.md §7, "Rows of other
// kinds"), or "" if they are.
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
	if s.row.locates() && (kind == "" || kind == otherLocation && s.row.reachAlone()) {
		if s.location = s.row.filled(colCampaign) && !s.row.filled(colAdGroup); s.location {
			return ""
		}
		return otherLocation
	}
	if kind != "" {
		return kind
	}
	if s.row.filled(colCriterionType) {
		return otherKinds[criterionKind(string(s.row.cell(colCriterionType)))].name
	}
	return ""
}

// identified returns the first kind that a filled cell identifies, among `names` or, without names, among all kinds.
// A cell [] is ignored, since exports write it for unset settings.
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

// reachAlone reports whether no kind except the last one with columns (Reach) identifies the row.
func (r *editorRow) reachAlone() bool {
	return !slices.ContainsFunc(r.layout.others, func(o otherCell) bool {
		cell := r.cellAt(o.cell)
		return int(o.kind) < len(otherKinds)-2 && len(cell) > 0 && string(cell) != "[]"
	})
}

// unnamed returns the header of the first filled cell in an unknown column. ok is false if there is none.
func (r *editorRow) unnamed() (header string, ok bool) {
	for _, cell := range r.layout.unnamed {
		if len(r.cellAt(cell)) > 0 {
			return r.layout.header(cell), true
		}
	}
	return "", false
}

// ownerTypes are headings of columns that name the kind of a row.
var ownerTypes = []string{"type", "rowtype", "recordtype", "entity"}

// rowTypes lists parts of the names that bulk sheets give to rows which are not imported, as values.Plain returns them. restricts
// names what such a row restricts its campaign by, or is "" if it does not restrict it. The first part that the name contains is
// used.
var rowTypes = []struct{ part, restricts string }{
	{"negativekeywordlist", otherSharedSet}, {"sharednegative", otherSharedSet},
	{"label", ""}, {"extension", ""}, {"formatversion", ""},
	{"negative", otherExclusion}, {"exclu", otherExclusion},
	{"location", otherLocation}, {"radius", otherLocation}, {"daytime", otherSchedule}, {"schedule", otherSchedule},
	{"agecriterion", "demographic"}, {"gendercriterion", "demographic"}, {"profile", "demographic"},
	{"audience", "audience segment"}, {"listassociation", "audience segment"},
	{"adjustment", bidAdjustment}, {"device", bidAdjustment}, {"criterion", "other criterion"},
	{"association", ""}, {"targeting", ""}, {"portfolio", ""}, {"feed", ""}, {"goal", ""}, {"asset", ""},
}

// otherExclusion names what excluding rows of no known kind restrict.
const otherExclusion = "other exclusion"

// rowType returns the kind that a row gives itself, or "" if it gives none.
func (r *editorRow) rowType() string { return string(r.cellAt(r.layout.rowType)) }

// saysOwner reports whether a row calls itself the own row of a campaign or group.
func (r *editorRow) saysOwner() bool {
	name := values.Plain(r.rowType())
	return name == "campaign" || name == "adgroup"
}

// saysOwn reports whether a row calls itself what its cells make it. Then it is its entity's own row.
func (r *editorRow) saysOwn(k kind) bool {
	own := [kinds]string{kindCampaign: "campaign", kindGroup: "adgroup"}[k]
	return own != "" && values.Plain(r.rowType()) == own
}

// typedKind returns the kind that a row gives itself, or "" if it gives none or rows of that kind are imported. In a
// bulk sheet, whose rows have ids, every row names its kind.
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

// partOfType returns the index of the first entry of rowTypes that the name contains, or −1 if there is none.
func partOfType(plain string) int {
	return slices.IndexFunc(rowTypes, func(t struct{ part, restricts string }) bool { return strings.Contains(plain, t.part) })
}

// typeRestricts returns what a row that is skipped because of the kind it names restricts its campaign by, or "" if
// it does not restrict it.
func (r *editorRow) typeRestricts() string {
	if i := partOfType(values.Plain(r.rowType())); i >= 0 {
		return rowTypes[i].restricts
	}
	return ""
}
