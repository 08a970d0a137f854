package targeting

import (
	"slices"
	"time"
)

// Outcome is what a request means for the keywords of a campaign, or of a group with targeting of its own.
type Outcome struct {
	Verdict Verdict
	Factors Factors
	// Criterion is what decided the verdict; of one that passed, nothing.
	Criterion Criterion
	// By are the criteria of the factors that are not neutral.
	By struct{ Schedule, Location, Audience, Site Criterion }
}

// Criterion names what decided a dimension.
type Criterion struct {
	Text    string // e.g. "place 2203"; "": none did
	OfGroup bool   // it is the group's, not the campaign's
}

// Judge compares one request with campaigns and groups. It is for one goroutine at a time, and is reused by Reset.
type Judge struct {
	context   *Context
	walls     map[*time.Location]wall
	campaigns map[*Campaign]*Outcome
	explain   bool
}

// wall is an instant on the wall clock of a zone.
type wall struct {
	date    Date
	day     time.Weekday
	quarter uint8
}

// NewJudge returns a judge of a request.
func NewJudge(c *Context) *Judge {
	j := &Judge{walls: map[*time.Location]wall{}, campaigns: map[*Campaign]*Outcome{}}
	j.Reset(c, false)
	return j
}

// Reset makes it judge another request; explain: outcomes name their criteria.
func (j *Judge) Reset(c *Context, explain bool) {
	clear(j.walls)
	clear(j.campaigns)
	j.context, j.explain = c, explain
}

// Campaign returns the outcome for a campaign's keywords; it is kept for the next call.
func (j *Judge) Campaign(c *Campaign) *Outcome {
	if o, ok := j.campaigns[c]; ok {
		return o
	}
	o := new(Outcome)
	j.judge(o, c, nil)
	j.campaigns[c] = o
	return o
}

// Group returns the outcome for the keywords of a group that has targeting of its own.
func (j *Judge) Group(c *Campaign, g *Group) *Outcome {
	if g == nil {
		return j.Campaign(c)
	}
	o := new(Outcome)
	j.judge(o, c, g)
	return o
}

// judge looks at each dimension in the order of verdicts.
func (j *Judge) judge(o *Outcome, c *Campaign, g *Group) {
	*o = Outcome{Factors: neutral}
	if !c.plain || g != nil {
		j.clock(o, c)
		if o.Verdict == Pass {
			j.location(o, c)
		}
	}
	if o.Verdict == Pass {
		j.language(o, c)
	}
	if o.Verdict == Pass && (!c.plain || g != nil) {
		j.audience(o, c, g)
	}
	if o.Verdict == Pass && (!c.plain || g != nil) {
		j.site(o, c, g)
	}
	if o.Verdict == Pass {
		j.block(o, c)
	}
}

// wall returns the request's time on a zone's wall clock.
func (j *Judge) wall(zone *time.Location) wall {
	w, ok := j.walls[zone]
	if !ok {
		t := j.context.Time.In(zone)
		w = wall{DateOf(t), t.Weekday(), uint8(t.Hour()*4 + t.Minute()/15)}
		j.walls[zone] = w
	}
	return w
}

// clock looks at dates and the schedule.
func (j *Judge) clock(o *Outcome, c *Campaign) {
	if c.start == 0 && c.end == 0 && len(c.schedule) == 0 {
		return
	}
	now := j.wall(c.zone)
	switch {
	case c.start != 0 && now.date < c.start:
		o.fail(NotStarted, Criterion{Text: c.start.String()})
		return
	case c.end != 0 && now.date > c.end:
		o.fail(Ended, Criterion{Text: c.end.String()})
		return
	case len(c.schedule) == 0:
		return
	}
	i, ok := c.schedule.at(now.day, now.quarter)
	if !ok {
		o.fail(OffSchedule, Criterion{Text: now.day.String() + " " + quarter(now.quarter)})
		return
	}
	o.Factors.Schedule = i.Modifier
	if j.explain && i.Modifier != Default {
		o.By.Schedule.Text = i.Day.String() + " " + quarter(i.From) + " to " + quarter(i.To)
	}
}

func (o *Outcome) fail(v Verdict, c Criterion) { o.Verdict, o.Criterion = v, c }

// language needs one shared language where both sides name some.
func (j *Judge) language(o *Outcome, c *Campaign) {
	if len(c.languages) == 0 || len(j.context.Languages) == 0 {
		return
	}
	for _, l := range j.context.Languages {
		if slices.Contains(c.languages, l) {
			return
		}
	}
	o.fail(LanguageMissed, Criterion{})
}

// location looks at exclusions, then at targets.
func (j *Judge) location(o *Outcome, c *Campaign) {
	l := &c.locations
	if place, met := j.placeIn(l.noPlaces, l.exclusion); met {
		o.fail(LocationExcluded, Criterion{Text: Location{Place: place.ID}.String()})
		return
	}
	if circle, met := j.circleIn(l.noCircles); met {
		o.fail(LocationExcluded, Criterion{Text: circle.String()})
		return
	}
	if len(l.places)+len(l.circles) == 0 {
		return
	}
	if circle, met := j.circleIn(l.circles); met {
		o.placed(circle.Modifier, circle)
		return
	}
	if place, met := j.placeIn(l.places, l.targets); met {
		o.placed(l.places[place.ID], Location{Place: place.ID})
		return
	}
	known := j.context.hasPlace(l.targets) || j.context.Point != nil && len(l.circles) > 0
	switch {
	case known:
		o.fail(LocationMissed, Criterion{})
	case !j.context.UnknownLocation:
		o.fail(LocationUnknown, Criterion{})
	}
}

func (o *Outcome) placed(modifier uint16, by Location) {
	o.Factors.Location = modifier
	if modifier != Default {
		o.By.Location.Text = by.String()
	}
}

// placeIn returns the deepest of the request's places, with those around them, that a campaign names; of equally deep ones that
// with the highest modifier.
func (j *Judge) placeIn(named map[uint32]uint16, m Method) (best Place, ok bool) {
	if len(named) == 0 {
		return best, false
	}
	for _, p := range j.context.Places {
		modifier, in := named[p.ID]
		if !in || !p.counts(m) {
			continue
		}
		if !ok || p.Depth > best.Depth || p.Depth == best.Depth && modifier > named[best.ID] {
			best, ok = p, true
		}
	}
	return best, ok
}

// circleIn returns the first circle that holds the request's point.
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

// audience looks at the group's segments, or the campaign's.
func (j *Judge) audience(o *Outcome, c *Campaign, g *Group) {
	a, ofGroup := c.audiences, false
	if g != nil && g.audiences != nil {
		a, ofGroup = g.audiences, true
	}
	if a == nil {
		return
	}
	applies, met := uint16(0), len(a.required) == 0
	for _, s := range j.context.Audiences {
		if _, ok := a.excluded[s]; ok {
			o.fail(AudienceExcluded, Criterion{s, ofGroup})
			return
		}
		if _, ok := a.required[s]; ok {
			met = true
		}
		if m := a.applies[s]; m > applies {
			applies = m
			o.By.Audience = Criterion{s, ofGroup}
		}
	}
	if !met {
		o.fail(AudienceMissed, Criterion{OfGroup: ofGroup})
		return
	}
	if applies > 0 {
		o.Factors.Audience = applies
	}
}

// site looks at the group's sites, or the campaign's.
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
		o.fail(SiteExcluded, Criterion{best.String(), ofGroup})
	case best != nil:
		o.Factors.Site = best.Modifier
		if best.Modifier != Default {
			o.By.Site = Criterion{best.String(), ofGroup}
		}
	case len(s.Include) > 0:
		o.fail(SiteMissed, Criterion{OfGroup: ofGroup})
	}
}

// closest returns the entry that holds a page and has the longest host, of those the longest path.
func closest(list []Site, p Page) (best *Site) {
	for i := range list {
		if s := &list[i]; s.holds(p) && (best == nil || longer(s.Page, best.Page)) {
			best = s
		}
	}
	return best
}

// longer compares pages that hold one and the same.
func longer(a, b Page) bool {
	if len(a.Host) != len(b.Host) {
		return len(a.Host) > len(b.Host)
	}
	return len(a.Path) > len(b.Path)
}

// block looks at blocks of owners; those of domains depend on a keyword's and its group's final URLs.
func (j *Judge) block(o *Outcome, c *Campaign) {
	for i := range j.context.Blocks {
		if b := j.context.Blocks[i]; b.owner(c.advertiser, c.categories, c.ofOwner) {
			o.fail(Blocked, Criterion{Text: b.Name})
			return
		}
	}
}
