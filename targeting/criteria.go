package targeting

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/idna"
)

// The texts with which explanations justify a verdict (Criterion.Text). They are made only if a judge explains.

// namedMost is the largest number of a campaign's places, segments or sites that a criterion lists.
const namedMost = 3

// listed lists the first entries of a list: "a, b, c and 5 more".
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

// moment returns the request's time on the wall clock of an advertiser.
func (j *Judge) moment(zone *time.Location, layout string) string {
	return fmt.Sprintf("%s in %s", j.context.Time.In(zone).Format(layout), zone)
}

// hours returns when a campaign is shown on a day of the week, such as "08:00 to 12:00, 13:00 to 18:00", or "" if it is not shown.
func (s Schedule) hours(day time.Weekday) string {
	var out []string
	for _, i := range s {
		if i.Day == day {
			out = append(out, quarter(i.From)+" to "+quarter(i.To))
		}
	}
	return strings.Join(out, ", ")
}

// offSchedule returns a text with the present time and the schedule of that day.
func (j *Judge) offSchedule(c *Campaign, owner *Owner) string {
	day := j.now.day
	text := "it is " + j.moment(owner.Zone, "Monday 15:04") + ", its advertiser's time zone, and its campaign "
	if hours := c.schedule.hours(day); hours != "" {
		return fmt.Sprintf("%sis shown on %ss only from %s", text, day, hours)
	}
	return fmt.Sprintf("%sis not shown on %ss", text, day)
}

// targetsText lists a campaign's targets.
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

// shown returns the page as people write it, with the letters that its host stands for.
func (p Page) shown() string { return shownHost(p.Host) + p.Path }

func shownHost(host string) string {
	letters, err := idna.Display.ToUnicode(host)
	if err != nil {
		return host
	}
	return letters
}

// entry returns what the blocks meet of an owner, such as `the request blocks the category "alcohol", and the keyword's campaign is in
// "alcohol/wine"`.
func (c *Context) entry(b *Blocks, advertiser uint64, own, inherited Categories) Criterion {
	if b.Advertisers.Has(advertiser) {
		return c.blocks(b, " the keyword's advertiser, "+strconv.FormatUint(advertiser, 10))
	}
	for _, of := range [...]struct {
		who  string
		list Categories
	}{{"campaign", own}, {"advertiser", inherited}} {
		for _, category := range of.list {
			if met, ok := holder(&b.Categories, category, '/', false); ok {
				return c.blocks(b, fmt.Sprintf(" the category %q, and the keyword's %s is in %q", met, of.who, category))
			}
		}
	}
	return c.blocks(b, " campaigns without a category, and neither the keyword's campaign nor its advertiser has one")
}

// blocks returns the criterion of a block: the request, its placement, or a list that one of them names, blocks what.
func (c *Context) blocks(b *Blocks, what string) Criterion {
	i := slices.IndexFunc(c.Lists, func(l ListVersion) bool { return l.Name == b.Name })
	by := Criterion{Text: "the request", OfList: b.Name != "", OfPlacement: b.OfPlacement || i >= 0 && c.Lists[i].OfPlacement}
	if by.OfPlacement {
		by.Text = "the placement"
	}
	if by.OfList {
		by.Text += fmt.Sprintf("'s block list %q", b.Name)
	}
	by.Text += " blocks" + what
	return by
}

// BlockOfURL returns what meets a final URL for which BlocksURL is true, such as `the request blocks "casino.example", and ad 7's final
// URL leads to …`; whose is the owner of the URL.
func (c *Context) BlockOfURL(url, whose string) Criterion {
	host, ok := URLHost(url)
	for _, b := range c.Blocks {
		if !ok && b.Domains.Len() > 0 {
			return c.blocks(b, fmt.Sprintf(" domains, and %s final URL %q has no proper host", whose, url))
		}
		if domain, met := holder(&b.Domains, host, '.', true); met {
			return c.blocks(b, fmt.Sprintf(" %q, and %s final URL leads to %s", shownHost(domain), whose, shownHost(host)))
		}
	}
	return Criterion{}
}

// interestOnly reports whether all places of the request are places of interest, so that the user's place is not known.
func (c *Context) interestOnly() bool {
	return !slices.ContainsFunc(c.Places, func(p Place) bool { return p.Presence }) && len(c.Places) > 0
}

// unknownText returns why a request has no location that counts for a campaign.
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
