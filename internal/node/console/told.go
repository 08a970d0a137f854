package console

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"adshard/internal/node/httpapi/api"
	"adshard/targeting"
)

// told describes targeting in plain sentences.
type told struct {
	// Own are the sentences about the entity itself, and From those about what an ad group takes over from its
	// campaign.
	Own, From []string
}

// shownNames bounds how many places, segments or sites of a list are named in a sentence.
const shownNames = 20

// toldSettings are the properties that sentences describe.
var toldSettings = map[string]bool{
	"start_date": true, "end_date": true, "schedule": true, "locations": true, "location_method": true, "location_exclusion_method": true,
	"languages": true, "audiences": true, "sites": true, "categories": true,
}

// isTold reports whether sentences describe a property.
func isTold(name string) bool { return toldSettings[name] }

// tell describes where, when and for whom the entity of a page takes part. It returns nil if there is nothing to say
// about that kind of entity.
func (c *Console) tell(r *http.Request, b *branch) *told {
	switch it := b.Item; it.Type {
	case api.ItemTypeAdvertiser:
		if it.Categories == nil {
			return nil
		}
		return &told{Own: categorySentences(it)}
	case api.ItemTypeCampaign:
		return &told{Own: c.campaignSentences(r, it, b.Owners)}
	case api.ItemTypeGroup:
		campaign := b.Owners[len(b.Owners)-1]
		if it.Audiences != nil {
			campaign.Audiences = nil
		}
		if it.Sites != nil {
			campaign.Sites = nil
		}
		return &told{Own: slices.Concat(audienceSentences(it), siteSentences(it)), From: c.campaignSentences(r, &campaign, b.Owners)}
	}
	return nil
}

// campaignSentences describes a campaign's targeting, in the order in which its parts are checked.
func (c *Console) campaignSentences(r *http.Request, it *api.Item, owners []api.Item) []string {
	zone := "UTC"
	if len(owners) > 0 && owners[0].TimeZone != "" {
		zone = owners[0].TimeZone
	}
	return slices.Concat(dateSentences(it, zone), scheduleSentences(it, zone), c.locationSentences(r, it), languageSentences(it), audienceSentences(it),
		siteSentences(it), categorySentences(it, owners[:min(1, len(owners))]...))
}

func dateSentences(it *api.Item, zone string) []string {
	switch {
	case it.StartDate != "" && it.EndDate != "":
		return []string{fmt.Sprintf("Shown from %s to %s, both days included (%s).", it.StartDate, it.EndDate, zone)}
	case it.StartDate != "":
		return []string{fmt.Sprintf("Shown from %s on (%s).", it.StartDate, zone)}
	case it.EndDate != "":
		return []string{fmt.Sprintf("Shown to the end of %s (%s).", it.EndDate, zone)}
	}
	return nil
}

// hours are intervals of a schedule that differ only in the day.
type hours struct {
	of   targeting.Interval
	days []int // Monday is 0
}

func scheduleSentences(it *api.Item, zone string) []string {
	schedule, err := targeting.ParseSchedule(it.Schedule)
	if err != nil {
		return unreadable("schedule", err)
	}
	var all []hours
	for _, i := range schedule {
		day := (int(i.Day) + 6) % 7
		at := slices.IndexFunc(all, func(h hours) bool { return h.of.From == i.From && h.of.To == i.To && h.of.Modifier == i.Modifier })
		if at < 0 {
			all = append(all, hours{of: i})
			at = len(all) - 1
		}
		all[at].days = append(all[at].days, day)
	}
	var parts []string
	for i, h := range all {
		text := daysText(h.days) + " " + clock(h.of.From) + "–" + clock(h.of.To)
		if h.of.From == 0 && h.of.To == 96 {
			text = daysText(h.days) + ", all day"
		}
		if i == 0 {
			text += " (" + zone + ")"
		}
		parts = append(parts, text+bids(", ", h.of.Modifier, ""))
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"Shown " + strings.Join(parts, "; ") + "."}
}

var weekDays = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// daysText names days; three or more in a row become a range.
func daysText(days []int) string {
	if len(days) == len(weekDays) {
		return "every day"
	}
	var parts []string
	for i := 0; i < len(days); {
		end := i
		for end+1 < len(days) && days[end+1] == days[end]+1 {
			end++
		}
		if end-i >= 2 {
			parts = append(parts, weekDays[days[i]]+" to "+weekDays[days[end]])
			i = end + 1
			continue
		}
		parts = append(parts, weekDays[days[i]])
		i++
	}
	return oneText(parts, "and")
}

func clock(quarter uint8) string { return fmt.Sprintf("%02d:%02d", quarter/4, quarter%4*15) }

// bids says how a modifier changes bids, between the texts `before` and `after`. It returns "" if the modifier does
// not change them.
func bids(before string, permille uint16, after string) string {
	if permille == targeting.Default {
		return ""
	}
	return before + "bids " + signed(permille) + after
}

// signed writes a modifier as a percentage with a sign.
func signed[T int | uint16](permille T) string {
	text := strconv.FormatFloat(float64(int(permille)-targeting.Default)/10, 'f', -1, 64) + " %"
	if permille > targeting.Default {
		return "+" + text
	}
	return strings.Replace(text, "-", "−", 1)
}

// oneText joins texts with commas, and with `word` before the last one.
func oneText(texts []string, word string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " " + word + " " + texts[last]
}

func unreadable(what string, err error) []string {
	return []string{fmt.Sprintf("Never shown: its %s cannot be read (%v).", what, err)}
}

// noun returns the word for n things: one or many.
func noun(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func languageSentences(it *api.Item) []string {
	if len(it.Languages) == 0 {
		return nil
	}
	return []string{"For users of the " + noun(len(it.Languages), "language", "languages") + " " + oneText(it.Languages, "or") + ", and for those whose language is not known."}
}

func audienceSentences(it *api.Item) (all []string) {
	a, err := targeting.ParseAudiences(it.Audiences)
	if err != nil {
		return unreadable("audiences", err)
	}
	if len(a.Target) > 0 {
		all = append(all, "Only for users of the "+segmentsText(a.Target, "or")+".")
	}
	if len(a.Observe) > 0 {
		all = append(all, "Observed are users of the "+segmentsText(a.Observe, "and")+"; this restricts nothing.")
	}
	if len(a.Exclude) > 0 {
		all = append(all, "Never for users of the "+segmentsText(a.Exclude, "or")+".")
	}
	return all
}

func segmentsText(list []targeting.Segment, word string) string {
	var texts []string
	for _, s := range list {
		texts = append(texts, "“"+s.ID+"”"+bids(" (", s.Modifier, ")"))
	}
	return "audience " + noun(len(list), "segment", "segments") + " " + oneText(shortened(texts), word)
}

func siteSentences(it *api.Item) (all []string) {
	s, err := targeting.ParseSites(it.Sites)
	if err != nil {
		return unreadable("sites", err)
	}
	if len(s.Include) > 0 {
		all = append(all, "Only on pages of "+sitesText(s.Include)+".")
	}
	if len(s.Exclude) > 0 {
		all = append(all, "Not on pages of "+sitesText(s.Exclude)+".")
	}
	if s.Overlap() {
		all = append(all, "Where these overlap, the more specific entry decides: the longer host, then the longer path, and the exclusion if both are equal.")
	}
	return all
}

func sitesText(list []targeting.Site) string {
	var texts []string
	for _, s := range list {
		texts = append(texts, s.Page.String()+bids(" (", s.Modifier, ")"))
	}
	return oneText(shortened(texts), "or")
}

// categorySentences says on which pages nothing of an entity is shown. The categories of an advertiser are added to
// those of its campaigns.
func categorySentences(it *api.Item, owners ...api.Item) []string {
	list, err := targeting.ParseCategories(it.Categories)
	for i := range owners {
		own, e := targeting.ParseCategories(owners[i].Categories)
		err = errors.Join(err, e)
		list = append(list, own...)
	}
	if err != nil {
		return unreadable("categories", err)
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) == 0 {
		return nil
	}
	return []string{"Not on pages that block the " + noun(len(list), "category", "categories") + " " + oneText(list, "or") + "."}
}

// shortened keeps the first shownNames texts, and says how many it left out.
func shortened(texts []string) []string {
	if len(texts) <= shownNames {
		return texts
	}
	return append(texts[:shownNames:shownNames], count(len(texts)-shownNames)+" more")
}
