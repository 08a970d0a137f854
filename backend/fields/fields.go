// Package fields declares the data of advertisers: each field once, with everything that programs and pages need to know
// about it.
//
// Goals: a property is added here, by one entry of List and a run of go generate. That writes types and changes (backend), columns
// and checksums (backend/sqlite, backend/postgres), rows and lines (ingest), bodies (internal/node/data, openapi.yaml), what people
// see (internal/node/httpapi/api, docs/import.md) and the migrations of both databases. What the auction does with a property is
// written by hand: records.proto, backend/nodedata, barrels.
//
// Non-goals: ids, versions, and why an entity is held are not declared here. Owners and keys (names, texts) are
// declared, but hand-written code reads them.
package fields

//go:generate go run ./gen

// Entity is a kind of entity that has fields.
type Entity string

// The entities, as JSON lines name them.
const (
	Advertiser Entity = "advertiser"
	Campaign   Entity = "campaign"
	Group      Entity = "group"
	Keyword    Entity = "keyword"
	Negative   Entity = "negative"
	Ad         Entity = "ad"
)

// Entities lists all entities, from the root down.
var Entities = []Entity{Advertiser, Campaign, Group, Keyword, Negative, Ad}

// Kind is the kind of values that a field has. It determines how each form writes them.
type Kind uint8

// The kinds.
const (
	Owner     Kind = iota + 1 // the name of an owner; read by hand-written code
	Key                       // identifies an entity and never changes; read by hand-written code
	Special                   // any other field that is read by hand-written code
	Money                     // micros, at most Max, or none
	Modifier                  // of bids: permille, or none; shown to people in per cent
	Quality                   // 1 to 10
	Choice                    // one of the two Names
	Method                    // a Choice that may be null, which means the first of Names
	Languages                 // codes
	Zone                      // the IANA name of a time zone; "UTC" by default
	Text                      // at most Max bytes; empty by default
	URL                       // the URL of a web page, at most Max bytes; empty by default
	Date                      // as 2026-03-31; empty by default
	Value                     // an object or list that package targeting reads, as its canonical JSON; empty by default
	Learned                   // a learned quality; kept only in databases
)

// Field is one field.
type Field struct {
	Name string // in JSON lines, the data API and `adshard set`; "" if the field is only in Editor files
	Kind Kind
	Of   []Entity // the entities that have it as a property
	// KeyOf lists the entities that have it as a part of their key.
	KeyOf   []Entity
	Go, Has string // the names in Go; Has is the field that says whether a Money is set
	SQL     string // the column of both databases
	// Label is the name for people, as in the console.
	Label string
	Max   uint64
	// Names are the values of a Choice in JSON, and Cells those in Editor files. The second value is true.
	Names, Cells [2]string
	// Parse is the function of package ingest that reads a value, if the field needs one of its own. Read is an expression
	// that reads a cell, if the field needs one.
	Parse, Read string
	// Editor lists the names of the column in Editor files, the main one first. Own says that it is read only on the
	// entity's own rows. Columns is the number of such columns, numbered from 1. Column is the name in package ingest, if
	// it is not the usual one.
	Editor  []string
	Own     bool
	Columns int
	Column  string
	// Sum is the number of the hash that a value other than the default adds to an entity's checksum, or 0 if the
	// value is in the hash of the row. Sum is permanent. So is Order, the order of the fields in the data API's
	// items, on which ETags depend.
	Sum, Order int
	// Since holds the first versions of the schemas of SQLite and PostgreSQL that have the column; 0 means the first
	// of all.
	Since [2]int
	// Schema describes the value in schemas. Row and Line describe it in the tables of docs/import.md.
	Schema, Row, Line string
}

// Bounds.
const (
	MaxBid    = 10_000_000_000 // micros
	MaxMicros = 1<<63 - 1      // the most that databases can store
	MaxURL    = 2 << 10        // bytes
)

// targeting holds the first versions of the schemas that have targeting.
var targeting = [2]int{14, 11}

// methodCells are the targeting methods of locations in Editor files.
var methodCells = [2]string{"Location of presence or Area of interest", "Location of presence"}

// modified lists the entities that have bid modifiers.
var modified = []Entity{Campaign, Group}

// List has all fields in the order in which they are checked for faults.
var List = []Field{
	{Name: "type", Kind: Special},
	{Name: "advertiser", Kind: Owner, Editor: []string{"Account"}, Column: "Account"},
	{Name: "campaign", Kind: Owner, Editor: []string{"Campaign", "Campaign name"}},
	{Name: "group", Kind: Owner, Editor: []string{"Ad Group", "Ad group name"}, Column: "AdGroup"},
	{Name: "name", Kind: Key, KeyOf: []Entity{Advertiser, Campaign, Group}},
	{Name: "text", Kind: Key, KeyOf: []Entity{Keyword, Negative}, Editor: []string{"Keyword", "Keyword text"}, Column: "Keyword"},
	{Name: "match_type", Kind: Key, KeyOf: []Entity{Keyword, Negative}, Editor: []string{"Criterion Type", "Match type", "Keyword type"}, Column: "CriterionType"},
	{Name: "max_cpc_micros", Kind: Money, Of: []Entity{Group, Keyword}, Go: "Bid", Has: "HasBid", SQL: "bid", Label: "Bid", Max: MaxBid, Order: 12,
		Editor: []string{"Max CPC", "Max CPC bid", "Default max CPC"}, Own: true, Parse: "values.ParseBid",
		Row:  "money, at most 10,000 units; 0 is a bid",
		Line: "0 to 10,000,000,000"},
	{Name: "quality_score", Kind: Quality, Of: []Entity{Keyword}, Go: "Quality", SQL: "quality", Label: "Quality", Max: 10, Order: 13,
		Editor: []string{"Quality score"}, Own: true, Read: "s.quality()", Schema: "null: the default, 5.",
		Row:  "1 to 10, default 5; of `7/10` the 7; `--`, `-`, `—` and `N/A` are an empty cell",
		Line: "1 to 10"},
	{Name: "learned", Kind: Learned, Of: []Entity{Keyword}, Go: "Learned", SQL: "learned", Sum: 13},
	{Name: "desktop_bid_modifier", Kind: Modifier, Of: modified, Go: "Modifiers[search.Desktop]", SQL: "desktop", Label: "Desktop bid modifier", Order: 14,
		Editor: []string{"Desktop Bid Modifier"}, Own: true},
	{Name: "mobile_bid_modifier", Kind: Modifier, Of: modified, Go: "Modifiers[search.Mobile]", SQL: "mobile", Label: "Mobile bid modifier", Order: 15,
		Editor: []string{"Mobile Bid Modifier"}, Own: true},
	{Name: "tablet_bid_modifier", Kind: Modifier, Of: modified, Go: "Modifiers[search.Tablet]", SQL: "tablet", Label: "Tablet bid modifier", Order: 16,
		Editor: []string{"Tablet Bid Modifier"}, Own: true},
	{Name: "daily_budget_micros", Kind: Money, Of: []Entity{Campaign}, Go: "DailyBudget", Has: "HasBudget", SQL: "daily_budget", Label: "Daily budget", Max: MaxMicros,
		Order: 17, Editor: []string{"Campaign Daily Budget", "Budget", "Daily budget", "Campaign budget"}, Parse: "values.ParseMoney", Schema: "Micros; null: no budget.",
		Row:  "money",
		Line: "0 or more"},
	{Name: "delivery_method", Kind: Choice, Of: []Entity{Campaign}, Go: "StandardDelivery", SQL: "standard_delivery", Label: "Delivery method", Order: 18, Sum: 11,
		Editor: []string{"Delivery method", "Budget delivery method"}, Names: [2]string{"accelerated", "standard"}, Cells: [2]string{"Accelerated", "Standard"},
		Schema: "accelerated (default) or standard, which spreads the budget over the day. Letter case does not count.",
		Row:    "`Standard`: the budget is [spread over the day](budgets.md); `Accelerated` (default): it is not",
		Line:   "`accelerated` or `standard`"},
	{Name: "languages", Kind: Languages, Of: []Entity{Campaign}, Go: "Languages", SQL: "languages", Label: "Languages", Order: 19,
		Editor: []string{"Languages", "Language", "Language targeting"}, Read: "s.languages(e)", Schema: "Names or codes, e.g. Czech or cs; null: none.",
		Row:  "names or codes, separated by `;` or `,`. `All` among them is not a restriction: on the campaign's own row as `[]`, on other rows as an empty cell",
		Line: "a list of names or codes"},
	{Name: "ad_rotation", Kind: Choice, Of: []Entity{Campaign}, Go: "RotateEvenly", SQL: "rotate_evenly", Label: "Ad rotation", Order: 20,
		Editor: []string{"Ad rotation"}, Names: [2]string{"optimize", "even"}, Cells: [2]string{"Optimize", "Rotate indefinitely"}, Parse: "values.ParseRotation",
		Schema: "optimize (default) or even, or as Google Ads Editor has it: Optimize for clicks, Rotate evenly.",
		Row:    "`Optimize` (default), `Optimize for clicks`, `Optimize for conversions`; `Even`, `Rotate`, `Rotate evenly`, `Rotate indefinitely`, `Rotate ads indefinitely`, `Do not optimize`; what follows a colon does not count",
		Line:   "`optimize` or `even`"},
	{Name: "label", Kind: Text, Of: []Entity{Campaign}, Go: "Label", SQL: "label", Label: "Label", Max: 1 << 10, Order: 31, Sum: 17, Since: [2]int{11, 8},
		Editor: []string{"Campaign label"}, Schema: "A text for people, at most 1,024 bytes as UTF-8; null: none.",
		Row:  "a text for people, at most 1,024 bytes; slaves do not have it",
		Line: "a text of at most 1,024 bytes"},
	{Name: "time_zone", Kind: Zone, Of: []Entity{Advertiser}, Go: "TimeZone", SQL: "time_zone", Label: "Time zone", Order: 9, Sum: 10,
		Editor: []string{"Time zone", "Account time zone"},
		Schema: "A name of the IANA time zone database, e.g. Europe/Prague; null: UTC. The advertiser's days begin by it.",
		Row:    "an IANA name such as `Europe/Prague`, default `UTC`: when the [days of its budgets](budgets.md) begin",
		Line:   "an IANA name"},
	{Name: "start_date", Kind: Date, Of: []Entity{Campaign}, Go: "StartDate", SQL: "start_date", Label: "Start date", Order: 32, Sum: 19, Since: targeting,
		Editor: []string{"Start Date", "Campaign start date", "Campaign start date time", "Start date time"}, Row: "`2026-03-31`, `2026/03/31` or `20260331`: the first day of delivery",
		Schema: "The first day of delivery, in the time zone of the advertiser, e.g. 2026-03-31; null: none.",
		Line:   "the first day of delivery, as `2026-03-31`"},
	{Name: "end_date", Kind: Date, Of: []Entity{Campaign}, Go: "EndDate", SQL: "end_date", Label: "End date", Order: 33, Sum: 20, Since: targeting,
		Editor: []string{"End Date", "Campaign end date", "Campaign end date time", "End date time"}, Row: "as `Start Date`: the last day of delivery",
		Schema: "The last day of delivery, in the time zone of the advertiser; null: none.",
		Line:   "the last day of delivery"},
	{Name: "schedule", Kind: Value, Of: []Entity{Campaign}, Go: "Schedule", SQL: "schedule", Label: "Schedule", Order: 34, Sum: 21, Since: targeting,
		Editor: []string{"Ad Schedule", "Ad schedules", "Ad schedule intervals"}, Row: "`(Monday[08:00-18:00]);(Tuesday@120%[08:00-12:15])`: intervals in quarter hours, optionally with a percentage of the bid, 10 to 1000",
		Line: "a list of intervals of a week day in quarter hours, at most 6 a day: `[{\"day\":\"monday\",\"from\":\"08:00\",\"to\":\"18:00\",\"modifier_percent\":20}]`"},
	{Name: "locations", Kind: Value, Of: []Entity{Campaign}, Go: "Locations", SQL: "locations", Label: "Locations", Order: 35, Sum: 22, Since: targeting,
		Line: "a list of at most 10,000 places and circles, targets or exclusions: `[{\"id\":2203,\"modifier_percent\":-10},{\"id\":2840,\"exclude\":true},{\"lat\":50.087,\"lon\":14.421,\"radius_m\":15000}]`"},
	{Name: "location_method", Kind: Method, Of: []Entity{Campaign}, Go: "LocationPresence", SQL: "location_presence", Label: "Location method", Order: 36, Sum: 23, Since: targeting,
		Editor: []string{"Targeting method"}, Cells: methodCells, Row: "`Location of presence`; `Location of presence or Area of interest` (default)",
		Names:  [2]string{"presence_or_interest", "presence"},
		Schema: "Which places count for targets: those where the user is, or those that the query is about, too (default).",
		Line:   "`presence_or_interest` or `presence`"},
	{Name: "location_exclusion_method", Kind: Method, Of: []Entity{Campaign}, Go: "ExclusionPresence", SQL: "exclusion_presence", Label: "Location exclusion method", Order: 37, Sum: 24, Since: targeting,
		Editor: []string{"Exclusion method"}, Cells: methodCells, Row: "as `Targeting method`, for exclusions",
		Names:  [2]string{"presence_or_interest", "presence"},
		Schema: "Which places count for exclusions: those where the user is, or those that the query is about, too (default).",
		Line:   "`presence_or_interest` or `presence`"},
	{Kind: Special, Editor: []string{"Location", "Geo targeting"}, Column: "Location"},
	{Kind: Special, Editor: []string{"ID", "Location ID", "Geo ID", "Geo target ID"}, Column: "PlaceID"},
	{Kind: Special, Editor: []string{"Radius"}, Column: "Radius"},
	{Kind: Special, Editor: []string{"Unit"}, Column: "Unit"},
	{Kind: Special, Editor: []string{"Bid Modifier"}, Column: "LocationModifier"},
	{Name: "audiences", Kind: Value, Of: modified, Go: "Audiences", SQL: "audiences", Label: "Audiences", Order: 38, Sum: 25, Since: targeting,
		Line: "at most 1,000 segments of 1 to 64 bytes: `{\"target\":[{\"id\":\"age:25-34\"}],\"observe\":[{\"id\":\"buyers\",\"modifier_percent\":30}],\"exclude\":[{\"id\":\"staff\"}]}`; a group's take the place of its campaign's"},
	{Name: "sites", Kind: Value, Of: modified, Go: "Sites", SQL: "sites", Label: "Sites", Order: 39, Sum: 26, Since: targeting,
		Line: "at most 1,000 hosts, optionally with a path: `{\"include\":[{\"site\":\"example.com\",\"modifier_percent\":10}],\"exclude\":[{\"site\":\"example.com/forum\"}]}`; a group's take the place of its campaign's"},
	{Name: "categories", Kind: Value, Of: []Entity{Advertiser, Campaign}, Go: "Categories", SQL: "categories", Label: "Categories", Order: 40, Sum: 27, Since: targeting,
		Line: "at most 32 paths of what is advertised, for blocks: `[\"alcohol/wine\"]`; an advertiser's add to its campaigns'"},
	{Kind: Special, Editor: []string{"Ad type"}, Column: "AdType"},
	{Name: "headlines", Kind: Key, KeyOf: []Entity{Ad}, Editor: []string{"Headline %d", "Headline"}, Columns: 15, Column: "Headline"},
	{Name: "descriptions", Kind: Key, KeyOf: []Entity{Ad}, Editor: []string{"Description %d", "Description Line 1"}, Columns: 4, Column: "Description"},
	{Name: "path_1", Kind: Key, KeyOf: []Entity{Ad}, Editor: []string{"Path 1"}},
	{Name: "path_2", Kind: Key, KeyOf: []Entity{Ad}, Editor: []string{"Path 2"}},
	{Name: "final_url", Kind: URL, Of: []Entity{Keyword}, KeyOf: []Entity{Ad}, Go: "FinalURL", SQL: "final_url", Label: "Final URL", Max: MaxURL, Order: 26, Sum: 18,
		Since: [2]int{12, 9}, Editor: []string{"Final URL"}, Own: true, Schema: "Of the page to which its ads lead in place of their own; null: none.",
		Row: "empty, or `http://` or `https://` with a host and without control characters, at most 2,048 bytes; any text for an ad that is removed. " +
			"A keyword's takes the place of that of the ad shown",
		Line: "as `Final URL` above"},
	{Name: "paused_by", Kind: Special, Of: modified},
	{Kind: Special, Editor: []string{"Campaign Status"}, Column: "CampaignStatus"},
	{Kind: Special, Editor: []string{"Ad Group Status"}, Column: "AdGroupStatus"},
	{Name: "status", Kind: Special, Editor: []string{"Status"}},
}

// Property reports whether databases store the field as a property.
func (f *Field) Property() bool { return f.Go != "" }
