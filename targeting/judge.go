package targeting

import (
	"slices"
	"time"
)

// Outcome is what a request means for the keywords of a campaign, or of a group with its own targeting.
type Outcome struct {
	Verdict Verdict
	Factors Factors
	// Criterion is what decided the verdict, if the judge explains. If the keywords pass, it is empty, or a block that meets a final
	// URL.
	Criterion Criterion
	// By has the criteria of the factors that are not neutral, in the order of Factors, if the judge explains.
	By [4]Criterion
}

// Indexes of Outcome.By.
const (
	schedule = iota
	location
	audience
	site
)

// Criterion says what decided a dimension.
type Criterion struct {
	Text    string // e.g. "place 2203"; "" if there is none
	OfGroup bool   // whether it belongs to the group and not to the campaign
	// OfPlacement and OfList say of a block whether it is the placement's and not the request's, and whether a list that this one names has it.
	OfPlacement, OfList bool
}

// Judge compares one request with campaigns and groups. Only one goroutine may use it at a time. Reset makes it reusable.
type Judge struct {
	context   *Context
	zone      *time.Location // zone of now
	now       wall
	segments  segmentTable
	standings standings
	explain   bool
	// contextual means that the request names languages or blocks, which also concern campaigns without targeting.
	contextual bool
}

// wall is a time on the wall clock of a zone.
type wall struct {
	date    Date
	day     time.Weekday
	quarter uint8
}

// NewJudge returns a judge for a request.
func NewJudge(c *Context) *Judge {
	j := new(Judge)
	j.Reset(c, false)
	return j
}

// Reset makes the judge ready for another request, or for none if c is nil. With explain, outcomes name their criteria.
func (j *Judge) Reset(c *Context, explain bool) {
	j.zone = nil
	j.segments.reset()
	j.standings.reset()
	j.context, j.explain, j.contextual = c, explain, c != nil && (len(c.Languages) > 0 || len(c.Blocks) > 0)
}

// Contextual reports whether the request may exclude campaigns without any targeting, since it names languages or blocks.
func (j *Judge) Contextual() bool { return j.contextual }

// Explains reports whether outcomes name their criteria.
func (j *Judge) Explains() bool { return j.explain }

// plain is a campaign without targeting.
var plain = Campaign{plain: true}

// Group returns the outcome for the keywords of a group. c is nil if the campaign has no targeting, g if the group has none of
// its own.
func (j *Judge) Group(c *Campaign, g *Group, owner *Owner) (o Outcome) {
	j.judge(&o, c, owner, g)
	if o.Verdict == Pass {
		j.block(&o, c, owner)
	}
	return o
}

// judge looks at all dimensions except blocks, in the order of verdicts.
func (j *Judge) judge(o *Outcome, c *Campaign, owner *Owner, g *Group) {
	o.Factors = neutral
	if c == nil {
		c = &plain
	}
	if c.start|c.end != 0 || len(c.schedule) > 0 {
		j.clock(o, c, owner)
	}
	if o.Verdict == Pass {
		j.location(o, c)
	}
	if o.Verdict == Pass && len(c.languages) > 0 {
		j.language(o, c)
	}
	if o.Verdict == Pass && (c.audiences != nil || g != nil) {
		j.audience(o, c, g)
	}
	if o.Verdict == Pass && (c.sites != nil || g != nil) {
		j.site(o, c, g)
	}
}

// wall returns the request's time on the wall clock of a zone.
func (j *Judge) wall(zone *time.Location) wall {
	if j.zone != zone || zone == nil {
		t := j.context.Time.In(zone)
		j.zone, j.now = zone, wall{DateOf(t), t.Weekday(), uint8(t.Hour()*4 + t.Minute()/15)}
	}
	return j.now
}

// clock looks at dates and the schedule.
func (j *Judge) clock(o *Outcome, c *Campaign, owner *Owner) {
	now := j.wall(owner.Zone)
	switch {
	case c.start != 0 && now.date < c.start:
		if j.fail(o, NotStarted) {
			o.Criterion.Text = c.start.String() + ", and the request was made at " + j.moment(owner.Zone, "2006-01-02 15:04")
		}
		return
	case c.end != 0 && now.date > c.end:
		if j.fail(o, Ended) {
			o.Criterion.Text = c.end.String() + ", and the request was made at " + j.moment(owner.Zone, "2006-01-02 15:04")
		}
		return
	case len(c.schedule) == 0:
		return
	}
	i, ok := c.schedule.at(now.day, now.quarter)
	if !ok {
		if j.fail(o, OffSchedule) {
			o.Criterion.Text = j.offSchedule(c, owner)
		}
		return
	}
	o.Factors.Schedule = i.Modifier
	if j.explain && i.Modifier != Default {
		o.By[schedule].Text = i.Day.String() + " " + quarter(i.From) + " to " + quarter(i.To)
	}
}

// fail sets a verdict, and reports whether its criterion is wanted.
func (j *Judge) fail(o *Outcome, v Verdict) bool {
	o.Verdict = v
	return j.explain
}

// language demands a common language if both sides name languages.
func (j *Judge) language(o *Outcome, c *Campaign) {
	if len(j.context.Languages) == 0 {
		return
	}
	for _, l := range j.context.Languages {
		if slices.Contains(c.languages, l) {
			return
		}
	}
	if j.fail(o, LanguageMissed) {
		o.Criterion.Text = listed(c.languages, func(l string) string { return l })
	}
}

// location looks at exclusions, then at targets.
func (j *Judge) location(o *Outcome, c *Campaign) {
	l := &c.locations
	if place, _, met := j.placeIn(l.noPlaces, l.exclusion); met {
		o.excluded(j, Location{Place: place})
		return
	}
	if circle, met := j.circleIn(l.noCircles); met {
		o.excluded(j, circle)
		return
	}
	if len(l.places)+len(l.circles) == 0 {
		return
	}
	if circle, met := j.circleIn(l.circles); met {
		j.placed(o, circle.Modifier, circle)
		return
	}
	if place, modifier, met := j.placeIn(l.places, l.targets); met {
		j.placed(o, modifier, Location{Place: place})
		return
	}
	known := j.context.hasPlace(l.targets) || j.context.Point != nil && len(l.circles) > 0
	switch {
	case known:
		if j.fail(o, LocationMissed) {
			o.Criterion.Text = l.targetsText()
		}
	case !j.context.UnknownLocation:
		if j.fail(o, LocationUnknown) {
			o.Criterion.Text = j.unknownText(l)
		}
	}
}

func (o *Outcome) excluded(j *Judge, by Location) {
	if j.fail(o, LocationExcluded) {
		o.Criterion.Text = by.String()
	}
}

func (j *Judge) placed(o *Outcome, modifier uint16, by Location) {
	o.Factors.Location = modifier
	if j.explain && modifier != Default {
		o.By[location].Text = by.String()
	}
}

// placeIn returns the deepest of the request's places, or of the places around them, that a campaign names. Of equally deep
// places it returns the one with the highest modifier.
func (j *Judge) placeIn(named placeList, m Method) (id uint32, modifier uint16, ok bool) {
	if len(named) == 0 {
		return 0, 0, false
	}
	depth := 0
	for i := range j.context.Places {
		p := &j.context.Places[i]
		if !p.counts(m) {
			continue
		}
		by, in := named.find(p.ID)
		if in && (!ok || p.Depth > depth || p.Depth == depth && by > modifier) {
			id, modifier, depth, ok = p.ID, by, p.Depth, true
		}
	}
	return id, modifier, ok
}

// circleIn returns the first circle that contains the request's point.
func (j *Judge) circleIn(list []Location) (Location, bool) {
	if j.context.Point == nil {
		return Location{}, false
	}
	for _, l := range list {
		if Distance(l.Circle.Point, *j.context.Point) <= float64(l.Circle.Radius) {
			return l, true
		}
	}
	return Location{}, false
}

// audience looks at the segments of the group or, if it has none, of the campaign.
func (j *Judge) audience(o *Outcome, c *Campaign, g *Group) {
	a, ofGroup := c.audiences, false
	if g != nil && g.audiences != nil {
		a, ofGroup = g.audiences, true
	}
	if a == nil {
		return
	}
	j.segments.of(j.context.Audiences)
	applies, met := uint16(0), !a.needs
	for i := range a.list {
		s := &a.list[i]
		if !j.segments.has(s.hash, s.id) {
			continue
		}
		if s.excluded {
			if j.fail(o, AudienceExcluded) {
				o.Criterion = Criterion{Text: s.id, OfGroup: ofGroup}
			}
			return
		}
		met = met || s.required
		if s.modifier > applies {
			if applies = s.modifier; j.explain {
				o.By[audience] = Criterion{Text: s.id, OfGroup: ofGroup}
			}
		}
	}
	switch {
	case !met:
		if j.fail(o, AudienceMissed) {
			o.Criterion = Criterion{Text: a.requiredText(), OfGroup: ofGroup}
		}
	case applies > 0:
		o.Factors.Audience = applies
	}
}

// site looks at the sites of the group or, if it has none, of the campaign.
func (j *Judge) site(o *Outcome, c *Campaign, g *Group) {
	s, ofGroup := c.sites, false
	if g != nil && g.sites != nil {
		s, ofGroup = g.sites, true
	}
	if s == nil {
		return
	}
	var best *Site
	excluded := false
	if page := j.context.Site; page != nil {
		best = closest(s.Include, *page)
		if no := closest(s.Exclude, *page); no != nil && (best == nil || !longer(best.Page, no.Page)) {
			best, excluded = no, true
		}
	}
	switch {
	case excluded:
		if j.fail(o, SiteExcluded) {
			o.Criterion = Criterion{Text: best.shown(), OfGroup: ofGroup}
		}
	case best != nil:
		o.Factors.Site = best.Modifier
		if j.explain && best.Modifier != Default {
			o.By[site] = Criterion{Text: best.String(), OfGroup: ofGroup}
		}
	case len(s.Include) > 0:
		if j.fail(o, SiteMissed) {
			o.Criterion = Criterion{Text: s.includedText(), OfGroup: ofGroup}
		}
	}
}

// closest returns the entry that holds a page and has the longest host, and the longest path of those.
func closest(list []Site, p Page) (best *Site) {
	for i := range list {
		if s := &list[i]; s.holds(p) && (best == nil || longer(s.Page, best.Page)) {
			best = s
		}
	}
	return best
}

// longer reports whether page a is more specific than b, if both hold the same page.
func longer(a, b Page) bool {
	if len(a.Host) != len(b.Host) {
		return len(a.Host) > len(b.Host)
	}
	return len(a.Path) > len(b.Path)
}

// block looks at blocks of owners. Blocks of domains depend on the final URLs of a keyword and its group.
func (j *Judge) block(o *Outcome, c *Campaign, owner *Owner) {
	var own Categories
	if c != nil {
		own = c.categories
	}
	for _, b := range j.context.Blocks {
		if b.owner(owner.ID, own, owner.Categories) {
			if j.fail(o, Blocked) {
				o.Criterion = j.context.entry(b, owner.ID, own, owner.Categories)
			}
			return
		}
	}
}
