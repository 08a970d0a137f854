package console_test

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/internal/node/admin"
)

// names returns the names of a page's list of campaigns, in order.
func names(page string) (list []string) {
	for _, m := range regexp.MustCompile(`href="/console/data/campaigns/\d+">([^<]*)</a>`).FindAllStringSubmatch(page, -1) {
		list = append(list, m[1])
	}
	return list
}

// TestDataIsSorted: a list is sorted by a column, downwards first if it is of amounts, and the other way round from there. Amounts that
// are not known come last when sorted downwards.
func TestDataIsSorted(t *testing.T) {
	lines := `{"type":"campaign","advertiser":"A","name":"beta","daily_budget_micros":3000000}
{"type":"campaign","advertiser":"A","name":"Alpha","status":"paused"}
{"type":"campaign","advertiser":"A","name":"gamma","daily_budget_micros":120500000}`
	_, with := fill(t, lines, nil)
	spent := map[uint64]uint64{1: 30_000_000, 2: 7_000_001}
	b := &browser{t: t, port: newPort(t, false, with, func(c *admin.Config) {
		c.Data.ShowSpend(func(context.Context, backend.Snapshot, []*backend.Campaign) map[uint64]uint64 { return spent })
	})}
	const page = "/console/data/advertisers/1"
	for sort, want := range map[string]string{
		"": "beta Alpha gamma", "campaigns.budget.down": "gamma beta Alpha", "campaigns.budget": "Alpha beta gamma", "campaigns.name": "Alpha beta gamma",
		"campaigns.status": "Alpha beta gamma", "campaigns.number.down": "gamma Alpha beta", "campaigns.spent.down": "beta Alpha gamma",
		"campaigns.nothing": "beta Alpha gamma", "x": "beta Alpha gamma", "negatives.name": "beta Alpha gamma",
	} {
		if got := strings.Join(names(b.get(page+"?sort="+sort).Body.String()), " "); got != want {
			t.Errorf("by %q: %s, want %s", sort, got, want)
		}
	}
	w := b.get(page)
	link := regexp.MustCompile(`<th scope="col" class="n"><a href="([^"]*)">Daily budget</a>`).FindStringSubmatch(w.Body.String())
	if link == nil || html.UnescapeString(link[1]) != page+"?sort=campaigns.budget.down#campaigns" {
		t.Fatalf("the column's link is %q", link)
	}
	has(t, b.get(strings.TrimSuffix(html.UnescapeString(link[1]), "#campaigns")), 200, `aria-sort="descending"><a href="`+page+`?sort=campaigns.budget#campaigns">Daily budget ▼`, `Campaigns <span class="word">3</span>`)
	lacks(t, w, "<dt>Spent today") // one campaign's spend is not known
	spent[3] = 1
	has(t, b.get(page), 200, "<dt>Spent today</dt><dd>37.000002<small>by its campaigns")
	has(t, b.get("/console/data/campaigns/2"), 200, "<dd>7.000001</dd>")
	spent[1] = 1_500_000
	has(t, b.get("/console/data/campaigns/1"), 200, "<dd>1.50<small>50.0 % of the budget")
}

// TestLongListsAreSorted: sorting goes over more entities than a page shows.
func TestLongListsAreSorted(t *testing.T) {
	var lines strings.Builder
	for i := range 250 {
		fmt.Fprintf(&lines, `{"type":"campaign","advertiser":"Many","name":"c%03d","daily_budget_micros":%d}`+"\n", i, 1_000_000+i*7919%250)
	}
	_, with := fill(t, lines.String(), nil)
	b := &browser{t: t, port: newPort(t, false, with)}
	w := b.get("/console/data/advertisers/1?sort=campaigns.name.down")
	got := names(w.Body.String())
	if len(got) != 100 || got[0] != "c249" || got[99] != "c150" || !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("%q", got)
	}
	has(t, w, 200, "The first 100 of 250", `Campaigns <span class="word">250</span>`)
	has(t, b.get("/console/data/advertisers/1"), 200, `Campaigns <span class="word">100&#43;</span>`)
}

// TestStatesAreSeen: what keeps an entity from being served is as visible as its status.
func TestStatesAreSeen(t *testing.T) {
	lines := `{"type":"campaign","advertiser":"A","name":"Empty","daily_budget_micros":0}
{"type":"campaign","advertiser":"A","name":"Off","status":"paused"}`
	_, with := fill(t, lines, nil)
	b := &browser{t: t, port: newPort(t, false, with)}
	for _, page := range []string{"/console/data/advertisers/1", "/console/data/campaigns/1"} {
		has(t, b.get(page), 200, `<span class="word good">enabled</span> <span class="word bad">exhausted</span>`)
	}
	has(t, b.get("/console/data/campaigns/2"), 200, `<span class="word warn">paused</span>`)
}
