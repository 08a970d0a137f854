package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"adshard/backend"
	"adshard/ingest/rejected"
	"adshard/ingest/values"
)

// rowExtras holds what only few rows have.
type rowExtras struct {
	// restricts lists what the row restricts its campaign by and the import does not apply.
	restricts []restriction
	// originals are the former names of the row's campaign and group, each "" if there is none.
	originals [2]string
}

// restriction is a kind of rows, or a cell, that restricts a campaign.
type restriction struct {
	name string // in the singular
	cell bool   // a cell: it is counted once for a campaign
}

// restrictingKinds are the kinds of skipped rows that always restrict their campaign.
var restrictingKinds = []string{"audience segment", otherSchedule, "placement", "topic", "demographic", "IP exclusion", otherLocation,
	otherSharedSet, otherNegatives}

// restrictingNames are headings of imported rows' cells that restrict a campaign, with the names of the restrictions.
var restrictingNames = [...]struct{ column, name string }{
	{"Content exclusions", "content exclusion"}, {"Audience targeting method", "targeting method"},
	{"Inventory type", "content exclusion"},
	{"Brand exclusions", "brand exclusion"}, {"IP exclusions", "IP exclusion"},
	{"Budget name", sharedBudget}, {"Shared budget", sharedBudget}, {"Shared budget name", sharedBudget},
}

// restrictingEnds are the ends of unknown headings whose cells restrict a campaign, as values.Plain returns them,
// with the names of the restrictions.
var restrictingEnds = [...]struct{ end, name string }{
	{endHeading, endOfDays}, {"location", otherLocation}, {"locations", otherLocation}, {"region", otherLocation}, {"regions", otherLocation},
	{"country", otherLocation}, {"countries", otherLocation}, {"city", otherLocation}, {"cities", otherLocation},
	{"schedule", otherSchedule}, {"schedules", otherSchedule}, {"dayparting", otherSchedule},
	{"audience", "audience segment"}, {"audiences", "audience segment"}, {"placements", "placement"},
	{"device", "device"}, {"devices", "device"}, {"startdate", startDate},
	{"bidmodifier", bidAdjustment}, {"bidadjustment", bidAdjustment}, {"bidadj", bidAdjustment},
}

// Names of restrictions whose cells are read.
const (
	startDate = "start date"
	endOfDays = "end date"
	budgetCap = "budget"
	limitCap  = "limit"
	// Several campaigns spend a shared budget together.
	sharedBudget  = "shared budget"
	bidAdjustment = "bid adjustment"
)

// restrictingCell is a cell that restricts the row's campaign.
type restrictingCell struct {
	cell int
	name string
}

// findExtras finds the columns of rowExtras.
func (l *layout) findExtras() {
	for i, header := range l.headers {
		if name := l.restricts(i, values.Plain(string(header))); name != "" {
			l.restricting = append(l.restricting, restrictingCell{i, name})
		}
	}
	l.extras = l.restricting != nil || l.cell[colCampaignOriginal] >= 0 || l.cell[colAdGroupOriginal] >= 0
}

// restricts returns what a column restricts its campaign by, or "" if it does not restrict it.
func (l *layout) restricts(cell int, plain string) string {
	switch {
	case cell == l.cell[colLocationModifier]:
		return bidAdjustment
	case l.isPlace(cell):
		return otherLocation
	}
	for _, of := range restrictingNames {
		if values.Plain(of.column) == plain {
			return of.name
		}
	}
	if !slices.Contains(l.unnamed, cell) {
		return ""
	}
	plain = withoutUnit(plain)
	switch {
	case slices.Contains(endHeadings, plain):
		return endOfDays
	case slices.Contains(startHeadings, plain):
		return startDate
	}
	for _, of := range restrictingEnds {
		if strings.HasSuffix(plain, of.end) {
			return of.name
		}
	}
	return limitOf(plain)
}

// isPlace reports whether a cell names a place or circle on rows of any kind. A column ID may have the id of anything there.
func (l *layout) isPlace(cell int) bool {
	return slices.ContainsFunc(placeColumns[:], func(c column) bool {
		return l.cell[c] == cell && (c != colPlaceID || values.Plain(l.header(cell)) != values.Plain(colPlaceID.String()))
	})
}

// withoutUnit is a heading, as values.Plain writes it, without what is in parentheses: Budget (USD).
func withoutUnit(plain string) string {
	name, _, _ := strings.Cut(plain, "(")
	return name
}

// limitOf returns the kind of limit on spend that an unknown heading names: Total budget, Budget amount, Max spend,
// Spending limit. It returns "" if the heading names none.
func limitOf(plain string) string {
	switch {
	case strings.HasPrefix(plain, "recommended"):
		return ""
	case strings.HasSuffix(plain, budgetCap), strings.Contains(plain, "budgetamount"):
		return budgetCap
	case strings.HasSuffix(plain, limitCap), strings.HasSuffix(plain, "cap"), strings.HasSuffix(plain, "spend") && strings.Contains(plain, "max"):
		return limitCap
	}
	return ""
}

// skippedExtras notes what a skipped row restricts its campaign by, and which campaign that is.
func (s *editorSource) skippedExtras(e *entry) {
	name := s.skippedRestricts(e.skipped)
	if name == "" && s.row.mentionsPlace() {
		name = otherLocation
	}
	if name == "" {
		return
	}
	e.advertiser, e.campaign = s.accountAsRead(), s.shared(colCampaign)
	extras := s.restricts[name]
	if extras == nil {
		if s.restricts == nil {
			s.restricts = make(map[string]*rowExtras)
		}
		extras = &rowExtras{restricts: []restriction{{name: name}}}
		s.restricts[name] = extras
	}
	e.extras = extras
}

// skippedRestricts returns what a skipped row of a kind restricts its campaign by, or "" if it does not restrict it.
func (s *editorSource) skippedRestricts(kind string) string {
	negative := s.row.cell(colCriterionType)
	switch {
	case slices.Contains(restrictingKinds, kind):
		return kind
	case saysNegative(negative) || strings.EqualFold(string(negative), "excluded"):
		if kind == otherKinds[len(otherKinds)-1].name {
			return otherExclusion
		}
		return kind
	case s.row.layout.rowType >= 0 && kind == s.typedKind():
		return s.row.typeRestricts()
	}
	return ""
}

// shared returns a name as a string. It returns the string of the last row if the names are equal.
func (s *editorSource) shared(c column) string {
	if cell := s.row.cell(c); string(cell) != s.names[c] {
		return string(cell)
	}
	return s.names[c]
}

// readExtras reads those cells of an imported row that few rows have.
func (s *editorSource) readExtras(e *entry) {
	if !s.row.layout.extras {
		return
	}
	var x rowExtras
	for _, of := range s.row.layout.restricting {
		cell := string(s.row.cellAt(of.cell))
		if e.kind == kindLocation && (of.cell == s.row.layout.cell[colLocationModifier] || s.row.layout.isPlace(of.cell)) {
			continue
		}
		if s.restrictsNow(of.name, cell) {
			x.restricts = append(x.restricts, restriction{of.name, true})
		}
	}
	for i, c := range [...]column{colCampaignOriginal, colAdGroupOriginal} {
		if text := string(s.row.cell(c)); text != "[]" {
			x.originals[i] = text
		}
	}
	if x.restricts != nil || x.originals != [2]string{} {
		e.extras = &x
	}
}

// restrictsNow reports whether a cell of a restricting column restricts its campaign at present or later.
func (s *editorSource) restrictsNow(name, cell string) bool {
	if cell == "" || cell == "[]" {
		return false
	}
	switch date := values.ParseEndDate(cell); name {
	case endOfDays:
		return !date.None && !date.Over(s.now, time.UTC) // an end date that is over pauses the campaign
	case startDate:
		return len(date.Readings) == 0 || !date.Over(s.now, time.UTC)
	case bidAdjustment:
		return strings.ContainsAny(cell, "123456789")
	case budgetCap, limitCap:
		return strings.ContainsAny(cell, "0123456789")
	}
	return true
}

// Wider is a campaign that is served more widely than the files say.
type Wider struct {
	Advertiser, Campaign string
	// Restrictions are the kinds of restrictions that are not applied, with their numbers of rows. A cell counts once
	// for a campaign.
	Restrictions []Skipped
}

// String returns the warning.
func (w *Wider) String() string {
	var list []string
	rows := int64(0)
	for _, r := range w.Restrictions {
		what := r.Kind
		switch {
		case r.Rows == 1:
		case what == otherNegatives:
			what = "lists of negatives"
		default:
			what += "s"
		}
		list = append(list, fmt.Sprintf("%d %s", r.Rows, what))
		rows += r.Rows
	}
	verb := "are"
	if rows == 1 {
		verb = "is"
	}
	return fmt.Sprintf("campaign %s of %s is served more widely than the file says: %s %s not applied", rejected.Quote(w.Campaign), rejected.Quote(w.Advertiser),
		strings.Join(list, ", "), verb)
}

// restrictions counts what restricts campaigns and the import does not apply.
type restrictions struct {
	campaigns map[campaignName]map[restriction]int64
	order     []campaignName // by first appearance
}

type campaignName struct{ advertiser, campaign string }

func (r *restrictions) add(e *entry) {
	if e.extras == nil || e.campaign == "" || e.reject != nil {
		return
	}
	name := campaignName{e.advertiser, e.campaign}
	for _, of := range e.extras.restricts {
		counts := r.campaigns[name]
		if counts == nil {
			if r.campaigns == nil {
				r.campaigns = make(map[campaignName]map[restriction]int64)
			}
			counts = make(map[restriction]int64)
			r.campaigns[name] = counts
			r.order = append(r.order, name)
		}
		if counts[of]++; of.cell {
			counts[of] = 1
		}
	}
}

// list returns the restricted campaigns that exist.
func (r *restrictions) list(ctx context.Context, tx backend.Tx) (list []Wider, err error) {
	for _, name := range r.order {
		advertiser, err := tx.FindAdvertiser(ctx, name.advertiser)
		if err != nil {
			return nil, err
		}
		if advertiser == 0 {
			continue
		}
		campaign, err := tx.FindCampaign(ctx, advertiser, name.campaign)
		if err != nil {
			return nil, err
		}
		if campaign == 0 {
			continue
		}
		w := Wider{Advertiser: name.advertiser, Campaign: name.campaign}
		byName := make(map[string]int64)
		for of, rows := range r.campaigns[name] {
			byName[of.name] += rows
		}
		for kind, rows := range byName {
			w.Restrictions = append(w.Restrictions, Skipped{Kind: kind, Rows: rows})
		}
		slices.SortFunc(w.Restrictions, func(a, b Skipped) int { return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Kind, b.Kind)) })
		list = append(list, w)
	}
	return list, nil
}
