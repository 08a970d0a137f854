package targeting

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/idna"
)

// What explanations say of a verdict (Criterion.Text), made only when a judge explains.

// namedMost is how many of a campaign's places, segments or sites a criterion names.
const namedMost = 3

// listed names the first of a list: "a, b, c and 5 more".
func listed[T any](list []T, text func(T) string) string {
	var out []string
	for _, e := range list[:min(len(list), namedMost)] {
		out = append(out, text(e))
	}
	if more := len(list) - len(out); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), more)
	}
	return strings.Join(out, ", ")
}

// moment is the request's time on the wall clock of an advertiser.
func (j *Judge) moment(zone *time.Location, layout string) string {
	return fmt.Sprintf("%s in %s", j.context.Time.In(zone).Format(layout), zone)
}

// hours says when a campaign is shown on a day of the week: "08:00 to 12:00, 13:00 to 18:00"; "": not at all.
func (s Schedule) hours(day time.Weekday) string {
	var out []string
	for _, i := range s {
		if i.Day == day {
			out = append(out, quarter(i.From)+" to "+quarter(i.To))
		}
	}
	return strings.Join(out, ", ")
}

// offSchedule says what time it is and what the schedule has on that day.
func (j *Judge) offSchedule(c *Campaign, owner *Owner) string {
	day := j.now.day
	text := "it is " + j.moment(owner.Zone, "Monday 15:04") + ", its advertiser's time zone, and its campaign "
	if hours := c.schedule.hours(day); hours != "" {
		return fmt.Sprintf("%sis shown on %ss only from %s", text, day, hours)
	}
	return fmt.Sprintf("%sis not shown on %ss", text, day)
}

// targetsText names what a campaign is targeted at.
func (l *placeSet) targetsText() string {
	var all []Location
	for _, p := range l.places {
		all = append(all, Location{Place: p.id})
	}
	return listed(append(all, l.circles...), Location.String)
}

func (a *segments) requiredText() string {
	var ids []string
	for _, s := range a.list {
		if s.required {
			ids = append(ids, s.id)
		}
	}
	return listed(ids, strconv.Quote)
}

func (s *Sites) includedText() string {
	return listed(s.Include, func(one Site) string { return one.shown() })
}

// shown is the page as people write it, with the letters that its host stands for.
func (p Page) shown() string { return shownHost(p.Host) + p.Path }

func shownHost(host string) string {
	letters, err := idna.Display.ToUnicode(host)
	if err != nil {
		return host
	}
	return letters
}

// entry says what of an owner is met, such as `the request blocks the category "alcohol", and the keyword's campaign is in "alcohol/wine"`.
func (b *Blocks) entry(advertiser uint64, own, inherited Categories) string {
	if b.Advertisers.Has(advertiser) {
		return b.blocks() + " the keyword's advertiser, " + strconv.FormatUint(advertiser, 10)
	}
	for _, of := range [...]struct {
		who  string
		list Categories
	}{{"campaign", own}, {"advertiser", inherited}} {
		for _, c := range of.list {
			if met, ok := holder(&b.Categories, c, '/', false); ok {
				return fmt.Sprintf("%s the category %q, and the keyword's %s is in %q", b.blocks(), met, of.who, c)
			}
		}
	}
	return b.blocks() + " campaigns without a category, and neither the keyword's campaign nor its advertiser has one"
}

// blocks says who blocks: the request or a list that it names.
func (b *Blocks) blocks() string {
	if b.Name == "" {
		return "the request blocks"
	}
	return fmt.Sprintf("the request's block list %q blocks", b.Name)
}

// BlockOfURL says what meets a final URL that BlocksURL reports, such as `the request blocks "casino.example", and …`.
func (c *Context) BlockOfURL(url string) string {
	host, ok := URLHost(url)
	if !ok {
		return fmt.Sprintf("the request blocks domains, and the keyword's final URL %q has no proper host", url)
	}
	for _, b := range c.Blocks {
		if domain, met := holder(&b.Domains, host, '.', true); met {
			return fmt.Sprintf("%s %q, and the keyword's final URL leads to %s", b.blocks(), shownHost(domain), shownHost(host))
		}
	}
	return ""
}

// interestOnly reports whether the request names places of interest only, not where the user is.
func (c *Context) interestOnly() bool {
	return !slices.ContainsFunc(c.Places, func(p Place) bool { return p.Presence }) && len(c.Places) > 0
}

// unknownText says why a request has no location that counts for a campaign.
func (j *Judge) unknownText(l *placeSet) string {
	c, text := j.context, "its campaign is shown only in "+l.targetsText()+", and the request "
	point := c.Point != nil && len(l.circles) == 0
	interest := c.interestOnly() && l.targets == Presence
	switch {
	case point && interest:
		return text + "has only a point, which cannot be matched with places, and places that it is about, not where the user is"
	case point:
		return text + "has only a point, which cannot be matched with places"
	case interest:
		return text + "says which place it is about, not where the user is"
	}
	return text + "names no location"
}
